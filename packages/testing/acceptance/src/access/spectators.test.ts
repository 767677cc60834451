import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { imageFile, postFiles } from '../testing/multipart.js';
import { serverPerSuite } from '../testing/servers.js';
import { TestBrowser } from '../testing/test-browser.js';
import type { TestUser } from '../testing/test-server.js';

/** Message in the web-public channel `museum`. */
let shown: number;
let other: number;
/** Message in a public channel. */
let hidden: number;

const { server, people } = serverPerSuite();
beforeAll(async () => {
  const { hamlet } = people;
  await allow(true);
  await server.createChannel('museum', [hamlet], { is_web_public: true });
  await server.createChannel('general', [hamlet]);
  shown = await say('museum', 'old paintings');
  other = await say('museum', 'statues', '✔ halls');
  hidden = await say('general', 'old plans');
  fieldsOf(await server.post('/messages/flags', hamlet, { messages: [shown], op: 'add', flag: 'starred' }));
});

const allow = async (enable_spectator_access: boolean) =>
  fieldsOf(await server.patch('/realm', people.desdemona, { enable_spectator_access }));
const say = (to: string, content: string, topic = 'halls', as: TestUser = people.hamlet) =>
  server.sendMessage(as, to, { topic, content });
const idOf = async (name: string) =>
  fieldsOf(await server.get('/get_stream_id', people.desdemona, { stream: name })).stream_id;
const WEB_PUBLIC = ['channels', 'web-public'];
const page = (narrow: readonly unknown[], range: object = { anchor: 'newest', num_before: 10, num_after: 0 }) =>
  server.get('//json/messages', null, { narrow, ...range });
const idsOn = async (...args: Parameters<typeof page>) =>
  (fieldsOf(await page(...args)) as Wire).messages.map(({ id }: Wire) => id).filter((id: number) => id >= shown);
const expectUnauthorized = (reply: Awaited<ReturnType<typeof page>>) =>
  expectRefusal(reply, 'Not logged in: API authentication or user session required', {
    status: 401,
    code: 'UNAUTHORIZED',
  });

