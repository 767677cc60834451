import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chat, type Narrow } from '@parley/chat';
import { ParleyClient } from '@parley/client';
import { createParley, type Parley } from '@parley/server';
import { until } from '@parley/testkit';

const ANN = { realm: '', externalId: 'ann' };
const EMAIL = 'ann@example.com';
const CHANNEL = 'orders';

let folder: string;
let snapshot: string;
let parley: Parley;
let server: Server | null;
let apiKey: string;
let channelId: number;
let warnings: string[];
const chats: Chat[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-put-back-'));
  snapshot = `${folder}.snapshot`;
  warnings = [];
  await start();
  await parley.realms.ensure({ name: '' });
  await parley.users.upsert({ ...ANN, name: 'Ann', email: EMAIL, role: 'owner' });
  apiKey = await parley.users.apiKey(ANN);
  ({ id: channelId } = await parley.as(ANN).channels.ensure({ name: CHANNEL }));
  await say('first');
});
afterEach(async () => {
  for (const chat of chats.splice(0)) chat.stop();
  await stop();
  for (const path of [folder, snapshot]) rmSync(path, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const logger = { info() {}, error() {}, warn: (_: object, text: string) => void warnings.push(text) };
  parley = await createParley({ database: `sqlite:${join(folder, 'parley.db')}`, url: 'http://localhost', logger });
  server = createServer(parley.handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
}

async function stop(): Promise<void> {
  await parley.close();
  server?.closeAllConnections();
  server?.close();
  server = null;
}

const say = (content: string) => parley.as(ANN).messages.send({ channel: CHANNEL, topic: 'news', content });

/** Copies the folder of a stopped server, like a snapshot of its volume. */
async function takeSnapshot(): Promise<void> {
  await stop();
  cpSync(folder, snapshot, { recursive: true });
  await start();
}

/** Puts the snapshot back, or the database alone, and starts the server. */
async function putBack(only = ''): Promise<void> {
  await stop();
  cpSync(join(snapshot, only), join(folder, only), { recursive: true });
  await start();
}

/** Connects to the running server. */
const send: typeof fetch = (url, init) =>
  server
    ? fetch(String(url).replace('http://chat.test', `http://127.0.0.1:${(server.address() as AddressInfo).port}`), init)
    : Promise.reject(new TypeError('offline'));

const clientOf = () =>
  new ParleyClient({ url: 'http://chat.test', credentials: { email: EMAIL, apiKey }, fetch: send, maxRetries: 0 });

const poll = (queue: string, lastEventId: number) =>
  clientOf()
    .get('/events', { queue_id: queue, last_event_id: lastEventId, dont_block: true })
    .then(
      ({ events }) => events.map(({ id }) => id),
      ({ code }) => code as string,
    );

/** Registers a queue and reads its events after `work`. */
async function queueAfter(work: () => Promise<unknown>): Promise<readonly [queue: string, lastEventId: number]> {
  const { queue_id } = await clientOf().post('/register', { event_types: ['message'] });
  await work();
  const ids = (await poll(queue_id!, -1)) as number[];
  return [queue_id!, ids.at(-1)!];
}

describe.each([
  ['database file', 'parley.db'],
  ['snapshot of the whole folder, which only the id of a lost queue proves', ''],
])('%s that was put back', (_, only) => {
  it('ends queues, repeats no id or event number, and is logged once', async () => {
    const [queue, known] = await queueAfter(() => say('kept'));
    await takeSnapshot();
    for (let n = 0; n < 20; n++) await say('lost');
    let last = { id: 0 };
    const [lost, newest] = await queueAfter(async () => {
      last = await say('last');
    });
    const ids = (await poll(queue, known)) as number[];
    await putBack(only);
    expect(await poll(lost, newest)).toBe('BAD_EVENT_QUEUE_ID');
    expect(await poll(queue, ids.at(-1)!)).toBe('BAD_EVENT_QUEUE_ID');
    expect(await poll(queue, known)).toBe('BAD_EVENT_QUEUE_ID');
    expect((await say('new')).id).toBeGreaterThan(last.id);
    const [, seq] = await queueAfter(() => say('newer'));
    expect(seq).toBeGreaterThan(ids.at(-1)!);
    expect(warnings.filter((text) => text.includes('older than before'))).toHaveLength(1);
  });

  it("lets Parley's client begin anew without lost messages, and send what was unsent", async () => {
    const chat = new Chat({ gateway: clientOf() });
    chats.push(chat);
    void chat.run();
    await until(() => chat.isReady.value);
    const news: Narrow = [
      { operator: 'channel', operand: channelId },
      { operator: 'topic', operand: 'news' },
    ];
    const view = chat.open(news);
    const texts = () => view.keys.value.map((key) => chat.message(key).value?.html);
    await until(() => texts().length === 1);
    await takeSnapshot();
    for (let n = 0; n < 20; n++) await say('lost');
    await until(() => texts().length === 21);
    await stop();
    chat.send({ kind: 'channel', channelId, topic: 'news' }, 'unsent');
    cpSync(join(snapshot, only), join(folder, only), { recursive: true });
    await start();
    for (let turn = 0; turn < 500 && texts().join() !== '<p>first</p>,<p>unsent</p>'; turn++) await sleep(20);
    expect(texts()).toEqual(['<p>first</p>', '<p>unsent</p>']);
    await say('next');
    await until(() => texts().join() === '<p>first</p>,<p>unsent</p>,<p>next</p>');
  });
});

it('a client with forged positions and queue ids ends only its own queues and skips no ids', async () => {
  const [queue, known] = await queueAfter(() => say('kept'));
  const [forged] = await queueAfter(() => say('kept too'));
  await stop();
  await start();
  const { id } = await say('after the start');
  const beyond = forged.replace(/^./, '1');
  for (const other of [forged, beyond, randomUUID()]) expect(await poll(other, 1e12)).toBe('BAD_EVENT_QUEUE_ID');
  expect(await poll(queue, known)).toEqual([expect.any(Number), expect.any(Number)]);
  expect((await say('next')).id).toBe(id + 1);
  expect(warnings).toEqual([]);
});
