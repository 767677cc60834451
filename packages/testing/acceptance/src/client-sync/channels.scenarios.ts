import { fieldsOf } from '../testing/expectations.js';
import type { WireWorld as World, WorldChannel, WorldPerson } from '../testing/wire-world.js';
import {
  ACQUAINTED,
  addGroup,
  CREATED,
  type Fields,
  FLAGS_ADDED,
  FOLLOWED,
  HIDDEN,
  MESSAGE,
  type Scenarios,
  systemGroups,
} from './scenario.js';

const JOINED = ['subscription/add', 'subscription/peer_add'];

const LEFT = ['subscription/peer_remove', 'subscription/remove'];

const CHANGED = ['stream/update'];

const toChannel =
  (name: WorldChannel) =>
  ({ channels }: World): Fields => ({ stream_id: channels[name] });

const subscribing =
  (names: readonly string[], ...principals: readonly WorldPerson[]) =>
  ({ people }: World): Fields => ({
    subscriptions: names.map((name) => ({ name })),
    ...(principals.length > 0 && { principals: principals.map((name) => people[name].id) }),
  });

const leaving =
  (names: readonly string[], ...principals: readonly WorldPerson[]) =>
  ({ people }: World): Fields => ({
    subscriptions: names,
    ...(principals.length > 0 && { principals: principals.map((name) => people[name].id) }),
  });

const creating =
  (name: string, fields: Fields, ...subscribers: readonly WorldPerson[]) =>
  ({ people }: World): Fields => ({ name, subscribers: subscribers.map((each) => people[each].id), ...fields });

