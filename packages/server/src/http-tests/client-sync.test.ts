import type { Route } from '@parley/http';
import { fieldsOf } from '../testing/expectations.js';
import { TestServer } from '../testing/test-server.js';
import { expectInStep, WireWorld as World, type WorldPerson } from '../testing/wire-world.js';

type Fields = Readonly<Record<string, unknown>>;

/** One successful call of an operation, and what clients hear of it. */
interface Scenario {
  readonly title: string;
  /** Null: nobody signed in. */
  readonly as: WorldPerson | null;
  /** Before the clients register. */
  readonly given?: (world: World) => Promise<unknown>;
  readonly params?: Fields | ((world: World) => Fields | Promise<Fields>);
  /** Instead of the parameters in the route's path. */
  readonly at?: (world: World) => Fields;
  /** `type/op` of every event that any client hears. */
  readonly heard: readonly string[];
}

const MESSAGE = ['message'];
const FLAGS_ADDED = ['update_message_flags/add'];
const FLAGS_REMOVED = ['update_message_flags/remove'];
/** A sender follows the topics they start (messages §4.4). */
const FOLLOWED = ['muted_topics', 'user_topic'];
const CREATED = ['stream/create'];
const JOINED = ['subscription/add', 'subscription/peer_add'];
const LEFT = ['subscription/peer_remove', 'subscription/remove'];
const HIDDEN = ['stream/delete'];
/** Somebody new, or new to a guest. */
const ACQUAINTED = ['realm_user/add'];
const LOST = ['realm_user/remove'];
const ROLE = ['realm_user/update', 'user_group/add_members', 'user_group/remove_members'];

const send =
  (content: string, to: (world: World) => Fields) =>
  (world: World): Fields => ({ content, ...to(world) });
const toTown =
  (topic: string) =>
  ({ channels }: World): Fields => ({ type: 'channel', to: channels.town, topic });
const toPeople =
  (...names: readonly WorldPerson[]) =>
  ({ people }: World): Fields => ({ type: 'direct', to: names.map((name) => people[name].id) });
const mark =
  (op: string, flag: string, ...indexes: readonly number[]) =>
  ({ messages }: World): Fields => ({ op, flag, messages: indexes.map((index) => messages[index]) });
const toUser =
  (name: WorldPerson) =>
  ({ people }: World): Fields => ({ user_id: people[name].id });
const SMILE = { emoji_name: 'smile' };
const toMessage =
  (index: number) =>
  ({ messages }: World): Fields => ({ message_id: messages[index] });
const everything = { anchor: 'oldest', num_before: 0, num_after: 100, narrow: [] };
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

