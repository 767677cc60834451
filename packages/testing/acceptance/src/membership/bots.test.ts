import { GrantSpecialPermission } from '@parley/domain/users';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, notListed, type Wire } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

let count = 0;
/** Unique per test. */
let name: string;
const { server, people } = serverPerSuite();
beforeAll(async () => {
  await server.createChannel('secret', [people.hamlet], { invite_only: true });
  await server.createChannel('general');
});
beforeEach(() => {
  name = `helper${++count}`;
});

const create = (params: object = {}, as = people.hamlet) =>
  server.post('/bots', as, { full_name: `The ${name}`, short_name: name, ...params });
async function created(params: object = {}, as = people.hamlet): Promise<Wire> {
  return fieldsOf(await create(params, as));
}
/** Credentials of the bot itself. */
const asBot = ({ user_id, api_key }: Wire): TestUser =>
  ({ id: user_id, email: `${name}-bot@parley.invalid`, apiKey: api_key }) as TestUser;
const botsOf = async (as: TestUser): Promise<Wire> =>
  (fieldsOf(await server.post('/register', as, { fetch_event_types: ['realm_bot'] })) as Wire).realm_bots;
const botOf = async (as: TestUser, id: number): Promise<Wire> =>
  (await botsOf(as)).find(({ user_id }: Wire) => user_id === id);
const DEFAULTS = {
  default_sending_stream: null,
  default_events_register_stream: null,
  default_all_public_streams: false,
};
const listen = (as: TestUser, ...event_types: readonly string[]) => openQueue(server, as, { event_types });

