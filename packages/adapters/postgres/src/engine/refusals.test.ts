import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FixedClock } from '@parley/testkit';
import pg from 'pg';
import { examinePostgres, inspectPostgres, openPostgresStorage } from '../database.js';
import { createDatabase, type TestDatabase } from '../testing/databases.js';
import { findBinaries, ownerOf, startServer, type TestServer } from '../testing/server.js';

const binaries = findBinaries()!;
const open = (url: string) => openPostgresStorage({ url, clock: new FixedClock() });
const refused = (url: string, reason: string) =>
  expect(open(url)).rejects.toThrow(new RegExp(`^Cannot use database postgres://[^ ]+: ${reason}$`));

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

describe('openPostgresStorage', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  it('rejects a database if commits do not wait for the disk', async () => {
    await query(database.url, `ALTER DATABASE ${database.name} SET synchronous_commit = off`);
    await refused(database.url, '`synchronous_commit` is off, so acknowledged changes would be lost in a crash');
    await query(database.url, `ALTER DATABASE ${database.name} RESET synchronous_commit`);
  });

  it('rejects a database in which transactions are read-only, and so does its inspection', async () => {
    await query(database.url, `ALTER DATABASE ${database.name} SET default_transaction_read_only = on`);
    const reason = 'it is read-only: `default_transaction_read_only` is on';
    await refused(database.url, reason);
    await expect(inspectPostgres(database.url)).rejects.toThrow(reason);
    const writable = new URL(database.url);
    writable.searchParams.set('options', '-c default_transaction_read_only=off');
    await query(writable.href, `ALTER DATABASE ${database.name} RESET default_transaction_read_only`);
  });

  it('rejects a database if a newer version created its schema', async () => {
    await query(
      database.url,
      "INSERT INTO schema_step (number, name, checksum, is_contract) VALUES (9999, 'later', 'x', true)",
    );
    await refused(database.url, 'it was written by a newer version of Parley .*');
    await query(database.url, 'DELETE FROM schema_step WHERE number = 9999');
  });

  it('rejects a database if a step of its schema differs', async () => {
    await query(database.url, "UPDATE schema_step SET checksum = 'x' || checksum WHERE number = 1");
    await refused(database.url, 'step 1 of its schema .* differs from that of this version; .*');
    await query(database.url, 'UPDATE schema_step SET checksum = substr(checksum, 2) WHERE number = 1');
  });

  it('rejects a database with an encoding that cannot represent every text', async () => {
    const other = `${database.name}_latin`;
    await query(database.url, `CREATE DATABASE ${other} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    await refused(database.url.replace(database.name, other), 'its encoding is LATIN1 instead of UTF8');
    await query(database.url, `DROP DATABASE ${other}`);
  });

  it('reports a schema change by another version to a running server', async () => {
    const reasons: string[] = [];
    const storage = await openPostgresStorage({
      url: database.url,
      clock: new FixedClock(),
      onUnknownSchema: (reason) => reasons.push(reason),
    });
    const isUsable = () => {
      try {
        storage.verify();
        return true;
      } catch {
        return false;
      }
    };
    expect([isUsable(), storage.gauges().hasOwnSchema]).toEqual([true, true]);
    await query(
      database.url,
      "INSERT INTO schema_step (number, name, checksum, is_contract) VALUES (9999, 'later', 'x', true)",
    );
    while (isUsable()) await sleep(50);
    expect(storage.gauges().hasOwnSchema).toBe(false);
    expect(reasons).toEqual([expect.stringContaining('it was written by a newer version of Parley')]);
    await storage.close();
    await query(database.url, 'DELETE FROM schema_step WHERE number = 9999');
  });
});

describe('openPostgresStorage', () => {
  let server: TestServer | undefined;
  afterEach(() => server?.stop());

  it('rejects a server with fsync disabled', async () => {
    server = await startServer(binaries, { settings: { fsync: 'off' } });
    await refused(server.url, '`fsync` is off, so acknowledged changes would be lost in a crash');
  });

  it('rejects a standby', async () => {
    server = await startServer(binaries, { isStandby: true, settings: { wal_retrieve_retry_interval: '50ms' } });
    await refused(server.url, 'it is a standby, which accepts no changes');
  });
});

const POOLER = '/usr/sbin/pgbouncer';
const hasPooler = existsSync(POOLER);
(hasPooler ? describe : describe.skip)('openPostgresStorage through PgBouncer', () => {
  let database: TestDatabase;
  let folder: string;
  let pooler: ChildProcess;

  /** Returns the URL of the database through the pooler. */
  async function start(mode: string): Promise<string> {
    const url = new URL(database.url);
    const name = url.pathname.slice(1);
    const settings = [
      '[databases]',
      `${name} = host=${url.searchParams.get('host')} port=5432 user=parley dbname=${name}`,
      '[pgbouncer]',
      `unix_socket_dir = ${folder}`,
      'listen_port = 6432',
      'auth_type = any',
      `pool_mode = ${mode}`,
      'ignore_startup_parameters = extra_float_digits,statement_timeout,idle_in_transaction_session_timeout',
    ];
    writeFileSync(join(folder, 'pgbouncer.ini'), settings.join('\n'));
    pooler = spawn(POOLER, [join(folder, 'pgbouncer.ini')], { ...ownerOf(folder), stdio: 'ignore' });
    while (!existsSync(join(folder, '.s.PGSQL.6432'))) await sleep(20);
    url.searchParams.set('host', folder);
    url.port = '6432';
    return url.href;
  }

  beforeEach(async () => {
    database = await createDatabase();
    folder = mkdtempSync('/tmp/parley-pooler-');
  });
  afterEach(async () => {
    const ended = new Promise((resolve) => pooler.once('exit', resolve));
    pooler.kill('SIGKILL');
    await ended;
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  it('rejects a pooler in statement mode', async () => {
    await refused(await start('statement'), 'its pooler runs in statement mode; .*');
  });

  // PgBouncer supports prepared statements in transaction mode since 1.21.
  const version = hasPooler ? execFileSync(POOLER, ['--version'], { encoding: 'utf8' }) : '';
  const [, minor] = /PgBouncer 1\.(\d+)/.exec(version) ?? [];
  (Number(minor) < 21 ? it : it.skip)(
    'rejects a pooler without support for prepared statements, and so does its examination',
    async () => {
      const url = await start('transaction');
      await refused(url, 'its pooler does not support prepared statements; .*');
      await expect(examinePostgres(url)).rejects.toThrow('its pooler does not support prepared statements');
    },
  );

  it('accepts a pooler in session mode', async () => {
    const url = await start('session');
    await (await open(url)).close();
    expect(await examinePostgres(url)).toMatchObject({ version: expect.any(String) });
  });
});
