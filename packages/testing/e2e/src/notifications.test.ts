import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort, until } from '@parley/testkit';
import { TestBrowserPush } from '../../acceptance/src/testing/test-browser-push.js';
import {
  credentialsOf,
  decrypted,
  OWN_PUBLIC_KEY,
  PRIVATE_KEY,
  sealedBox,
  TestApns,
  TestFcm,
} from '../../acceptance/src/testing/test-phone-services.js';
import { tokenIdOf } from '../../acceptance/src/testing/test-push-service.js';
import { TestSmtpServer } from '../../acceptance/src/testing/test-smtp-server.js';
import { ParleyProcess, runParley } from './testing/parley-process.js';
import { type Person, TestOrganization } from './testing/test-organization.js';

const KEY = Buffer.alloc(32, 7);
const PUSH_KEY = Buffer.concat([Buffer.from([0x31]), KEY]).toString('base64');

/** Built chat server, and a built push service between it and Apple's and Google's services. */
describe('mention of an absent person', () => {
  const smtp = new TestSmtpServer();
  const browser = new TestBrowserPush();
  const webhooks: Record<string, unknown>[] = [];
  const environment: Record<string, string> = {};
  let [apns, fcm]: [TestApns, TestFcm] = [] as never;
  let organization: TestOrganization;
  let pushService: ParleyProcess;
  let server: ParleyProcess;
  let receiver: Server;
  let [hamlet, horatio]: [Person, Person] = [] as never;

  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect by their assertions.
  async function call(as: Person, method: string, path: string, params: object = {}): Promise<any> {
    const form = new URLSearchParams(
      Object.entries(params).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    );
    const isQuery = method === 'GET';
    const response = await fetch(`${server.url}/api/v1${path}${isQuery ? `?${form}` : ''}`, {
      method,
      headers: { Authorization: `Basic ${Buffer.from(`${as.email}:${as.apiKey}`).toString('base64')}` },
      ...(!isQuery && { body: form }),
    });
    const body = (await response.json()) as { result: string };
    expect(body).toMatchObject({ result: 'success' });
    return body;
  }

  beforeAll(async () => {
    [apns, fcm] = await Promise.all([TestApns.start(), TestFcm.start()]);
    await Promise.all([smtp.listen(), browser.start()]);
    receiver = createServer(async (request, response) => {
      webhooks.push(JSON.parse(await text(request)));
      response.setHeader('Content-Type', 'application/json').end('{"content":"At your service"}');
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    organization = await TestOrganization.withOrganization();
    hamlet = await organization.addPerson('Hamlet');
    horatio = await organization.addPerson('Horatio', 'owner');
    const { key, keyId, teamId, url } = apns.account;
    pushService = await ParleyProcess.start(
      [
        ...['--push-service', '--new-database', `--port=${await freePort()}`],
        `--database=sqlite:${join(organization.directory, 'push.db')}`,
      ],
      {
        environment: {
          PARLEY_PUSH_KEYS: PRIVATE_KEY,
          ...{ PARLEY_APNS_KEY: key, PARLEY_APNS_KEY_ID: keyId, PARLEY_APNS_TEAM_ID: teamId, PARLEY_APNS_URL: url },
          ...{ PARLEY_FCM_CREDENTIALS: credentialsOf(fcm.account), PARLEY_FCM_URL: fcm.account.url },
        },
      },
    );
    Object.assign(environment, {
      PARLEY_PUSH_SERVICE: pushService.url,
      PARLEY_PUSH_ORG_ID: '6cde5f7a-1f7e-4978-9716-49f69ebfc9fe',
      PARLEY_PUSH_ORG_KEY: 'k'.repeat(64),
      PARLEY_WEB_PUSH: 'mailto:ops@example.com',
      PARLEY_WEBHOOK_NETWORKS: 'loopback',
      PARLEY_SMTP_URL: smtp.url,
      PARLEY_MAIL_FROM: 'chat@example.com',
    });
    expect((await runParley(['push', 'register', 'ops@example.com'], '', { environment })).err).toBe('');
    server = await organization.serve([], '0', { environment });
  });
  afterAll(async () => {
    await organization.close();
    await pushService.kill();
    receiver.closeAllConnections();
    receiver.close();
    await Promise.all([apns.close(), fcm.close(), browser.close(), smtp.close()]);
  });

  it('reaches phones, older apps, browsers, the mailbox and a mentioned bot', async () => {
    await call(hamlet, 'PATCH', '/settings', { email_notifications_batching_period_seconds: 1 });
    const { device_id } = await call(hamlet, 'POST', '/register_client_device');
    const registration = {
      ...{ token: 'c0ffee00', token_kind: 'apns', ios_app_id: 'org.example.App' },
      timestamp: Math.floor(Date.now() / 1000),
    };
    await call(hamlet, 'POST', '/mobile_push/register', {
      ...{ device_id, push_key_id: 7, push_key: PUSH_KEY, token_kind: 'apns', token_id: tokenIdOf('c0ffee00') },
      ...{ bouncer_public_key: OWN_PUBLIC_KEY, encrypted_push_registration: sealedBox(JSON.stringify(registration)) },
    });
    await call(hamlet, 'POST', '/users/me/android_gcm_reg_id', { token: 'older' });
    await call(hamlet, 'POST', '/web_push/subscriptions', browser.subscription('hamlet'));
    await until(async () => {
      const { devices } = await call(hamlet, 'POST', '/register', { fetch_event_types: ['device'] });
      return devices[device_id].push_token_id !== null;
    });
    const { port } = receiver.address() as AddressInfo;
    const payload_url = JSON.stringify(`http://127.0.0.1:${port}/`);
    await call(horatio, 'POST', '/bots', { full_name: 'Ghost', short_name: 'ghost', bot_type: 3, payload_url });
    const { id: channelId } = await call(horatio, 'POST', '/channels/create', {
      ...{ name: 'battlements', subscribers: [hamlet.id, horatio.id] },
    });
    const content = '@**Hamlet** the @**Ghost** is here';
    const message = { type: 'channel', to: channelId, topic: 'midnight', content };
    const { id } = await call(horatio, 'POST', '/messages', message);

    // The bot's reply also causes a notification, which may arrive first.
    const atPhone = () => apns.arrivals.find(({ fields }) => decrypted(fields, KEY).message_id === id);
    const atOlderApp = () => fcm.arrivals.find(({ fields }) => fields.data.zulip_message_id === String(id));
    const inBrowser = () => browser.received.find(({ payload }) => payload.message_id === id);
    await until(() => [atPhone(), atOlderApp(), inBrowser()].every(Boolean));
    expect(atPhone()).toMatchObject({ token: 'c0ffee00', headers: { 'apns-topic': 'org.example.App' } });
    expect(decrypted(atPhone()!.fields, KEY)).toMatchObject({ user_id: hamlet.id });
    expect(atOlderApp()).toMatchObject({ token: 'older' });
    expect(inBrowser()!.payload).toMatchObject({
      ...{ channel_id: channelId, topic: 'midnight', user_id: hamlet.id },
      body: 'Horatio mentioned you:\n@Hamlet the @Ghost is here',
    });
    await until(() => smtp.emails.length > 0);
    const [email] = smtp.emails;
    expect(email).toMatch(/^To: hamlet@elsinore\.example\r$/m);
    expect(email).toMatch(/^Subject: #battlements > midnight\r$/m);
    expect(email).toContain('is here');
    await until(() => webhooks.length > 0);
    expect(webhooks[0]).toMatchObject({ data: content, trigger: 'mention', message: { id } });
    const narrow = [{ operator: 'channel', operand: channelId }];
    const page = { narrow, anchor: 'newest', num_before: 1, num_after: 0, apply_markdown: false };
    const replies = () => call(hamlet, 'GET', '/messages', page);
    await until(async () => (await replies()).messages[0].content === 'At your service');
  });

  it('can be tested with a command that names each phone, browser and mailbox', async () => {
    const database = `--database=sqlite:${organization.database}`;
    const tested = await runParley(['notify', 'test', hamlet.email, database], '', { environment });
    // Node reports a deprecated call of the library of web push.
    expect([tested.code, tested.err.replace(/^\(.*\n/gm, '')]).toEqual([0, '']);
    expect(tested.out).toMatch(/^Phones: push service http\S+\. Web push: configured\. Email: configured\.$/m);
    expect(tested.out.match(/\tsent$/gm)).toHaveLength(4);
    expect(smtp.emails.at(-1)).toMatch(/^Subject: Test notification\r$/m);
  });
});