describe('POST /bots (users §15)', () => {
  it('creates a bot owned by the caller', async () => {
    const { hamlet, desdemona, cordelia } = people;
    const queues = await Promise.all([hamlet, desdemona, cordelia].map((who) => listen(who, 'realm_bot')));
    const bot = await created();
    expect(bot).toEqual({
      user_id: expect.any(Number),
      email: expect.stringMatching(/^helper\d+-bot@parley\.invalid$/),
      api_key: expect.stringMatching(/^[A-Za-z0-9]{32}$/),
      avatar_url: expect.any(String),
      ...DEFAULTS,
    });
    expect(fieldsOf(await server.get('/users/me', asBot(bot)))).toMatchObject({
      email: `${name}-bot@parley.invalid`,
      full_name: `The ${name}`,
      is_bot: true,
      bot_type: 1,
      bot_owner_id: hamlet.id,
      role: 400,
    });
    const shown = { user_id: bot.user_id, ...DEFAULTS, services: [] };
    expect(await botOf(hamlet, bot.user_id)).toEqual(shown);
    expect(await botOf(desdemona, bot.user_id)).toEqual(shown);
    expect(await botsOf(cordelia)).toEqual([]);
    const told = [{ type: 'realm_bot', op: 'add', bot: shown }];
    expect(await Promise.all(queues.map((queue) => eventsAfter(server, queue)))).toEqual([told, told, []]);
  });

  it('publishes the bot as a user, then to its administrators', async () => {
    const queue = await listen(people.hamlet, 'realm_user', 'user_group', 'realm_bot');
    await created();
    const types = (await eventsAfter(server, queue)).map(({ type, op }) => `${type}/${op}`);
    expect(types).toEqual(['realm_user/add', 'user_group/add_members', 'user_group/add_members', 'realm_bot/add']);
  });

  it('creates outgoing webhooks with separate tokens', async () => {
    const url = 'http://127.0.0.1:1/';
    const bot = await created({ bot_type: 3, payload_url: JSON.stringify(url), interface_type: 2 });
    const { services } = await botOf(people.hamlet, bot.user_id);
    expect(services).toEqual([{ base_url: url, interface: 2, token: expect.stringMatching(/^\w{32}$/) }]);
    name += 'b';
    const other = await created({ bot_type: 3 });
    expect((await botOf(people.hamlet, other.user_id)).services).toEqual([
      { base_url: '', interface: 1, token: expect.not.stringContaining(services[0].token) },
    ]);
  });

  it('sets channels that the creator can access and hides private ones from everyone except the owner', async () => {
    const queue = await listen(people.desdemona, 'realm_bot');
    const bot = await created({
      default_sending_stream: 'secret',
      default_events_register_stream: 'general',
      default_all_public_streams: true,
    });
    const given = {
      default_sending_stream: 'secret',
      default_events_register_stream: 'general',
      default_all_public_streams: true,
    };
    expect(bot).toMatchObject(given);
    expect(await botOf(people.hamlet, bot.user_id)).toMatchObject(given);
    expect(await eventsAfter(server, queue)).toEqual([]);
    const sent = await server.post('/messages', asBot(bot), { type: 'channel', topic: 'x', content: 'beep' });
    expect(fieldsOf(sent)).toHaveProperty('id');
    name += 'b';
    for (const params of [{ default_sending_stream: 'none' }, { default_events_register_stream: 'none' }]) {
      expectRefusal(await create(params), "Invalid channel name 'none'");
    }
    expectRefusal(await create({ default_sending_stream: 'secret' }, people.cordelia), "Invalid channel name 'secret'");
  });

  it("applies the bot's defaults to queues that specify none (events §1)", async () => {
    const bot = asBot(await created({ default_events_register_stream: 'general', default_all_public_streams: true }));
    name += 'b';
    const everywhere = asBot(await created({ default_all_public_streams: true }));
    await server.createChannel(`of ${name}`);
    const queues = await Promise.all([
      listen(bot, 'message'),
      openQueue(server, bot, { event_types: ['message'], narrow: [] }),
      openQueue(server, bot, { event_types: ['message'], narrow: [['topic', 'y']] }),
      openQueue(server, bot, { event_types: ['message'], narrow: [['topic', 'y']], all_public_streams: false }),
      listen(everywhere, 'message'),
      openQueue(server, everywhere, { event_types: ['message'], all_public_streams: false }),
    ]);
    for (const to of ['general', `of ${name}`]) {
      await server.sendMessage(people.desdemona, to, { topic: 'x', content: to });
    }
    const told: Wire[] = await Promise.all(queues.map((queue) => eventsAfter(server, queue)));
    expect(told.map((events) => events.map(({ message }: Wire) => message.display_recipient))).toEqual([
      ['general'],
      ['general'],
      [],
      [],
      ['general', `of ${name}`],
      [],
    ]);
  });

  it.each([
    [{ short_name: ' ' }, 'Bad name or username'],
    [{ short_name: 'a b' }, 'Bad name or username'],
    [{ short_name: '', full_name: 'a' }, 'Bad name or username'],
    [{ full_name: 'a' }, 'Name too short!'],
    [{ full_name: 'x'.repeat(101) }, 'Name too long!'],
    [{ full_name: 'a*b' }, 'Invalid characters in name!'],
    [{ bot_type: 4 }, 'Embedded bots are not enabled.'],
    [{ bot_type: 9 }, 'Invalid bot type'],
    [{ bot_type: 3, interface_type: 3 }, 'Invalid interface type'],
    [{ full_name: 'King Hamlet' }, 'Name is already in use.'],
    [{ payload_url: 'x' }, 'payload_url is not valid JSON'],
    [{ bot_type: 'x' }, 'bot_type is not valid JSON'],
    [{ default_all_public_streams: 1 }, 'default_all_public_streams is not a boolean'],
    [{ config_data: [] }, 'config_data is not a dict'],
  ])('rejects %j', async (params, msg) => {
    const before = await botsOf(people.hamlet);
    expectRefusal(await create(params), msg);
    expect(await botsOf(people.hamlet)).toEqual(before);
  });

  it.each([
    ...['nowhere', 'javascript:alert(1)', 'ftp://example.com/', 'http:/x', 'http://', 'http://127.0.0.:5002'],
    ...['http://5/', 'http://a..b/', 'http://256.1.1.1/', 'https://example.com/a b'],
  ])('rejects %j as the URL of an outgoing webhook', async (url) => {
    expectRefusal(
      await create({ bot_type: 3, payload_url: JSON.stringify(url) }),
      'Invalid payload_url: Value error, Not a URL',
    );
  });

  it.each(['http://127.0.0.1:5002', 'http://[::1]/', 'http://shop:8080/hook', 'https://bücher.example/?a=b'])(
    'accepts %j as the URL of an outgoing webhook',
    async (url) => {
      const bot = await created({ bot_type: 3, payload_url: JSON.stringify(url) });
      expect((await botOf(people.hamlet, bot.user_id)).services).toMatchObject([{ base_url: url }]);
    },
  );

  it('does not support embedded bots', async () => {
    const fetched = { fetch_event_types: ['realm_embedded_bots'] };
    expect(fieldsOf(await server.post('/register', people.hamlet, fetched))).toMatchObject({ realm_embedded_bots: [] });
  });

  it('rejects an address or name that is already in use', async () => {
    await created();
    expectRefusal(await create({ full_name: 'Somebody else' }), 'Email is already in use.');
    expectRefusal(await create({ short_name: name.toUpperCase() }), 'Email is already in use.');
    expectRefusal(await create({ short_name: `${name}x` }), 'Name is already in use.');
  });

  it('rejects callers who may not create bots', async () => {
    expectRefusal(await create({}, people.polonius), 'Not allowed for guest users');
    const bot = asBot(await created());
    name += 'b';
    expectRefusal(await create({}, bot), 'This endpoint does not accept bot requests.');
  });

  it('requires permission to create bots of the requested type', async () => {
    const change = (permission: 'canCreateBots' | 'canCreateWriteOnlyBots', group: 'members' | 'administrators') =>
      server.storage.uow.write(server.realmId, async (tx) => {
        const realm = await tx.realms.get(server.realmId);
        const groups = await tx.groups.systemGroupIds(realm.id);
        await tx.realms.update({ ...realm, permissions: { ...realm.permissions, [permission]: groups[group] } });
      });
    await change('canCreateBots', 'administrators');
    await change('canCreateWriteOnlyBots', 'members');
    expectRefusal(await create(), 'Insufficient permission');
    expectRefusal(await create({ bot_type: 3 }), 'Insufficient permission');
    fieldsOf(await create({ bot_type: 2 }));
    await change('canCreateBots', 'members');
  });

  it('rejects more than a thousand bots', async () => {
    const owner = await server.addUser({ email: `owner${count}@zulip.com`, fullName: `Owner ${count}` });
    await server.storage.uow.write(owner.user.realmId, async (tx) => {
      const bot = { kind: 'generic', ownerId: owner.id, isSystem: false, defaultSendingChannelId: null } as const;
      for (let n = 0; n < 1000; n++) {
        await tx.users.add({ ...owner.user, email: `b${n}@zulip.com`, fullName: `B ${n}`, isActive: false, bot }, null);
      }
    });
    expectRefusal(await create({}, owner), 'Too many bots (limit: 1000).');
  });
});

