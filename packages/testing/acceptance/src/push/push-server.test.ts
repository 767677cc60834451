import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@parley/http';
import { OutgoingProxy } from '@parley/node-adapters';
import { composePushServer, runCommandLine } from '@parley/server/testing';
import { FixedClock, freePort, until } from '@parley/testkit';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { postponed } from '../testing/jobs.js';
import {
  credentialsOf,
  decrypted,
  fcmError,
  OWN_PUBLIC_KEY,
  PRIVATE_KEY,
  sealedBox,
  TestApns,
  TestFcm,
} from '../testing/test-phone-services.js';
import { tokenIdOf } from '../testing/test-push-service.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

const KEY = Buffer.alloc(32, 7);
const PUSH_KEY = Buffer.concat([Buffer.from([0x31]), KEY]).toString('base64');
const ORG_ID = '6cde5f7a-1f7e-4978-9716-49f69ebfc9fe';
const ORG_KEY = 'k'.repeat(64);

let apns: TestApns;
let fcm: TestFcm;
let folder: string;
let http: Server;
let url: string;
let service: ReturnType<typeof composePushServer>;
let server: TestServer;
let sender: TestUser;
let reader: TestUser;
let count = 0;
const clock = new FixedClock();

function open(rateLimitRules = {}): void {
  service = composePushServer({
    account: { keys: [PRIVATE_KEY], apns: apns.account, fcm: fcm.account },
    ...{ path: join(folder, 'push.db'), url, clock, logger: silentLogger, proxy: new OutgoingProxy() },
    ...{ hasRateLimits: true, rateLimitRules, trustedProxies: 0 },
  });
}
/** Stops the push service and restarts it on its database. */
async function reopen(rateLimitRules = {}): Promise<void> {
  await service.close();
  open(rateLimitRules);
}

beforeAll(async () => {
  apns = await TestApns.start();
  fcm = await TestFcm.start();
  folder = mkdtempSync(join(tmpdir(), 'parley-push-server-'));
  http = createServer((request, response) => service.handler(request, response));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  open();
  server = await TestServer.start({ push: { url, orgId: ORG_ID, orgKey: ORG_KEY }, worksInBackground: true });
  sender = server.people.iago;
});
beforeEach(async () => {
  count++;
  reader = await server.addUser({ email: `reader${count}@zulip.com`, fullName: `Reader ${count}` });
  for (const maker of [apns, fcm]) {
    maker.arrivals.length = 0;
    maker.refusals.clear();
  }
});
afterAll(async () => {
  await server.close();
  await service.close();
  http.closeAllConnections();
  await new Promise<void>((resolve) => http.close(() => resolve()));
  await apns.close();
  await fcm.close();
  rmSync(folder, { recursive: true });
});

/** Calls the service like another server. */
async function call(
  path: string,
  fields: Wire,
  as: readonly [string, string] | null = [ORG_ID, ORG_KEY],
  address = url,
) {
  const isNested = Object.values(fields).some((value) => typeof value === 'object');
  const response = await fetch(`${address}/api/v1/remotes/${path}`, {
    method: 'POST',
    headers: {
      'Content-Type': isNested ? 'application/json' : 'application/x-www-form-urlencoded',
      ...(as && { Authorization: `Basic ${Buffer.from(as.join(':')).toString('base64')}` }),
    },
    body: isNested ? JSON.stringify(fields) : new URLSearchParams(fields).toString(),
  });
  return { status: response.status, body: (await response.json()) as Wire };
}

const devices = async (): Promise<Wire> =>
  fieldsOf(await server.post('/register', reader, { fetch_event_types: ['device'] })).devices;
const tokens = () => server.storage.uow.read(server.realmId, (r) => r.pushTokens.list(server.realmId, reader.id));

