#!/usr/bin/env node
// Writes the data of a release into src/fixtures, for the test that upgrades it: `node … CHECKOUT`, where CHECKOUT is a
// built checkout of the release's tag. It uses only commands and operations, so it works with any release.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const checkout = resolve(process.argv[2] ?? '.');
const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
const fixtures = fileURLToPath(new URL('../src/fixtures', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'parley-release-data-'));
const main = join(checkout, 'packages/server/dist/bundle/main.js');
const parley = (args, input = '') =>
  execFileSync(process.execPath, [main, ...args, `--database=sqlite:${folder}/data/parley.db`], {
    cwd: folder,
    encoding: 'utf8',
    input,
  });

const HAMLET = { email: 'hamlet@elsinore.example', name: 'Prince Hamlet', password: 'words words words 7' };
const GERTRUDE = { email: 'gertrude@elsinore.example', name: 'Gertrude', password: 'how is it with you 7' };

parley(['realm', 'create', '--new-database', '', 'Elsinore']);
parley(['user', 'create', HAMLET.email, HAMLET.name, '--role=owner', '--password-stdin'], HAMLET.password);
parley(['user', 'create', GERTRUDE.email, GERTRUDE.name, '--password-stdin'], GERTRUDE.password);
const server = spawn(process.execPath, [main, 'serve', '--port=0', `--database=sqlite:${folder}/data/parley.db`], {
  cwd: folder,
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const data = await fill(await addressOf(server));
  const stopped = once(server, 'exit');
  server.kill('SIGTERM');
  await stopped;
  mkdirSync(fixtures, { recursive: true });
  const archive = join(fixtures, `release-${version}.tar.gz`);
  execFileSync('tar', [
    '-I',
    'gzip -9',
    '-cf',
    archive,
    '-C',
    join(folder, 'data'),
    'parley.db',
    'parley.db.secret',
    'files',
  ]);
  const secret = readFileSync(join(folder, 'data/parley.db.secret'), 'utf8').trim();
  writeFileSync(join(fixtures, `release-${version}.json`), `${JSON.stringify({ ...data, secret }, null, 2)}\n`);
} finally {
  server.kill('SIGKILL');
  rmSync(folder, { recursive: true });
}

async function addressOf({ stdout }) {
  for await (const line of createInterface(stdout)) {
    const [, url] = /^Parley is at (.*)$/.exec(line) ?? [];
    if (url) return url;
  }
  throw new Error('The server has not started.');
}

/** Uses the features that store data. Returns the facts that the test needs. */
async function fill(url) {
  const call = async (person, method, path, params = {}) => {
    const form = new URLSearchParams(
      Object.entries(params).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    );
    const isGet = method === 'GET';
    const authorization = `Basic ${Buffer.from(`${person.email}:${person.apiKey}`).toString('base64')}`;
    const response = await fetch(`${url}/api/v1${path}${isGet ? `?${form}` : ''}`, {
      method,
      headers: person.apiKey ? { authorization } : {},
      ...(!isGet && { body: form }),
    });
    const body = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(body)}`);
    return body;
  };
  const logIn = async ({ email, password }) => {
    const { api_key: apiKey, user_id: id } = await call({}, 'POST', '/fetch_api_key', { username: email, password });
    return { email, password, apiKey, id };
  };
  const hamlet = await logIn(HAMLET);
  const gertrude = await logIn(GERTRUDE);
  const post = (person, path, params) => call(person, 'POST', path, params);
  const say = async (person, to, content) => (await post(person, '/messages', { ...to, content })).id;
  const rampart = { type: 'channel', to: 'rampart', topic: 'the ghost' };

  const subscriptions = [{ name: 'rampart', description: 'Where the guard stands' }];
  await post(hamlet, '/users/me/subscriptions', { subscriptions, principals: [hamlet.id, gertrude.id] });
  await post(hamlet, '/users/me/subscriptions', { subscriptions: [{ name: 'closet' }], invite_only: true });
  const first = await say(hamlet, rampart, 'Angels and ministers of grace, **defend** us!');
  await say(gertrude, rampart, 'Alas, how is it with you?');
  const edited = await say(hamlet, rampart, 'Get thee to a nunery');
  await call(hamlet, 'PATCH', `/messages/${edited}`, { content: 'Get thee to a nunnery' });
  await post(gertrude, `/messages/${first}/reactions`, { emoji_name: 'ghost' });
  await post(gertrude, '/messages/flags', { messages: [first], op: 'add', flag: 'starred' });
  await say(hamlet, { type: 'direct', to: [gertrude.id] }, 'Mother, you have my father much offended.');
  await say(hamlet, { type: 'channel', to: 'closet', topic: 'arras' }, 'How now! A rat?');
  const file = await upload(url, hamlet);
  await say(hamlet, rampart, `[the letter](${file})`);
  await post(hamlet, '/saved_snippets', { title: 'Oath', content: 'Swear.' });
  await post(hamlet, '/drafts', {
    drafts: [{ type: 'private', to: [gertrude.id], topic: '', content: 'I must be cruel' }],
  });
  await post(hamlet, '/user_groups/create', { name: 'guard', description: 'By night', members: [hamlet.id] });
  await post(hamlet, '/realm/filters', { pattern: 'act(?P<id>[0-9]+)', url_template: 'https://example.com/{id}' });
  await post(hamlet, '/users/me/status', { status_text: 'antic disposition' });
  const { scheduled_message_id: scheduled } = await post(hamlet, '/scheduled_messages', {
    ...{ type: 'direct', to: [gertrude.id], content: 'Good night, mother' },
    scheduled_delivery_timestamp: 4_000_000_000,
  });

  // A client that has confirmed one event and missed another one.
  const { queue_id: queue } = await post(gertrude, '/register', { event_types: ['message'] });
  await say(hamlet, rampart, 'Rest, rest, perturbed spirit!');
  const { events } = await call(gertrude, 'GET', '/events', { queue_id: queue, last_event_id: -1 });
  const missed = await say(hamlet, rampart, 'The time is out of joint.');
  const lastEventId = events.at(-1).id;
  await call(gertrude, 'GET', '/events', { queue_id: queue, last_event_id: lastEventId, dont_block: true });
  return { hamlet, gertrude, file, edited, scheduled, queue, lastEventId, missed };
}

async function upload(url, { email, apiKey }) {
  const body = new FormData();
  body.append('file', new Blob(['Doubt thou the stars are fire']), 'letter.txt');
  const authorization = `Basic ${Buffer.from(`${email}:${apiKey}`).toString('base64')}`;
  const response = await fetch(`${url}/api/v1/user_uploads`, { method: 'POST', headers: { authorization }, body });
  const { uri, url: path } = await response.json();
  return path ?? uri;
}
