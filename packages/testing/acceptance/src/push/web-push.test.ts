import { createECDH, createPublicKey, verify } from 'node:crypto';
import { SendTestNotifications } from '@parley/domain/push';
import { until } from '@parley/testkit';
import { expectRefusal, fieldsOf } from '../testing/expectations.js';
import { postponed } from '../testing/jobs.js';
import { serverPerSuite } from '../testing/servers.js';
import { TestBrowserPush } from '../testing/test-browser-push.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

let browser: TestBrowserPush;
let sender: TestUser;
let reader: TestUser;
let count = 0;
const { server } = serverPerSuite({
  ...{ webPush: 'mailto:ops@example.com', webhookNetworks: ['127.0.0.0/8'], worksInBackground: true },
});
beforeAll(() => {
  browser = new TestBrowserPush();
  return browser.start();
});
beforeEach(async () => {
  count++;
  sender = await server.addUser({ email: `sender${count}@zulip.com`, fullName: `Sender ${count}` });
  reader = await server.addUser({ email: `reader${count}@zulip.com`, fullName: `Reader ${count}` });
  browser.received.length = 0;
  browser.status = 201;
});
afterAll(() => browser.close());

const subscribe = (as: TestUser, params: object) => server.post('/web_push/subscriptions', as, { ...params });
const listed = async (as = reader) => fieldsOf(await server.get('/web_push/subscriptions', as));

it("web push sends messages to subscribed browsers, encrypted and signed with the server's key", async () => {
  fieldsOf(await subscribe(reader, browser.subscription('one')));
  const id = await server.sendMessage(sender, [reader], { content: '**hello**' });
  await until(() => browser.received.length > 0);
  const [{ headers, payload }] = browser.received as [(typeof browser.received)[0]];
  expect(payload).toEqual({
    ...{ type: 'message', realm_url: server.url, realm_name: 'Realm zulip', user_id: reader.id },
    ...{ title: sender.user.fullName, body: 'hello', icon: expect.stringMatching(/^https?:/) },
    ...{ tag: `message-${id}`, message_id: id, time: server.clock.now(), user_ids: [sender.id, reader.id] },
  });
  expect(headers).toMatchObject({ 'content-encoding': 'aes128gcm', ttl: '86400', urgency: 'high' });
  const { vapid_public_key: key, endpoints } = await listed();
  expect(endpoints).toEqual([`${browser.origin}/one`]);
  const [, token, k] = /^vapid t=([^,]+), k=(.+)$/.exec(headers.authorization!)!;
  expect(k).toBe(key);
  const [head, claims, signature] = token!.split('.') as [string, string, string];
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
    ...{ aud: browser.origin, sub: 'mailto:ops@example.com' },
  });
  const point = Buffer.from(key, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((it) => it.toString('base64url'));
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: x!, y: y! }, format: 'jwk' });
  const signed = Buffer.from(`${head}.${claims}`);
  const raw = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
  expect(verify('sha256', signed, raw, Buffer.from(signature, 'base64url'))).toBe(true);
});

it.each(['Denmark > ice', ''])('web push names the channel and the topic %j to open', async (topic) => {
  const name = `channel ${count}`;
  const channelId = await server.createChannel(name, [sender, reader]);
  fieldsOf(await subscribe(reader, browser.subscription('place')));
  await server.sendMessage(sender, name, { topic, content: `@**${reader.user.fullName}**` });
  await until(() => browser.received.length > 0);
  expect(browser.received[0]!.payload).toMatchObject({ channel_id: channelId, topic });
});

it('web push hides the content of direct messages for users who hide it in notifications', async () => {
  fieldsOf(await server.patch('/settings', reader, { pm_content_in_desktop_notifications: false }));
  fieldsOf(await subscribe(reader, browser.subscription('hidden')));
  await server.sendMessage(sender, [reader], { content: 'secret' });
  await until(() => browser.received.length > 0);
  expect(browser.received[0]!.payload.body).toBe('New message');
});

it.each([404, 410])('web push removes a subscription for which the push service returns %s', async (status) => {
  fieldsOf(await subscribe(reader, browser.subscription('gone')));
  browser.status = status;
  await server.sendMessage(sender, [reader]);
  await until(async () => (await listed()).endpoints.length === 0);
  expect(browser.received).toHaveLength(1);
});

it('web push retries a failed notification and keeps the subscription', async () => {
  fieldsOf(await subscribe(reader, browser.subscription('busy')));
  browser.status = 503;
  const id = await server.sendMessage(sender, [reader]);
  await until(() => browser.received.length === 1);
  await postponed(server, 'push.send_web');
  browser.status = 201;
  server.clock.advance(5);
  await server.sendMessage(sender, [reader]);
  await until(() => browser.received.length === 3);
  expect(browser.received.slice(1).map(({ payload }) => payload.message_id)).toContain(id);
  expect((await listed()).endpoints).toHaveLength(1);
});

