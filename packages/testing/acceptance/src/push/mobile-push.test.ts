import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import type { MessageId } from '@parley/domain/kernel';
import { until } from '@parley/testkit';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { jobsWithin, postponed } from '../testing/jobs.js';
import { serverPerSuite } from '../testing/servers.js';
import { PUBLIC_KEY, sealed, TestPushService, tokenIdOf } from '../testing/test-push-service.js';
import type { TestUser } from '../testing/test-server.js';

let service: TestPushService;
let sender: TestUser;
let reader: TestUser;
let channel: string;
let channelId: number;
let count = 0;
const { server } = serverPerSuite(async () => {
  service = await TestPushService.start();
  return { push: service.account, worksInBackground: true };
});
beforeEach(async () => {
  count++;
  sender = await server.addUser({ email: `sender${count}@zulip.com`, fullName: `Sender ${count}` });
  reader = await server.addUser({ email: `reader${count}@zulip.com`, fullName: `Reader ${count}` });
  channel = `channel ${count}`;
  channelId = await server.createChannel(channel, [sender, reader]);
  service.failure = null;
  service.goneTokenIds.length = 0;
  service.goneTokens.length = 0;
  service.calls.length = 0;
  service.status = { can_push: true, expected_end_timestamp: null };
  service.now = server.clock.now();
});
afterAll(() => service.close());

/** Lease of a notification in progress. */
const LEASE_SECONDS = 60;
const KEY = Buffer.alloc(32, 7);
const OTHER_KEY = Buffer.alloc(32, 8);
const keyOf = (push_key_id: number, key: Buffer) => ({
  push_key_id,
  push_key: Buffer.concat([Buffer.from([0x31]), key]).toString('base64'),
});

/** Registers a device of the reader and returns its id. */
async function addDevice(token: string, token_kind: 'fcm' | 'apns' = 'fcm'): Promise<number> {
  const { device_id } = fieldsOf(await server.post('/register_client_device', reader));
  const registration = { token, token_kind, timestamp: server.clock.now() };
  const app = token_kind === 'apns' ? { ios_app_id: 'app' } : {};
  const fields = {
    ...{ device_id, token_kind, token_id: tokenIdOf(token), bouncer_public_key: PUBLIC_KEY },
    encrypted_push_registration: sealed({ ...registration, ...app }),
  };
  fieldsOf(await server.post('/mobile_push/register', reader, { ...fields, ...keyOf(7, KEY) }));
  await until(async () => (await devices())[device_id].push_token_id !== null);
  service.calls.length = 0;
  return device_id;
}
const devices = async (): Promise<Wire> =>
  fieldsOf(await server.post('/register', reader, { fetch_event_types: ['device'] })).devices;

/** Waits for notifications and returns them as received by the service. */
async function notified(path = 'push/e2ee/notify', calls = 1): Promise<readonly Wire[]> {
  await until(() => service.callsOf(path).length >= calls);
  return service.callsOf(path).map(({ fields }) => fields);
}

/** Decrypts a payload like an app. */
function decrypt({ payload }: Wire, key = KEY): Wire {
  const bytes = Buffer.from(payload.encrypted_data, 'base64');
  const text = xsalsa20poly1305(key, bytes.subarray(0, 24)).decrypt(bytes.subarray(24));
  return JSON.parse(Buffer.from(text).toString());
}

/** Message ids of the notifications received by the service, once per attempt. */
const sentIds = (): number[] =>
  service
    .callsOf('push/e2ee/notify')
    .map(({ fields }) => decrypt(fields.push_requests[0]))
    .flatMap(({ type, message_id: id }) => (type === 'message' ? [id] : []));

const realmOf = () => ({ realm_url: server.url, realm_name: 'Realm zulip', user_id: reader.id });
const mention = () => `hi @**${reader.user.fullName}**`;
const markRead = (...messages: readonly number[]) =>
  server.post('/messages/flags', reader, { messages, op: 'add', flag: 'read' });

