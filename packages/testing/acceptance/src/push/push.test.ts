import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import { until } from '@parley/testkit';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import { PUBLIC_KEY, type Registration, sealed, TestPushService, tokenIdOf } from '../testing/test-push-service.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

let service: TestPushService;
let hamlet: TestUser;
let people = 0;
const { server } = serverPerSuite(async () => {
  service = await TestPushService.start();
  return { push: service.account, worksInBackground: true };
});
beforeEach(async () => {
  hamlet = await server.addUser({ email: `hamlet${++people}@zulip.com`, fullName: `Hamlet ${people}` });
  service.failure = null;
  service.knowsRealms = true;
  service.goneTokenIds.length = 0;
  service.calls.length = 0;
  service.now = server.clock.now();
});
afterAll(() => service.close());

it('server settings report a configured push service', async () => {
  expect(fieldsOf(await server.get('/server_settings', null)).push_notifications_enabled).toBe(true);
});

const NEW = {
  push_key_id: null,
  push_token_id: null,
  pending_push_token_id: null,
  push_token_last_updated_timestamp: null,
  push_registration_error_code: null,
};
const KEY_BYTES = Buffer.alloc(32, 7);
const PUSH_KEY = Buffer.concat([Buffer.from([0x31]), KEY_BYTES]).toString('base64');
const OTHER_KEY = Buffer.concat([Buffer.from([0x31]), Buffer.alloc(32, 8)]).toString('base64');
const keyOf = (push_key_id = 4_294_967_295, push_key = PUSH_KEY) => ({ push_key_id, push_key });
const tokenOf = (token: string, more: Partial<Registration> = {}) => ({
  token_kind: 'fcm',
  token_id: tokenIdOf(token),
  bouncer_public_key: PUBLIC_KEY,
  encrypted_push_registration: sealed({ token, token_kind: 'fcm', timestamp: server.clock.now(), ...more }),
});

const addDevice = async (as = hamlet): Promise<number> =>
  fieldsOf(await server.post('/register_client_device', as)).device_id;
const devicesOf = async (as = hamlet): Promise<Wire> =>
  fieldsOf(await server.post('/register', as, { fetch_event_types: ['device'] })).devices;
const register = (device_id: number, ...params: readonly object[]) =>
  server.post('/mobile_push/register', hamlet, Object.assign({ device_id }, ...params));
const listen = (as = hamlet) => openQueue(server, as, { event_types: ['device'] });
async function registered(token = 'token'): Promise<number> {
  const id = await addDevice();
  fieldsOf(await register(id, keyOf(), tokenOf(token)));
  await until(async () => (await devicesOf())[id].push_token_id !== null);
  return id;
}

describe('push device (organization §11)', () => {
  it('publishes additions and removals only to its owner', async () => {
    const [own, others] = [await listen(), await listen(server.people.cordelia)];
    const id = await addDevice();
    expect(await devicesOf()).toEqual({ [id]: NEW });
    expect(await devicesOf(server.people.cordelia)).toEqual({});
    const other = await addDevice();
    expect(fieldsOf(await server.post('/remove_client_device', hamlet, { device_id: id }))).toEqual({});
    expect(await devicesOf()).toEqual({ [other]: NEW });
    expect(await eventsAfter(server, own)).toEqual([
      { type: 'device', op: 'add', device_id: id },
      { type: 'device', op: 'add', device_id: other },
      { type: 'device', op: 'remove', device_id: id },
    ]);
    expect(await eventsAfter(server, others)).toEqual([]);
  });

  it('replaces the least recently used of a hundred devices', async () => {
    const ids: number[] = [];
    for (let n = 0; n < 100; n++) ids.push(await addDevice());
    await register(ids[0]!, keyOf(), tokenOf('token'));
    await until(async () => (await devicesOf())[ids[0]!].push_token_id !== null);
    const queue = await listen();
    const last = await addDevice();
    expect(await eventsAfter(server, queue)).toMatchObject([
      { op: 'remove', device_id: ids[1] },
      { op: 'add', device_id: last },
    ]);
    expect(Object.keys(await devicesOf())).toHaveLength(100);
  });

  it('rejects removal by other users and repeated removal', async () => {
    const id = await addDevice();
    const remove = (as: TestUser) => server.post('/remove_client_device', as, { device_id: id });
    expectRefusal(await remove(server.people.desdemona), 'Invalid `device_id`');
    fieldsOf(await remove(hamlet));
    expectRefusal(await remove(hamlet), 'Invalid `device_id`');
  });
});