async function addDevice(token: string, kind: 'apns' | 'fcm', wrong: object = {}): Promise<number> {
  const { device_id } = fieldsOf(await server.post('/register_client_device', reader));
  const app = kind === 'apns' ? { ios_app_id: 'org.example.App' } : {};
  const registration = { token, token_kind: kind, timestamp: clock.now(), ...app, ...wrong };
  const fields = {
    ...{ device_id, push_key_id: 7, push_key: PUSH_KEY, token_kind: kind, token_id: tokenIdOf(token) },
    ...{ bouncer_public_key: OWN_PUBLIC_KEY, encrypted_push_registration: sealedBox(JSON.stringify(registration)) },
  };
  fieldsOf(await server.post('/mobile_push/register', reader, fields));
  await until(async () => {
    const { push_token_id, push_registration_error_code } = (await devices())[device_id];
    return push_token_id !== null || push_registration_error_code !== null;
  });
  return device_id as number;
}

describe('server registering with a Parley push service', () => {
  it('is unknown at first', async () => {
    expect(await call('push/e2ee/notify', { realm_uuid: ORG_ID, push_requests: [] })).toMatchObject({
      ...{ status: 401, body: { code: 'INVALID_ZULIP_SERVER' } },
    });
    fieldsOf(await server.post('/register_client_device', reader));
  });

  it('registers by a command', async () => {
    const lines: string[] = [];
    const terminal = {
      ...{ out: (line: string) => lines.push(line), err: (line: string) => lines.push(line) },
      ...{ readInput: async () => '', interrupted: async () => {}, comeAfterServer: () => {} },
    };
    const environment = { PARLEY_PUSH_SERVICE: url, PARLEY_PUSH_ORG_ID: ORG_ID, PARLEY_PUSH_ORG_KEY: ORG_KEY };
    const register = () => runCommandLine(['push', 'register', 'ops@example.com'], terminal, { ...environment });
    expect([await register(), await register(), lines]).toEqual([
      ...[0, 0],
      ['The push service has registered this server.', 'The push service had already registered this server.'],
    ]);
  });

  it('changes its key only with the current key', async () => {
    const fields = { zulip_org_id: ORG_ID, hostname: 'chat.example.com', contact_email: 'ops@example.com' };
    const change = (zulip_org_key: string, new_org_key: string) =>
      call('server/register', { ...fields, zulip_org_key, new_org_key }, null);
    const other = 'o'.repeat(64);
    expect(await change(other, other)).toMatchObject({ status: 401, body: { code: 'INVALID_ZULIP_SERVER' } });
    expect(await change(ORG_KEY, other)).toMatchObject({ status: 200, body: { created: false } });
    expect((await call('server/analytics', { realms: '[]' })).status).toBe(401);
    expect((await change(other, ORG_KEY)).status).toBe(200);
    expect((await call('server/analytics', { realms: '[]' })).status).toBe(200);
  });

  it.each([
    ['an id that is not a UUID', { zulip_org_id: 'id' }, 'Invalid zulip_org_id'],
    ['a short key', { zulip_org_key: 'key' }, 'Invalid zulip_org_key'],
    ['a long host', { hostname: 'h'.repeat(129) }, 'Invalid hostname'],
    ['no contact', { contact_email: undefined }, "Missing 'contact_email' argument"],
  ])('is rejected with %s', async (_, wrong, msg) => {
    const fields = { zulip_org_id: ORG_ID, zulip_org_key: ORG_KEY, hostname: 'a', contact_email: 'a@b.c', ...wrong };
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
    expect(await call('server/register', given, null)).toMatchObject({ status: 400, body: { msg } });
  });
});

