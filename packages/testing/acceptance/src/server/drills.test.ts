import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  type TestServer as DatabaseServer,
  findBinaries,
  openGate,
  startCopy,
  startRecovered,
  startServer,
} from '@parley/postgres/testing';
import { createParley, type Parley } from '@parley/server';
import { runCommand } from '@parley/server/testing';
import { FakeMailer, until } from '@parley/testkit';
import { MULTIPART, multipart } from '../testing/multipart.js';
import { isOnPostgres } from '../testing/test-storage.js';

const SECRET = 'a secret that the drills keep';
const realm = '';
const ANN = { realm, externalId: 'ann' };

let folder: string;
/** Folder of the SQLite database, or of the files of a PostgreSQL database. */
let home: string;
let copy: string;
let database: string;
let servers: DatabaseServer[];
let parley: Parley;
let server: Server;

/** Location for PostgreSQL. On SQLite, a database that is put back keeps only the default folder. */
const files = () => `folder:${join(home, 'files')}`;
const run = (...args: readonly string[]) =>
  runCommand(args, {
    environment: {
      PARLEY_DATABASE: database,
      PARLEY_SECRET: SECRET,
      PARLEY_URL: 'http://localhost',
      ...(isOnPostgres && { PARLEY_FILES: files() }),
      PARLEY_SMTP_URL: 'smtp://mail.example.com',
    },
  });
const done = async (...args: readonly string[]) => expect(await run(...args)).toMatchObject({ code: 0 });

async function start(): Promise<void> {
  const logger = { info() {}, error() {}, warn() {} };
  parley = await createParley({
    ...{ database, url: 'http://localhost', secret: SECRET, logger, mailer: new FakeMailer(), rateLimits: false },
    ...(isOnPostgres && { files: files() }),
  });
  server = createServer(parley.handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
}

async function stop(): Promise<void> {
  await parley.close();
  server.closeAllConnections();
  server.close();
}

type Account = readonly [email: string, apiKey: string];
// biome-ignore lint/suspicious/noExplicitAny: tests know the fields.
type Fields = any;

interface Content {
  readonly method: 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: NonNullable<RequestInit['body']>;
}

async function request(path: string, [email, key]: Account, init?: Content): Promise<Fields> {
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, {
    ...init,
    headers: { ...init?.headers, Authorization: `Basic ${btoa(`${email}:${key}`)}` },
  });
  const text = await response.text();
  return { status: response.status, text, ...(text.startsWith('{') && JSON.parse(text)) };
}
const post = (path: string, account: Account, fields: Record<string, string> = {}) =>
  request(`/api/v1${path}`, account, { method: 'POST', body: new URLSearchParams(fields) });

interface Credential {
  readonly name: string;
  readonly kind: 'key' | 'visitor' | 'path';
  readonly value: string;
}

/** Accounts and credentials of a period, which are all different. */
async function issue(period: string) {
  const person = { realm, externalId: period };
  const email = `${period}@example.com`;
  await parley.users.upsert({ ...person, name: period, email, role: 'owner' });
  const account: Account = [email, await parley.users.apiKey(person)];
  const bot = await post('/bots', account, { full_name: `${period} bot`, short_name: `${period}-bot` });
  const botEmail = (await request(`/api/v1/users/${bot.user_id}`, account)).user.email as string;
  const { token } = await parley.visitors.start({ realm });
  const upload = await request('/api/v1/user_uploads', account, {
    method: 'POST',
    headers: MULTIPART,
    body: new Uint8Array(multipart([{ name: 'a.txt', content: `file of ${period}` }])),
  });
  const temporary = await request(`/api/v1${upload.url}`, account);
  const { invite_link } = await post('/invites/multiuse', account);
  const { api_key } = await post('/users/me/api_key/regenerate', ['ann@example.com', await parley.users.apiKey(ANN)]);
  const { id } = await parley.as(person).messages.send({ channel: 'orders', topic: 'news', content: period });
  const credentials: readonly Credential[] = [
    { name: `${period}: API key`, kind: 'key', value: account[1] },
    { name: `${period}: API key of a bot`, kind: 'key', value: bot.api_key },
    { name: `${period}: regenerated API key`, kind: 'key', value: api_key },
    { name: `${period}: token of a visitor`, kind: 'visitor', value: token },
    { name: `${period}: address of a file`, kind: 'path', value: temporary.url },
    { name: `${period}: invitation`, kind: 'path', value: new URL(invite_link).pathname },
  ];
  return { period, account, emails: [email, botEmail], credentials, id, file: upload.url as string };
}
type Issued = Awaited<ReturnType<typeof issue>>;

