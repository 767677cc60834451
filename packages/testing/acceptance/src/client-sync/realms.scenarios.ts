import { fieldsOf } from '../testing/expectations.js';
import type { WireWorld as World } from '../testing/wire-world.js';
import { ACQUAINTED, LOST, type Scenarios, systemGroups } from './scenario.js';

const LINKIFIER = { pattern: '#(?P<id>[0-9]+)', url_template: 'https://example.com/{id}' };

const PLAYGROUND = { name: 'Play', pygments_language: 'Python', url_template: 'https://example.com/{code}' };

export const REALMS_SCENARIOS: Scenarios = {
  'PATCH /realm': [
    { title: 'a name', as: 'desdemona', params: { name: 'Elsinore' }, heard: ['realm/update'] },
    { title: 'a description', as: 'desdemona', params: { description: '*Denmark*' }, heard: ['realm/update_dict'] },
    {
      title: 'limits',
      as: 'desdemona',
      params: {
        message_content_edit_limit_seconds: 60,
        allow_message_editing: true,
        topics_policy: 'disable_empty_topic',
      },
      heard: ['realm/update_dict'],
    },
    {
      title: 'history',
      as: 'desdemona',
      params: { message_edit_history_visibility_policy: 'none' },
      heard: ['realm/update'],
    },
    {
      title: 'ways to sign in',
      as: 'desdemona',
      params: { authentication_methods: { Email: false, Dev: true } },
      heard: ['realm/update_dict'],
    },
    {
      title: 'permissions',
      as: 'desdemona',
      params: async (world) => {
        const { moderators, administrators, nobody } = await systemGroups(world);
        return {
          can_create_public_channel_group: { new: moderators },
          can_create_private_channel_group: { new: administrators },
          can_invite_users_group: { new: administrators },
          can_mention_many_users_group: { new: nobody },
        };
      },
      heard: ['realm/update_dict'],
    },
    {
      title: 'permissions of people instead of a role',
      as: 'desdemona',
      prepare: async (world) => {
        const { moderators: group } = await systemGroups(world);
        const before = {
          can_create_private_channel_group: { new: group },
          can_mention_many_users_group: { new: group },
        };
        fieldsOf(await world.server.patch('/realm', world.people.desdemona, before));
      },
      params: ({ people }) => ({
        can_create_private_channel_group: { new: { direct_members: [people.hamlet.id], direct_subgroups: [] } },
        can_mention_many_users_group: { new: { direct_members: [people.hamlet.id], direct_subgroups: [] } },
      }),
      heard: ['realm/update_dict'],
    },
    {
      title: 'guests gain access to all users, some of whom have a status',
      as: 'desdemona',
      prepare: async ({ server, people }) => {
        fieldsOf(await server.post('/users/me/status', people.shiva, { status_text: 'busy', emoji_name: 'car' }));
      },
      params: async (world) => ({ can_access_all_users_group: { new: (await systemGroups(world)).everyone } }),
      heard: ['realm/update_dict', ...ACQUAINTED, 'user_status'],
    },
    {
      title: 'guests lose access to all users',
      as: 'desdemona',
      prepare: async (world) => {
        const everyone = (await systemGroups(world)).everyone;
        const params = { can_access_all_users_group: { new: everyone } };
        return world.server.patch('/realm', world.people.desdemona, params);
      },
      params: async (world) => ({ can_access_all_users_group: { new: (await systemGroups(world)).members } }),
      heard: ['realm/update_dict', ...LOST],
    },
    {
      title: 'a jitsi server',
      as: 'desdemona',
      params: { jitsi_server_url: '"https://jitsi.example.com"' },
      heard: ['realm/update'],
    },
  ],
  'POST /realm/deactivate': [],
  // These providers cannot be configured.
  'POST /calls/zoom/create': [],
  'POST /calls/constructorgroups/create': [],
  'POST /calls/nextcloud_talk/create': [],
  'POST /calls/webex/create': [],
  'POST /realm/domains': [
    {
      title: 'a domain',
      as: 'desdemona',
      params: { domain: 'example.com', allow_subdomains: true },
      heard: ['realm_domains/add'],
    },
  ],
  'PATCH /realm/domains/:domain': [
    {
      title: 'a domain',
      as: 'desdemona',
      prepare: addDomain,
      at: () => ({ domain: 'example.com' }),
      params: { allow_subdomains: true },
      heard: ['realm_domains/change'],
    },
  ],
  'DELETE /realm/domains/:domain': [
    {
      title: 'the last one',
      as: 'desdemona',
      prepare: async (world) => {
        await addDomain(world);
        await world.server.patch('/realm', world.people.desdemona, { emails_restricted_to_domains: true });
      },
      at: () => ({ domain: 'example.com' }),
      heard: ['realm/update', 'realm_domains/remove'],
    },
  ],
  'POST /realm/filters': [{ title: 'a linkifier', as: 'iago', params: LINKIFIER, heard: ['realm_linkifiers'] }],
  'PATCH /realm/filters/:filter_id': [
    {
      title: 'a linkifier',
      as: 'iago',
      prepare: addLinkifier,
      at: () => ({ filter_id: 1 }),
      params: { ...LINKIFIER, url_template: 'https://example.org/{id}' },
      heard: ['realm_linkifiers'],
    },
  ],
  'DELETE /realm/filters/:filter_id': [
    {
      title: 'a linkifier',
      as: 'iago',
      prepare: addLinkifier,
      at: () => ({ filter_id: 1 }),
      heard: ['realm_linkifiers'],
    },
  ],
  'PATCH /realm/linkifiers': [
    {
      title: 'an order',
      as: 'iago',
      prepare: addLinkifier,
      params: { ordered_linkifier_ids: [1] },
      heard: ['realm_linkifiers'],
    },
  ],
  'POST /realm/playgrounds': [{ title: 'a playground', as: 'iago', params: PLAYGROUND, heard: ['realm_playgrounds'] }],
  'DELETE /realm/playgrounds/:playground_id': [
    {
      title: 'a playground',
      as: 'iago',
      prepare: ({ server, people }) => server.post('/realm/playgrounds', people.iago, PLAYGROUND),
      at: () => ({ playground_id: 1 }),
      heard: ['realm_playgrounds'],
    },
  ],
};

function addDomain({ server, people }: World): Promise<unknown> {
  return server.post('/realm/domains', people.desdemona, { domain: 'example.com', allow_subdomains: false });
}

function addLinkifier({ server, people }: World): Promise<unknown> {
  return server.post('/realm/filters', people.iago, LINKIFIER);
}