describe('notification through a Parley push service', () => {
  it('reaches registered devices of both makers, even after a service restart', async () => {
    await addDevice('c0ffee00', 'apns');
    await addDevice('android', 'fcm');
    await reopen();
    const id = await server.sendMessage(sender, [reader], { content: 'hello' });
    await until(() => apns.arrivals.length > 0 && fcm.arrivals.length > 0);
    const expected = { type: 'message', message_id: id, content: 'hello', user_id: reader.id };
    expect(apns.arrivals).toMatchObject([
      {
        token: 'c0ffee00',
        headers: { 'apns-topic': 'org.example.App', 'apns-push-type': 'alert', 'apns-priority': '10' },
        fields: { push_key_id: 7, aps: { 'mutable-content': 1 } },
      },
    ]);
    expect(decrypted(apns.arrivals[0]!.fields, KEY)).toMatchObject(expected);
    expect(fcm.arrivals).toMatchObject([{ token: 'android', fields: { data: { push_key_id: '7' } } }]);
    expect(decrypted(fcm.arrivals[0]!.fields.data, KEY)).toMatchObject(expected);
    fieldsOf(await server.post('/messages/flags', reader, { messages: [id], op: 'add', flag: 'read' }));
    await until(() => apns.arrivals.length > 1 && fcm.arrivals.length > 1);
    expect(apns.arrivals[1]!.headers).toMatchObject({ 'apns-push-type': 'background', 'apns-priority': '5' });
    expect(fcm.arrivals[1]!.fields.android.priority).toBe('normal');
  });

  it('reaches older apps of both makers, and so do test notifications', async () => {
    fieldsOf(await server.post('/users/me/apns_device_token', reader, { token: 'abcd', appid: 'org.example.App' }));
    fieldsOf(await server.post('/users/me/android_gcm_reg_id', reader, { token: 'old' }));
    const id = await server.sendMessage(sender, [reader], { content: 'hello' });
    await until(() => apns.arrivals.length > 0 && fcm.arrivals.length > 0);
    expect(apns.arrivals).toMatchObject([{ token: 'abcd', fields: { zulip: { message_ids: [id] } } }]);
    expect(fcm.arrivals).toMatchObject([{ token: 'old', fields: { data: { zulip_message_id: String(id) } } }]);
    fieldsOf(await server.post('/mobile_push/test_notification', reader));
    expect(apns.arrivals[1]!.fields).toMatchObject({
      aps: { alert: { title: 'Test notification', body: expect.stringContaining('Realm zulip') } },
      zulip: { event: 'test', user_id: reader.id },
    });
    expect(fcm.arrivals[1]!.fields.data).toMatchObject({ event: 'test', time: String(clock.now()) });
    fieldsOf(await server.delete('/users/me/android_gcm_reg_id', reader, { token: 'old' }));
    await server.sendMessage(sender, [reader]);
    await until(() => apns.arrivals.length > 2);
    expect(fcm.arrivals).toHaveLength(2);
  });

  it('is dropped for removed devices and tokens', async () => {
    const id = await addDevice('dead', 'fcm');
    fieldsOf(await server.post('/users/me/android_gcm_reg_id', reader, { token: 'gone' }));
    for (const token of ['dead', 'gone']) fcm.refusals.set(token, [fcmError(404, 'UNREGISTERED')]);
    await server.sendMessage(sender, [reader]);
    await until(async () => (await devices())[id] === undefined && (await tokens()).length === 0);
    const reply = await call('push/test_notification', {
      ...{ realm_uuid: await realmUuid(), user_uuid: ORG_ID, user_id: 1, token: 'gone', token_kind: 2 },
      base_payload: {},
    });
    expect(reply).toMatchObject({ status: 400, body: { code: 'INVALID_REMOTE_PUSH_DEVICE_TOKEN' } });
  });

  it('is repeated only for phones that were not reached', async () => {
    await addDevice('c0ffee01', 'apns');
    await addDevice('android', 'fcm');
    apns.refusals.set('c0ffee01', [{ status: 429, body: { reason: 'TooManyRequests' } }]);
    await server.sendMessage(sender, [reader]);
    await until(() => fcm.arrivals.length > 0);
    await postponed(server, 'push.send');
    await wakeJobs();
    await until(() => apns.arrivals.length >= 2 && fcm.arrivals.length >= 2);
    expect([apns.arrivals.length, fcm.arrivals.length]).toEqual([2, 2]);
  });

  it('waits while a maker fails or the server exceeds its quota', async () => {
    await addDevice('android', 'fcm');
    const failure = fcmError(503, 'UNAVAILABLE');
    fcm.refusals.set(null, [failure, failure, failure]);
    await server.sendMessage(sender, [reader]);
    await postponed(server, 'push.send');
    clock.advance(5);
    await reopen({ api_by_remote_server: [{ windowSeconds: 60, limit: 1 }] });
    expect((await call('server/analytics', { realms: '[]' })).status).toBe(200);
    expect((await call('server/analytics', { realms: '[]' })).status).toBe(429);
    expect(fcm.arrivals).toEqual([]);
    await wakeJobs();
    await postponed(server, 'push.send');
    expect(fcm.arrivals).toEqual([]);
    await reopen();
    await wakeJobs();
    // On a busy machine, a job may have failed once more and wait longer.
    await until(() => {
      server.clock.advance(1);
      return fcm.arrivals.length >= 3;
    });
  });

  it.each([
    ['BAD_REQUEST', 'fcm', { ios_app_id: 'org.example.App' }],
    ['REQUEST_EXPIRED', 'fcm', { timestamp: 1 }],
  ] as const)('is not sent to a device with an invalid registration: %s', async (code, kind, wrong) => {
    const id = await addDevice('invalid', kind, wrong);
    expect((await devices())[id].push_registration_error_code).toBe(code);
  });
});