/** Every operation that may change something, by its route. A route without a row fails the test. */
const SCENARIOS: Readonly<Record<string, readonly Scenario[]>> = {
  'POST /messages': [
    { title: 'in a channel', as: 'iago', params: send('hello', toTown('news')), heard: MESSAGE },
    { title: 'in a new topic', as: 'hamlet', params: send('hello', toTown('plans')), heard: [...MESSAGE, ...FOLLOWED] },
    { title: 'without a topic', as: 'iago', params: send('hello', toTown('')), heard: MESSAGE },
    {
      title: 'in another spelling of a topic',
      as: 'iago',
      params: send('hello', toTown('NEWS')),
      heard: MESSAGE,
    },
    {
      title: 'with mentions',
      as: 'iago',
      params: send('@**King Hamlet** @**all** @**topic**', toTown('news')),
      heard: MESSAGE,
    },
    {
      title: 'in a channel that none of them follows',
      as: 'iago',
      params: ({ channels }) => ({ type: 'channel', to: channels.garden, topic: 'roses', content: 'hello' }),
      heard: [],
    },
    { title: 'to one person', as: 'iago', params: send('hello', toPeople('hamlet')), heard: MESSAGE },
    { title: 'to several', as: 'iago', params: send('hello', toPeople('hamlet', 'cordelia')), heard: MESSAGE },
    { title: 'to oneself', as: 'hamlet', params: send('hello', toPeople('hamlet')), heard: MESSAGE },
    {
      title: 'to a guest who did not know the sender',
      as: 'cordelia',
      params: send('hello', toPeople('stranger')),
      heard: [...MESSAGE, ...ACQUAINTED],
    },
  ],
  'POST /messages/flags': [
    { title: 'read', as: 'hamlet', params: mark('add', 'read', 0, 1, 3), heard: FLAGS_ADDED },
    {
      title: 'unread again',
      as: 'hamlet',
      given: ({ server, people }) => server.post('/mark_all_as_read', people.hamlet),
      params: mark('remove', 'read', 0, 1, 2, 3),
      heard: FLAGS_REMOVED,
    },
    { title: 'starred', as: 'hamlet', params: mark('add', 'starred', 1, 3), heard: FLAGS_ADDED },
    { title: 'starred no longer', as: 'hamlet', params: mark('remove', 'starred', 0), heard: FLAGS_REMOVED },
    {
      title: 'starred, which the person never received',
      as: 'cordelia',
      params: mark('add', 'starred', 0),
      heard: FLAGS_ADDED,
    },
    { title: 'collapsed', as: 'hamlet', params: mark('add', 'collapsed', 0), heard: FLAGS_ADDED },
  ],
  'POST /messages/flags/narrow': [
    { title: 'read', as: 'hamlet', params: { ...everything, op: 'add', flag: 'read' }, heard: FLAGS_ADDED },
    {
      title: 'unread again',
      as: 'polonius',
      params: { ...everything, op: 'remove', flag: 'read' },
      heard: FLAGS_REMOVED,
    },
  ],
  'POST /mark_all_as_read': [{ title: 'all', as: 'hamlet', heard: FLAGS_ADDED }],
  'POST /mark_stream_as_read': [
    { title: 'a channel', as: 'hamlet', params: ({ channels }) => ({ stream_id: channels.town }), heard: FLAGS_ADDED },
  ],
  'POST /mark_topic_as_read': [
    {
      title: 'a topic',
      as: 'hamlet',
      params: ({ channels }) => ({ stream_id: channels.town, topic_name: 'NEWS' }),
      heard: FLAGS_ADDED,
    },
  ],
  'POST /messages/:message_id/reactions': [
    { title: 'to a message in a channel', as: 'iago', at: toMessage(0), params: SMILE, heard: ['reaction/add'] },
    {
      title: 'to one that the person never received',
      as: 'cordelia',
      at: toMessage(0),
      params: SMILE,
      heard: ['reaction/add'],
    },
    { title: 'between people', as: 'hamlet', at: toMessage(3), params: SMILE, heard: ['reaction/add'] },
    {
      title: 'in a topic that one follows by taking part',
      as: 'hamlet',
      given: ({ server, people }) =>
        server.patch('/settings', people.hamlet, { automatically_follow_topics_policy: 1 }),
      at: toMessage(2),
      params: SMILE,
      heard: [...FOLLOWED, 'reaction/add'],
    },
  ],
  'DELETE /messages/:message_id/reactions': [
    {
      title: 'of a message in a channel',
      as: 'iago',
      given: ({ server, people, messages }) =>
        server.post(`/messages/${messages[0]}/reactions`, people.iago, { ...SMILE }),
      at: toMessage(0),
      params: SMILE,
      heard: ['reaction/remove'],
    },
  ],
  'POST /messages/render': [{ title: 'changes nothing', as: 'hamlet', params: { content: '*hello*' }, heard: [] }],
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
      title: 'one on the Internet',
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
  'POST /users/me/subscriptions': [
    { title: 'to a public channel', as: 'cordelia', params: subscribing(['town']), heard: [...JOINED, ...ACQUAINTED] },
    { title: 'again', as: 'hamlet', given: leaveTown, params: subscribing(['town']), heard: JOINED },
    {
      title: 'of others, to a private channel',
      as: 'hamlet',
      params: subscribing(['closet', 'archive'], 'cordelia', 'polonius'),
      heard: [...CREATED, ...JOINED, ...ACQUAINTED, ...MESSAGE],
    },
    {
      title: 'of a guest who knew nobody',
      as: 'iago',
      params: subscribing(['town', 'garden'], 'stranger'),
      heard: [...CREATED, ...JOINED, ...ACQUAINTED, ...MESSAGE],
    },
    {
      title: 'to new channels',
      as: 'hamlet',
      params: subscribing(['attic', 'cellar'], 'hamlet', 'polonius'),
      heard: [...CREATED, ...JOINED, ...MESSAGE],
    },
  ],
  'DELETE /users/me/subscriptions': [
    { title: 'of a public channel', as: 'hamlet', params: leaving(['town']), heard: [...LEFT, ...FLAGS_ADDED] },
    {
      title: 'of a private channel',
      as: 'hamlet',
      params: leaving(['closet', 'archive']),
      heard: [...LEFT, ...HIDDEN, ...FLAGS_ADDED],
    },
    { title: 'of a guest', as: 'polonius', params: leaving(['town']), heard: [...LEFT, ...HIDDEN, ...FLAGS_ADDED] },
    { title: 'of one that anybody sees', as: 'hamlet', params: leaving(['museum']), heard: [...LEFT, ...FLAGS_ADDED] },
    {
      title: 'of others',
      as: 'iago',
      params: leaving(['town'], 'hamlet', 'polonius'),
      heard: [...LEFT, ...HIDDEN, ...FLAGS_ADDED],
    },
    {
      title: 'of guests who know each other by it',
      as: 'iago',
      given: ({ server, people }) =>
        server.post('/users/me/subscriptions', people.iago, {
          subscriptions: [{ name: 'town' }],
          principals: [people.stranger.id],
        }),
      params: leaving(['town'], 'polonius', 'stranger'),
      heard: [...LEFT, ...HIDDEN, ...FLAGS_ADDED, 'realm_user/remove'],
    },
  ],
  'POST /users': [
    {
      title: 'a member',
      as: 'desdemona',
      params: { email: 'yorick@zulip.com', password: 'alas, poor yorick 1601', full_name: 'Yorick' },
      heard: [...ACQUAINTED, 'subscription/peer_add', 'user_group/add_members'],
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
      at: toUser('hamlet'),
      params: { role: 600 },
      heard: [...ROLE, ...HIDDEN, ...LOST, 'default_streams'],
    },
    {
      title: 'that of a guest who knew few',
      as: 'iago',
      at: toUser('stranger'),
      params: { role: 400 },
      heard: [...ROLE, ...CREATED, 'subscription/peer_add', ...ACQUAINTED, 'default_streams'],
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
      title: 'a name',
      as: 'iago',
      at: ({ people }) => ({ email: people.hamlet.email }),
      params: { full_name: 'Prince' },
      heard: ['realm_user/update'],
    },
  ],
  'POST /user_groups/create': [
    {
      title: 'with members and subgroups',
      as: 'iago',
      params: async (world) => ({
        name: 'cast',
        description: 'On stage',
        members: [world.people.hamlet.id, world.people.polonius.id],
        subgroups: [await systemGroup(world, 'moderators')],
        can_mention_group: { direct_members: [world.people.hamlet.id], direct_subgroups: [] },
      }),
      heard: ['user_group/add', 'user_group/add_subgroups'],
    },
  ],
  'PATCH /user_groups/:user_group_id': [
    {
      title: 'name and permissions',
      as: 'iago',
      given: makeGroup(),
      at: toGroup,
      params: async (world) => ({
        name: 'crew',
        description: 'Behind the stage',
        can_join_group: { new: await systemGroup(world, 'members') },
      }),
      heard: ['user_group/update'],
    },
    {
      title: 'one that is not in use',
      as: 'iago',
      given: async (world) => {
        await makeGroup()(world);
        await world.server.post(`/user_groups/${toGroup(world).user_group_id}/deactivate`, world.people.iago);
      },
      at: toGroup,
      params: { name: 'crew' },
      heard: ['user_group/update'],
    },
    {
      title: 'that it is back in use',
      as: 'iago',
      given: async (world) => {
        await makeGroup()(world);
        await world.server.post(`/user_groups/${toGroup(world).user_group_id}/deactivate`, world.people.iago);
      },
      at: toGroup,
      params: { deactivated: false },
      heard: ['user_group/add', 'user_group/update'],
    },
  ],
  'POST /user_groups/:user_group_id/deactivate': [
    {
      title: 'one with members',
      as: 'iago',
      given: makeGroup('hamlet'),
      at: toGroup,
      heard: ['user_group/remove', 'user_group/update'],
    },
  ],
  'POST /user_groups/:user_group_id/members': [
    {
      title: 'coming and going',
      as: 'iago',
      given: makeGroup('hamlet'),
      at: toGroup,
      params: ({ people }) => ({ add: [people.cordelia.id, people.stranger.id], delete: [people.hamlet.id] }),
      heard: ['user_group/add_members', 'user_group/remove_members', ...MESSAGE],
    },
    {
      title: 'to whom it opens channels, and rights',
      as: 'iago',
      given: letGroupSeeChannel(),
      at: toGroup,
      params: async (world) => ({
        add: [world.people.cordelia.id],
        add_subgroups: [await systemGroup(world, 'members')],
      }),
      heard: ['user_group/add_members', 'user_group/add_subgroups', ...CREATED, 'subscription/peer_add', ...MESSAGE],
    },
    {
      title: 'to whom it closes them',
      as: 'iago',
      given: letGroupSeeChannel('hamlet', 'cordelia'),
      at: toGroup,
      params: ({ people }) => ({ delete: [people.hamlet.id, people.cordelia.id] }),
      heard: ['user_group/remove_members', ...HIDDEN, ...MESSAGE],
    },
  ],
  'POST /user_groups/:user_group_id/subgroups': [
    {
      title: 'a role',
      as: 'iago',
      given: makeGroup('hamlet'),
      at: toGroup,
      params: async (world) => ({ add: [await systemGroup(world, 'owners')] }),
      heard: ['user_group/add_subgroups'],
    },
  ],
  'POST /realm/profile_fields': [
    {
      title: 'one with choices',
      as: 'iago',
      params: { field_type: 3, name: 'Editor', field_data: { vim: { text: 'VIM', order: '1' } } },
      heard: ['custom_profile_fields'],
    },
  ],
  'PATCH /realm/profile_fields': [
    {
      title: 'their order',
      as: 'iago',
      given: addFields,
      params: async (world) => ({ order: [...(await fieldIds(world))].reverse() }),
      heard: ['custom_profile_fields'],
    },
  ],
  'PATCH /realm/profile_fields/:field_id': [
    {
      title: 'a name',
      as: 'iago',
      given: addFields,
      at: () => ({ field_id: 1 }),
      params: { name: 'Motto', display_in_profile_summary: true },
      heard: ['custom_profile_fields'],
    },
  ],
  'DELETE /realm/profile_fields/:field_id': [
    {
      title: 'with what was said in it',
      as: 'iago',
      given: addFields,
      at: () => ({ field_id: 1 }),
      heard: ['custom_profile_fields'],
    },
  ],
  'PATCH /users/me/profile_data': [
    {
      title: 'new and other values',
      as: 'hamlet',
      given: addFields,
      params: async (world) => {
        const [quote, birthday] = await fieldIds(world);
        return {
          data: [
            { id: quote, value: 'To be, *or* not to be' },
            { id: birthday, value: '1601-01-01' },
          ],
        };
      },
      heard: ['realm_user/update'],
    },
  ],
  'DELETE /users/me/profile_data': [
    {
      title: 'a value',
      as: 'hamlet',
      given: addFields,
      params: async (world) => ({ data: await fieldIds(world) }),
      heard: ['realm_user/update'],
    },
  ],
  'PATCH /settings': [
    {
      title: 'their own',
      as: 'hamlet',
      params: { twenty_four_hour_time: true, color_scheme: 2, enable_drafts_synchronization: false },
      heard: ['user_settings/update'],
    },
    { title: 'a language', as: 'hamlet', params: { default_language: 'de' }, heard: ['user_settings/update'] },
    { title: 'a name', as: 'hamlet', params: { full_name: 'Prince Hamlet' }, heard: ['realm_user/update'] },
    {
      title: 'a time zone',
      as: 'hamlet',
      params: { timezone: 'Europe/Copenhagen' },
      heard: ['realm_user/update', 'user_settings/update'],
    },
    {
      title: 'who sees the address',
      as: 'hamlet',
      params: { email_address_visibility: 4 },
      heard: ['realm_user/update', 'user_settings/update'],
    },
  ],
  'PATCH /settings/display': [
    { title: 'their own', as: 'hamlet', params: { color_scheme: 2 }, heard: ['user_settings/update'] },
  ],
  'PATCH /settings/notifications': [
    { title: 'their own', as: 'hamlet', params: { enable_sounds: false }, heard: ['user_settings/update'] },
  ],
  'PATCH /realm/user_settings_defaults': [
    {
      title: 'of newcomers',
      as: 'desdemona',
      params: { color_scheme: 2, enable_sounds: false },
      heard: ['realm_user_settings_defaults/update'],
    },
  ],
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
      heard: ['realm/update_dict'],
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
      params: async ({ server }) => {
        const { moderators, administrators, nobody } = await server.storage.uow.read(({ groups }) =>
          groups.systemGroupIds(server.realmId),
        );
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
      title: 'whom guests know, who knew few',
      as: 'desdemona',
      params: async (world) => ({ can_access_all_users_group: { new: await systemGroup(world, 'everyone') } }),
      heard: ['realm/update_dict', ...ACQUAINTED],
    },
    {
      title: 'whom guests know, who knew everybody',
      as: 'desdemona',
      given: async (world) => {
        const everyone = await systemGroup(world, 'everyone');
        const params = { can_access_all_users_group: { new: everyone } };
        return world.server.patch('/realm', world.people.desdemona, params);
      },
      params: async (world) => ({ can_access_all_users_group: { new: await systemGroup(world, 'members') } }),
      heard: ['realm/update_dict', ...LOST],
    },
    {
      title: 'a jitsi server',
      as: 'desdemona',
      params: { jitsi_server_url: '"https://jitsi.example.com"' },
      heard: ['realm/update'],
    },
  ],
  'POST /register': [{ title: 'changes nothing', as: 'hamlet', heard: [] }],
  'DELETE /events': [
    {
      title: 'changes nothing',
      as: 'hamlet',
      params: async ({ server, people }) => {
        const { queue_id } = fieldsOf(await server.post('/register', people.hamlet, { event_types: [] }));
        return { queue_id };
      },
      heard: [],
    },
  ],
  'POST /fetch_api_key': [
    {
      title: 'changes nothing',
      as: null,
      params: ({ people: { hamlet } }) => ({ username: hamlet.email, password: hamlet.password }),
      heard: [],
    },
  ],
  'POST /dev_fetch_api_key': [
    { title: 'changes nothing', as: null, params: ({ people }) => ({ username: people.hamlet.email }), heard: [] },
  ],
};