it('web push drops and counts a notification after a day of failures', async () => {
  fieldsOf(await subscribe(reader, browser.subscription('late')));
  browser.status = 503;
  await server.sendMessage(sender, [reader]);
  await until(() => browser.received.length === 1);
  await postponed(server, 'push.send_web');
  browser.status = 201;
  const expired = () => server.parley.ports.notificationMeter.counts.get('web_push')?.expired ?? 0;
  const before = expired();
  server.clock.advance(86_401);
  const latest = await server.sendMessage(sender, [reader]);
  await until(() => expired() > before && browser.received.length === 2);
  expect(browser.received[1]!.payload.message_id).toBe(latest);
  expect((await listed()).endpoints).toHaveLength(1);
});

it('web push ends a subscription only at the request of its owner', async () => {
  const { endpoint } = browser.subscription('mine');
  fieldsOf(await subscribe(reader, browser.subscription('mine')));
  const remove = (as: TestUser) => server.delete('/web_push/subscriptions', as, { endpoint });
  expectRefusal(await remove(sender), 'Subscription does not exist');
  fieldsOf(await remove(reader));
  expectRefusal(await remove(reader), 'Subscription does not exist');
});

it('web push keeps the newest twenty subscriptions of a user', async () => {
  for (let n = 0; n < 21; n++) fieldsOf(await subscribe(reader, browser.subscription(String(n))));
  const { endpoints } = await listed();
  expect(endpoints).toHaveLength(20);
  expect(endpoints).not.toContain(`${browser.origin}/0`);
});

it.each([
  ['a URL with another scheme', { endpoint: 'file:///etc/passwd' }],
  ['an unencrypted URL', { endpoint: 'http://push.example.com/1' }],
  ['a URL with credentials', { endpoint: 'https://me:secret@push.example.com/1' }],
  ['a key that is not a curve point', { p256dh: Buffer.alloc(65).toString('base64url') }],
  ['a key off the curve', { p256dh: Buffer.alloc(65, 4).toString('base64url') }],
  ['a compressed key', { p256dh: createECDH('prime256v1').generateKeys('base64url', 'compressed') }],
  ['a short secret', { auth: 'AAAA' }],
  ['a secret that is not Base64', { auth: '!'.repeat(22) }],
])('web push rejects %s', async (_, change) => {
  const reply = await subscribe(reader, { ...browser.subscription('x'), ...change });
  expectRefusal(reply, 'Invalid web push subscription');
});

it('web push rejects bots, and all callers if it is not configured', async () => {
  const bot = await server.addBot(reader, `bot${count}`);
  expectRefusal(await subscribe(bot, browser.subscription('x')), 'This endpoint does not accept bot requests.');
  const other = await TestServer.start();
  const reply = await other.post('/web_push/subscriptions', other.people.hamlet, browser.subscription('x'));
  expectRefusal(reply, 'Server is not configured to send web push notifications.', {
    code: 'PUSH_SERVICE_NOT_CONFIGURED',
  });
  const fields = fieldsOf(await other.get('/web_push/subscriptions', other.people.hamlet));
  expect(fields).toEqual({ vapid_public_key: null, endpoints: [] });
  await other.close();
});

it('web push test command sends a notification to every browser and the mailbox of a user', async () => {
  fieldsOf(await subscribe(reader, browser.subscription('test')));
  const test = server.parley.useCase(SendTestNotifications);
  const target = new URL(browser.origin).host;
  const caller = { realmId: server.realmId, userId: reader.id };
  const mailed = { channel: 'email', target: reader.email, result: 'sent' };
  expect(await test.execute(caller)).toEqual([{ channel: 'web_push', target, result: 'sent' }, mailed]);
  expect(server.mailer.emails.at(-1)).toMatchObject({ to: reader.email, subject: 'Test notification' });
  expect(browser.received[0]!.payload).toMatchObject({ type: 'test', title: 'Test notification' });
  browser.status = 410;
  expect(await test.execute(caller)).toEqual([{ channel: 'web_push', target, result: 'gone' }, mailed]);
  browser.status = 503;
  const [failed] = await test.execute(caller);
  expect(failed!.result).toBe("The browser's push service returned 503");
  server.mailer.isDown = true;
  const [, unsent] = await test.execute(caller);
  server.mailer.isDown = false;
  expect(unsent).toEqual({ ...mailed, result: 'The mail server is down' });
  const nobody = await server.addUser({ email: `nobody${count}@users.invalid`, fullName: `Nobody ${count}` });
  expect(await test.execute({ realmId: server.realmId, userId: nobody.id })).toEqual([]);
});