describe('POST /mobile_push/register (organization §12)', () => {
  it('accepts key and token and publishes when the push service has registered the token', async () => {
    const id = await addDevice();
    const queue = await listen();
    service.hold();
    expect(fieldsOf(await register(id, keyOf(7), tokenOf('token')))).toEqual({});
    const token_id = tokenIdOf('token');
    const change = {
      push_key_id: 7,
      pending_push_token_id: token_id,
      push_token_last_updated_timestamp: server.clock.now(),
      push_registration_error_code: null,
    };
    expect(await devicesOf()).toEqual({ [id]: { ...NEW, ...change } });
    expectRefusal(await register(id, keyOf(7), tokenOf('token')), 'A registration for the device already in progress.');
    service.release();
    await until(async () => (await devicesOf())[id].push_token_id !== null);
    expect(await devicesOf()).toEqual({
      [id]: { ...NEW, ...change, push_token_id: token_id, pending_push_token_id: null },
    });
    const about = { type: 'device', op: 'update', device_id: id };
    const events = [
      { ...about, ...change },
      { ...about, push_token_id: token_id, pending_push_token_id: null },
    ];
    expect(await eventsAfter(server, queue)).toEqual(events);
    const realm = await server.storage.uow.read(server.realmId, ({ realms }) => realms.get(server.realmId));
    const { bouncer_public_key, encrypted_push_registration } = tokenOf('token');
    expect(service.calls).toEqual([
      {
        path: 'push/e2ee/register',
        authorization: `Basic ${Buffer.from('6cde5f7a-1f7e-4978-9716-49f69ebfc9fe:org-key').toString('base64')}`,
        userAgent: 'ZulipServer/12.0',
        fields: { realm_uuid: realm.uuid, token_id, bouncer_public_key, encrypted_push_registration },
      },
    ]);
    fieldsOf(await register(id, keyOf(7), tokenOf('token')));
    fieldsOf(await register(id, tokenOf('token')));
    fieldsOf(await register(id, keyOf(7)));
    expect(await eventsAfter(server, queue)).toEqual(events);
    expect(service.calls).toHaveLength(1);
  });

  it('replaces only the key even while a token is pending', async () => {
    const id = await addDevice();
    service.hold();
    await register(id, keyOf(), tokenOf('token'));
    const queue = await listen();
    // Three of the four parameters do not form a token.
    const { token_kind: _, ...most } = tokenOf('other');
    fieldsOf(await register(id, keyOf(0, OTHER_KEY), most));
    expect(await eventsAfter(server, queue)).toEqual([{ type: 'device', op: 'update', device_id: id, push_key_id: 0 }]);
    service.release();
    await until(async () => (await devicesOf())[id].push_token_id !== null);
    expect((await devicesOf())[id]).toMatchObject({ push_key_id: 0, push_token_id: tokenIdOf('token') });
  });

  it('replaces only the token and keeps the old one until confirmed', async () => {
    const id = await registered();
    server.clock.advance(60);
    const queue = await listen();
    service.hold();
    fieldsOf(await register(id, tokenOf('other')));
    expect(await eventsAfter(server, queue)).toEqual([
      {
        type: 'device',
        op: 'update',
        device_id: id,
        pending_push_token_id: tokenIdOf('other'),
        push_token_last_updated_timestamp: server.clock.now(),
        push_registration_error_code: null,
      },
    ]);
    expect((await devicesOf())[id].push_token_id).toBe(tokenIdOf('token'));
    service.release();
    await until(async () => (await devicesOf())[id].push_token_id === tokenIdOf('other'));
  });

  it.each([
    ['INVALID_BOUNCER_PUBLIC_KEY', { bouncer_public_key: 'another' }],
    ['BAD_REQUEST', { encrypted_push_registration: 'no JSON' }],
    ['BAD_REQUEST', { token_id: tokenIdOf('something else') }],
  ])('reports afterwards that the push service rejected the registration: %s', async (code, wrong) => {
    const id = await addDevice();
    const queue = await listen();
    fieldsOf(await register(id, keyOf(), tokenOf('token'), wrong));
    await until(async () => (await devicesOf())[id].push_registration_error_code !== null);
    expect((await eventsAfter(server, queue)).slice(1)).toEqual([
      { type: 'device', op: 'update', device_id: id, push_registration_error_code: code },
    ]);
    expect((await devicesOf())[id].pending_push_token_id).not.toBeNull();
    fieldsOf(await register(id, keyOf(), tokenOf('token')));
    await until(async () => (await devicesOf())[id].push_token_id !== null);
    expect((await devicesOf())[id]).toMatchObject({ push_registration_error_code: null, pending_push_token_id: null });
  });

  it.each([
    [{ token_kind: 'apns' } as const, 'BAD_REQUEST'],
    [{ ios_app_id: 'org.example' } as const, 'BAD_REQUEST'],
    [{ timestamp: 0 } as const, 'REQUEST_EXPIRED'],
  ])('reports afterwards that the push service rejected the encrypted payload: %j', async (wrong, code) => {
    const id = await addDevice();
    fieldsOf(await register(id, keyOf(), tokenOf('token', wrong)));
    await until(async () => (await devicesOf())[id].push_registration_error_code === code);
  });

  it('registers the organization with an unaware push service', async () => {
    service.forgetRealms();
    await registered('first of all');
    expect(service.calls.map(({ path }) => path)).toEqual([
      'push/e2ee/register',
      'server/analytics',
      'push/e2ee/register',
    ]);
    const [realm] = JSON.parse(service.calls[1]!.fields.realms);
    expect(realm).toMatchObject({ id: server.realmId, url: server.url, deactivated: false });
    expect(realm.uuid_owner_secret).toMatch(/^zuliprealm_[0-9a-f]{64}$/);
  });

  it("removes the phone's legacy registration", async () => {
    fieldsOf(await server.post('/users/me/android_gcm_reg_id', hamlet, { token: 'token' }));
    fieldsOf(await server.post('/users/me/android_gcm_reg_id', hamlet, { token: 'another' }));
    await registered('token');
    await until(() => service.callsOf('push/unregister').length > 0);
    expect(service.callsOf('push/unregister').map(({ fields }) => fields.token)).toEqual(['token']);
    const tokens = await server.storage.uow.read(server.realmId, (r) => r.pushTokens.list(server.realmId, hamlet.id));
    expect(tokens.map(({ token }) => token)).toEqual(['another']);
  });

  it.each([
    ['neither', {}, 'Missing parameters: must provide either all push key fields, all token fields, or both.'],
    ['an incomplete key', { push_key: PUSH_KEY }, /^Missing parameters/],
    ['a key without a token', keyOf(), 'No push registration exists to rotate key for.'],
    ['an invalid key without a token', keyOf(1, 'abcd'), 'No push registration exists to rotate key for.'],
    ['a token without a key', () => tokenOf('token'), 'No push registration exists to rotate token for.'],
    ['an invalid token id', () => ({ ...tokenOf('t'), token_id: 'no!' }), '`token_id` is not Base64 encoded'],
    ['a short token id', () => ({ ...tokenOf('t'), token_id: 'AAAA' }), '`token_id` is not Base64 encoded'],
    ['a short key', () => ({ ...tokenOf('t'), ...keyOf(1, 'abcd') }), 'Invalid `push_key`'],
    [
      'a key for another cipher',
      () => ({ ...tokenOf('t'), ...keyOf(1, Buffer.alloc(33, 0x32).toString('base64')) }),
      'Invalid `push_key`',
    ],
    [
      'a long key',
      () => ({ ...tokenOf('t'), ...keyOf(1, Buffer.alloc(999, 0x31).toString('base64')) }),
      'Invalid `push_key`',
    ],
    ['a long token id', () => ({ ...tokenOf('t'), token_id: 'A'.repeat(400) }), '`token_id` is not Base64 encoded'],
    ['a key that is not Base64', () => ({ ...tokenOf('t'), ...keyOf(1, '!'.repeat(44)) }), 'Invalid `push_key`'],
    ['a negative key id', { push_key_id: -1 }, 'Invalid push_key_id: Value error, Not a valid unsigned 32-bit integer'],
    ['a key id above the maximum', { push_key_id: 4_294_967_296 }, /^Invalid push_key_id: Value error/],
    ['an unknown token kind', { token_kind: 'sms' }, 'Invalid token_kind'],
  ])('rejects %s', async (_, given: object | (() => object), msg) => {
    const id = await addDevice();
    const reply = await register(id, typeof given === 'function' ? given() : given);
    expectRefusal(reply, expect.stringMatching(msg) as never);
    expect(await devicesOf()).toEqual({ [id]: NEW });
  });

  it('rejects an invalid key for a registered device', async () => {
    const id = await registered();
    expectRefusal(await register(id, keyOf(1, 'abcd')), 'Invalid `push_key`');
  });

  it('rejects devices of other users and other kinds of callers', async () => {
    const theirs = await addDevice(server.people.cordelia);
    for (const id of [theirs, 99_999]) {
      expectRefusal(await register(id, keyOf(), tokenOf('token')), 'Invalid `device_id`');
    }
    expectRefusal(await server.post('/mobile_push/register', hamlet), "Missing 'device_id' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'device_id',
    });
    const bot = await server.addBot(hamlet, `helper${people}`);
    for (const path of [
      '/register_client_device',
      '/mobile_push/register',
      '/users/me/apns_device_token',
      '/users/me/android_gcm_reg_id',
      '/mobile_push/test_notification',
      '/mobile_push/e2ee/test_notification',
    ]) {
      expectRefusal(await server.post(path, bot), 'This endpoint does not accept bot requests.');
    }
    for (const path of ['/users/me/apns_device_token', '/users/me/android_gcm_reg_id']) {
      expectRefusal(await server.delete(path, bot), 'This endpoint does not accept bot requests.');
    }
  });
});