describe('GET /bots', () => {
  it("lists the caller's active bots with their keys", async () => {
    const owner = await server.addUser({ email: `owner${count}@zulip.com`, fullName: `Owner ${count}` });
    const list = async () => fieldsOf(await server.get('/bots', owner)).bots;
    expect(await list()).toEqual([]);
    const first = await created({ default_sending_stream: 'general' }, owner);
    const { user_id: _, email: username, ...rest } = first;
    expect(await list()).toEqual([{ username, full_name: `The ${name}`, ...rest, default_sending_stream: 'general' }]);
    fieldsOf(await server.delete(`/bots/${first.user_id}`, owner));
    expect(await list()).toEqual([]);
  });

  it('issues a key to a bot without one', async () => {
    const owner = await server.addUser({ email: `owner${count}@zulip.com`, fullName: `Owner ${count}` });
    const keyless = async (localPart: string) => {
      const { user } = await server.addBot(owner, `${localPart}-${count}`);
      const { id: _, version: __, ...bot } = user;
      const row = { ...bot, email: `${localPart}-keyless-${count}@zulip.com`, fullName: `${localPart} ${count}` };
      return server.storage.uow.write(row.realmId, (tx) => tx.users.add(row, null));
    };
    const [listed, shown] = [await keyless('listed'), await keyless('shown')];
    const key = fieldsOf(await server.get(`/bots/${shown.id}/api_key`, owner)).api_key;
    const { bots } = fieldsOf(await server.get('/bots', owner)) as Wire;
    const keyOf = ({ email }: { email: string }) => bots.find(({ username }: Wire) => username === email).api_key;
    expect(keyOf(shown)).toBe(key);
    for (const bot of [listed, shown]) {
      fieldsOf(await server.get('/users/me', { ...bot, apiKey: keyOf(bot) } as never));
    }
  });

  it("hides the name of a private channel that the bot's owner cannot see", async () => {
    const vault = await server.createChannel('vault', [people.hamlet, people.desdemona], { invite_only: true });
    const names = { default_sending_stream: 'vault', default_events_register_stream: 'vault' };
    const hidden = { default_sending_stream: null, default_events_register_stream: null };
    const { user_id } = await created(names);
    const mine = async () => {
      const { bots } = fieldsOf(await server.get('/bots', people.hamlet));
      return bots.find(({ username }: Wire) => username === `${name}-bot@parley.invalid`);
    };
    expect(await mine()).toMatchObject(names);
    await server.delete('/users/me/subscriptions', people.desdemona, {
      subscriptions: ['vault'],
      principals: [people.hamlet.id],
    });
    fieldsOf(await server.patch(`/streams/${vault}`, people.desdemona, { new_name: 'merger' }));
    expect(await mine()).toMatchObject(hidden);
    expect(await botOf(people.hamlet, user_id)).toMatchObject(hidden);
    expect(await botOf(people.desdemona, user_id)).toMatchObject({ default_sending_stream: 'merger' });

    const queue = await listen(people.hamlet, 'realm_bot');
    const update = (params: Wire, as = people.hamlet) => server.patch(`/bots/${user_id}`, as, params);
    expect(fieldsOf(await update({ default_all_public_streams: true }))).toMatchObject(hidden);
    fieldsOf(await update({ default_sending_stream: 'general' }));
    fieldsOf(await update({ default_sending_stream: 'merger' }, people.desdemona));
    expect((await eventsAfter(server, queue)).map(({ bot }) => bot)).toEqual([
      { user_id, default_all_public_streams: true },
      { user_id, default_sending_stream: 'general' },
      { user_id, default_sending_stream: null },
    ]);

    const next = await listen(people.shiva, 'realm_bot');
    fieldsOf(await update({ bot_owner_id: people.shiva.id }, people.desdemona));
    expect(await eventsAfter(server, next)).toMatchObject([{ op: 'add', bot: { user_id, ...hidden } }]);
  });

  it('omits bots with more rights than the caller, because the list contains their keys', async () => {
    const { user_id } = await created();
    fieldsOf(await server.patch(`/users/${user_id}`, people.desdemona, { role: 200 }));
    const { bots } = fieldsOf(await server.get('/bots', people.hamlet));
    expect(bots.map(({ username }: Wire) => username)).not.toContain(`${name}-bot@parley.invalid`);
  });

  it('rejects bots and guests', async () => {
    const bot = await server.addBot(people.hamlet, `lister-${count}`);
    expectRefusal(await server.get('/bots', bot), 'This endpoint does not accept bot requests.');
    expectRefusal(await server.get('/bots', people.polonius), 'Not allowed for guest users');
  });
});

