import { makePushKey } from '@parley/node-adapters';
import { until } from '@parley/testkit';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { postponed } from '../testing/jobs.js';
import { serverPerSuite } from '../testing/servers.js';
import {
  decrypted,
  fcmError,
  OWN_PUBLIC_KEY,
  PRIVATE_KEY,
  sealedBox,
  TestApns,
  TestFcm,
} from '../testing/test-phone-services.js';
import { tokenIdOf } from '../testing/test-push-service.js';
import type { TestUser } from '../testing/test-server.js';

const KEY = Buffer.alloc(32, 7);
const PUSH_KEY = Buffer.concat([Buffer.from([0x31]), KEY]).toString('base64');
const APNS_TOKEN = 'c0ffee00';

let apns: TestApns;
let fcm: TestFcm;
let sender: TestUser;
let reader: TestUser;
let count = 0;
const older = makePushKey();
const { server } = serverPerSuite(async () => {
  apns = await TestApns.start();
  fcm = await TestFcm.start();
  const push = { keys: [PRIVATE_KEY, older.privateKey], apns: apns.account, fcm: fcm.account };
  return { push, worksInBackground: true };
});
beforeEach(async () => {
  count++;
  sender = server.people.iago;
  reader = await server.addUser({ email: `reader${count}@zulip.com`, fullName: `Reader ${count}` });
  for (const service of [apns, fcm]) {
    service.arrivals.length = 0;
    service.refusals.clear();
  }
});
afterAll(async () => {
  await apns.close();
  await fcm.close();
});

const devices = async (): Promise<Wire> =>
  fieldsOf(await server.post('/register', reader, { fetch_event_types: ['device'] })).devices;
const tokens = () => server.storage.uow.read(server.realmId, (r) => r.pushTokens.list(server.realmId, reader.id));

async function registerDevice(token: string, kind: 'apns' | 'fcm', wrong: object = {}, publicKey = OWN_PUBLIC_KEY) {
  const { device_id } = fieldsOf(await server.post('/register_client_device', reader));
  const app = kind === 'apns' ? { ios_app_id: 'org.example.App' } : {};
  const registration = { token, token_kind: kind, timestamp: server.clock.now(), ...app };
  const fields = {
    ...{ device_id, push_key_id: 7, push_key: PUSH_KEY, token_kind: kind, token_id: tokenIdOf(token) },
    bouncer_public_key: publicKey,
    encrypted_push_registration: sealedBox(JSON.stringify({ ...registration, ...wrong }), publicKey),
  };
  fieldsOf(await server.post('/mobile_push/register', reader, fields));
  return device_id as number;
}

async function addDevice(token: string, kind: 'apns' | 'fcm', publicKey = OWN_PUBLIC_KEY): Promise<number> {
  const id = await registerDevice(token, kind, {}, publicKey);
  await until(async () => (await devices())[id].push_token_id !== null);
  return id;
}