describe.each([
  ['apns', '/users/me/apns_device_token', { appid: 'org.zulip.Zulip' }],
  ['fcm', '/users/me/android_gcm_reg_id', {}],
])('push token of older apps (organization §13): %s', (kind, path, more) => {
  const add = (token: string, as = hamlet) => server.post(path, as, { token, ...more });
  const remove = (token: string, as = hamlet) => server.delete(path, as, { token });

  it('is registered and unregistered with the push service', async () => {
    expect(fieldsOf(await add('c0ffee00'))).toEqual({});
    expect(fieldsOf(await add('c0ffee00'))).toEqual({});
    expect(fieldsOf(await add('c0ffee00', server.people.cordelia))).toEqual({});
    expect(fieldsOf(await remove('c0ffee00'))).toEqual({});
    expect(service.calls.map((call) => call.path)).toEqual(['push/register', 'push/register', 'push/unregister']);
    const { fields } = service.calls[0]!;
    expect(fields).toEqual({
      server_uuid: '6cde5f7a-1f7e-4978-9716-49f69ebfc9fe',
      realm_uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      user_uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      user_id: String(hamlet.id),
      token: 'c0ffee00',
      token_kind: kind === 'apns' ? '1' : '2',
      ...(kind === 'apns' && { ios_app_id: 'org.zulip.Zulip' }),
    });
    expect(service.calls[2]!.fields.user_uuid).toBe(fields.user_uuid);
    expect(service.calls[1]!.fields.user_uuid).not.toBe(fields.user_uuid);
    expectRefusal(await remove('c0ffee00'), 'Token does not exist');
    fieldsOf(await remove('c0ffee00', server.people.cordelia));
  });

  it('must be valid', async () => {
    for (const token of ['', 'a'.repeat(4097)]) {
      expectRefusal(await add(token), 'Empty or invalid length token');
      expectRefusal(await remove(token), 'Empty or invalid length token');
    }
    expectRefusal(await remove('c0ffee01'), 'Token does not exist');
    const missing = { code: 'REQUEST_VARIABLE_MISSING', var_name: 'token' };
    expectRefusal(await server.post(path, hamlet, more), "Missing 'token' argument", missing);
    expectRefusal(await server.delete(path, hamlet), "Missing 'token' argument", missing);
    expect(service.calls).toEqual([]);
  });

  it.each([
    [500, {}, 502, 'INTERNAL_SERVER_ERROR_ON_BOUNCER', /retry later\.$/],
    [401, { code: 'INVALID_ZULIP_SERVER', msg: 'auth failure' }, 400, 'BAD_REQUEST', /^auth failure$/],
  ])('is discarded when the push service responds with %d', async (status, body, wireStatus, code, msg) => {
    service.failure = { status, body };
    expectRefusal(await add('c0ffee02'), expect.stringMatching(msg) as never, { status: wireStatus, code });
    service.failure = null;
    expectRefusal(await remove('c0ffee02'), 'Token does not exist');
  });

  it('replaces the oldest of a hundred tokens', async () => {
    await server.storage.uow.write(server.realmId, async (tx) => {
      for (let n = 0; n < 100; n++) {
        const token = { kind: kind as 'apns', token: `aaaa${1000 + n}`, iosAppId: null };
        await tx.pushTokens.add(server.realmId, hamlet.id, token);
      }
    });
    fieldsOf(await add('c0ffee03'));
    expectRefusal(await remove('aaaa1000'), 'Token does not exist');
    fieldsOf(await remove('aaaa1001'));
    fieldsOf(await remove('c0ffee03'));
  });
});

