import { GrantSpecialPermission } from '@parley/domain/users';
import { fieldsOf } from '../testing/expectations.js';
import type { WireWorld as World, WorldPerson } from '../testing/wire-world.js';
import { ACQUAINTED, addGroup, CREATED, type Fields, HIDDEN, LOST, type Scenarios } from './scenario.js';

/** Events for a user who becomes inaccessible to a guest. */
const OUT_OF_SIGHT = ['realm/update_dict', 'stream/update', 'user_group/remove_members', 'user_group/update'];

const ROLE = ['realm_user/update', 'user_group/add_members', 'user_group/remove_members'];

const toUser =
  (name: WorldPerson) =>
  ({ people }: World): Fields => ({ user_id: people[name].id });

/** Events about a person who is reactivated. */
const BACK = ['realm_export_consent', 'realm_user/update', 'subscription/peer_add', 'user_group/add_members'];

export const USERS_SCENARIOS: Scenarios = {
  'POST /users': [
    {
      title: 'a member',
      as: 'desdemona',
      params: { email: 'yorick@zulip.com', password: 'alas, poor yorick 1601', full_name: 'Yorick' },
      heard: ['realm_export_consent', ...ACQUAINTED, 'subscription/peer_add', 'user_group/add_members'],
    },
  ],
  'DELETE /users/:user_id': [
    {
      title: 'a subscriber, whom a guest knows by a channel alone',
      as: 'iago',
      prepare: spellOut('shiva'),
      at: toUser('shiva'),
      heard: ['realm_user/update', ...LOST, 'subscription/peer_remove', ...OUT_OF_SIGHT],
    },
    {
      title: 'with the profile, a bot and an invitation, known to a guest by a direct message',
      as: 'desdemona',
      prepare: async (world) => {
        const { server, people } = world;
        const { desdemona, shiva, lonelyGuest } = people;
        fieldsOf(await server.patch(`/users/${shiva.id}`, desdemona, { role: 200 }));
        await server.sendMessage(shiva, [lonelyGuest], { content: 'psst' });
        fieldsOf(await server.post('/bots', shiva, { full_name: 'Her bot', short_name: 'hers' }));
        fieldsOf(await server.post('/invites/multiuse', shiva, { invite_as: 400 }));
        await spellOut('shiva')(world);
      },
      at: toUser('shiva'),
      params: { actions: { delete_profile: true } },
      heard: ['invites_changed', 'realm_user/update', ...LOST, 'subscription/peer_remove', ...OUT_OF_SIGHT],
    },
  ],
  'DELETE /users/me': [
    {
      title: 'the owner of a bot',
      as: 'shiva',
      heard: ['realm_user/update', 'subscription/peer_remove', 'user_group/remove_members'],
    },
  ],
  'POST /users/:user_id/reactivate': [
    {
      title: 'a subscriber, whom a guest knows by a channel alone',
      as: 'iago',
      prepare: async (world) => {
        await spellOut('shiva')(world);
        fieldsOf(await world.server.delete(`/users/${world.people.shiva.id}`, world.people.iago));
      },
      at: toUser('shiva'),
      heard: [
        'realm/update_dict',
        'realm_export_consent',
        'realm_user/update',
        ...ACQUAINTED,
        'stream/update',
        'subscription/peer_add',
        'user_group/add_members',
        'user_group/update',
      ],
    },
    {
      title: 'a bot that is subscribed to channels, without an owner',
      as: 'iago',
      prepare: async ({ server, people: { iago, hamlet, helper } }) => {
        const subscribed = { subscriptions: [{ name: 'town' }], principals: [helper.id] };
        fieldsOf(await server.post('/users/me/subscriptions', hamlet, subscribed));
        fieldsOf(await server.delete(`/bots/${helper.id}`, iago));
        await server.storage.uow.write(server.realmId, async (tx) => {
          const user = (await tx.users.find(server.realmId, helper.id))!;
          const bot = { ...user.bot!, ownerId: null };
          await tx.users.update({ ...user, bot });
        });
      },
      at: toUser('helper'),
      heard: ['realm_user/update', 'subscription/peer_add', 'user_group/add_members'],
    },
    {
      title: 'a user with a status',
      as: 'iago',
      prepare: async ({ server, people: { iago, shiva } }) => {
        fieldsOf(await server.post('/users/me/status', shiva, { status_text: 'busy' }));
        fieldsOf(await server.delete(`/users/${shiva.id}`, iago));
      },
      at: toUser('shiva'),
      heard: [...BACK, 'user_status'],
    },
    {
      title: 'a user whose role changed meanwhile',
      as: 'iago',
      prepare: async ({ server, people: { iago, shiva } }) => {
        fieldsOf(await server.delete(`/users/${shiva.id}`, iago));
        fieldsOf(await server.patch(`/users/${shiva.id}`, iago, { role: 400 }));
      },
      at: toUser('shiva'),
      heard: [...BACK, 'user_group/remove_members'],
    },
  ],
  'PATCH /users/:user_id': [
    {
      title: 'a name',
      as: 'iago',
      at: toUser('hamlet'),
      params: { full_name: 'Prince' },
      heard: ['realm_user/update'],
    },
    { title: 'a role', as: 'iago', at: toUser('hamlet'), params: { role: 300 }, heard: ROLE },
    {
      title: 'the same for less',
      as: 'iago',
      prepare: addGroup,
      at: toUser('hamlet'),
      params: { role: 600 },
      heard: [...ROLE, ...HIDDEN, ...LOST, 'default_streams', 'default_stream_groups'],
    },
    {
      title: 'the role of a limited guest',
      as: 'iago',
      prepare: addGroup,
      at: toUser('lonelyGuest'),
      params: { role: 400 },
      heard: [...ROLE, ...CREATED, 'subscription/peer_add', ...ACQUAINTED, 'default_streams', 'default_stream_groups'],
    },
    {
      title: 'a bot becomes an administrator',
      as: 'desdemona',
      at: toUser('helper'),
      params: { role: 200 },
      heard: ROLE,
    },
    {
      title: 'a deactivated user',
      as: 'iago',
      prepare: ({ server, people: { iago, shiva } }) => server.delete(`/users/${shiva.id}`, iago),
      at: toUser('shiva'),
      params: { role: 600, full_name: 'Formerly Shiva' },
      heard: ['realm_user/update'],
    },
    {
      title: 'an owner changes their own role',
      as: 'desdemona',
      prepare: ({ server, people: { desdemona, shiva } }) =>
        server.patch(`/users/${shiva.id}`, desdemona, { role: 100 }),
      at: toUser('desdemona'),
      params: { role: 400 },
      heard: ROLE,
    },
    {
      title: 'to administrator',
      as: 'desdemona',
      at: toUser('cordelia'),
      params: { role: 200 },
      heard: [...ROLE, ...CREATED, 'subscription/peer_add'],
    },
  ],
  'PATCH /users/:email': [
    {
      title: 'an administrator to a member',
      as: 'desdemona',
      at: ({ people }) => ({ email: people.iago.email }),
      params: { role: 400 },
      heard: [...ROLE, ...HIDDEN],
    },
    {
      title: 'an address that all see',
      as: 'desdemona',
      prepare: async ({ server, people: { desdemona } }) => {
        const grant = { realmId: server.realmId, email: desdemona.email, permission: 'canChangeUserEmails' } as const;
        await server.parley.useCase(GrantSpecialPermission).execute(grant);
      },
      at: ({ people }) => ({ email: people.shiva.email }),
      params: { new_email: 'other@zulip.com' },
      heard: ['realm_user/update'],
    },
    {
      title: 'an address that few see',
      as: 'desdemona',
      prepare: async ({ server, people: { desdemona, shiva } }) => {
        const grant = { realmId: server.realmId, email: desdemona.email, permission: 'canChangeUserEmails' } as const;
        await server.parley.useCase(GrantSpecialPermission).execute(grant);
        fieldsOf(await server.patch('/settings', shiva, { email_address_visibility: 3 }));
      },
      at: ({ people }) => ({ email: `user${people.shiva.id}@parley.invalid` }),
      params: { new_email: 'other@zulip.com' },
      heard: ['realm_user/update'],
    },
    {
      title: 'a name',
      as: 'iago',
      at: ({ people }) => ({ email: people.hamlet.email }),
      params: { full_name: 'Prince' },
      heard: ['realm_user/update'],
    },
  ],
};

/** Adds the user to the channel of a guest and names them in every permission. */
function spellOut(name: WorldPerson): (world: World) => Promise<void> {
  return async (world) => {
    const { server, people } = world;
    const value = { direct_members: [people[name].id, people.hamlet.id], direct_subgroups: [] };
    const subscribed = { subscriptions: [{ name: 'town' }], principals: [people[name].id] };
    fieldsOf(await server.post('/users/me/subscriptions', people.iago, subscribed));
    fieldsOf(await server.patch('/realm', people.desdemona, { can_create_groups: { new: value } }));
    fieldsOf(
      await server.patch(`/streams/${world.channels.town}`, people.iago, { can_send_message_group: { new: value } }),
    );
    fieldsOf(await server.patch('/realm', people.desdemona, { can_create_groups: { new: value } }));
    const params = { name: 'named', description: '', members: [people[name].id], can_join_group: value };
    fieldsOf(await server.post('/user_groups/create', people[name], params));
  };
}
