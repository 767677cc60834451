import { ConfigureRealm } from '@parley/domain/log-in';
import { PresenceBoard } from '@parley/domain/users';
import { eventsAfter, openQueue, type TestQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { sharedServer, TestServer, type TestUser } from '../testing/test-server.js';
import { ALL_CAPABILITIES } from '../testing/wire-client.js';

let server: TestServer;
let people: TestServer['people'];
const newOrganization = sharedServer();
beforeEach(async () => {
  server = await newOrganization();
  ({ people } = server);
});

const now = () => server.clock.now();
const report = (as: TestUser, params: object = {}) =>
  server.post('/users/me/presence', as, { status: 'active', ...params });
const reported = async (as: TestUser, params: object = {}): Promise<Wire> => fieldsOf(await report(as, params));
/** Stores reports, as a running server does every second. */
const save = () => server.parley.useCase(PresenceBoard).save();
const times = (active_timestamp: number, idle_timestamp = active_timestamp) => ({ active_timestamp, idle_timestamp });
const client = (status: 'active' | 'idle', timestamp: number) => ({ client: 'website', status, timestamp });
const legacy = (status: 'active' | 'idle', timestamp: number) => ({
  aggregated: client(status, timestamp),
  website: { ...client(status, timestamp), pushable: false },
});
/** Presence events reach only queues that have been polled. */
async function listen(as: TestUser, params: object = {}): Promise<TestQueue> {
  const queue = await openQueue(server, as, { event_types: ['presence', 'user_settings'], ...params });
  await eventsAfter(server, queue);
  return queue;
}
const hidePresence = (as: TestUser, presence_enabled: boolean) => server.patch('/settings', as, { presence_enabled });

describe('POST /users/me/presence (users §8.1)', () => {
  it('returns present users in the format for older clients', async () => {
    const { hamlet, cordelia } = people;
    const at = now();
    expect(await reported(hamlet)).toEqual({
      presences: { [hamlet.email]: legacy('active', at) },
      server_timestamp: at,
      presence_last_update_id: -1,
    });
    server.clock.advance(10);
    expect((await reported(cordelia, { status: 'idle' })).presences).toEqual({
      [hamlet.email]: legacy('active', at),
      [cordelia.email]: legacy('idle', at + 10),
    });
  });

  it('returns users by id since the last update', async () => {
    const { hamlet, cordelia } = people;
    const at = now();
    // Shown immediately, and again once it has an id.
    const unsaved = { presences: { [hamlet.id]: times(at) }, server_timestamp: at, presence_last_update_id: -1 };
    expect(await reported(hamlet, { last_update_id: -1 })).toEqual(unsaved);
    await save();
    const first = await reported(hamlet, { last_update_id: -1 });
    expect(first).toEqual({ ...unsaved, presence_last_update_id: 1 });
    const id = first.presence_last_update_id;
    expect(await reported(hamlet, { last_update_id: id })).toMatchObject({
      presences: {},
      presence_last_update_id: id,
    });
    const second = await reported(cordelia, { last_update_id: id });
    expect(second).toMatchObject({ presences: { [cordelia.id]: times(at) }, presence_last_update_id: id });
    await save();
    const third = await reported(hamlet, { last_update_id: id });
    expect([Object.keys(third.presences), third.presence_last_update_id]).toEqual([[String(cordelia.id)], id + 1]);
  });

  it('starts at -1 if no user was ever online', async () => {
    await hidePresence(people.hamlet, false);
    const response = await reported(people.hamlet, { last_update_id: -1, history_limit_days: 0 });
    expect(response).toMatchObject({ presences: {}, presence_last_update_id: -1 });
    const later = await reported(people.hamlet, { last_update_id: 77 });
    expect(later).toMatchObject({ presences: {}, presence_last_update_id: 77 });
  });

  it('uses the join date if the user was never active', async () => {
    const { hamlet } = people;
    const { presences } = await reported(hamlet, { status: 'idle', slim_presence: true });
    expect(presences).toEqual({ [hamlet.id]: times(hamlet.user.joinedAt, now()) });
  });

  it('returns nothing for a ping', async () => {
    expect(await reported(people.hamlet, { ping_only: true, new_user_input: true })).toEqual({});
    expect(Object.keys((await reported(people.cordelia)).presences)).toHaveLength(2);
  });

  it('omits users absent for longer than requested', async () => {
    const { hamlet, cordelia } = people;
    await reported(hamlet);
    await save();
    const id = 1;
    server.clock.advance(2 * 86_400 + 1);
    await reported(cordelia);
    await save();
    const shown = async (params: object) =>
      Object.keys((await reported(cordelia, { slim_presence: true, ...params })).presences);
    expect(await shown({})).toHaveLength(2);
    expect(await shown({ history_limit_days: 2 })).toEqual([String(cordelia.id)]);
    expect(await shown({ history_limit_days: 2, last_update_id: 0 })).toEqual([String(cordelia.id)]);
    expect(await shown({ history_limit_days: 0, last_update_id: id - 1 || -1 })).toEqual([String(cordelia.id)]);
    server.clock.advance(13 * 86_400);
    expect(await shown({})).toEqual([String(cordelia.id)]);
  });

  it('updates only times older than 55 seconds', async () => {
    const { hamlet } = people;
    const at = now();
    const after = async (seconds: number, status: string) => {
      server.clock.advance(seconds);
      return (await reported(hamlet, { status, slim_presence: true })).presences[hamlet.id];
    };
    expect(await after(0, 'active')).toEqual(times(at));
    expect(await after(55, 'active')).toEqual(times(at));
    expect(await after(1, 'idle')).toEqual(times(at, at + 56));
    expect(await after(1, 'active')).toEqual(times(at + 57, at + 56));
  });

  it('reports users as idle after 70 seconds in the old format', async () => {
    const { hamlet } = people;
    const at = now();
    await reported(hamlet);
    server.clock.advance(60);
    expect((await reported(hamlet, { status: 'idle' })).presences[hamlet.email]).toEqual(legacy('active', at));
    server.clock.advance(60);
    expect((await reported(hamlet, { status: 'idle' })).presences[hamlet.email]).toEqual(legacy('idle', at + 120));
  });

  it('stores presence soon with unique update ids', async () => {
    server = await TestServer.start({ worksInBackground: true });
    const { hamlet } = server.people;
    await reported(hamlet, { last_update_id: -1 });
    const stored = () => server.storage.uow.read(server.realmId, (r) => r.presence.list(server.realmId));
    while ((await stored()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await stored()).toEqual([{ userId: hamlet.id, lastActive: now(), lastConnected: now(), updateId: 1 }]);
    const next = await server.storage.uow.write(server.realmId, (tx) => tx.presence.reserveIds(server.realmId, 1));
    expect(next).toBe(2);
  });

  it('rejects bots and unreadable parameters', async () => {
    const bot = await server.addBot(people.hamlet, 'helper');
    for (const status of ['active', 'unknown']) {
      expectRefusal(await report(bot, { status }), 'This endpoint does not accept bot requests.');
    }
    expectRefusal(await server.post('/users/me/presence', people.hamlet), "Missing 'status' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'status',
    });
    expectRefusal(await report(people.hamlet, { status: 'away' }), 'Invalid status: away');
    expectRefusal(await report(people.hamlet, { last_update_id: -2 }), 'last_update_id is too small');
    expectRefusal(await report(people.hamlet, { history_limit_days: -1 }), 'history_limit_days is too small');
    expectRefusal(await report(people.hamlet, { ping_only: 1 }), 'ping_only is not a boolean');
  });

  it('hides presence from another organization', async () => {
    await reported(people.hamlet);
    const realmId = await server.addRealm('elsewhere');
    const outsider = await server.addUser({ email: 's@zulip.com', fullName: 'Outsider', realmId });
    const params = { status: 'active', last_update_id: -1 };
    const reply = await server.request('POST', '/users/me/presence', { as: outsider, params, realm: 'elsewhere' });
    expect(Object.keys((fieldsOf(reply) as Wire).presences)).toEqual([String(outsider.id)]);
  });
});

describe('presence event (users §8.5)', () => {
  it('is sent once when a user comes online', async () => {
    const { hamlet, cordelia } = people;
    const queues = await Promise.all([
      listen(cordelia),
      listen(cordelia, { slim_presence: true }),
      listen(cordelia, { client_capabilities: ALL_CAPABILITIES }),
    ]);
    const at = now();
    await reported(hamlet);
    await reported(hamlet);
    const first = await Promise.all(queues.map((queue) => eventsAfter(server, queue)));
    server.clock.advance(130);
    await reported(hamlet);
    server.clock.advance(131);
    await reported(hamlet, { status: 'idle' });
    await reported(hamlet);
    const { email, id: user_id } = hamlet;
    const told = (timestamp: number) => ({
      type: 'presence',
      user_id,
      server_timestamp: timestamp,
      presence: { website: { client: 'website', status: 'active', timestamp, pushable: false } },
    });
    // Presence events that are not fetched soon are dropped, because clients poll for presence.
    const second = await Promise.all(queues.map((queue) => eventsAfter(server, queue)));
    const responses = [
      [at, first],
      [at + 261, second],
    ] as const;
    for (const [time, [old, slim, modern]] of responses) {
      expect(old).toEqual([{ ...told(time), email }]);
      expect(slim).toEqual([told(time)]);
      expect(modern).toEqual([{ type: 'presence', presences: { [user_id]: times(time) } }]);
    }
  });

  it('reaches at most a hundred users', async () => {
    for (let n = 0; n < 95; n++) await server.addUser({ email: `u${n}@zulip.com`, fullName: `User ${n}` });
    const queue = await listen(people.cordelia);
    await reported(people.hamlet);
    expect(await eventsAfter(server, queue)).toEqual([]);
    fieldsOf(await hidePresence(people.hamlet, false));
    expect(await eventsAfter(server, queue)).toHaveLength(1);
  });

  it('is sent when a user disables and enables presence', async () => {
    const { hamlet, cordelia } = people;
    await reported(hamlet);
    const [own, others] = [await listen(hamlet), await listen(cordelia)];
    const at = now();
    fieldsOf(await hidePresence(hamlet, false));
    const away = (await reported(cordelia)).presences[hamlet.email];
    expect(away).toEqual(legacy('idle', at - 320));
    server.clock.advance(60);
    await reported(hamlet);
    expect((await reported(cordelia)).presences[hamlet.email]).toEqual(away);
    fieldsOf(await hidePresence(hamlet, true));
    expect((await reported(cordelia)).presences[hamlet.email]).toEqual(legacy('active', at + 60));
    const change = (timestamp: number, status: 'active' | 'idle', seen: number) => ({
      type: 'presence',
      user_id: hamlet.id,
      email: hamlet.email,
      server_timestamp: timestamp,
      presence: { website: { client: 'website', status, timestamp: seen, pushable: false } },
    });
    const setting = (value: boolean) => ({ type: 'user_settings', op: 'update', property: 'presence_enabled', value });
    const changes = [change(at, 'idle', at - 320), change(at + 60, 'active', at + 60)];
    expect((await eventsAfter(server, own)).filter(({ user_id }) => user_id !== cordelia.id)).toEqual([
      setting(false),
      changes[0],
      setting(true),
      changes[1],
    ]);
    expect((await eventsAfter(server, others)).filter(({ user_id }) => user_id === hamlet.id)).toEqual(changes);
  });
});

describe('GET /users/:user_id_or_email/presence', () => {
  const get = (name: string | number, as = people.cordelia) => server.get(`/users/${name}/presence`, as);

  it("returns the user's last activity", async () => {
    const { hamlet } = people;
    const at = now();
    await reported(hamlet);
    const website = { status: 'active', timestamp: at };
    for (const name of [hamlet.id, hamlet.email]) {
      expect(fieldsOf(await get(name))).toEqual({ presence: { aggregated: website, website } });
    }
    server.clock.advance(200);
    expect(fieldsOf(await get(hamlet.id))).toMatchObject({ presence: { aggregated: website } });
    server.clock.advance(1);
    expect(fieldsOf(await get(hamlet.id))).toEqual({
      presence: { aggregated: { status: 'offline', timestamp: at }, website },
    });
  });

  it('rejects ids of users without presence', async () => {
    const { hamlet, cordelia, desdemona } = people;
    const bot = await server.addBot(hamlet, 'helper');
    expectRefusal(await get(hamlet.id), `No presence data for ${hamlet.id}`);
    expectRefusal(await get(hamlet.email), `No presence data for ${hamlet.email}`);
    expectRefusal(await get(bot.id), 'Presence is not supported for bot users.');
    await server.limitGuests();
    await server.changeUser(desdemona, { isActive: false });
    const system = await server.storage.uow.read(server.realmId, (r) =>
      r.users.findSystemBot(server.realmId, 'welcome'),
    );
    for (const name of [99_999, 'nobody@zulip.com', desdemona.id, system.id, system.email]) {
      expectRefusal(await get(name), 'No such user');
    }
    fieldsOf(await server.patch('/settings', hamlet, { email_address_visibility: 4 }));
    await reported(hamlet);
    expectRefusal(await get(hamlet.email), 'No such user');
    fieldsOf(await get(`user${hamlet.id}@parley.invalid`));
    expectRefusal(await get(cordelia.id, people.polonius), 'Insufficient permission');
  });
});

describe('limited guest (users §1.4)', () => {
  /** Polonius shares a channel with Hamlet only; the other two are present. */
  async function limited(options: Parameters<typeof TestServer.start>[0] = {}) {
    server = await TestServer.start(options);
    ({ people } = server);
    const { hamlet, cordelia, polonius } = people;
    await server.limitGuests();
    await server.createChannel('town', [hamlet, polonius]);
    const queues = [await listen(polonius), await listen(polonius, { client_capabilities: ALL_CAPABILITIES })];
    for (const user of [hamlet, cordelia]) await reported(user);
    await save();
    fieldsOf(await hidePresence(cordelia, false));
    fieldsOf(await hidePresence(cordelia, true));
    const told = await Promise.all(queues.map((queue) => eventsAfter(server, queue)));
    return {
      listed: Object.keys((fieldsOf(await server.get('/realm/presence', polonius)) as Wire).presences),
      reported: Object.keys((await reported(polonius)).presences),
      modern: Object.keys((await reported(polonius, { last_update_id: -1 })).presences),
      registered: Object.keys(
        (fieldsOf(await server.post('/register', polonius, { fetch_event_types: ['presence'] })) as Wire).presences,
      ),
      told: told.map((events) => events.map(({ presences, email }) => email ?? Object.keys(presences)[0]).sort()),
    };
  }
  const hidden = ({ id }: TestUser) => `user${id}@parley.invalid`;

  it("receives everyone's presence without emails of inaccessible users", async () => {
    const shown = await limited();
    const { hamlet, cordelia, polonius } = people;
    const [addresses, ids] = [[hamlet.email, hidden(cordelia)], [hamlet.id, cordelia.id].map(String)];
    expect(shown).toEqual({
      listed: addresses,
      reported: [...addresses, polonius.email],
      modern: [...ids, String(polonius.id)],
      registered: [...addresses, polonius.email],
      told: [
        [hamlet.email, hidden(cordelia), hidden(cordelia), hidden(cordelia)],
        [hamlet, cordelia, cordelia, cordelia].map(({ id }) => String(id)),
      ],
    });
    const seen = async () => Object.keys((fieldsOf(await server.get('/realm/presence', polonius)) as Wire).presences);
    fieldsOf(await server.patch(`/users/${polonius.id}`, people.iago, { role: 400 }));
    expect(await seen()).toContain(cordelia.email);
    expect(Object.keys((await reported(polonius)).presences)).toContain(cordelia.email);
    fieldsOf(await server.patch(`/users/${polonius.id}`, people.iago, { role: 600 }));
    expect(await seen()).toContain(hidden(cordelia));
    expect(Object.keys((await reported(polonius)).presences)).toContain(hidden(cordelia));
  });

  it('receives only presence of accessible users if the server limits presence', async () => {
    const shown = await limited({ limitsPresence: true });
    const { hamlet, cordelia, polonius } = people;
    expect(shown).toEqual({
      listed: [hamlet.email],
      reported: [hamlet.email, polonius.email],
      modern: [hamlet, polonius].map(({ id }) => String(id)),
      registered: [hamlet.email, polonius.email],
      told: [[hamlet.email], [String(hamlet.id)]],
    });
    expect(Object.keys((await reported(people.iago)).presences)).toContain(cordelia.email);
  });
});

it('presence is neither stored nor returned if the operator disabled it (users §8.1)', async () => {
  const { hamlet, cordelia } = people;
  const set = (presenceDisabled: boolean) =>
    server.parley.useCase(ConfigureRealm).execute({ realmId: server.realmId, settings: { presenceDisabled } });
  const registered = async (): Promise<Wire> => {
    const fetched = { fetch_event_types: ['realm', 'presence'] };
    const { realm_presence_disabled, presences, presence_last_update_id } = fieldsOf(
      await server.post('/register', hamlet, fetched),
    ) as Wire;
    return { realm_presence_disabled, presences, presence_last_update_id };
  };
  await reported(hamlet, { last_update_id: -1 });
  await save();
  const last = 1;
  const queue = await listen(hamlet);
  await set(true);
  const nothing = { presences: {}, server_timestamp: expect.any(Number) };
  const reply = { ...nothing, presence_last_update_id: -1 };
  expect(await reported(cordelia)).toEqual(reply);
  for (const as of [hamlet, people.polonius]) {
    expect(await reported(as, { last_update_id: last })).toEqual(reply);
    expect(fieldsOf(await server.get('/realm/presence', as))).toEqual(nothing);
  }
  for (const user of [hamlet, cordelia]) {
    expectRefusal(await server.get(`/users/${user.id}/presence`, hamlet), `No presence data for ${user.id}`);
  }
  expect(await eventsAfter(server, queue)).toEqual([]);
  expect(await registered()).toEqual({
    realm_presence_disabled: true,
    presences: {},
    presence_last_update_id: -1,
  });
  await set(false);
  const { presences } = await reported(hamlet, { last_update_id: -1 });
  expect(Object.keys(presences)).toEqual([`${hamlet.id}`]);
  expect(await registered()).toMatchObject({ realm_presence_disabled: false, presence_last_update_id: last });
});

describe('list of all presences', () => {
  it('contains users active within two weeks by their visible email', async () => {
    const { hamlet, cordelia } = people;
    const at = now();
    await reported(hamlet);
    await save();
    const list = async () => fieldsOf(await server.get('/realm/presence', cordelia)) as Wire;
    expect(await list()).toEqual({
      presences: { [hamlet.email]: legacy('active', at) },
      server_timestamp: at,
    });
    fieldsOf(await server.patch('/settings', hamlet, { email_address_visibility: 4 }));
    expect(Object.keys((await list()).presences)).toEqual([`user${hamlet.id}@parley.invalid`]);
    const bot = await server.addBot(hamlet, 'helper');
    expect(Object.keys((fieldsOf(await server.get('/realm/presence', bot)) as Wire).presences)).toHaveLength(1);
    server.clock.advance(14 * 86_400 + 1);
    expect((await list()).presences).toEqual({});
  });

  it('equals the register response without users who hide presence', async () => {
    const { hamlet, cordelia, iago } = people;
    const at = now();
    await reported(hamlet);
    await save();
    await reported(cordelia);
    await save();
    const last = 2;
    fieldsOf(await hidePresence(cordelia, false));
    const registered = async (params: object): Promise<Wire> =>
      fieldsOf(await server.post('/register', iago, { fetch_event_types: ['presence'], ...params }));
    const old = await registered({});
    expect(old).toMatchObject({ presence_last_update_id: last - 1, server_timestamp: at });
    expect(old.presences).toEqual({ [hamlet.email]: legacy('active', at) });
    for (const params of [{ slim_presence: true }, { client_capabilities: ALL_CAPABILITIES }]) {
      expect((await registered(params)).presences).toEqual({ [hamlet.id]: times(at) });
    }
    expect(await registered({ presence_history_limit_days: 0 })).toMatchObject({
      presences: {},
      presence_last_update_id: -1,
    });
    server.clock.advance(86_401);
    expect((await registered({ presence_history_limit_days: 1 })).presences).toEqual({});
    expect(Object.keys((await registered({ presence_history_limit_days: 2 })).presences)).toHaveLength(1);
  });

  it('omits deactivated users', async () => {
    const { hamlet, cordelia } = people;
    const bot = await server.addUser({ email: 'x@zulip.com', fullName: 'Short Visit' });
    await reported(bot);
    await reported(hamlet);
    await server.changeUser(bot, { isActive: false });
    await server.parley.ports.unitOfWork.write(server.realmId, (tx) =>
      tx.events.append(server.realmId, {
        event: { type: 'user.activation_changed', userId: bot.id, isActive: false },
        audience: { kind: 'realm' },
      }),
    );
    expect(Object.keys((await reported(cordelia, { slim_presence: true })).presences)).toEqual(
      [hamlet, cordelia].map(({ id }) => String(id)),
    );
  });
});