describe('encrypted notification (organization §14)', () => {
  it('reaches only the devices of a mentioned user', async () => {
    const android = await addDevice('android');
    await addDevice('abcd', 'apns');
    const id = await server.sendMessage(sender, channel, { topic: 'lunch', content: `${mention()} :pizza:` });
    const [{ push_requests: requests }] = (await notified()) as [Wire];
    expect(requests).toMatchObject([
      { token_id: tokenIdOf('android'), fcm_priority: 'high', payload: { push_key_id: 7 } },
      {
        token_id: tokenIdOf('abcd'),
        http_headers: { apns_priority: 10, apns_push_type: 'alert' },
        payload: { push_key_id: 7, aps: { 'mutable-content': 1, alert: { title: 'New notification' } } },
      },
    ]);
    const expected = {
      ...realmOf(),
      ...{ type: 'message', message_id: id, time: server.clock.now(), content: `hi @${reader.user.fullName} 🍕` },
      ...{ sender_id: sender.id, sender_full_name: sender.user.fullName },
      sender_avatar_url: expect.stringMatching(/^https?:\/\//),
      ...{ recipient_type: 'channel', channel_id: channelId, channel_name: channel, topic: 'lunch' },
    };
    expect(requests.map((request: Wire) => decrypt(request))).toEqual([expected, expected]);
    expect(requests[0].payload.encrypted_data).not.toBe(requests[1].payload.encrypted_data);
    fieldsOf(await server.post('/mobile_push/register', reader, { device_id: android, ...keyOf(9, OTHER_KEY) }));
    await server.sendMessage(sender, [reader]);
    const rotated = (await notified('push/e2ee/notify', 2))[1]!.push_requests[0];
    expect(rotated.payload.push_key_id).toBe(9);
    expect(decrypt(rotated, OTHER_KEY)).toMatchObject({
      ...{ type: 'message', recipient_type: 'direct' },
      recipient_user_ids: [sender.id, reader.id],
    });
  });

  it('fits into four kilobytes', async () => {
    await addDevice('token');
    const others = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        server.addUser({ email: `crowd${count}-${n}@zulip.com`, fullName: '𝒲'.repeat(90) + n }),
      ),
    );
    await server.sendMessage(others[0]!, [reader, ...others], { content: '𝒲'.repeat(300) });
    const [{ push_requests: requests }] = (await notified()) as [Wire];
    expect(JSON.stringify(requests[0].payload).length).toBeLessThan(4096);
    expect(decrypt(requests[0]).content).toMatch(/^𝒲{100,200}…$/u);
  });

  it('is removed once when the message is read or no longer mentions the user', async () => {
    await addDevice('token');
    const first = await server.sendMessage(sender, [reader]);
    const second = await server.sendMessage(sender, [reader]);
    const unsaid = await server.sendMessage(sender, channel, { content: mention() });
    const deleted = await server.sendMessage(sender, channel, { content: mention() });
    await notified('push/e2ee/notify', 4);
    service.calls.length = 0;
    fieldsOf(await markRead(first, second));
    const [{ push_requests: requests }] = (await notified()) as [Wire];
    expect(requests[0].fcm_priority).toBe('normal');
    expect(decrypt(requests[0])).toEqual({ ...realmOf(), type: 'remove', message_ids: [second, first] });
    await server.patch(`/messages/${unsaid}`, sender, { content: 'nobody' });
    expect(decrypt((await notified('push/e2ee/notify', 2))[1]!.push_requests[0])).toMatchObject({
      ...{ type: 'remove', message_ids: [unsaid] },
    });
    fieldsOf(await server.delete(`/messages/${deleted}`, server.people.desdemona));
    expect(decrypt((await notified('push/e2ee/notify', 3))[2]!.push_requests[0])).toMatchObject({
      ...{ type: 'remove', message_ids: [deleted] },
    });
    fieldsOf(await markRead(first, unsaid));
    await server.sendMessage(sender, [reader]);
    expect(decrypt((await notified('push/e2ee/notify', 4))[3]!.push_requests[0])).toMatchObject({ type: 'message' });
  });

  it.each([
    ['/mark_all_as_read', () => ({})],
    ['/mark_stream_as_read', () => ({ stream_id: channelId })],
    ['/mark_topic_as_read', () => ({ stream_id: channelId, topic_name: 'lunch' })],
  ])('is removed by %s', async (path, params) => {
    await addDevice('token');
    const id = await server.sendMessage(sender, channel, { topic: 'lunch', content: mention() });
    await notified();
    fieldsOf(await server.post(path, reader, params()));
    expect(decrypt((await notified('push/e2ee/notify', 2))[1]!.push_requests[0])).toMatchObject({
      ...{ type: 'remove', message_ids: [id] },
    });
  });

  it('is removed for the newest two hundred messages', async () => {
    await addDevice('token');
    const id = await server.sendMessage(sender, [reader]);
    await notified();
    await server.storage.uow.write(server.realmId, async (tx) => {
      for (let n = 1; n <= 250; n++)
        await tx.notifications.addPushed(server.realmId, (id + n) as MessageId, [reader.id]);
    });
    fieldsOf(await server.post('/mark_all_as_read', reader));
    const { message_ids } = decrypt((await notified('push/e2ee/notify', 2))[1]!.push_requests[0]);
    expect(message_ids).toHaveLength(200);
    expect([message_ids[0], message_ids[199]]).toEqual([id + 250, id + 51]);
    const left = await server.storage.uow.read(server.realmId, ({ notifications }) =>
      notifications.listPushed(server.realmId, reader.id, null),
    );
    expect(left).toEqual([]);
  });

  it('names the mentioned group', async () => {
    const owner = server.people.desdemona;
    const group = { name: `group ${count}`, description: '', members: [reader.id] };
    const { group_id } = fieldsOf(await server.post('/user_groups/create', owner, group));
    await addDevice('token');
    await server.sendMessage(sender, channel, { content: `@*${group.name}*` });
    expect(decrypt((await notified())[0]!.push_requests[0])).toMatchObject({
      ...{ sender_full_name: sender.user.fullName },
      ...{ mentioned_user_group_id: group_id, mentioned_user_group_name: group.name },
    });
  });

  it("names the general chat in the recipient's language", async () => {
    await addDevice('token');
    fieldsOf(await server.patch('/settings', reader, { default_language: 'de' }));
    await server.sendMessage(sender, channel, { topic: '', content: mention() });
    expect(decrypt((await notified())[0]!.push_requests[0])).toMatchObject({ topic: 'Allgemeiner Chat' });
  });

  it('hides senders from guests without access to them', async () => {
    await addDevice('token');
    fieldsOf(await server.patch('/settings', reader, { default_language: 'de' }));
    fieldsOf(await server.patch(`/users/${reader.id}`, server.people.desdemona, { role: 600 }));
    await server.limitGuests();
    const stranger = await server.addUser({ email: `stranger${count}@zulip.com`, fullName: `Stranger ${count}` });
    await server.sendMessage(stranger, channel, { content: mention() });
    const payload = decrypt((await notified())[0]!.push_requests[0]);
    const { everyone } = await server.systemGroups();
    const back = { can_access_all_users_group: { new: everyone } };
    fieldsOf(await server.patch('/realm', server.people.desdemona, back));
    expect(payload).toMatchObject({ sender_id: stranger.id, sender_full_name: 'Unbekannte Person' });
    expect(payload.sender_avatar_url).toMatch(/^https?:.*unknown/);
  });

  it('is not sent if the message is read or deleted before a later attempt', async () => {
    await addDevice('token');
    service.failure = { status: 503, body: {} };
    const read = await server.sendMessage(sender, [reader]);
    const deleted = await server.sendMessage(sender, channel, { content: mention() });
    const kept = await server.sendMessage(sender, [reader]);
    await postponed(server, 'push.send', 3);
    fieldsOf(await markRead(read));
    fieldsOf(await server.delete(`/messages/${deleted}`, server.people.desdemona));
    service.failure = null;
    service.calls.length = 0;
    server.clock.advance(5);
    const latest = await wakeJobs();
    await until(() => sentIds().length >= 2);
    expect(sentIds().sort()).toEqual([kept, latest]);
  });

  it('delays no other notification while the service is down, and is sent when it responds again', async () => {
    await addDevice('token');
    service.hold();
    const ids = [];
    for (let n = 0; n < 20; n++) ids.push(await server.sendMessage(sender, [reader]));
    // The maximum number of concurrent notifications waits for the service.
    await until(() => service.callsOf('push/e2ee/notify').length === 16);
    const { cordelia } = server.people;
    await server.sendMessage(sender, [cordelia], { content: 'something else' });
    server.clock.advance(50);
    await server.sendMessage(sender, [cordelia]);
    server.clock.advance(5);
    service.release();
    await until(() => service.callsOf('push/e2ee/notify').length >= 20);
    expect([...new Set(sentIds())].sort()).toEqual(ids.sort());
  });

  it.each([
    ['a meaningless response', { status: 200, body: 'no object' as never }],
    ['an HTML page from a proxy', { status: 502, body: {} }],
    ['wrong types in all fields', { status: 200, body: { delete_token_ids: 7, realm_push_status: 'x' } }],
  ])('survives %s of the service', async (name, failure) => {
    const id = await addDevice('token');
    service.failure = failure;
    const failed = () => server.parley.ports.notificationMeter.counts.get('push')?.failed ?? 0;
    const before = failed();
    await server.sendMessage(sender, [reader]);
    await until(() => service.callsOf('push/e2ee/notify').length > 0);
    if (!name.startsWith('wrong')) await until(() => failed() > before);
    expect((await devices())[id].push_token_id).toBe(tokenIdOf('token'));
    service.failure = null;
    if (!name.startsWith('wrong')) await postponed(server, 'push.send');
    server.clock.advance(5);
    const latest = await wakeJobs();
    // Otherwise the next test would receive this notification.
    await until(() => sentIds().includes(latest));
    await until(async () => (await jobsWithin(server, 'push.send', LEASE_SECONDS)).length === 0);
  });

  it('is abandoned after a day', async () => {
    await addDevice('token');
    service.failure = { status: 503, body: {} };
    await server.sendMessage(sender, [reader]);
    await postponed(server, 'push.send');
    service.failure = null;
    service.calls.length = 0;
    server.clock.advance(86_401);
    const latest = await wakeJobs();
    await until(() => (server.parley.ports.notificationMeter.counts.get('push')?.expired ?? 0) > 0);
    const messages = (await notified()).map(({ push_requests: [request] }) => decrypt(request));
    expect(messages.map(({ message_id }) => message_id)).toEqual([latest]);
  });

  it('removes devices that the service can no longer reach', async () => {
    const id = await addDevice('token');
    const queue = await openQueue(server, reader, { event_types: ['device'] });
    service.goneTokenIds.push(tokenIdOf('token'));
    await server.sendMessage(sender, [reader]);
    await until(async () => Object.keys(await devices()).length === 0);
    expect(await eventsAfter(server, queue)).toEqual([{ type: 'device', op: 'remove', device_id: id }]);
  });
});