describe('encrypted notification without a push service (organization §18)', () => {
  it('reaches the phones of both makers, signed and addressed to the app', async () => {
    await addDevice(APNS_TOKEN, 'apns');
    await addDevice('android', 'fcm', older.publicKey);
    const id = await server.sendMessage(sender, [reader], { content: 'hello' });
    await until(() => apns.arrivals.length > 0 && fcm.arrivals.length > 0);
    const [atApple] = apns.arrivals as [Wire];
    expect(atApple).toMatchObject({
      token: APNS_TOKEN,
      headers: {
        ...{ 'apns-topic': 'org.example.App', 'apns-push-type': 'alert', 'apns-priority': '10' },
        'apns-expiration': String(server.clock.now() + 86_400),
      },
      fields: { push_key_id: 7, aps: { 'mutable-content': 1, alert: { title: 'New notification' } } },
    });
    const expected = { type: 'message', message_id: id, content: 'hello', user_id: reader.id };
    expect(decrypted(atApple.fields, KEY)).toMatchObject(expected);
    const [atGoogle] = fcm.arrivals as [Wire];
    expect(atGoogle).toMatchObject({ token: 'android', fields: { android: { priority: 'high' } } });
    expect(atGoogle.fields.data.push_key_id).toBe('7');
    expect(decrypted(atGoogle.fields.data, KEY)).toMatchObject(expected);
    const now = server.clock.now();
    expect(apns.signatures).toEqual([{ alg: 'ES256', kid: 'KEY1234567', iss: 'TEAM123456', iat: now }]);
    expect(fcm.exchanges).toEqual([
      {
        ...{ iss: 'push@demo.example', aud: fcm.account.tokenUrl, iat: now, exp: now + 3600 },
        scope: 'https://www.googleapis.com/auth/firebase.messaging',
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      },
    ]);
    fieldsOf(await server.post('/messages/flags', reader, { messages: [id], op: 'add', flag: 'read' }));
    await until(() => apns.arrivals.length > 1 && fcm.arrivals.length > 1);
    expect(apns.arrivals[1]!.headers).toMatchObject({ 'apns-push-type': 'background', 'apns-priority': '5' });
    expect(fcm.arrivals[1]!.fields.android.priority).toBe('normal');
    expect(apns.connections).toBe(1);
  });

  it.each([
    ['INVALID_BOUNCER_PUBLIC_KEY', 'fcm', {}, makePushKey().publicKey],
    ['BAD_REQUEST', 'apns', { ios_app_id: undefined }, OWN_PUBLIC_KEY],
    ['BAD_REQUEST', 'apns', { token: 'no hexadecimal' }, OWN_PUBLIC_KEY],
    ['BAD_REQUEST', 'fcm', { ios_app_id: 'org.example.App' }, OWN_PUBLIC_KEY],
    ['BAD_REQUEST', 'fcm', { token: 'another' }, OWN_PUBLIC_KEY],
    ['BAD_REQUEST', 'fcm', { timestamp: null }, OWN_PUBLIC_KEY],
    ['REQUEST_EXPIRED', 'fcm', { timestamp: 1 }, OWN_PUBLIC_KEY],
  ] as const)('reports %s for an invalid registration (%s, %j)', async (code, kind, wrong, publicKey) => {
    const id = await registerDevice(APNS_TOKEN, kind, wrong, publicKey);
    await until(async () => (await devices())[id].push_registration_error_code === code);
  });

  it.each([
    ['apns', { status: 410, body: { reason: 'Unregistered' } }],
    ['apns', { status: 400, body: { reason: 'BadDeviceToken' } }],
    ['apns', { status: 400, body: { reason: 'DeviceTokenNotForTopic' } }],
    ['fcm', fcmError(404, 'UNREGISTERED')],
    ['fcm', fcmError(400, 'INVALID_ARGUMENT', 'message.token')],
  ] as const)('removes a device that %s can no longer reach: %j', async (kind, refusal) => {
    const id = await addDevice('c0ffee01', kind);
    const kept = await addDevice('c0ffee02', kind);
    (kind === 'apns' ? apns : fcm).refusals.set('c0ffee01', [refusal]);
    await server.sendMessage(sender, [reader]);
    await until(async () => (await devices())[id] === undefined);
    expect(Object.keys(await devices())).toEqual([String(kept)]);
  });

  it('is repeated only for phones that were not reached', async () => {
    await addDevice('c0ffee03', 'apns');
    await addDevice('android', 'fcm');
    apns.refusals.set(null, [{ status: 429, body: { reason: 'TooManyRequests' } }]);
    await server.sendMessage(sender, [reader]);
    await until(() => fcm.arrivals.length > 0);
    await postponed(server, 'push.send');
    server.clock.advance(5);
    // Wakes the workers.
    await server.sendMessage(sender, [reader]);
    await until(() => apns.arrivals.length >= 2 && fcm.arrivals.length >= 2);
    expect([apns.arrivals.length, fcm.arrivals.length]).toEqual([2, 2]);
  });

  it('is sent after a lost connection, an expired signature and an invalid access token', async () => {
    await addDevice('c0ffee04', 'apns');
    await addDevice('android', 'fcm');
    apns.disconnect();
    fcm.revoke();
    apns.refusals.set(null, [{ status: 403, body: { reason: 'ExpiredProviderToken' } }]);
    const signatures = apns.signatures.length;
    server.clock.advance(60);
    await server.sendMessage(sender, [reader]);
    await until(() => apns.arrivals.length > 0 && fcm.arrivals.length > 0);
    expect(apns.signatures.length).toBe(signatures + 1);
  });

  it('is attempted three times in a row if a service fails', async () => {
    await addDevice('c0ffee05', 'apns');
    const failure = { status: 503, body: { reason: 'ServiceUnavailable' } };
    apns.refusals.set(null, [failure, failure]);
    await server.sendMessage(sender, [reader]);
    await until(() => apns.arrivals.length > 0);
  });
});