const realmUuid = async (): Promise<string> =>
  (await server.storage.uow.read(server.realmId, ({ realms }) => realms.get(server.realmId))).uuid;
/** Advances to the time of a later attempt, and triggers the workers by another message. */
async function wakeJobs(): Promise<void> {
  server.clock.advance(30);
  await server.sendMessage(sender, [reader]);
}

describe('second server at the same push service', () => {
  const id = '11111111-2222-4333-8444-555555555555';
  const credentials = [id, 'x'.repeat(64)] as const;
  beforeAll(async () => {
    const fields = { zulip_org_id: id, zulip_org_key: credentials[1], hostname: 'b', contact_email: 'b@example.com' };
    expect((await call('server/register', fields, null)).body.created).toBe(true);
  });

  it('cannot use the organizations and tokens of the first server', async () => {
    await addDevice('theirs', 'fcm');
    const realm_uuid = await realmUuid();
    const push_requests = [{ token_id: tokenIdOf('theirs'), payload: {} }];
    const mismatch = { status: 403, body: { code: 'REMOTE_REALM_SERVER_MISMATCH_ERROR' } };
    expect(await call('push/e2ee/notify', { realm_uuid, push_requests }, credentials)).toMatchObject(mismatch);
    const realms = JSON.stringify([{ uuid: realm_uuid }]);
    expect(await call('server/analytics', { realms }, credentials)).toMatchObject(mismatch);
    const own = '99999999-2222-4333-8444-555555555555';
    const unknown = { status: 403, body: { code: 'MISSING_REMOTE_REALM', msg: 'Organization not registered' } };
    expect(await call('push/e2ee/notify', { realm_uuid: own, push_requests }, credentials)).toMatchObject(unknown);
    const answer = await call('server/analytics', { realms: JSON.stringify([{ uuid: own }]) }, credentials);
    expect(answer.body.realms).toEqual({ [own]: { can_push: true, expected_end_timestamp: null } });
    expect(await call('push/e2ee/notify', { realm_uuid: own, push_requests }, credentials)).toMatchObject({
      ...{ status: 200, body: { android_successfully_sent_count: 0, delete_token_ids: [tokenIdOf('theirs')] } },
    });
    expect(fcm.arrivals).toEqual([]);
  });

  it('has a separate quota, and may register a few times from one address', async () => {
    await reopen({
      api_by_remote_server: [{ windowSeconds: 60, limit: 1 }],
      push_server_by_ip: [{ windowSeconds: 60, limit: 2 }],
    });
    const status = (as: readonly [string, string]) => call('server/analytics', { realms: '[]' }, as);
    expect([(await status(credentials)).status, (await status(credentials)).status]).toEqual([200, 429]);
    expect((await status([ORG_ID, ORG_KEY])).status).toBe(200);
    const fields = { zulip_org_id: id, zulip_org_key: credentials[1], hostname: 'b', contact_email: 'b@example.com' };
    const register = async () => (await call('server/register', fields, null)).status;
    expect([await register(), await register(), await register()]).toEqual([200, 200, 429]);
    await reopen();
  });

  it('loses all data when it leaves', async () => {
    expect((await call('server/deactivate', {}, credentials)).status).toBe(200);
    expect((await call('server/analytics', { realms: '[]' }, credentials)).status).toBe(401);
  });
});

