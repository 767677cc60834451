import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import type { Request } from 'playwright-core';
import { ApiUser } from '../harness/api.js';
import type { BenchBrowser, Tab } from '../harness/browser.js';
import { interleave, median } from '../harness/interleave.js';
import type { ParleyServer } from '../harness/parley-server.js';
import { formatNumber, ratioOf } from '../harness/table.js';
import type { Lab } from '../lab.js';
import type { Figure } from '../workload.js';
import type { BrowsedOrganization } from '../worlds/worlds.js';

/** Parts shared by all measurements of the web client. */
export interface WebScene {
  readonly lab: Lab;
  readonly server: ParleyServer;
  readonly browser: BenchBrowser;
  readonly contents: BrowsedOrganization;
}

export const topicHash = ({ contents: { busy } }: WebScene, topic: string): string =>
  `#narrow/channel/${busy}-busy/topic/${topic.replaceAll(' ', '.20')}`;

const KB = 1000;
const APP = new URL('../../../../clients/web/dist/app/', import.meta.url);

/** Request sent by a page. */
interface Call {
  readonly url: string;
  readonly method: string;
  readonly body: string | null;
  readonly type: string;
}

/** Measures loading of the application. */
export async function measureStart(scene: WebScene): Promise<readonly Figure[]> {
  const { calls, sizes } = await callsAtStart(scene);
  const rounds = await interleave(scene.lab.rounds, {
    cold: () => inNewTab(scene, async (tab) => firstMessageIn(scene, tab)),
    bare: () => inNewTab(scene, (tab) => fetchTimes(scene, tab, calls), false),
    again: () =>
      inNewTab(scene, async (tab) => {
        await firstMessageIn(scene, tab);
        // The cache is written within seconds.
        await tab.page.waitForTimeout(3000);
        await tab.page.close();
        return firstMessageIn(scene, await tab.next());
      }),
    phone: () =>
      inNewTab(scene, async (tab) => {
        await tab.cdp.send('Emulation.setCPUThrottlingRate', { rate: 6 });
        await tab.cdp.send('Network.enable');
        const bytesPerSecond = 1.6e6 / 8;
        await tab.cdp.send('Network.emulateNetworkConditions', {
          ...{ offline: false, latency: 150 },
          ...{ downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond },
        });
        return firstMessageIn(scene, tab);
      }),
  });
  const ms = (label: string, value: number, atMost: number): Figure => ({
    ...{ label, ours: `${formatNumber(value)} ms`, limit: '', value, goal: { atMost, unit: 'ms' } },
  });
  return [
    size('scripts before the first message, gzip', sizes.script, 150),
    size('style sheets before the first message, gzip', sizes.style, 20),
    count('requests before the first message', calls.length + 1, 8),
    {
      label: 'first message, empty cache ÷ an empty page that fetches and parses the same',
      ...ratioOf(rounds.cold, rounds.bare, ' ms'),
      goal: { atMost: 3 },
    },
    ms('first message, empty cache', median(rounds.cold), 1500),
    ms('first message, from the cache', median(rounds.again), 400),
    ms('first message, empty cache, processor six times slower, 1.6 Mbit/s, 150 ms', median(rounds.phone), 5000),
    await bytesOfReload(scene),
  ];
}

const size = (label: string, bytes: number, atMost: number): Figure => ({
  ...{ label, ours: `${formatNumber(bytes / KB)} KB`, limit: '', value: bytes / KB, goal: { atMost, unit: 'KB' } },
});

const count = (label: string, value: number, atMost: number): Figure => ({
  ...{ label, ours: String(value), limit: '', value, goal: { atMost } },
});

async function inNewTab(
  { browser }: WebScene,
  measure: (tab: Tab) => Promise<number>,
  hasPolicy = true,
): Promise<number> {
  const tab = await browser.open({ hasPolicy });
  try {
    return await measure(tab);
  } finally {
    await tab.close();
  }
}

async function firstMessageIn(scene: WebScene, tab: Tab): Promise<number> {
  await tab.page.goto(`${scene.browser.url}/${topicHash(scene, scene.contents.topics[0]!)}`, { waitUntil: 'commit' });
  return tab.firstMessage();
}

/** Requests before the first message, with their response sizes. */
async function callsAtStart(scene: WebScene) {
  const tab = await scene.browser.open();
  const requests: Request[] = [];
  tab.page.on('request', (request) => requests.push(request));
  await firstMessageIn(scene, tab);
  // Requests are listed once their responses have arrived.
  await tab.page.waitForTimeout(5000);
  // Only the page's clock can order requests and frames less than a millisecond apart.
  const early = await tab.page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter(({ startTime }) => startTime <= window.firstMessageMs)
      .map(({ name }) => name),
  );
  const calls = requests
    // Avatars and the tab icon do not delay the first message.
    .filter(
      (request) => early.includes(request.url()) && !/\/user_avatars\/|\/logo\.svg$|\/events\?/.test(request.url()),
    )
    .map(
      (request): Call => ({
        url: request.url(),
        method: request.method(),
        body: request.postData(),
        type: request.resourceType(),
      }),
    );
  await tab.close();
  const sizeOf = (type: string) =>
    calls.filter((call) => call.type === type).reduce((sum, { url }) => sum + compressedSize(url), 0);
  return { calls, sizes: { script: sizeOf('script'), style: sizeOf('stylesheet') } };
}