describe('PATCH /bots/:bot_id', () => {
  const update = (id: number, params: object, as = people.hamlet) => server.patch(`/bots/${id}`, as, { ...params });

  it('returns the updated bot', async () => {
    const bot = await created();
    const { avatar_url } = bot;
    const unchanged = {
      full_name: `The ${name}`,
      avatar_url,
      service_interface: 1,
      service_payload_url: null,
      config_data: null,
      ...DEFAULTS,
      bot_owner: people.hamlet.email,
    };
    expect(fieldsOf(await update(bot.user_id, {}))).toEqual(unchanged);
    const options = {
      default_sending_stream: 'secret',
      default_events_register_stream: 'general',
      default_all_public_streams: true,
    };
    const changed = { ...unchanged, full_name: `${name} anew`, ...options };
    expect(fieldsOf(await update(bot.user_id, { full_name: `${name} anew`, ...options }))).toEqual(changed);
    expect(fieldsOf(await update(bot.user_id, {}))).toEqual(changed);
    const cleared = { default_sending_stream: '', default_events_register_stream: '' };
    expect(fieldsOf(await update(bot.user_id, cleared))).toMatchObject({
      default_sending_stream: null,
      default_events_register_stream: null,
      default_all_public_streams: true,
    });
  });

  it('publishes changes, with private channels only to the owner', async () => {
    const bot = await created();
    const queues = await Promise.all([people.hamlet, people.iago].map((who) => listen(who, 'realm_bot')));
    const { user_id } = bot;
    await update(user_id, { default_sending_stream: 'general', default_all_public_streams: false });
    await update(user_id, { default_sending_stream: 'general' });
    await update(user_id, { default_sending_stream: 'secret' });
    const change = (default_sending_stream: string) => ({
      type: 'realm_bot',
      op: 'update',
      bot: { user_id, default_sending_stream },
    });
    const [own, admins] = await Promise.all(queues.map((queue) => eventsAfter(server, queue)));
    expect(own).toEqual([change('general'), change('secret')]);
    expect(admins).toEqual([change('general')]);
  });

  it('changes the URL of an outgoing webhook', async () => {
    const { user_id } = await created({ bot_type: 3, payload_url: '"https://one.example/"' });
    const [{ token }] = (await botOf(people.hamlet, user_id)).services;
    const params = { service_payload_url: '"https://two.example/"', service_interface: 2 };
    expect(fieldsOf(await update(user_id, params))).toMatchObject({
      service_interface: 2,
      service_payload_url: 'https://two.example/',
    });
    expect((await botOf(people.hamlet, user_id)).services).toEqual([
      { base_url: 'https://two.example/', interface: 2, token },
    ]);
    expectRefusal(await update(user_id, { service_interface: 3 }), 'Invalid interface type');
  });

  it('transfers the bot to another owner', async () => {
    const { hamlet, cordelia, iago } = people;
    const { user_id } = await created();
    const queues = await Promise.all([hamlet, cordelia, iago].map((who) => listen(who, 'realm_bot', 'realm_user')));
    expect(fieldsOf(await update(user_id, { bot_owner_id: cordelia.id }))).toMatchObject({ bot_owner: cordelia.email });
    const owner = { type: 'realm_user', op: 'update', person: { user_id, bot_owner_id: cordelia.id } };
    const bot = { user_id, ...DEFAULTS, services: [] };
    expect(await Promise.all(queues.map((queue) => eventsAfter(server, queue)))).toEqual([
      [{ type: 'realm_bot', op: 'delete', bot: { user_id } }, owner],
      [{ type: 'realm_bot', op: 'add', bot }, owner],
      [owner],
    ]);
    expect(await botsOf(cordelia)).toEqual([bot]);
    expectRefusal(await update(user_id, {}), 'Insufficient permission');
    fieldsOf(await server.delete(`/bots/${user_id}`, cordelia));
  });

  it("changes the bot's email, which is needed to get its key", async () => {
    const bot = await created();
    fieldsOf(await server.get('/users/me', asBot(bot)));
    fieldsOf(await update(bot.user_id, { short_name: `${name}-anew` }));
    expectRefusal(await server.get('/users/me', asBot(bot)), 'Invalid API key', { status: 401, code: 'UNAUTHORIZED' });
    name += '-anew';
    fieldsOf(await server.get('/users/me', asBot(bot)));
    fieldsOf(await update(bot.user_id, { short_name: name }));
  });

  it("changes the bot's role if the caller has permission", async () => {
    const { user_id } = await created();
    expectRefusal(await update(user_id, { role: 300 }), 'Must be an organization administrator', {
      code: 'UNAUTHORIZED_PRINCIPAL',
    });
    expectRefusal(await update(user_id, { role: 100 }, people.iago), 'Must be an organization owner', {
      code: 'UNAUTHORIZED_PRINCIPAL',
    });
    expectRefusal(await update(user_id, { role: 5 }, people.iago), notListed('role'));
    fieldsOf(await update(user_id, { role: 400 }));
    fieldsOf(await update(user_id, { role: 300 }, people.iago));
    expect(fieldsOf(await server.get(`/users/${user_id}`, people.hamlet))).toMatchObject({ user: { role: 300 } });
  });

  it.each([
    [{ full_name: 'a' }, 'Name too short!'],
    [{ full_name: 'King Hamlet' }, 'Name is already in use.'],
    [{ short_name: '' }, 'Bad name or username'],
    [{ bot_owner_id: 99_999 }, 'Failed to change owner, no such user'],
    [{ default_sending_stream: 'none' }, "Invalid channel name 'none'"],
    [{ default_events_register_stream: 'none' }, "Invalid channel name 'none'"],
    [{ service_payload_url: '"nowhere"' }, 'Invalid service_payload_url: Value error, Not a URL'],
  ])('rejects %j without changing anything', async (params, msg) => {
    const { user_id } = await created();
    const before = fieldsOf(await update(user_id, {}));
    expectRefusal(await update(user_id, { default_all_public_streams: true, ...params }), msg);
    expect(fieldsOf(await update(user_id, {}))).toEqual(before);
  });

  it('rejects invalid names and owners', async () => {
    const first = await created();
    const taken = name;
    name += 'b';
    const { user_id } = await created();
    expectRefusal(await update(user_id, { short_name: taken }), 'Email is already in use.');
    expectRefusal(await update(user_id, { full_name: `The ${taken}` }), 'Name is already in use.');
    const own = "Failed to change owner, bots can't own other bots";
    expectRefusal(await update(user_id, { bot_owner_id: first.user_id }), own);
    const gone = await server.addUser({ email: `gone${count}@zulip.com`, fullName: `Gone ${count}` });
    await server.changeUser(gone, { isActive: false });
    expectRefusal(await update(user_id, { bot_owner_id: gone.id }), 'Failed to change owner, user is deactivated');
  });
});