it('APNs token rejects invalid characters and invalid app ids', async () => {
  const add = (params: object) => server.post('/users/me/apns_device_token', hamlet, { appid: 'a', ...params });
  for (const token of ['!!', 'abc', 'abcd!', 'ab cd']) {
    expectRefusal(await add({ token }), 'Invalid APNS token');
    expectRefusal(await server.delete('/users/me/apns_device_token', hamlet, { token }), 'Invalid APNS token');
  }
  expectRefusal(await add({ token: 'abcd', appid: "'; tables" }), 'appid has invalid format');
  expectRefusal(await add({ token: '', appid: '' }), 'appid has invalid format');
  const missing = { code: 'REQUEST_VARIABLE_MISSING', var_name: 'appid' };
  expectRefusal(
    await server.post('/users/me/apns_device_token', hamlet, { token: '' }),
    "Missing 'appid' argument",
    missing,
  );
});

describe('test notification (organization §13)', () => {
  const test = (params = {}) => server.post('/mobile_push/test_notification', hamlet, params);
  const testEncrypted = (params = {}) => server.post('/mobile_push/e2ee/test_notification', hamlet, params);

  it('reaches all legacy tokens or a single token', async () => {
    expect(fieldsOf(await test())).toEqual({});
    expect(service.calls).toEqual([]);
    for (const token of ['one', 'two']) fieldsOf(await server.post('/users/me/android_gcm_reg_id', hamlet, { token }));
    fieldsOf(await test({ token: 'two' }));
    fieldsOf(await test());
    const sent = service.callsOf('push/test_notification');
    expect(sent.map(({ fields }) => fields.token)).toEqual(['two', 'one', 'two']);
    expect(sent[0]!.fields).toMatchObject({
      user_id: hamlet.id,
      token_kind: 2,
      base_payload: { realm_url: server.url, user_id: hamlet.id, realm_name: 'Realm zulip' },
    });
  });

  it('rejects tokens unknown to the server or to the push service', async () => {
    expectRefusal(await test({ token: 'nobody’s' }), 'Device not recognized', { code: 'INVALID_PUSH_DEVICE_TOKEN' });
    const token = { kind: 'fcm', token: 'lost', iosAppId: null } as const;
    await server.storage.uow.write(server.realmId, (tx) => tx.pushTokens.add(server.realmId, hamlet.id, token));
    expectRefusal(await test({ token: 'lost' }), 'Device not recognized by the push bouncer', {
      code: 'INVALID_REMOTE_PUSH_DEVICE_TOKEN',
    });
  });

  it('encrypts the payload for devices with a new nonce each time', async () => {
    const id = await registered();
    fieldsOf(await testEncrypted());
    fieldsOf(await testEncrypted({ device_id: id }));
    const [first, second] = service.callsOf('push/e2ee/notify').map(({ fields }) => fields.push_requests[0]);
    expect(first).toEqual({
      token_id: tokenIdOf('token'),
      fcm_priority: 'high',
      payload: { push_key_id: 4_294_967_295, encrypted_data: expect.any(String) },
    });
    expect(first.payload.encrypted_data).not.toBe(second.payload.encrypted_data);
    const bytes = Buffer.from(first.payload.encrypted_data, 'base64');
    const opened = xsalsa20poly1305(KEY_BYTES, bytes.subarray(0, 24)).decrypt(bytes.subarray(24));
    expect(JSON.parse(Buffer.from(opened).toString())).toEqual({
      realm_url: server.url,
      realm_name: 'Realm zulip',
      user_id: hamlet.id,
      type: 'test',
      time: server.clock.now(),
    });
  });

  it('wakes the app on Apple devices', async () => {
    const id = await addDevice();
    const apple = { ...tokenOf('token', { token_kind: 'apns', ios_app_id: 'a' }), token_kind: 'apns' };
    await register(id, keyOf(), apple);
    await until(async () => (await devicesOf())[id].push_token_id !== null);
    fieldsOf(await testEncrypted());
    expect(service.callsOf('push/e2ee/notify')[0]!.fields.push_requests).toEqual([
      {
        token_id: tokenIdOf('token'),
        http_headers: { apns_priority: 10, apns_push_type: 'alert' },
        payload: {
          push_key_id: 4_294_967_295,
          encrypted_data: expect.any(String),
          aps: { 'mutable-content': 1, alert: { title: 'New notification' } },
        },
      },
    ]);
  });

  const NONE = ['No active registered push device', { code: 'NO_ACTIVE_PUSH_DEVICE' }] as const;

  it('requires a registered device', async () => {
    expectRefusal(await testEncrypted(), ...NONE);
    const id = await addDevice();
    expectRefusal(await testEncrypted(), ...NONE);
    expectRefusal(await testEncrypted({ device_id: id }), ...NONE);
    const other = await registered();
    expectRefusal(await testEncrypted({ device_id: id }), ...NONE);
    service.goneTokenIds.push(tokenIdOf('token'));
    const queue = await listen();
    expectRefusal(await testEncrypted(), ...NONE);
    expect(await eventsAfter(server, queue)).toEqual([{ type: 'device', op: 'remove', device_id: other }]);
    expect(await devicesOf()).toEqual({ [id]: NEW });
  });

  it.each([
    [{ status: 500, body: {} }, 502, 'INTERNAL_SERVER_ERROR_ON_BOUNCER', /^Internal server error on Zulip push/],
    [{ status: 401, body: { code: 'X', msg: 'no' } }, 403, 'ADMIN_ACTION_REQUIRED', /^Push notification config/],
    [{ status: 403, body: { code: 'X', msg: 'plan' } }, 403, 'ADMIN_ACTION_REQUIRED', /^Push notification config/],
  ])('is rejected when the push service responds with %j', async (failure, status, code, msg) => {
    await registered();
    service.failure = failure;
    expectRefusal(await testEncrypted(), expect.stringMatching(msg) as never, { status, code });
  });
});