describe('spectator access (protocol §9)', () => {
  it('returns pages of web-public channels without user data', async () => {
    expect(await idsOn([WEB_PUBLIC])).toEqual([shown, other]);
    expect(
      await idsOn([
        ['streams', 'web-public'],
        ['channel', 'museum'],
        ['topic', 'halls'],
      ]),
    ).toEqual([shown]);
    expect(await idsOn([WEB_PUBLIC, ['channel', 'general']])).toEqual([]);
    expect(await idsOn([WEB_PUBLIC, ['is', 'resolved']])).toEqual([other]);
    expect(await idsOn([WEB_PUBLIC, ['sender', 'hamlet@zulip.com'], ['near', '1']])).toEqual([shown, other]);
    expect(await idsOn([WEB_PUBLIC, ['with', String(other)]])).toEqual([other]);
    expect(await idsOn([WEB_PUBLIC], { message_ids: [shown, hidden] })).toEqual([shown]);
    const { anchor } = fieldsOf(
      await page([WEB_PUBLIC], { anchor: 'first_unread', num_before: 1, num_after: 1 }),
    ) as Wire;
    expect(anchor).toBe(10 ** 16);
    const { messages } = fieldsOf(await page([WEB_PUBLIC, ['search', 'old']])) as Wire;
    expect(messages).toEqual([
      expect.objectContaining({
        id: shown,
        flags: ['read'],
        content: '<p>old paintings</p>',
        match_content: '<p><span class="highlight">old</span> paintings</p>',
      }),
    ]);
  });

  it.each([
    [[]],
    [[['channel', 'museum']]],
    [[{ operator: 'channels', operand: 'web-public', negated: true }]],
    [[WEB_PUBLIC, ['is', 'starred']]],
    [[WEB_PUBLIC, ['in', 'home']]],
    [[WEB_PUBLIC, { operator: 'dm', operand: [1], negated: true }]],
  ])('rejects the narrow %j', async (narrow) => {
    expectUnauthorized(await page(narrow));
  });

  it('returns a single message of a web-public channel', async () => {
    const read = (id: number) => server.get(`//json/messages/${id}`, null);
    const { message, raw_content } = fieldsOf(await read(shown)) as Wire;
    expect(message).toMatchObject({ id: shown, flags: ['read'], sender_email: 'hamlet@zulip.com' });
    expect(raw_content).toBe('old paintings');
    for (const id of [hidden, 99999999]) expectRefusal(await read(id), 'Invalid message(s)');
  });

  it('lists the topics of a web-public channel', async () => {
    const topicsOf = (id: number) => server.get(`//json/users/me/${id}/topics`, null);
    const names = (fieldsOf(await topicsOf(await idOf('museum'))) as Wire).topics.map(({ name }: Wire) => name);
    expect(names).toEqual(['✔ halls', 'halls', 'channel events']);
    expectRefusal(await topicsOf(await idOf('general')), 'Invalid channel ID');
    expectRefusal(await topicsOf(99999999), 'Invalid channel ID');
  });

  it('lists users with reduced fields', async () => {
    const { members } = fieldsOf(await server.get('//json/users', null)) as Wire;
    const hamlet = members.find(({ user_id }: Wire) => user_id === people.hamlet.id);
    const own = (fieldsOf(await server.get(`/users/${people.hamlet.id}`, people.hamlet)) as Wire).user;
    const { timezone, ...shown } = { ...own, delivery_email: null, date_joined: own.date_joined.slice(0, 10) };
    expect(hamlet).toEqual(shown);
    const { members: some } = fieldsOf(
      await server.get('//json/users', null, { user_ids: [people.hamlet.id] }),
    ) as Wire;
    expect(some).toEqual([hamlet]);
  });

  describe('avatar by id (users §1.3)', () => {
    const redirect = async (path: string) => {
      const { status, headers } = await server.request('GET', `//avatar/${path}`, {});
      return [status, headers.location];
    };
    const avatarsUrl = () => `${server.url}/user_avatars/${server.realmId}`;

    it('reveals nothing about emails', async () => {
      const { hamlet, desdemona } = people;
      fieldsOf(await server.patch('/realm', desdemona, { default_avatar_source: 'G' }));
      fieldsOf(await postFiles(server, '/users/me/avatar', hamlet, [imageFile()]));
      fieldsOf(await server.delete('/users/me/avatar', hamlet));
      expect((fieldsOf(await server.get(`/users/me`, hamlet)) as Wire).avatar_url).toContain('gravatar');
      expect(await redirect(`${hamlet.id}`)).toEqual([302, `${avatarsUrl()}/${hamlet.id}.png?version=3`]);
      expect(await redirect(`${hamlet.id}/medium`)).toEqual([302, `${avatarsUrl()}/${hamlet.id}-medium.png?version=3`]);
    });

    it('is the default for unknown users, and for all users if guests have limited access', async () => {
      const { hamlet, desdemona } = people;
      const unknown = [302, `${avatarsUrl()}/unknown.png`];
      expect(await redirect('999999')).toEqual(unknown);
      const { members, everyone } = await server.systemGroups();
      const limit = (group: number) =>
        server.patch('/realm', desdemona, { can_access_all_users_group: { new: group } });
      fieldsOf(await limit(members));
      expect(await redirect(`${hamlet.id}`)).toEqual(unknown);
      fieldsOf(await limit(everyone));
    });

    it('responds 401 if the organization disables spectators', async () => {
      await allow(false);
      expect((await redirect(`${people.hamlet.id}`))[0]).toBe(401);
      await allow(true);
    });
  });

  it('does not apply under /api/v1', async () => {
    expectUnauthorized(await server.get('/messages', null, { narrow: [WEB_PUBLIC], anchor: 'newest' }));
    expectUnauthorized(await server.get(`/messages/${shown}`, null));
  });

  describe('POST /json/register (events §1)', () => {
    const register = async (params = {}) => {
      const browser = new TestBrowser(server);
      await browser.get('/accounts/login/');
      return browser.post('/json/register', params);
    };

    it('returns public fields without a queue', async () => {
      const fields = fieldsOf(await register()) as Wire;
      expect(fields).toMatchObject({
        queue_id: null,
        zulip_feature_level: 496,
        user_id: 0,
        full_name: 'Anonymous User',
        delivery_email: '',
        is_guest: true,
        is_admin: false,
        can_create_public_streams: false,
        max_message_id: -1,
        realm_name: 'Realm zulip',
        realm_allow_message_editing: false,
        realm_presence_disabled: true,
        presences: {},
        realm_user_groups: [],
        realm_domains: [],
        subscriptions: [],
        unsubscribed: [],
        unread_msgs: { count: 0 },
      });
      for (const absent of ['last_event_id', 'idle_queue_timeout_secs']) expect(fields).not.toHaveProperty(absent);
      for (const list of [fields.streams, fields.never_subscribed]) {
        expect(list.map(({ name }: Wire) => name)).toEqual(['museum']);
      }
      const { realm_users } = fields;
      expect(realm_users).toHaveLength(6);
      for (const user of realm_users)
        expect(user).toMatchObject({ delivery_email: null, date_joined: expect.any(String) });
      expect(JSON.stringify(fields)).not.toContain('"name":"general"');
      const everything = Object.keys(fieldsOf(await server.post('/register', people.hamlet)));
      const never = ['last_event_id', 'idle_queue_timeout_secs'];
      expect(everything.filter((name) => !(name in fields) && !never.includes(name))).toEqual([]);
    });

    it('returns the requested fields', async () => {
      const { queue_id, ...fields } = fieldsOf(await register({ event_types: ['message'] })) as Wire;
      expect(queue_id).toBeNull();
      expect(Object.keys(fields).sort()).toEqual([
        'max_message_id',
        'zulip_feature_level',
        'zulip_merge_base',
        'zulip_version',
      ]);
    });

    it.each([
      [{ client_gravatar: true }, 'client_gravatar'],
      [{ client_gravatar: true, include_subscribers: true }, 'client_gravatar'],
      [{ include_subscribers: true }, 'include_subscribers'],
      [{ include_subscribers: 'partial' }, 'include_subscribers'],
    ])('rejects %j', async (params, parameter) => {
      expectRefusal(await register(params), `Invalid '${parameter}' parameter for anonymous request`);
    });

    it('rejects cross-site requests and opens no queue', async () => {
      const bare = await server.request('POST', '//json/register', { params: {} });
      expectRefusal(bare, 'CSRF error: CSRF cookie not set.', {
        status: 403,
        code: 'CSRF_FAILED',
        reason: 'CSRF cookie not set.',
      });
      expect((await server.get('//json/events', null, { queue_id: 'x', last_event_id: -1 })).status).toBe(401);
      await allow(false);
      expectUnauthorized(await register());
      await allow(true);
    });
  });

  it('rejects access if the organization disables it or has no web-public channel', async () => {
    await allow(false);
    expectUnauthorized(await page([WEB_PUBLIC]));
    expectUnauthorized(await server.get(`//json/messages/${shown}`, null));
    await allow(true);
    await server.addRealm('bare');
    expectUnauthorized(await server.request('GET', `//json/messages/${shown}`, { realm: 'bare' }));
  });
});

it('spectators lose access while an organization is deactivated', async () => {
  const { uow } = server.storage;
  const setDeactivated = (isDeactivated: boolean) =>
    uow.write(
      server.realmId,
      async (tx) => void (await tx.realms.update({ ...(await tx.realms.get(server.realmId)), isDeactivated })),
    );
  expect(await idsOn([WEB_PUBLIC])).toEqual([shown, other]);
  await setDeactivated(true);
  expectUnauthorized(await page([WEB_PUBLIC]));
  await setDeactivated(false);
  expect(await idsOn([WEB_PUBLIC])).toEqual([shown, other]);
});