/** The newest group: `makeGroup` has made it. */
const madeGroups = new WeakMap<World, number>();
function toGroup(world: World): Fields {
  return { user_group_id: madeGroups.get(world) };
}
function makeGroup(...members: readonly WorldPerson[]): (world: World) => Promise<void> {
  return async (world) => {
    const { server, people } = world;
    const params = { name: 'cast', description: '', members: members.map((name) => people[name].id) };
    madeGroups.set(world, fieldsOf(await server.post('/user_groups/create', people.iago, params)).group_id!);
  };
}
/** Such a group, whose members see a channel and make others. */
function letGroupSeeChannel(...members: readonly WorldPerson[]): (world: World) => Promise<void> {
  return async (world) => {
    const { server, people } = world;
    await makeGroup(...members)(world);
    const group = madeGroups.get(world);
    const params = { name: 'stage', subscribers: [people.iago.id], invite_only: true, can_subscribe_group: group };
    fieldsOf(await server.post('/channels/create', people.desdemona, params));
    fieldsOf(await server.patch('/realm', people.desdemona, { can_create_private_channel_group: { new: group } }));
  };
}

/** A quote and a birthday; Hamlet has the first. */
async function addFields({ server, people }: World): Promise<void> {
  for (const params of [
    { field_type: 1, name: 'Quote' },
    { field_type: 4, name: 'Birthday' },
  ]) {
    fieldsOf(await server.post('/realm/profile_fields', people.iago, params));
  }
  const data = [{ id: 1, value: 'Words' }];
  fieldsOf(await server.patch('/users/me/profile_data', people.hamlet, { data }));
}
async function fieldIds({ server, people }: World): Promise<number[]> {
  const { custom_fields } = fieldsOf(await server.get('/realm/profile_fields', people.iago));
  return (custom_fields as unknown as { id: number }[]).map(({ id }) => id);
}