/** Tries every credential against every account. Returns what each opens: accounts, a visit, or the content of an address. */
async function openedBy(periods: readonly Issued[]): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const emails = ['ann@example.com', ...periods.flatMap((issued) => issued.emails)];
  const opened: Record<string, unknown[]> = {};
  for (const { name, kind, value } of periods.flatMap(({ credentials }) => credentials)) {
    const found: unknown[] = [];
    if (kind === 'visitor') found.push((await parley.visitors.find({ realm, token: value }))?.userId);
    else if (kind === 'path') {
      const { status, text } = await request(value, ['', '']);
      if (status < 400) found.push(text.startsWith('file') ? text : 'a page');
    } else
      for (const email of emails) {
        const { status, user_id } = await request('/api/v1/users/me', [email, value]);
        if (status === 200) found.push(`${email} ${user_id}`);
      }
    opened[name] = found.filter((each) => each !== undefined);
  }
  return opened;
}

/** Returns what a person sees. */
async function seenBy({ account, file }: Issued): Promise<unknown> {
  const read = '/api/v1/messages?anchor=newest&num_before=100&num_after=0&apply_markdown=false';
  const { messages } = await request(read, account);
  const { members } = await request('/api/v1/users', account);
  const { url } = await request(`/api/v1${file}`, account);
  return {
    messages: messages.map(({ id, content }: Fields) => [id, content]),
    members: members.map(({ user_id, full_name }: Fields) => [user_id, full_name]),
    file: (await request(url, ['', ''])).text,
  };
}

const register = async ({ account }: Issued): Promise<string> =>
  (await post('/register', account, { event_types: '["message"]' })).queue_id;
const poll = async ({ account }: Issued, queue: string) =>
  (await request(`/api/v1/events?queue_id=${queue}&last_event_id=-1&dont_block=true`, account)).code ?? 'continues';

interface Drill {
  readonly copy: () => Promise<unknown>;
  readonly bringBack: () => Promise<unknown>;
  /** True if queues of before the copy continue. */
  readonly keepsQueues?: boolean;
}

const pathOf = () => database.slice('sqlite:'.length);
const removeLogs = () => {
  for (const end of ['-wal', '-shm']) rmSync(`${pathOf()}${end}`, { force: true });
};
const replaceFolder = (from: string, to: string) => {
  rmSync(to, { recursive: true, force: true });
  execFileSync('cp', ['-a', from, to]);
};
const hasSqlite3 = spawnSync('sqlite3', ['--version']).status === 0;

const ON_SQLITE: Readonly<Record<string, Drill>> = {
  'parley backup and restore': {
    copy: () => done('backup', copy, '--pace=0'),
    bringBack: async () => {
      rmSync(pathOf());
      removeLogs();
      await done('restore', copy);
    },
  },
  [hasSqlite3 ? 'sqlite3 .backup' : 'copied database file, because sqlite3 is not installed']: {
    copy: async () =>
      hasSqlite3 ? execFileSync('sqlite3', [pathOf(), `.backup ${copy}`]) : copyFileSync(pathOf(), copy),
    bringBack: async () => {
      removeLogs();
      copyFileSync(copy, pathOf());
    },
  },
  'snapshot of the volume': {
    copy: async () => cpSync(home, copy, { recursive: true }),
    bringBack: async () => replaceFolder(copy, home),
  },
};

const dataOf = ({ socket }: DatabaseServer) => join(dirname(socket), 'data');
async function replaceData(from: string, to: string): Promise<void> {
  await servers[0]!.kill();
  replaceFolder(from, to);
  await servers[0]!.start();
}