export const CHANNELS_SCENARIOS: Scenarios = {
  'POST /channels/create': [
    {
      title: 'a public one',
      as: 'iago',
      params: creating('attic', {}, 'hamlet', 'polonius'),
      heard: [...CREATED, ...JOINED, ...MESSAGE],
    },
    {
      title: 'a private one',
      as: 'iago',
      params: creating('attic', { invite_only: true }, 'hamlet'),
      heard: [...CREATED, ...JOINED, ...MESSAGE],
    },
    {
      title: 'a web-public channel',
      as: 'desdemona',
      params: creating('attic', { is_web_public: true }, 'hamlet'),
      heard: [...CREATED, ...JOINED, ...MESSAGE],
    },
    {
      title: 'a default one',
      as: 'iago',
      params: creating('attic', { is_default_stream: true }),
      heard: [...CREATED, 'default_streams'],
    },
  ],
  'PATCH /streams/:stream_id': [
    {
      title: 'name, description and properties',
      as: 'iago',
      at: toChannel('town'),
      params: { new_name: 'city', description: '*hills*', topics_policy: 'disable_empty_topic' },
      heard: [...CHANGED, ...MESSAGE],
    },
    {
      title: 'which folder it is in',
      as: 'hamlet',
      prepare: async (world) => {
        await addFolders(world);
        await hamletAdministersCloset(world);
      },
      at: toChannel('closet'),
      params: { folder_id: 2 },
      heard: CHANGED,
    },
    {
      title: 'message retention',
      as: 'desdemona',
      at: toChannel('museum'),
      params: { message_retention_days: 30 },
      heard: [...CHANGED, ...MESSAGE],
    },
    {
      title: 'no default channel any more',
      as: 'iago',
      at: toChannel('garden'),
      params: { is_default_stream: false },
      heard: ['default_streams'],
    },
    ...[
      ['closet', 'public', { is_private: false }, [...CREATED, 'subscription/peer_add']],
      ['closet', 'web-public', { is_private: false, is_web_public: true }, [...CREATED, 'subscription/peer_add']],
      ['closet', 'private with a shared history', { history_public_to_subscribers: true }, []],
      ['town', 'private', { is_private: true }, HIDDEN],
      ['town', 'web-public', { is_web_public: true }, [...CREATED, 'subscription/peer_add']],
      ['museum', 'public', { is_web_public: false }, HIDDEN],
      ['museum', 'private', { is_private: true, is_web_public: false }, HIDDEN],
    ].map(([channel, kind, params, more]) => ({
      title: `${channel} ${kind}`,
      as: 'desdemona' as const,
      prepare: channel === 'closet' ? desdemonaJoinsCloset : undefined,
      at: toChannel(channel as WorldChannel),
      params: params as Fields,
      heard: [...CHANGED, ...MESSAGE, ...(more as string[])],
    })),
    {
      title: 'public while it is archived',
      as: 'desdemona',
      prepare: async (world) => {
        const { server, people, channels } = world;
        await desdemonaJoinsCloset(world);
        fieldsOf(await server.delete(`/streams/${channels.closet}`, people.desdemona));
      },
      at: toChannel('closet'),
      params: { is_private: false },
      heard: [...CHANGED, ...CREATED, 'subscription/peer_add', ...MESSAGE],
    },
    {
      title: 'posting permission',
      as: 'iago',
      at: toChannel('town'),
      params: async (world) => ({ can_send_message_group: { new: (await systemGroups(world)).administrators } }),
      heard: [...CHANGED, ...MESSAGE],
    },
    {
      title: 'permission to subscribe, granted',
      as: 'hamlet',
      prepare: hamletAdministersCloset,
      at: toChannel('closet'),
      params: ({ people: { cordelia, polonius } }) => ({
        can_subscribe_group: { new: { direct_members: [cordelia.id, polonius.id], direct_subgroups: [] } },
      }),
      heard: [...CHANGED, ...CREATED, 'subscription/peer_add'],
    },
    {
      title: 'permission to subscribe, revoked',
      as: 'hamlet',
      prepare: async (world) => {
        const { server, people, channels } = world;
        await hamletAdministersCloset(world);
        fieldsOf(
          await server.patch(`/streams/${channels.closet}`, people.hamlet, {
            can_subscribe_group: { new: { direct_members: [people.cordelia.id], direct_subgroups: [] } },
          }),
        );
      },
      at: toChannel('closet'),
      params: async (world) => ({ can_subscribe_group: { new: (await systemGroups(world)).nobody } }),
      heard: [...CHANGED, ...HIDDEN],
    },
    {
      title: 'public, for somebody who followed it once',
      as: 'desdemona',
      prepare: async (world) => {
        const { server, people, channels } = world;
        await desdemonaJoinsCloset(world);
        fieldsOf(
          await server.post('/users/me/subscriptions', people.desdemona, subscribing(['closet'], 'cordelia')(world)),
        );
        const muted = { stream_id: channels.closet, topic: 'coats', visibility_policy: 1 };
        fieldsOf(await server.post('/user_topics', people.cordelia, muted));
        fieldsOf(await server.delete('/users/me/subscriptions', people.cordelia, { subscriptions: ['closet'] }));
      },
      at: toChannel('closet'),
      params: { is_private: false },
      heard: [...CHANGED, ...CREATED, 'subscription/peer_add', ...MESSAGE],
    },
    {
      title: 'in use again',
      as: 'iago',
      prepare: async ({ server, people, channels }) => {
        const { museum } = channels;
        await server.sendMessage(people.iago, 'museum', { content: 'for @**all**' });
        const muted = { stream_id: museum, topic: 'clay', visibility_policy: 1 };
        fieldsOf(await server.post('/user_topics', people.hamlet, muted));
        fieldsOf(await server.delete(`/streams/${museum}`, people.iago));
      },
      at: toChannel('museum'),
      params: { is_archived: false },
      heard: [...CHANGED, ...CREATED, ...JOINED, ...MESSAGE],
    },
  ],
  'DELETE /streams/:stream_id': [
    {
      title: 'a public channel',
      as: 'iago',
      prepare: async ({ server, people, channels }) => {
        // Clients display archived channels only if they support them.
        await server.sendMessage(people.iago, 'museum', { content: 'for @**all**' });
        const muted = { stream_id: channels.museum, topic: 'clay', visibility_policy: 1 };
        fieldsOf(await server.post('/user_topics', people.hamlet, muted));
        const group = { group_name: 'indoors', description: 'd', stream_names: ['museum', 'town'] };
        fieldsOf(await server.post('/default_stream_groups/create', people.iago, group));
      },
      at: toChannel('museum'),
      heard: [...CHANGED, ...HIDDEN, ...MESSAGE, 'default_stream_groups'],
    },
    {
      title: 'a default one where newcomers are announced',
      as: 'desdemona',
      prepare: ({ server, people, channels }) =>
        server.patch('/realm', people.desdemona, {
          new_stream_announcements_stream_id: channels.garden,
          signup_announcements_stream_id: channels.garden,
        }),
      at: toChannel('garden'),
      heard: ['default_streams', 'realm/update_dict', ...CHANGED, ...HIDDEN, ...MESSAGE],
    },
  ],
  'POST /default_streams': [
    {
      title: 'a public one',
      as: 'iago',
      params: ({ channels }) => ({ stream_id: channels.town }),
      heard: ['default_streams'],
    },
  ],
  'DELETE /default_streams': [
    {
      title: 'a default one',
      as: 'iago',
      params: ({ channels }) => ({ stream_id: channels.garden }),
      heard: ['default_streams'],
    },
  ],
  'POST /default_stream_groups/create': [
    {
      title: 'a group of channels',
      as: 'iago',
      params: { group_name: 'outdoors', description: 'd', stream_names: ['town', 'museum'] },
      heard: ['default_stream_groups'],
    },
  ],
  'PATCH /default_stream_groups/:group_id': [
    {
      title: 'a new name',
      as: 'iago',
      prepare: addGroup,
      at: () => ({ group_id: 1 }),
      params: { new_group_name: 'inside' },
      heard: ['default_stream_groups'],
    },
  ],
  'PATCH /default_stream_groups/:group_id/streams': [
    {
      title: 'with one more',
      as: 'iago',
      prepare: addGroup,
      at: () => ({ group_id: 1 }),
      params: { op: 'add', stream_names: ['museum'] },
      heard: ['default_stream_groups'],
    },
  ],
  'DELETE /default_stream_groups/:group_id': [
    {
      title: 'the only one',
      as: 'iago',
      prepare: addGroup,
      at: () => ({ group_id: 1 }),
      heard: ['default_stream_groups'],
    },
  ],
  'POST /channel_folders/create': [
    {
      title: 'beside another',
      as: 'iago',
      prepare: addFolders,
      params: { name: 'third', description: '*d*' },
      heard: ['channel_folder/add'],
    },
  ],
  'PATCH /channel_folders': [
    {
      title: 'the other way round',
      as: 'iago',
      prepare: addFolders,
      params: { order: [2, 99, 1] },
      heard: ['channel_folder/reorder'],
    },
  ],
  'PATCH /channel_folders/:channel_folder_id': [
    {
      title: 'in every way',
      as: 'iago',
      prepare: addFolders,
      at: () => ({ channel_folder_id: 1 }),
      params: { name: 'changed', description: '*c*', is_archived: true },
      heard: ['channel_folder/update'],
    },
  ],
  'POST /users/me/subscriptions': [
    { title: 'to a public channel', as: 'cordelia', params: subscribing(['town']), heard: [...JOINED, ...ACQUAINTED] },
    {
      title: 'to an archived channel',
      as: 'hamlet',
      prepare: ({ server, people, channels }) => server.delete(`/streams/${channels.garden}`, people.iago),
      params: subscribing(['garden']),
      heard: JOINED,
    },
    { title: 'again', as: 'hamlet', prepare: leaveTown, params: subscribing(['town']), heard: JOINED },
    {
      title: 'other users, to a private channel',
      as: 'hamlet',
      params: subscribing(['closet', 'archive'], 'cordelia', 'polonius'),
      heard: [...CREATED, ...JOINED, ...ACQUAINTED, ...MESSAGE],
    },
    {
      title: 'a guest without accessible users',
      as: 'iago',
      params: subscribing(['town', 'garden'], 'lonelyGuest'),
      heard: [...CREATED, ...JOINED, ...ACQUAINTED, ...MESSAGE],
    },
    {
      title: 'to new channels',
      as: 'hamlet',
      params: subscribing(['attic', 'cellar'], 'hamlet', 'polonius'),
      heard: [...CREATED, ...JOINED, ...MESSAGE],
    },
  ],
  'PATCH /users/me/subscriptions': [
    {
      title: 'to a new channel, and away from another',
      as: 'hamlet',
      params: { add: [{ name: 'attic' }], delete: ['museum'] },
      heard: [...CREATED, ...JOINED, ...LEFT, ...FLAGS_ADDED, ...MESSAGE],
    },
  ],
  'POST /users/me/subscriptions/properties': [
    {
      title: 'all properties',
      as: 'hamlet',
      params: ({ channels }) => ({
        subscription_data: Object.entries({
          color: '#c0ffee',
          is_muted: true,
          pin_to_top: true,
          desktop_notifications: true,
          audible_notifications: false,
          push_notifications: true,
          email_notifications: false,
          wildcard_mentions_notify: true,
        }).map(([property, value]) => ({ stream_id: channels.town, property, value })),
      }),
      heard: ['subscription/update'],
    },
  ],
  'PATCH /users/me/subscriptions/:stream_id': [
    {
      title: 'muting',
      as: 'polonius',
      at: toChannel('town'),
      params: { property: 'in_home_view', value: 'false' },
      heard: ['subscription/update'],
    },
  ],
  'PATCH /users/me/subscriptions/muted_topics': [
    {
      title: 'a topic',
      as: 'polonius',
      params: { stream: 'town', topic: 'NEWS', op: 'add' },
      heard: FOLLOWED,
    },
  ],
  'POST /user_topics': [
    {
      title: 'a topic, then reset',
      as: 'hamlet',
      prepare: ({ server, people, channels }) =>
        server.post('/user_topics', people.hamlet, { stream_id: channels.town, topic: 'News', visibility_policy: 1 }),
      params: ({ channels }) => ({ stream_id: channels.town, topic: 'NEWS', visibility_policy: 3 }),
      heard: FOLLOWED,
    },
    {
      title: 'an unmuted topic',
      as: 'hamlet',
      prepare: ({ server, people, channels }) =>
        server.post('/user_topics', people.hamlet, { stream_id: channels.town, topic: '', visibility_policy: 1 }),
      params: ({ channels }) => ({ stream_id: channels.town, topic: 'general chat', visibility_policy: 0 }),
      heard: FOLLOWED,
    },
  ],
  'DELETE /users/me/subscriptions': [
    { title: 'a public channel', as: 'hamlet', params: leaving(['town']), heard: [...LEFT, ...FLAGS_ADDED] },
    {
      title: 'a private channel',
      as: 'hamlet',
      params: leaving(['closet', 'archive']),
      heard: [...LEFT, ...HIDDEN, ...FLAGS_ADDED],
    },
    { title: 'a guest', as: 'polonius', params: leaving(['town']), heard: [...LEFT, ...HIDDEN, ...FLAGS_ADDED] },
    { title: 'a web-public channel', as: 'hamlet', params: leaving(['museum']), heard: [...LEFT, ...FLAGS_ADDED] },
    {
      title: 'other users',
      as: 'iago',
      params: leaving(['town'], 'hamlet', 'polonius'),
      heard: [...LEFT, ...HIDDEN, ...FLAGS_ADDED],
    },
    {
      title: 'guests who share only this channel',
      as: 'iago',
      prepare: async ({ server, people }) => {
        fieldsOf(await server.post('/users/me/status', people.iago, { status_text: 'busy' }));
        await server.post('/users/me/subscriptions', people.iago, {
          subscriptions: [{ name: 'town' }],
          principals: [people.lonelyGuest.id],
        });
      },
      params: leaving(['town'], 'polonius', 'lonelyGuest'),
      heard: [...LEFT, ...HIDDEN, ...FLAGS_ADDED, 'realm_user/remove'],
    },
  ],
};

async function desdemonaJoinsCloset({ server, people }: World): Promise<void> {
  fieldsOf(
    await server.post('/users/me/subscriptions', people.hamlet, {
      subscriptions: [{ name: 'closet' }],
      principals: [people.desdemona.id],
    }),
  );
}

async function hamletAdministersCloset({ server, people, channels }: World): Promise<void> {
  fieldsOf(
    await server.patch(`/streams/${channels.closet}`, people.desdemona, {
      can_administer_channel_group: { new: { direct_members: [people.hamlet.id], direct_subgroups: [] } },
    }),
  );
}

async function addFolders({ server, people }: World): Promise<void> {
  for (const name of ['first', 'second']) fieldsOf(await server.post('/channel_folders/create', people.iago, { name }));
}

function leaveTown({ server, people }: World): Promise<unknown> {
  return server.delete('/users/me/subscriptions', people.hamlet, { subscriptions: ['town'] });
}