describe('DELETE /bots/:bot_id', () => {
  it('deactivates a bot once and ends its queues', async () => {
    const bot = await created();
    const queue = await listen(people.cordelia, 'realm_user', 'realm_bot');
    for (const as of [people.hamlet, people.iago]) {
      expect(fieldsOf(await server.delete(`/bots/${bot.user_id}`, as))).toEqual({});
    }
    expect(await eventsAfter(server, queue)).toEqual([
      { type: 'realm_user', op: 'update', person: { user_id: bot.user_id, is_active: false } },
    ]);
    expectRefusal(await server.get('/users/me', asBot(bot)), 'Account is deactivated', {
      status: 401,
      code: 'UNAUTHORIZED',
    });
  });

  it('removes the bot from subscriber lists', async () => {
    const bot = await created();
    const params = { subscriptions: [{ name: 'general' }], principals: [bot.user_id] };
    fieldsOf(await server.post('/users/me/subscriptions', people.hamlet, params));
    const queue = await listen(people.cordelia, 'subscription');
    fieldsOf(await server.delete(`/bots/${bot.user_id}`, people.hamlet));
    expect(await eventsAfter(server, queue)).toMatchObject([{ op: 'peer_remove', user_ids: [bot.user_id] }]);
  });
});

describe('API key', () => {
  it("shows and regenerates a bot's key for its administrators", async () => {
    const bot = await created();
    const path = `/bots/${bot.user_id}/api_key`;
    for (const as of [people.hamlet, people.desdemona]) {
      expect(fieldsOf(await server.get(path, as))).toEqual({ api_key: bot.api_key });
    }
    const { api_key } = fieldsOf(await server.post(`${path}/regenerate`, people.hamlet));
    expect(api_key).not.toBe(bot.api_key);
    expect(fieldsOf(await server.get(path, people.hamlet))).toEqual({ api_key });
    expectRefusal(await server.get('/users/me', asBot(bot)), 'Invalid API key', { status: 401, code: 'UNAUTHORIZED' });
    fieldsOf(await server.get('/users/me', asBot({ ...bot, api_key })));
  });

  it("regenerates the caller's key immediately, ending queues and legacy push tokens", async () => {
    const user = await server.addUser({ email: `user${count}@zulip.com`, fullName: `User ${count}` });
    await server.post('/users/me/android_gcm_reg_id', user, { token: 'token' });
    const queue = await listen(user, 'message');
    const polling = server.get('/events', user, { queue_id: queue.id, last_event_id: -1 });
    await server.get('/users/me', user);
    const { api_key } = fieldsOf(await server.post('/users/me/api_key/regenerate', user)) as Wire;
    expect(fieldsOf(await polling).events).toEqual([]);
    expectRefusal(await server.get('/users/me', user), 'Invalid API key', { status: 401, code: 'UNAUTHORIZED' });
    const again = { ...user, apiKey: api_key };
    const poll = { queue_id: queue.id, last_event_id: -1, dont_block: true };
    expect((await server.get('/events', again, poll)).body.code).toBe('BAD_EVENT_QUEUE_ID');
    expectRefusal(
      await server.delete('/users/me/android_gcm_reg_id', again, { token: 'token' }),
      'Token does not exist',
    );
    const fetched = await server.post('/fetch_api_key', null, { username: user.email, password: user.password });
    expect(fieldsOf(fetched)).toMatchObject({ api_key });
  });

  it('lets a bot regenerate its own key', async () => {
    const bot = await created();
    const { api_key } = fieldsOf(await server.post('/users/me/api_key/regenerate', asBot(bot)));
    fieldsOf(await server.get('/users/me', asBot({ ...bot, api_key })));
  });

  it('ends queues without a pending poll when the key is regenerated', async () => {
    const user = await server.addUser({ email: `user${count}@zulip.com`, fullName: `User ${count}` });
    await listen(user, 'message');
    await server.post('/users/me/api_key/regenerate', user);
    const queues = await server.storage.uow.read(server.realmId, (r) => r.queues.listOf(server.realmId, user.id));
    expect(queues).toEqual([]);
  });
});

