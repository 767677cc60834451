import { deepEqual, equal } from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { until } from '@parley/testkit';
import { encodeForm, encodeMultipart, type HttpAnswer } from '../conformance/request.js';
import { Chromium, findChromium } from '../testing/chromium.js';
import type { ParleyProcess } from '../testing/parley-process.js';
import { pause } from '../testing/pause.js';
import { CLIENT, DOMAIN, FORGED, type RunningProxy } from '../testing/running-proxy.js';
import type { Person } from '../testing/test-organization.js';

/** Real server behind a proxy. */
export interface Scene {
  readonly proxy: RunningProxy;
  /** Address of the proxy. */
  readonly port: number;
  readonly ann: Person;
  readonly password: string;
  readonly server: () => ParleyProcess;
  /** Stops the server and starts it at the same port. Resolves before the proxy notices. */
  readonly restart: () => Promise<void>;
  /** Proxy to reload; the innermost one. */
  readonly reload: () => void;
}

/** Returns what the table shows. @throws Error if it fails */
type Check = (scene: Scene) => Promise<string>;

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const TUS = { 'Tus-Resumable': '1.0.0' };
const seconds = (beganAt: number): string => `${((performance.now() - beganAt) / 1000).toFixed(1)} s`;
const digestOf = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

const post = ({ proxy, ann }: Scene, path: string, form: Readonly<Record<string, string>>) =>
  proxy.call({ as: ann, path, body: encodeForm(form), headers: FORM });
const say = (scene: Scene, content: string) =>
  post(scene, '/messages', { type: 'direct', to: `[${scene.ann.id}]`, content });
/** Path of the events of a new queue, which are of one type. */
async function events(scene: Scene, type: string, path = '/events'): Promise<string> {
  const { text } = await post(scene, '/register', { event_types: JSON.stringify([type]) });
  return `${path}?queue_id=${JSON.parse(text).queue_id}&last_event_id=-1`;
}
async function upload(scene: Scene, content: Buffer): Promise<HttpAnswer> {
  const file = { field: 'filename', name: 'notes.bin', content, type: 'application/octet-stream' };
  const { body, contentType } = await encodeMultipart({}, [file]);
  const headers = { 'Content-Type': contentType };
  return scene.proxy.call({ as: scene.ann, path: '/user_uploads', body: Buffer.from(body), headers });
}
async function digestAt({ proxy, ann }: Scene, path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of await proxy.open({ as: ann, path })) hash.update(chunk);
  return hash.digest('hex');
}

const logIn: Check = async ({ port, ann, password }) => {
  const command = findChromium();
  if (command === null) return 'no Chromium';
  const browser = await Chromium.start(command, {
    runsScripts: true,
    args: [`--host-resolver-rules=MAP ${DOMAIN}:443 127.0.0.1:${port}`, '--ignore-certificate-errors'],
  });
  try {
    await browser.open(`https://${DOMAIN}/login/?next=/accounts/joined/`);
    await browser.fill('Email address', ann.email);
    await browser.fill('Password', password);
    await browser.follow('Log in');
    equal((await browser.text()).includes('You have joined.'), true, await browser.text());
  } finally {
    await browser.close();
  }
  return 'works';
};

const poll: Check = async (scene) => {
  const path = await events(scene, 'muted_topics');
  const beganAt = performance.now();
  const { status, text } = await scene.proxy.call({ as: scene.ann, path });
  deepEqual([status, JSON.parse(text).events[0].type], [200, 'heartbeat']);
  return seconds(beganAt);
};

const stream: Check = async (scene) => {
  const response = await scene.proxy.open({ as: scene.ann, path: await events(scene, 'message', '/events/stream') });
  let received = '';
  response.setEncoding('utf8').on('data', (piece: string) => {
    received += piece;
  });
  await until(() => received.includes('event: heartbeat'));
  const saidAt = performance.now();
  await say(scene, 'at once');
  await until(() => received.includes('at once'));
  const delay = performance.now() - saidAt;
  response.on('error', () => {}).destroy();
  equal(delay < 2000, true, `${delay} ms`);
  return seconds(saidAt);
};

const largeUpload: Check = async (scene) => {
  const content = randomBytes(20_000_000);
  const beganAt = performance.now();
  const { status, text } = await upload(scene, content);
  equal(status, 200, text);
  equal(await digestAt(scene, JSON.parse(text).url), digestOf(content));
  return seconds(beganAt);
};