const compressedSize = (url: string): number => readFileSync(new URL(`.${new URL(url).pathname}.gz`, APP)).length;

/** Milliseconds that an empty page needs to fetch the same resources and parse the JSON ones. */
async function fetchTimes({ browser }: WebScene, tab: Tab, calls: readonly Call[]): Promise<number> {
  await tab.page.goto(`${browser.url}/web/service-worker.js`);
  return tab.page.evaluate(async (wanted) => {
    const token = document.cookie.match(/(?:^|; )(?:__Host-)?csrftoken=([^;]*)/)?.[1] ?? '';
    const startedAt = performance.now();
    await Promise.all(
      wanted.map(async ({ url, method, body }) => {
        const headers = {
          'X-CSRFToken': token,
          ...(body !== null && { 'Content-Type': 'application/x-www-form-urlencoded' }),
        };
        const response = await fetch(url, { method, body, headers });
        const text = await response.text();
        if (response.headers.get('content-type')?.startsWith('application/json')) JSON.parse(text);
      }),
    );
    return performance.now() - startedAt;
  }, calls);
}

/** Bytes requested by a page that was closed while messages were sent. */
async function bytesOfReload(scene: WebScene): Promise<Figure> {
  const { lab, browser, contents, server } = scene;
  const writer = await ApiUser.signIn(server, contents.writer.email);
  const reader = await ApiUser.signIn(server, contents.reader.email);
  const { queue_id: queueId, last_event_id: lastId } = (await reader.post('/api/v1/register', {
    ...{ apply_markdown: 'true', event_types: '["message","update_message_flags","presence"]' },
  })) as { queue_id: string; last_event_id: number };
  const tab = await browser.open();
  const isRegistered = tab.page.waitForResponse(/\/register$/);
  await firstMessageIn(scene, tab);
  await isRegistered;
  // The cache is written within seconds.
  await tab.page.waitForTimeout(3000);
  await tab.page.close();
  const messages = lab.size(300, 20);
  await sendMessages(scene, writer, messages, contents.topics[1]!);
  const next = await tab.next();
  await next.cdp.send('Network.enable');
  const kinds = new Map<string, string>();
  let bytes = 0;
  next.cdp.on('Network.responseReceived', ({ requestId, response: { url } }) => kinds.set(requestId, url));
  next.cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (/\/(json|accounts)\//.test(kinds.get(requestId) ?? '')) bytes += encodedDataLength;
  });
  const hasEvents = next.page.waitForResponse(/\/events\?/);
  await firstMessageIn(scene, next);
  await hasEvents;
  await next.page.waitForTimeout(3000);
  await tab.close();
  const query = new URLSearchParams({ queue_id: queueId, last_event_id: String(lastId), dont_block: 'true' });
  const limit = await compressedBytes(`${browser.url}/api/v1/events?${query}`, reader.authorization);
  return {
    label: `bytes of a reload after ${messages} messages ÷ bytes of their events`,
    ours: `${formatNumber(bytes / KB)} KB`,
    limit: `${formatNumber(limit / KB)} KB`,
    value: bytes / limit,
    goal: { atMost: 1.5 },
  };
}

/** Response length as sent to browsers. */
async function compressedBytes(url: string, authorization: string): Promise<number> {
  const request = get(url, { headers: { Authorization: authorization, 'Accept-Encoding': 'gzip, deflate, br' } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let bytes = 0;
  for await (const chunk of response) bytes += (chunk as Buffer).length;
  return bytes;
}

export const sendMessage = (
  { busy }: BrowsedOrganization,
  writer: ApiUser,
  topic: string,
  content = 'Lunch is at noon.',
): Promise<unknown> => writer.post('/api/v1/messages', { type: 'stream', to: String(busy), topic, content });

/** Sends many messages to a topic of the busy channel. */
export async function sendMessages(
  { lab, server, contents }: WebScene,
  writer: ApiUser,
  count: number,
  topic: string,
): Promise<void> {
  const requests = Array.from({ length: Math.min(count, 500) }, (_, n) =>
    writer.sends(
      contents.busy,
      `Message ${n} of the day: the report is attached to the ticket, and lunch is at noon.`,
      topic,
    ),
  );
  const load = lab.load();
  await load.run({ port: server.port, requests, inFlight: 16, until: { answers: count } });
  await load.stop();
}
