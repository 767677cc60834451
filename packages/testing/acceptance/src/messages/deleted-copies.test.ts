import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ReadFileTexts, SweepFiles } from '@parley/domain/files';
import type { EventSeq, StoredEvent } from '@parley/domain/kernel';
import { DeliverWebhooks } from '@parley/domain/membership';
import { MakeThumbnails } from '@parley/domain/messages';
import { EvaluateRecipients, FindDue, SendMissedEmails, SendWebPush } from '@parley/domain/push';
import { PreviewLinks, PurgeArchive } from '@parley/domain/writing';
import { openHeic, SharpImageProcessor } from '@parley/images';
import { MemoryBlobStore } from '@parley/testkit';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { pngOf } from '../testing/images.js';
import { runJobs } from '../testing/jobs.js';
import { postFiles } from '../testing/multipart.js';
import { TestBrowserPush } from '../testing/test-browser-push.js';
import { TestServer } from '../testing/test-server.js';

const WEEK = 7 * 86_400;

let server: TestServer;
let people: TestServer['people'];
let town: number;
let blobs: MemoryBlobStore;
let browser: TestBrowserPush;
let site: Server;
/** Paths that the server requested of the site. */
let requested: string[];

beforeEach(async () => {
  browser = new TestBrowserPush();
  await browser.start();
  requested = [];
  site = createServer((request, response) => {
    requested.push(request.url!);
    if (request.method === 'POST') return response.writeHead(503).end();
    if (request.url!.endsWith('.png')) return response.writeHead(200).end(pngOf(10, 10));
    const head = `<title>${word('title')}</title><meta property="og:description" content="${word('description')}">
      <meta property="og:image" content="/${word('picture')}.png">`;
    return response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<html><head>${head}</head>`);
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  blobs = new MemoryBlobStore({ nowMs: () => server.clock.nowMs() });
  const network = { webPush: 'mailto:ops@example.com', webhookNetworks: ['127.0.0.0/8'] };
  server = await TestServer.start({
    ...network,
    blobs,
    searchesFiles: true,
    images: new SharpImageProcessor(openHeic),
  });
  ({ people } = server);
  town = await server.createChannel('town', [people.hamlet, people.iago]);
});
afterEach(async () => {
  await server.close();
  await browser.close();
  site.close();
});

const siteUrl = () => `http://127.0.0.1:${(site.address() as AddressInfo).port}`;

/** Words that occur nowhere else; the search index stores words without a common beginning. */
const word = (name: string) => `qzv${name}jxk`;
const WORDS = /v[a-z]+jxk/gi;
const tracesIn = (text: string): readonly string[] => [...new Set(text.match(WORDS) ?? [])].sort();

/** Words in the database and in the bytes of files. */
async function traces(): Promise<readonly string[]> {
  const stored = [await server.storage.stored()];
  for (const { key } of await blobs.list(null, 100)) {
    const size = (await blobs.sizeOf(key))!;
    for await (const chunk of blobs.read(key, { start: 0, end: size }))
      stored.push(Buffer.from(chunk).toString('latin1'));
  }
  return tracesIn(stored.join('\n'));
}

/** Purges deleted messages, sweeps files and removes what deleted rows leave in pages. */
async function passWeek(): Promise<void> {
  server.clock.advance(WEEK + 1);
  await server.sweepQueues();
  await server.parley.useCase(PurgeArchive).execute({ keepSeconds: 0 });
  server.clock.advance(WEEK + 1);
  await server.parley.useCase(SweepFiles).execute({ keepDetachedSeconds: 0 });
  await server.storage.eraseDeleted();
}

/** Processes the log like the background worker. */
async function findDue(): Promise<void> {
  const { isWanted, consume } = server.parley.useCase(FindDue);
  const { realmId, storage } = server;
  const page = await storage.uow.read(realmId, ({ events }) =>
    events.listAfter(realmId, 0 as EventSeq, 10_000, 10_000_000),
  );
  const wanted = (page as readonly StoredEvent[]).filter((event) => event.event && isWanted(event));
  const unit = await consume(realmId, wanted);
  if (unit) await storage.uow.write(realmId, unit);
  await runJobs(server, server.parley.useCase(EvaluateRecipients));
}

const removeMessage = async (id: number) => fieldsOf(await server.delete(`/messages/${id}`, people.iago));
/** Runs due jobs that may fail. */
const attempt = (...args: Parameters<typeof runJobs>) => runJobs(...args).catch(() => undefined);

async function expectNoTraces(): Promise<void> {
  expect(await traces()).not.toEqual([]);
  await passWeek();
  expect(await traces()).toEqual([]);
}

describe('a deleted message', () => {
  it('is not sent by a push that failed before and waits for another attempt', async () => {
    const { hamlet, iago } = people;
    fieldsOf(await server.post('/web_push/subscriptions', hamlet, browser.subscription('one')));
    const id = await server.sendMessage(iago, [hamlet], { content: word('pushed') });
    await findDue();
    browser.status = 503;
    await attempt(server, server.parley.useCase(SendWebPush));
    expect(browser.received).toHaveLength(1);
    browser.status = 201;
    await removeMessage(id);
    server.clock.advance(3600);
    await runJobs(server, server.parley.useCase(SendWebPush));
    expect(browser.received).toHaveLength(1);
    await expectNoTraces();
  });

  it('is not sent by an email that failed before and waits for another attempt', async () => {
    const { hamlet, iago } = people;
    const id = await server.sendMessage(iago, [hamlet], { content: word('emailed') });
    await findDue();
    server.clock.advance(3600);
    const send = server.mailer.send.bind(server.mailer);
    server.mailer.send = async () => {
      throw new Error(`Rejected: ${word('rejected')}`);
    };
    await attempt(server, server.parley.useCase(SendMissedEmails));
    server.mailer.send = send;
    await removeMessage(id);
    server.mailer.emails.length = 0;
    server.clock.advance(86_400);
    await runJobs(server, server.parley.useCase(SendMissedEmails));
    expect(server.mailer.emails).toEqual([]);
    await expectNoTraces();
  });

  it('is not passed to a webhook that failed before and waits for another attempt', async () => {
    const { hamlet } = people;
    const bot = {
      full_name: 'hook',
      short_name: 'hook',
      bot_type: 3,
      payload_url: JSON.stringify(`${siteUrl()}/hook`),
    };
    fieldsOf(await server.post('/bots', hamlet, bot));
    const id = await server.sendMessage(hamlet, town, { content: `@**hook** ${word('hooked')}` });
    await attempt(server, server.parley.useCase(DeliverWebhooks));
    expect(requested).toEqual(['/hook']);
    await removeMessage(id);
    server.clock.advance(86_400);
    await runJobs(server, server.parley.useCase(DeliverWebhooks));
    expect(requested).toEqual(['/hook']);
    await expectNoTraces();
  });

  it('leaves neither the address nor the text of a link preview', async () => {
    fieldsOf(await server.patch('/realm', people.desdemona, { inline_url_embed_preview: true }));
    const content = `${siteUrl()}/${word('address')}`;
    const id = await server.sendMessage(people.hamlet, town, { content });
    server.clock.advance(5);
    await runJobs(server, server.parley.useCase(PreviewLinks));
    expect(await traces()).toEqual(expect.arrayContaining(['vdescriptionjxk', 'vtitlejxk']));
    await removeMessage(id);
    await expectNoTraces();
  });

  it('is not previewed if it was deleted before', async () => {
    fieldsOf(await server.patch('/realm', people.desdemona, { inline_url_embed_preview: true }));
    const id = await server.sendMessage(people.hamlet, town, { content: `${siteUrl()}/${word('address')}` });
    await removeMessage(id);
    server.clock.advance(5);
    await runJobs(server, server.parley.useCase(PreviewLinks));
    expect(requested).toEqual([]);
    await expectNoTraces();
  });

  it('leaves neither names nor bytes of its files, their thumbnails and their searched text', async () => {
    const upload = async (file: Parameters<typeof postFiles>[3][0]): Promise<string> =>
      (fieldsOf(await postFiles(server, '/user_uploads', people.hamlet, [file])) as Wire).url;
    const text = { name: `${word('textname')}.md`, type: 'text/markdown', content: `about ${word('filetext')}` };
    const image = { name: `${word('imagename')}.png`, type: 'image/png', content: pngOf(900, 900) };
    const [first, second] = [await upload(text), await upload(image)];
    const id = await server.sendMessage(people.hamlet, town, { content: `[a](${first}) [b](${second})` });
    const reader = server.parley.useCase(ReadFileTexts);
    while (await reader.execute());
    await runJobs(server, server.parley.useCase(MakeThumbnails));
    expect((await blobs.list(null, 100)).length).toBeGreaterThan(2);
    await removeMessage(id);
    await expectNoTraces();
    expect(await blobs.list(null, 100)).toEqual([]);
  });

  it('is not read by clients from queues, even if they received it and did not acknowledge it', async () => {
    const queue = await openQueue(server, people.hamlet);
    // The first poll makes the queue live, so that it holds the event in memory.
    await eventsAfter(server, queue);
    const id = await server.sendMessage(people.iago, town, { topic: word('topic'), content: word('queued') });
    expect(tracesIn(JSON.stringify(await eventsAfter(server, queue)))).not.toEqual([]);
    await removeMessage(id);
    const events = await eventsAfter(server, queue);
    expect(events.filter(({ type }) => type === 'message')).toEqual([]);
    expect(tracesIn(JSON.stringify(events))).not.toContain('vqueuedjxk');
  });
});