describe('invalid request to a push service', () => {
  it.each([
    ['push/e2ee/notify', { realm_uuid: 'x', push_requests: [] }, 'Invalid realm_uuid'],
    ['push/e2ee/notify', { realm_uuid: ORG_ID, push_requests: [1] }, 'Invalid push_requests'],

    ['push/e2ee/register', { realm_uuid: ORG_ID }, "Missing 'token_id' argument"],
    ['push/register', { realm_uuid: ORG_ID, user_uuid: ORG_ID, token: 'a', token_kind: '3' }, 'Invalid token_kind'],
    ['push/register', { realm_uuid: ORG_ID, user_id: '1', token: 'a', token_kind: '1' }, /^Missing 'ios_app_id'/],
    ['push/unregister', { user_id: '1', token: 'a' }, 'Token does not exist'],
    ['server/analytics', { realms: '{' }, 'Malformed JSON'],
    ['server/analytics', { realms: '[{"uuid": 7}]' }, 'Invalid realms'],
  ])('is rejected: %s %j', async (path, fields, msg) => {
    const text = typeof msg === 'string' ? msg : expect.stringMatching(msg);
    expect(await call(path, fields)).toMatchObject({ status: 400, body: { result: 'error', msg: text } });
  });

  it('is rejected with too many requests, above one mebibyte, and on other paths', async () => {
    const many = { realm_uuid: ORG_ID, push_requests: Array(501).fill({}) };
    expect((await call('push/e2ee/notify', many)).body.msg).toBe('Invalid push_requests');
    const long = { realm_uuid: ORG_ID, push_requests: ['x'.repeat(1024 * 1024)] };
    expect((await call('push/e2ee/notify', long)).status).toBe(413);
    expect((await call('../messages', {})).status).toBe(404);
  });
});

