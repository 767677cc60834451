import { execFile, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';

const execute = promisify(execFile);

/** Folder of Debian's packages, which do not add `initdb` to the path. */
const DEBIAN_FOLDER = '/usr/lib/postgresql';

/** Returns the folder of the newest installed PostgreSQL server; null if there is none. */
export function findBinaries(): string | null {
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER) : [];
  const newestFirst = versions.sort((a, b) => Number(b) - Number(a)).map((name) => join(DEBIAN_FOLDER, name, 'bin'));
  const inPath = (process.env.PATH ?? '').split(':');
  return [...newestFirst, ...inPath].find((folder) => existsSync(join(folder, 'initdb'))) ?? null;
}

const FILES_IN_MEMORY = '/dev/shm';

export interface TestServer {
  /** URL of the database `postgres`. */
  readonly url: string;
  /** Path of the server's socket. */
  readonly socket: string;
  // biome-ignore lint/suspicious/noExplicitAny: the statement says what its rows are.
  query(sql: string): Promise<any[]>;
  /** Restarts the server on the same data after `kill`. */
  start(): Promise<void>;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

type Program = (name: string, ...args: readonly string[]) => Promise<unknown>;

export interface TestServerOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** True for a standby of a server that never sends changes. */
  readonly isStandby?: boolean;
}

/** Starts a private server in a temporary folder, reachable by a socket in that folder. */
export const startServer = (binaries: string, options: TestServerOptions = {}): Promise<TestServer> =>
  startOn(
    binaries,
    async (data, run) => {
      const locale = ['--locale=C', '--encoding=UTF8'];
      await run('initdb', '-D', data, '-U', 'parley', '-A', 'trust', '--no-sync', ...locale);
      if (options.isStandby) writeFileSync(join(data, 'standby.signal'), '');
    },
    options.settings,
  );

/** Starts a standby of the server on a local port. */
export const startStandby = (binaries: string, port: number): Promise<TestServer> =>
  startOn(binaries, (data, run) => copyServer(data, run, port, '--write-recovery-conf'));

/** Starts a base backup of the server on a local port without recovery, which looks like the original. */
export const startCopy = (binaries: string, port: number): Promise<TestServer> =>
  startOn(binaries, (data, run) => copyServer(data, run, port));

/** Starts a base backup of the server on a local port, recovered to its end and promoted. */
export const startRecovered = (binaries: string, port: number): Promise<TestServer> =>
  startOn(
    binaries,
    async (data, run) => {
      await copyServer(data, run, port);
      writeFileSync(join(data, 'recovery.signal'), '');
    },
    { restore_command: 'false', recovery_target: 'immediate', recovery_target_action: 'promote' },
  );

function copyServer(data: string, run: Program, port: number, ...options: readonly string[]): Promise<unknown> {
  const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'parley'];
  return run('pg_basebackup', '-D', data, ...from, ...options, '--checkpoint=fast', '--no-sync');
}

async function startOn(
  binaries: string,
  fill: (data: string, run: Program) => Promise<unknown>,
  more: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const owner = unprivilegedOwner();
  // Other users may be denied access to the temporary folder of root's test run.
  const parent = owner === null ? tmpdir() : existsSync(FILES_IN_MEMORY) ? FILES_IN_MEMORY : '/tmp';
  const folder = mkdtempSync(join(parent, 'parley-pg-'));
  if (owner) chownSync(folder, owner.uid, owner.gid);
  const spawning = { ...owner, stdio: 'ignore', cwd: folder } as const;
  const data = join(folder, 'data');
  await fill(data, (name, ...args) => execute(join(binaries, name), args, spawning));
  const settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    max_connections: '200',
    shared_buffers: '64MB',
    // Stored in the server's folder, so that leftovers of a killed server are removed.
    dynamic_shared_memory_type: 'mmap',
    full_page_writes: 'off',
    autovacuum: 'off',
    max_wal_size: '4GB',
    wal_keep_size: '1GB',
    wal_retrieve_retry_interval: '200ms',
    ...more,
  };
  const parameters = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const url = `postgres://parley@localhost/postgres?host=${encodeURIComponent(folder)}`;
  const remove = () => rmSync(folder, { recursive: true, force: true });
  let end: (signal: NodeJS.Signals) => Promise<void>;
  const start = async (): Promise<void> => {
    const server = spawn(join(binaries, 'postgres'), ['-D', data, ...parameters], spawning);
    const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
    end = (signal) => {
      server.kill(signal);
      return ended;
    };
    // Processes of a killed server hold its data for a moment.
    const isUp = await Promise.race([waitFor(url).then(() => true), ended.then(() => false)]);
    if (!isUp) await sleep(50).then(start);
  };
  const onExit = () => {
    void end('SIGQUIT');
    remove();
  };
  process.once('exit', onExit);
  await start();
  return {
    url,
    socket: join(folder, '.s.PGSQL.5432'),
    start,
    query: (sql) => runOn(url, sql),
    kill: () => end('SIGKILL'),
    async stop() {
      process.off('exit', onExit);
      await end('SIGQUIT');
      remove();
    },
  };
}

/** Gives a folder to the user under which servers run, and returns that user; empty for the current user. */
export function ownerOf(folder: string): { readonly uid?: number; readonly gid?: number } {
  const owner = unprivilegedOwner();
  if (owner) chownSync(folder, owner.uid, owner.gid);
  return owner ?? {};
}

/** PostgreSQL refuses to run as root. */
function unprivilegedOwner(): { readonly uid: number; readonly gid: number } | null {
  if (userInfo().uid !== 0) return null;
  const idOf = (option: string) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

async function runOn(url: string, sql: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const START_ATTEMPTS = 200;

async function waitFor(url: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error;
      await sleep(50);
    }
  }
}

declare global {
  var parleyTestServer: TestServer | undefined;
}

/**
 * Starts a server for a test run, unless `PARLEY_TEST_POSTGRES` is set. Jest loads this file without its module names.
 */
export default async function startTestRun(): Promise<void> {
  if (process.env.PARLEY_TEST_POSTGRES) return;
  const binaries = findBinaries();
  if (binaries === null) throw new Error('PostgreSQL is not installed; on Debian: apt-get install postgresql');
  globalThis.parleyTestServer = await startServer(binaries);
  process.env.PARLEY_TEST_POSTGRES = globalThis.parleyTestServer.url;
}