describe.each([
  ['PATCH', (id: number) => `/bots/${id}`],
  ['DELETE', (id: number) => `/bots/${id}`],
  ['GET', (id: number) => `/bots/${id}/api_key`],
  ['POST', (id: number) => `/bots/${id}/api_key/regenerate`],
])('%s for a bot', (method, pathOf) => {
  const call = (id: number, as: TestUser) => server.request(method, pathOf(id), { as });

  it("requires the bot's owner or an administrator", async () => {
    const bot = await created();
    for (const as of [people.cordelia, people.shiva, people.polonius, asBot(bot)]) {
      expectRefusal(await call(bot.user_id, as), 'Insufficient permission');
    }
  });

  it('rejects users who are not bots of the organization', async () => {
    const system = await server.storage.uow.read(server.realmId, (r) =>
      r.users.findSystemBot(server.realmId, 'welcome'),
    );
    for (const id of [99_999, people.cordelia.id, system.id]) {
      expectRefusal(await call(id, people.desdemona), 'No such bot');
    }
    const realmId = await server.addRealm(`other${count}`);
    const outsider = await server.addUser({ email: 'outsider@zulip.com', fullName: 'Outsider', realmId });
    const theirs = await server.addBot(outsider, `their${count}`);
    expectRefusal(await call(theirs.id, people.desdemona), 'No such bot');
  });

  it('requires an organization owner if the bot may create users', async () => {
    const bot = await created();
    await server.parley.useCase(GrantSpecialPermission).execute({
      realmId: server.realmId,
      email: `${name}-bot@parley.invalid`,
      permission: 'canCreateUsers',
    });
    for (const as of [people.hamlet, people.iago]) {
      expectRefusal(await call(bot.user_id, as), 'Must be an organization owner', { code: 'UNAUTHORIZED_PRINCIPAL' });
    }
    expect((await call(bot.user_id, people.desdemona)).status).toBe(200);
  });
});
