import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBinaries, startServer, type TestServer } from '@parley/postgres/testing';
import { SeededRandomness } from '@parley/testkit';
import S3rver from 's3rver';
import { ParleyProcess, runParley } from '../testing/parley-process.js';
import { type Credentials, callApi } from './caller.js';
import { SEED, size } from './scale.js';

const ROUNDS = size(1, 15);
const MAX_KILLS = size(2, 20);
const MESSAGES = size(500, 6000);
jest.setTimeout(size(300_000, 3_600_000));

const chance = new SeededRandomness(SEED);
let folder: string;
let paths: { readonly first: string; readonly newer: string };
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-killed-import-'));
  paths = { first: join(folder, 'first.jsonl'), newer: join(folder, 'newer.jsonl') };
  const first = history();
  writeFileSync(paths.first, linesOf(first));
  writeFileSync(paths.newer, linesOf(newerThan(first)));
  writeFileSync(join(folder, 'cat.png'), CAT);
});
afterAll(() => rmSync(folder, { recursive: true }));

const CAT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

type Line = Readonly<Record<string, unknown>>;

const linesOf = (records: readonly Line[]): string =>
  records.map((record) => JSON.stringify({ source: 'test:1', ...record })).join('\n');

/** Export with every kind of record. Ann, who is in every conversation, has an account. */
function history(): readonly Line[] {
  const ids = Array.from({ length: 120 }, (_, n) => `p${n}`);
  const email = 'ann@elsinore.example';
  return [
    { kind: 'person', id: 'ann', name: 'Ann', email, isEmailVerified: true },
    ...ids.map((id, n) => ({ kind: 'person', id, name: `Person ${id}`, ...(n % 20 === 0 && { avatar: 'cat' }) })),
    ...ids.slice(0, 30).map((id) => ({ kind: 'group', id: `g${id}`, name: `group ${id}`, members: ['ann', id] })),
    ...ids.slice(0, 25).map((id, n) => ({
      ...{ kind: 'channel', id: `c${n}`, name: `channel ${id}`, folder: `folder ${n % 3}` },
      ...{ privacy: n % 2 ? 'public' : 'private', members: ['ann', ...ids] },
    })),
    ...ids.slice(0, 25).map((id, n) => ({ kind: 'conversation', id: `d${n}`, members: ['ann', id] })),
    { kind: 'emoji', id: 'e', name: 'cat', file: 'cat' },
    { kind: 'file', id: 'cat', name: 'cat.png', contentType: 'image/png', path: 'cat.png' },
    ...Array.from({ length: MESSAGES }, (_, n) => ({
      ...{ kind: 'message', id: `m${n}`, sender: n % 9 ? `p${n % 120}` : 'ann', sentAt: 1000 + n },
      ...(n % 7 ? { channel: `c${n % 25}` } : { conversation: `d${n % 25}` }),
      content: [`message ${n} :cat: `, { mention: 'person', id: 'ann' }],
      ...(n % 50 === 1 && { files: ['cat'] }),
    })),
    ...Array.from({ length: MESSAGES / 10 }, (_, n) => ({
      ...{ kind: 'reaction', id: `r${n}`, message: `m${n * 10}`, person: `p${n % 120}`, emoji: n % 2 ? 'tada' : 'cat' },
    })),
  ];
}

/** Adds, edits and deletes messages. */
const newerThan = (records: readonly Line[]): readonly Line[] => [
  ...records.map((record, n) =>
    record.kind === 'message' && n % 20 === 0 ? { ...record, content: `edited ${n}`, editedAt: 9000 } : record,
  ),
  { kind: 'channel', id: 'new', name: 'new', privacy: 'private', members: ['ann', 'p3'] },
  ...Array.from({ length: 300 }, (_, n) => ({
    ...{ kind: 'message', id: `n${n}`, sender: `p${n % 120}`, sentAt: 8000 + n, content: `new ${n}` },
    channel: n % 2 ? 'new' : `c${n % 25}`,
  })),
  ...Array.from({ length: 40 }, (_, n) => ({ kind: 'deletion', id: `x${n}`, message: `m${n * 21}` })),
];