describe('notification for older apps without a push service', () => {
  const addToken = (kind: 'apns' | 'fcm', token: string) =>
    kind === 'apns'
      ? server.post('/users/me/apns_device_token', reader, { token, appid: 'org.example.App' })
      : server.post('/users/me/android_gcm_reg_id', reader, { token });

  it('reaches the phones of both makers', async () => {
    fieldsOf(await addToken('apns', 'abcd'));
    fieldsOf(await addToken('fcm', 'old android'));
    const id = await server.sendMessage(sender, [reader], { content: 'hello' });
    await until(() => apns.arrivals.length > 0 && fcm.arrivals.length > 0);
    expect(apns.arrivals).toMatchObject([
      {
        token: 'abcd',
        headers: { 'apns-topic': 'org.example.App', 'apns-push-type': 'alert' },
        fields: { aps: { alert: { title: sender.user.fullName, body: 'hello' } }, zulip: { message_ids: [id] } },
      },
    ]);
    const { data } = fcm.arrivals[0]!.fields;
    expect(data).toMatchObject({ event: 'message', zulip_message_id: String(id), content: 'hello' });
    expect(Object.values(data).every((value) => typeof value === 'string')).toBe(true);
  });

  it('is no longer sent to tokens unknown to a service', async () => {
    fieldsOf(await addToken('apns', 'abcd'));
    fieldsOf(await addToken('fcm', 'gone'));
    fcm.refusals.set('gone', [fcmError(404, 'UNREGISTERED')]);
    await server.sendMessage(sender, [reader]);
    await until(async () => (await tokens()).length === 1);
    fcm.refusals.clear();
    apns.refusals.set('abcd', [{ status: 410, body: { reason: 'Unregistered' } }]);
    const reply = await server.post('/mobile_push/test_notification', reader, { token: 'abcd' });
    expect(reply.body).toMatchObject({ code: 'INVALID_REMOTE_PUSH_DEVICE_TOKEN' });
  });
});

describe('test notification without a push service', () => {
  it("reaches devices and reports the service's refusals", async () => {
    await addDevice('android', 'fcm');
    fieldsOf(await server.post('/mobile_push/e2ee/test_notification', reader));
    expect(decrypted(fcm.arrivals[0]!.fields.data, KEY)).toMatchObject({ type: 'test', time: server.clock.now() });
    fcm.refusals.set('android', [fcmError(403, 'SENDER_ID_MISMATCH')]);
    const refused = await server.post('/mobile_push/e2ee/test_notification', reader);
    expect([refused.status, refused.body]).toMatchObject([400, { msg: expect.stringContaining('SENDER_ID_MISMATCH') }]);
    fcm.refusals.set('android', [fcmError(404, 'UNREGISTERED')]);
    const gone = await server.post('/mobile_push/e2ee/test_notification', reader);
    expect(gone.body).toMatchObject({ code: 'NO_ACTIVE_PUSH_DEVICE' });
    expect(await devices()).toEqual({});
  });

  it('is available to every organization, as reported to clients', async () => {
    expect(fieldsOf(await server.get('/server_settings', null)).push_notifications_enabled).toBe(true);
    const told = async () => fieldsOf(await server.post('/register', reader, { fetch_event_types: ['realm'] }));
    await until(async () => (await told()).realm_push_notifications_enabled === true);
  });
});