describe('server without a push service', () => {
  let bare: TestServer;
  beforeAll(async () => {
    bare = await TestServer.start();
  });
  afterAll(() => bare.close());

  it('stores devices without registering them', async () => {
    const as = bare.people.hamlet;
    const { device_id } = fieldsOf(await bare.post('/register_client_device', as));
    for (const id of [device_id, 99_999]) {
      expectRefusal(
        await bare.post('/mobile_push/register', as, { device_id: id, ...keyOf(), ...tokenOf('token') }),
        'Server is not configured to use push notification service.',
        { code: 'PUSH_SERVICE_NOT_CONFIGURED' },
      );
    }
  });

  it('stores legacy tokens but rejects tests', async () => {
    const as = bare.people.hamlet;
    const params = { token: 'abcd' };
    fieldsOf(await bare.post('/mobile_push/test_notification', as));
    fieldsOf(await bare.post('/users/me/android_gcm_reg_id', as, params));
    expectRefusal(
      await bare.post('/mobile_push/test_notification', as),
      'Server is not configured to use push notification service.',
      { code: 'PUSH_SERVICE_NOT_CONFIGURED' },
    );
    fieldsOf(await bare.delete('/users/me/android_gcm_reg_id', as, params));
    expectRefusal(await bare.post('/mobile_push/e2ee/test_notification', as), 'No active registered push device', {
      code: 'NO_ACTIVE_PUSH_DEVICE',
    });
  });
});