const resumedUpload: Check = async (scene) => {
  const { proxy, ann } = scene;
  const content = randomBytes(6_000_000);
  const send = (path: string, offset: number, end: number) =>
    proxy.call({
      ...{ as: ann, path, method: 'PATCH', body: content.subarray(offset, end) },
      headers: { ...TUS, 'Upload-Offset': `${offset}`, 'Content-Type': 'application/offset+octet-stream' },
    });
  const headers = { ...TUS, 'Upload-Length': `${content.length}` };
  const begun = await proxy.call({ as: ann, path: '/tus/', method: 'POST', headers, body: '' });
  const { href, host, pathname } = new URL(begun.headers.location!, `https://${DOMAIN}/api/v1/tus/`);
  deepEqual([begun.status, host], [201, DOMAIN], href);
  equal((await send(pathname, 0, 4_000_000)).status, 204);
  await scene.restart();
  await proxy.isReady();
  const head = await proxy.call({ as: ann, path: pathname, method: 'HEAD', headers: TUS });
  deepEqual([head.status, head.headers['upload-offset']], [200, '4000000']);
  const { status, text } = await send(pathname, 4_000_000, content.length);
  deepEqual([status, await digestAt(scene, JSON.parse(text).url)], [200, digestOf(content)]);
  return 'at its offset';
};

const ranges: Check = async (scene) => {
  const content = randomBytes(1000);
  const path = JSON.parse((await upload(scene, content)).text).url;
  const response = await scene.proxy.open({ as: scene.ann, path, headers: { Range: 'bytes=100-199' } });
  const bytes = Buffer.concat(await response.toArray());
  deepEqual([response.statusCode, response.headers['content-range']], [206, 'bytes 100-199/1000']);
  deepEqual(bytes, content.subarray(100, 200));
  return '206';
};

const address: Check = async ({ proxy, ann, server }) => {
  await proxy.call({ as: ann, path: '/users/me', headers: { 'X-Forwarded-For': FORGED } });
  await until(() => server().output.includes('"/users/me"'));
  deepEqual([server().output.includes(`"ip":"${CLIENT}"`), server().output.includes(FORGED)], [true, false]);
  return "the client's";
};

const longUrl: Check = async ({ proxy, ann }) => {
  // An encoded slash belongs to the name; the rest makes the URL 7.5 KiB long.
  const path = `/users/a%2Fb@example.com?pad=${'x'.repeat(7500)}`;
  const { status, text } = await proxy.call({ as: ann, path });
  deepEqual([status, JSON.parse(text).code], [400, 'BAD_REQUEST'], text.slice(0, 300));
  return 'passes';
};

const tooLarge: Check = async (scene) => {
  const { status, text } = await upload(scene, Buffer.alloc(120_000_000));
  const isOfParley = text.startsWith('{"result"');
  deepEqual([status, isOfParley], isOfParley ? [400, true] : [413, false], text.slice(0, 300));
  return `${status} by ${isOfParley ? 'Parley' : 'the proxy'}`;
};

const reload: Check = async (scene) => {
  const answer = scene.proxy.call({ as: scene.ann, path: await events(scene, 'message') });
  answer.catch(() => {});
  await pause(500);
  scene.reload();
  await pause(2000);
  await scene.proxy.isReady();
  await say(scene, 'after the reload');
  const { status, text } = await answer;
  deepEqual([status, JSON.parse(text).events[0].message.content], [200, 'after the reload']);
  return 'poll goes on';
};

const restart: Check = async (scene) => {
  const statuses = new Set<number | string>();
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const answer = scene.proxy.call({ as: scene.ann, path: '/users/me' });
      statuses.add(await answer.then(({ status }) => status, String));
      await pause(50);
    }
  })();
  await scene.restart();
  const beganAt = performance.now();
  await scene.proxy.isReady();
  const delay = seconds(beganAt);
  isOver = true;
  await asking;
  statuses.delete(200);
  // HAProxy closes the connection if the server closed its own during a request, so that the client repeats it.
  for (const status of statuses) equal([502, 503, 'Error: socket hang up'].includes(status), true, `${status}`);
  return `${delay} later${[...statuses].map((status) => `; before: ${status}`).join('')}`;
};

/** Checks with the names of their rows, in the order of the table. */
export const CHECKS: readonly (readonly [name: string, check: Check])[] = [
  ['Log-in in Chromium', logIn],
  ['Event on a stream', stream],
  ['Upload of 20 MB and download', largeUpload],
  ['Range of a file', ranges],
  ['Address of the caller with a forged header', address],
  ['URL of 7.5 KiB with an encoded slash', longUrl],
  ['Upload of 120 MB', tooLarge],
  ['Poll without events', poll],
  ['Poll during a reload of the proxy', reload],
  ['Upload resumed after a restart of Parley', resumedUpload],
  ['Request after a restart of Parley', restart],
];