describe('parley serve --push-service', () => {
  const id = '33333333-2222-4333-8444-555555555555';
  const credentials = [id, 'z'.repeat(64)] as const;
  const database = (name: string) => `--database=sqlite:${join(folder, name)}`;

  /** Runs a command with the settings of a push service. Returns its exit code and output. */
  function run(args: readonly string[], interrupted: Promise<void> = Promise.resolve(), say = (_: string) => {}) {
    const lines: string[] = [];
    const out = (line: string) => {
      lines.push(line);
      say(line);
    };
    const terminal = {
      ...{ out, err: out, readInput: async () => '', interrupted: () => interrupted, comeAfterServer: () => {} },
    };
    const { key, keyId, teamId, url: apnsUrl } = apns.account;
    const environment = {
      PARLEY_PUSH_KEYS: PRIVATE_KEY,
      ...{ PARLEY_APNS_KEY: key, PARLEY_APNS_KEY_ID: keyId, PARLEY_APNS_TEAM_ID: teamId, PARLEY_APNS_URL: apnsUrl },
      ...{ PARLEY_FCM_CREDENTIALS: credentialsOf(fcm.account), PARLEY_FCM_URL: fcm.account.url },
    };
    return runCommandLine(args, terminal, environment).then((code) => ({ code, lines }));
  }

  /** Runs a push service during the given work. */
  async function serving(name: string, work: (address: string, metrics: () => Promise<string>) => Promise<void>) {
    let interrupt = () => {};
    const interrupted = new Promise<void>((resolve) => {
      interrupt = resolve;
    });
    const args = ['serve', '--push-service', '--new-database', '--port=0', '--log-level=silent', database(name)];
    const metricsPort = await freePort();
    let ended: ReturnType<typeof run> | undefined;
    const address = await new Promise<string>((resolve) => {
      ended = run([...args, `--metrics=127.0.0.1:${metricsPort}`], interrupted, (line) => {
        const [, at] = /^The push service is at (.+)$/.exec(line) ?? [];
        if (at) resolve(at);
      });
    });
    try {
      await work(address, async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());
    } finally {
      interrupt();
      expect((await ended!).code).toBe(0);
    }
  }

  const notify = {
    realm_uuid: id,
    push_requests: [{ token_id: tokenIdOf('kept'), fcm_priority: 'high', payload: {} }],
  };
  const register = (address: string) =>
    call(
      'server/register',
      { zulip_org_id: id, zulip_org_key: credentials[1], hostname: 'c', contact_email: 'a@b.de' },
      null,
      address,
    );

  it('counts notifications by maker, and can run from a copy made while it was serving', async () => {
    await serving('first.db', async (address, metrics) => {
      expect((await register(address)).body).toMatchObject({ created: true });
      await call('server/analytics', { realms: [{ uuid: id }] }, credentials, address);
      const registration = { token: 'kept', token_kind: 'fcm', timestamp: Math.floor(Date.now() / 1000) };
      const device = {
        ...{ realm_uuid: id, token_id: tokenIdOf('kept'), bouncer_public_key: OWN_PUBLIC_KEY },
        encrypted_push_registration: sealedBox(JSON.stringify(registration)),
      };
      expect((await call('push/e2ee/register', device, credentials, address)).status).toBe(200);
      expect((await call('push/e2ee/notify', notify, credentials, address)).status).toBe(200);
      fcm.refusals.set(null, [fcmError(403, 'SENDER_ID_MISMATCH')]);
      await call('push/e2ee/notify', notify, credentials, address);
      const text = await metrics();
      expect(text).toContain('parley_notifications_total{channel="fcm",result="sent"} 1\n');
      expect(text).toContain('parley_http_requests_total{operation="POST /remotes/push/e2ee/notify",status="200"}');
      const copy = ['push', 'backup', join(folder, 'copy.db'), database('first.db')];
      expect(await run(copy)).toMatchObject({ code: 0 });
      // A copy does not overwrite an existing one.
      expect(await run(copy)).toMatchObject({ code: 1, lines: [expect.stringContaining('copy.db')] });
      expect(statSync(join(folder, 'copy.db')).mode & 0o777).toBe(0o600);
      await call('server/deactivate', {}, credentials, address);
    });
    fcm.arrivals.length = 0;
    await serving('copy.db', async (address) => {
      expect((await register(address)).body).toMatchObject({ created: false });
      expect((await call('push/e2ee/notify', notify, credentials, address)).body).toMatchObject({
        android_successfully_sent_count: 1,
      });
      expect(fcm.arrivals.map(({ token }) => token)).toEqual(['kept']);
    });
  });

  it('does not copy a missing database', async () => {
    const copy = ['push', 'backup', join(folder, 'none-copy.db')];
    expect(await run([...copy, database('none.db')])).toMatchObject({
      ...{ code: 1, lines: [expect.stringMatching(/There is no database at .*none\.db/)] },
    });
    expect(existsSync(join(folder, 'none-copy.db'))).toBe(false);
  });
});