interface Target {
  readonly database: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Creates an organization with Ann. */
async function organization(target: Target): Promise<Credentials> {
  if (target.database.startsWith('postgres')) await done(target, ['migrate']);
  await done(target, ['realm', 'create', '--new-database', '--bare', '', 'Elsinore']);
  const email = 'ann@elsinore.example';
  const out = await done(target, ['user', 'create', email, 'Ann', '--role=owner']);
  return { email, apiKey: /API key: (\w+)/.exec(out)![1]! };
}

async function done({ database, environment }: Target, args: readonly string[]): Promise<string> {
  const { code, out, err } = await runParley([...args, `--database=${database}`], '', { environment });
  expect(code === 0 ? '' : err).toBe('');
  return out;
}

/** Repeats a command until it is complete, and kills it up to `MAX_KILLS` times. Returns the number of kills. */
async function completed({ database, environment }: Target, args: readonly string[], usualMs: number): Promise<number> {
  for (let kills = 0; ; kills++) {
    const options = kills < MAX_KILLS ? { environment, killAfterMs: chance.fraction() * usualMs } : { environment };
    const { code, err } = await runParley([...args, `--database=${database}`], '', options);
    if (code === 0) return kills;
    expect([args[0], code, err]).toEqual([args[0], null, expect.any(String)]);
  }
}

/** Returns everything that Ann sees, by names instead of ids. */
async function stateOf(target: Target, ann: Credentials) {
  const flags = ['--port=0', `--database=${target.database}`, '--rate-limits=off', '--shed-load=off'];
  const server = await ParleyProcess.start(flags, { environment: target.environment });
  try {
    const get = async (path: string, fields = {}) => {
      const { status, body } = await callApi(server.url, ann, 'GET', path, fields);
      expect([path, status]).toEqual([path, 200]);
      return body;
    };
    const { members } = await get('/users');
    const names = new Map<number, string>(members.map((user: Body) => [user.user_id, user.full_name]));
    const { streams } = await get('/streams', { include_all: true, exclude_archived: false });
    const { user_groups } = await get('/user_groups');
    const { emoji } = await get('/realm/emoji');
    return {
      people: members.map((user: Body) => [user.full_name, user.is_active, user.role, user.avatar_version]).sort(),
      channels: streams.map((it: Body) => [it.name, it.invite_only, it.is_archived, it.subscriber_count]).sort(),
      groups: user_groups.map(({ name, members: ids }: Body) => [name, ids.map((id: number) => names.get(id)).sort()]),
      emoji: Object.values<Body>(emoji).map(({ name }) => name),
      messages: (await messagesOf(get)).map((message) => [
        ...[message.sender_full_name, message.timestamp, message.subject, message.flags],
        ...[message.content.replace(/<[^>]*>/g, ''), message.reactions.map((it: Body) => it.emoji_name)],
        placeOf(message),
      ]),
      imports: JSON.parse(await done(target, ['imports', 'list', '--realm=', '--json'])).imports.map((it: Body) => [
        ...[it.status, it.messages],
      ]),
    };
  } finally {
    await server.kill();
  }
}

// biome-ignore lint/suspicious/noExplicitAny: responses, checked by assertions.
type Body = any;

const placeOf = ({ display_recipient: at }: Body) =>
  typeof at === 'string' ? at : at.map((user: Body) => user.full_name).sort();

async function messagesOf(get: (path: string, fields: object) => Promise<Body>): Promise<Body[]> {
  const all: Body[] = [];
  for (;;) {
    const anchor = all.at(-1)?.id ?? 0;
    const fields = { anchor, include_anchor: all.length === 0, num_before: 0, num_after: 1000 };
    const { messages, found_newest } = await get('/messages', fields);
    all.push(...messages);
    if (found_newest) return all;
  }
}

/** Compares an organization with killed commands with another one. */
async function expectEqualAfterKills(killed: Target, other: Target): Promise<void> {
  const [ann, annOfOther] = [await organization(killed), await organization(other)];
  const works = [
    ['import', paths.first, '--realm='],
    ['import', paths.newer, '--realm='],
    ['imports', 'undo', '2', '--realm='],
    ['imports', 'undo', '1', '--realm='],
  ];
  let kills = 0;
  for (const work of works) {
    const startedAt = performance.now();
    await done(other, work);
    kills += await completed(killed, work, performance.now() - startedAt);
    expect(await stateOf(killed, ann)).toEqual(await stateOf(other, annOfOther));
  }
  expect(kills).toBeGreaterThan(MAX_KILLS);
}

it(`imports and undoes completely on SQLite after kills at random times with seed ${SEED}`, async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const [killed, other] = ['killed', 'other'].map((name) => {
      const directory = join(folder, `${name}-${round}`);
      mkdirSync(directory);
      return { database: `sqlite:${join(directory, 'parley.db')}`, environment: {} };
    });
    await expectEqualAfterKills(killed!, other!);
  }
});

describe('on PostgreSQL', () => {
  const binaries = findBinaries();
  let postgres: TestServer | undefined;
  let bucket: S3rver | undefined;
  afterAll(async () => {
    await bucket?.close();
    await postgres?.stop();
  });

  (binaries === null ? it.skip : it)(
    `imports and undoes completely after kills at random times with seed ${SEED}`,
    async () => {
      postgres = await startServer(binaries!);
      bucket = new S3rver({
        ...{ address: '127.0.0.1', port: 0, silent: true, directory: folder },
        configureBuckets: [{ name: 'parley', configs: [] }],
      });
      const { port } = (await bucket.run()) as AddressInfo;
      const environmentOf = (name: string) => ({
        PARLEY_FILES: `s3:parley/${name}/?endpoint=http://127.0.0.1:${port}`,
        PARLEY_SMTP_URL: 'smtp://127.0.0.1:9',
        ...{ AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER', PARLEY_SECRET: 'x'.repeat(64) },
      });
      for (let round = 0; round < ROUNDS; round++) {
        const targets: Target[] = [];
        for (const name of [`killed_${round}`, `other_${round}`]) {
          await postgres.query(`CREATE DATABASE ${name} ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0`);
          const url = new URL(postgres.url);
          url.pathname = `/${name}`;
          targets.push({ database: url.href, environment: environmentOf(name) });
        }
        await expectEqualAfterKills(targets[0]!, targets[1]!);
      }
    },
  );
});