async function copyServer(start: typeof startRecovered): Promise<void> {
  const gate = await openGate(servers[0]!.socket);
  const started = await start(findBinaries()!, gate.port);
  servers.push(started);
  await until(async () => !(await started.query('SELECT pg_is_in_recovery() AS is'))[0].is);
  await gate.close();
}
const pg = (name: string, ...args: readonly string[]) => execFileSync(join(findBinaries()!, name), args);
async function replaceServer(): Promise<void> {
  await servers[0]!.kill();
  database = servers[1]!.url;
}

const ON_POSTGRES: Readonly<Record<string, Drill>> = {
  'data folder that is put back': {
    copy: () => replaceData(dataOf(servers[0]!), `${dataOf(servers[0]!)}.copy`),
    bringBack: () => replaceData(`${dataOf(servers[0]!)}.copy`, dataOf(servers[0]!)),
  },
  'base backup without recovery': { copy: () => copyServer(startCopy), bringBack: replaceServer },
  'pg_dump and pg_restore': {
    copy: async () => pg('pg_dump', '--format=custom', `--file=${copy}`, database),
    bringBack: async () => {
      await servers[0]!.query("CREATE DATABASE restored ENCODING 'UTF8' TEMPLATE template0 LOCALE 'C'");
      database = database.replace('/postgres?', '/restored?');
      pg('pg_restore', '--no-owner', '--exit-on-error', `--dbname=${database}`, copy);
      await done('file', 'adopt');
    },
    keepsQueues: true,
  },
  'base backup recovered to a point in time': {
    copy: () => copyServer(startRecovered),
    bringBack: async () => {
      await replaceServer();
      await done('file', 'adopt');
    },
    keepsQueues: true,
  },
};

describe.each(Object.entries(isOnPostgres ? ON_POSTGRES : ON_SQLITE))('drill with %s', (_, drill) => {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'parley-drill-'));
    [home, copy, servers] = [join(folder, 'home'), join(folder, 'copy'), []];
    database = `sqlite:${join(home, 'parley.db')}`;
    if (isOnPostgres) {
      servers.push(await startServer(findBinaries()!));
      database = servers[0]!.url;
      await done('migrate');
    }
    await start();
    await parley.realms.ensure({ name: realm });
    await parley.users.upsert({ ...ANN, name: 'Ann', email: 'ann@example.com', role: 'owner' });
    await parley.as(ANN).channels.ensure({ name: 'orders' });
  });
  afterEach(async () => {
    await stop();
    for (const each of servers) await each.stop();
    rmSync(folder, { recursive: true });
  });

  it('brings back what people saw, opens no account by a lost credential, repeats no id and ends lost queues', async () => {
    const kept = await issue('kept');
    const [opened, seen] = [await openedBy([kept]), await seenBy(kept)];
    const queues = [await register(kept)];
    await stop();
    await drill.copy();
    await start();
    const lost = await issue('lost');
    queues.unshift(await register(kept));
    for (const found of Object.values(await openedBy([lost]))) expect(found).toHaveLength(1);
    await stop();
    await drill.bringBack();
    await start();

    expect(await seenBy(kept)).toEqual(seen);
    const nothing = Object.fromEntries(lost.credentials.map(({ name }) => [name, []]));
    expect(await openedBy([kept, lost])).toEqual({ ...opened, ...nothing });
    // The newest queue alone proves the loss after a snapshot of everything.
    const ended = 'BAD_EVENT_QUEUE_ID';
    expect(await poll(kept, queues[0]!)).toBe(ended);
    expect(await poll(kept, queues[1]!)).toBe(drill.keepsQueues ? 'continues' : ended);

    const next = await issue('next');
    expect(next.id).toBeGreaterThan(lost.id);
    const { 'kept: regenerated API key': _regenerated, ...others } = opened;
    const all = await openedBy([kept, lost, next]);
    expect(all).toMatchObject({ ...others, ...nothing });
    for (const { name } of next.credentials) expect(all[name]).toHaveLength(1);
    expect((await run('doctor', '--thorough')).out).not.toMatch(/PROBLEM +(files|integrity|history)/);
  });
});