async function systemGroup({ server }: World, name: 'everyone' | 'members' | 'moderators' | 'owners'): Promise<number> {
  return (await server.storage.uow.read(({ groups }) => groups.systemGroupIds(server.realmId)))[name];
}

function leaveTown({ server, people }: World): Promise<unknown> {
  return server.delete('/users/me/subscriptions', people.hamlet, { subscriptions: ['town'] });
}

const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;
const rows = Object.entries(SCENARIOS).flatMap(([route, scenarios]) =>
  scenarios.map((scenario) => [route, scenario.title, scenario] as const),
);

/** Events §9: the register answer, with the events that came since, is what a fresh register answers. */
describe('clients stay in step with the server', () => {
  it('in scenarios of every operation that may change something', async () => {
    const server = await TestServer.start();
    const changing = server.parley.routes.filter(({ method }) => method !== 'GET').map(nameOf);
    await server.close();
    expect(Object.keys(SCENARIOS).sort()).toEqual([...new Set(changing)].sort());
  });

  it.each(rows)('%s: %s', async (route, _, { as, given, params, at, heard }) => {
    const world = await World.open();
    try {
      await given?.(world);
      const clients = await world.observe();
      const [method, path] = route.split(' ') as [string, string];
      const place = at?.(world) ?? {};
      const reply = await world.server.request(
        method,
        path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(place[name]))),
        {
          as: as && world.people[as],
          params: (typeof params === 'function' ? await params(world) : params) ?? {},
        },
      );
      fieldsOf(reply);
      await expectInStep(clients);
      const told = new Set([...clients.values()].flatMap((client) => [...client.heard]));
      expect([...told].sort()).toEqual([...heard].sort());
    } finally {
      await world.close();
    }
  });
});