/** Sends a message to trigger the worker's clock check, and returns its id. */
const wakeJobs = () => server.sendMessage(sender, [reader]);

describe('legacy notification (organization §14.3)', () => {
  const addToken = (token: string) => server.post('/users/me/android_gcm_reg_id', reader, { token });
  const common = () => ({ realm_uri: server.url, ...realmOf() });

  it('is sent to all tokens and removed when the message is read', async () => {
    fieldsOf(await addToken('android'));
    fieldsOf(await server.post('/users/me/apns_device_token', reader, { token: 'abcd', appid: 'app' }));
    const id = await server.sendMessage(sender, channel, { topic: 'lunch', content: mention() });
    const [sent] = (await notified('push/notify')) as [Wire];
    const from = { sender_id: sender.id, sender_email: sender.email };
    const content = `hi @${reader.user.fullName}`;
    expect(sent).toMatchObject({
      ...{ user_id: reader.id, android_devices: ['android'], apple_devices: ['abcd'] },
      gcm_options: { priority: 'high' },
      apns_payload: {
        aps: {
          alert: { title: `#${channel} > lunch`, subtitle: `${sender.user.fullName} mentioned you:`, body: content },
          ...{ sound: 'default', badge: 0 },
        },
        zulip: {
          ...common(),
          ...from,
          ...{ recipient_type: 'stream', stream: channel, stream_id: channelId, topic: 'lunch', message_ids: [id] },
        },
      },
    });
    expect(sent.gcm_payload).toEqual({
      ...{ server: new URL(server.url).host, realm_id: '1', event: 'message', zulip_message_id: String(id) },
      ...{ ...common(), user_id: String(reader.id), time: String(server.clock.now()), content },
      ...{ sender_id: String(sender.id), sender_email: sender.email, sender_full_name: sender.user.fullName },
      sender_avatar_url: expect.stringMatching(/^https?:\/\//),
      ...{ recipient_type: 'stream', stream: channel, stream_id: String(channelId), topic: 'lunch' },
    });
    fieldsOf(await markRead(id));
    const removal = (await notified('push/notify', 2))[1]!;
    expect(removal).toMatchObject({
      gcm_options: { priority: 'normal' },
      gcm_payload: { event: 'remove', zulip_message_ids: String(id) },
      apns_payload: { aps: { badge: 0 }, zulip: { event: 'remove', zulip_message_ids: String(id) } },
    });
  });

  it("names the general chat in the recipient's language", async () => {
    fieldsOf(await server.patch('/settings', reader, { default_language: 'de' }));
    fieldsOf(await addToken('android'));
    await server.sendMessage(sender, channel, { topic: '', content: mention() });
    const [{ apns_payload, gcm_payload }] = (await notified('push/notify')) as [Wire];
    expect(gcm_payload.topic).toBe('Allgemeiner Chat');
    expect(apns_payload.aps.alert.title).toBe(`#${channel} > Allgemeiner Chat`);
  });

  it('hides the content if the organization requires encryption', async () => {
    const require = (value: boolean) =>
      server.patch('/realm', server.people.desdemona, { require_e2ee_push_notifications: value });
    fieldsOf(await require(true));
    fieldsOf(await addToken('token'));
    await server.sendMessage(sender, [reader], { content: 'secret' });
    const [sent] = (await notified('push/notify')) as [Wire];
    expect(sent.gcm_payload.content).toBe('New message');
    expect(JSON.stringify(sent)).not.toContain('secret');
    fieldsOf(await require(false));
  });

  it('removes tokens that the service can no longer reach', async () => {
    fieldsOf(await addToken('gone'));
    service.goneTokens.push('gone');
    await server.sendMessage(sender, [reader]);
    const tokens = () => server.storage.uow.read(server.realmId, (r) => r.pushTokens.list(server.realmId, reader.id));
    await until(async () => (await tokens()).length === 0);
  });
});

describe('push status of the organization (organization §15, §17)', () => {
  const status = async () => {
    const fields = fieldsOf(await server.post('/register', reader, { fetch_event_types: ['realm'] }));
    return [fields.realm_push_notifications_enabled, fields.realm_push_notifications_enabled_end_timestamp];
  };

  it('follows the reports of the push service', async () => {
    await until(async () => (await status())[0] === true);
    await addDevice('token');
    const queue = await openQueue(server, reader, { event_types: ['realm'] });
    service.status = { can_push: true, expected_end_timestamp: 2_000_000_000 };
    await server.sendMessage(sender, [reader]);
    await until(async () => (await status())[1] === 2_000_000_000);
    const code = 'PUSH_NOTIFICATIONS_DISALLOWED';
    service.failure = { status: 400, body: { result: 'error', code, msg: 'No plan' } };
    await server.sendMessage(sender, [reader]);
    await until(async () => (await status())[0] === false);
    expect(await status()).toEqual([false, null]);
    const update = (property: string, value: unknown) => ({ type: 'realm', op: 'update', property, value });
    const end = 'push_notifications_enabled_end_timestamp';
    expect(await eventsAfter(server, queue)).toEqual([
      update(end, 2_000_000_000),
      update('push_notifications_enabled', false),
      update(end, null),
    ]);
  });
});
