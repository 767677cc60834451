import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { SendTestNotifications } from '@parley/domain/push';
import { until } from '@parley/testkit';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { TestServer } from '../testing/test-server.js';

/** Time for background workers to start a due job. */
const JOB_MS = 300;
const DUE_SECONDS = 600;

let other: Server;
/** Requests to another server. */
let requests: string[];
let url: string;
let server: TestServer;
beforeEach(async () => {
  requests = [];
  other = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.setHeader('Content-Type', 'text/html').end('""<title>A page</title>');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const networks = { webhookNetworks: ['127.0.0.0/8'], webPush: 'mailto:ops@example.com' };
  server = await TestServer.start({ isQuiet: true, worksInBackground: true, ...networks });
});
afterEach(async () => {
  await server.close();
  other.close();
});

const settingsOf = async (one: TestServer): Promise<Wire> => fieldsOf(await one.get('/server_settings', null));
const textsOf = async (topic: string): Promise<string[]> => {
  const narrow = [{ operator: 'topic', operand: topic }];
  const page = { num_before: 10, apply_markdown: false, narrow };
  return (await server.messagesFor(server.people.hamlet, page)).map(({ content }) => content);
};
const directTexts = async (): Promise<string[]> => {
  const narrow = [{ operator: 'is', operand: 'dm' }];
  return (await server.messagesFor(server.people.hamlet, { num_before: 10, narrow })).map(({ content }) => content);
};

/** Causes everything that leaves a server, partly in ten minutes, which then have passed. */
async function causeEverything(): Promise<void> {
  const { hamlet, desdemona } = server.people;
  const post = async (path: string, params: Wire): Promise<Wire> => fieldsOf(await server.post(path, hamlet, params));
  fieldsOf(await server.patch('/realm', desdemona, { inline_url_embed_preview: true }));
  const town = await server.createChannel('town', [hamlet]);
  fieldsOf(await server.post('/invites', desdemona, { invitee_emails: 'yorick@example.com', stream_ids: [town] }));
  const hook = { full_name: 'hook', short_name: 'hook', bot_type: 3, payload_url: JSON.stringify(`${url}/hook`) };
  await post('/bots', hook);
  await server.sendMessage(hamlet, town, { topic: 'hook', content: `@**hook** look at ${url}/page` });
  const due = { scheduled_delivery_timestamp: server.clock.now() + DUE_SECONDS };
  await post('/scheduled_messages', { type: 'channel', to: town, topic: 'later', content: 'scheduled', ...due });
  const id = await server.sendMessage(hamlet, town, { topic: 'now' });
  await post('/reminders', { message_id: id, note: 'do not forget', ...due });
  server.clock.advance(DUE_SECONDS + 60);
}

describe('quiet server', () => {
  it('leaves work for people and other servers waiting, and a server that is not quiet does it once', async () => {
    await causeEverything();
    // Its jobs start at once.
    const another = await server.startAnother();
    await sleep(JOB_MS);
    expect(server.mailer.emails).toEqual([]);
    expect(requests).toEqual([]);
    expect(await textsOf('later')).toEqual([]);
    expect((await directTexts()).join()).not.toContain('do not forget');
    const loud = await server.startAnother({ isQuiet: false });
    await until(async () => server.mailer.emails.length > 0 && requests.length > 1);
    await until(async () => (await textsOf('later')).length > 0);
    await until(async () => (await directTexts()).join().includes('do not forget'));
    await sleep(JOB_MS);
    expect(server.mailer.emails.map(({ to }) => to)).toEqual(['yorick@example.com']);
    expect(requests.sort()).toEqual(['GET /page', 'POST /hook']);
    expect(await textsOf('later')).toEqual(['scheduled']);
    await loud.close();
    await another.close();
  });

  it('goes on with all other work', async () => {
    const { hamlet, cordelia } = server.people;
    await server.createChannel('town', [hamlet, cordelia]);
    const { email } = hamlet;
    fieldsOf(await server.post('/fetch_api_key', null, { username: email, password: hamlet.password }));
    const id = await server.sendMessage(cordelia, 'town', { content: `@**${hamlet.user.fullName}**` });
    expect(await server.flagsOf(id, hamlet)).toContain('mentioned');
  });

  it('says so in the server settings, and reports test notifications as not sent', async () => {
    expect(await settingsOf(server)).toMatchObject({ is_quiet: true, push_notifications_enabled: false });
    const test = server.parley.useCase(SendTestNotifications);
    expect(await test.execute({ realmId: server.realmId, userId: server.people.hamlet.id })).toEqual([
      {
        ...{ channel: 'email', target: server.people.hamlet.email },
        result: 'This server is quiet: it sends nothing to people or other servers.',
      },
    ]);
    expect(server.mailer.emails).toEqual([]);
    const loud = await server.startAnother({ isQuiet: false });
    expect(await settingsOf(loud)).not.toHaveProperty('is_quiet');
    await loud.close();
  });

  it('offers no web push and loads no pictures of other sites', async () => {
    const { hamlet } = server.people;
    expect(fieldsOf(await server.get('/web_push/subscriptions', hamlet))).toMatchObject({ vapid_public_key: null });
    const path = server.parley.ports.externalPicturePaths.pathOf(`${url}/picture.png`);
    expect((await server.get(`/${path}`, hamlet)).status).toBe(404);
    expect(requests).toEqual([]);
  });
});
