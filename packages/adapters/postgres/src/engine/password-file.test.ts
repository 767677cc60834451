import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FixedClock } from '@parley/testkit';
import { inspectPostgres, migratePostgres, openPostgresStorage } from '../database.js';
import { findBinaries, ownerOf, startServer, type TestServer } from '../testing/server.js';
import { filedPassword } from './password-file.js';

// The driver warns when it uses this library.
jest.mock('pgpass', () => {
  throw new Error('deprecated');
});

describe('filedPassword', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync('/tmp/parley-pgpass-');
    path = join(folder, 'pgpass');
    process.env.PGPASSFILE = path;
  });
  afterEach(() => {
    delete process.env.PGPASSFILE;
    rmSync(folder, { recursive: true });
  });
  const write = (...lines: readonly string[]) => writeFileSync(path, lines.join('\n'), { mode: 0o600 });
  const DATABASE = { host: 'db.example.com', port: 5432, database: 'parley', user: 'ann' };

  it.each([
    ['the first matching line', ['db.example.com:5432:parley:bob:no', '*:*:parley:ann:yes', '*:*:*:*:no'], 'yes'],
    ['a line for any database', ['db.example.com:5432:*:ann:yes'], 'yes'],
    ['escaped characters', ['*:*:*:ann:a\\:b\\\\c'], 'a:b\\c'],
    ['a password with a colon', ['*:*:*:ann:a:b'], 'a:b'],
    ['the end of a line on Windows', ['*:*:*:ann:yes\r', ''], 'yes'],
  ])('uses %s', async (_, lines, password) => {
    write(...lines);
    expect(await filedPassword(DATABASE)).toBe(password);
  });

  it.each([
    ['comments', ['#*:*:*:*:no', '# *:*:*:*:no']],
    ['a line for another port', ['db.example.com:5433:*:ann:no']],
    ['an incomplete line', ['*:*:*:no', '']],
  ])('names the missing line if the file has only %s', async (_, lines) => {
    write(...lines);
    await expect(filedPassword(DATABASE)).rejects.toThrow(
      `no password: set PGPASSWORD, or add a line such as db.example.com:5432:parley:ann:PASSWORD to ${path}, with mode 600`,
    );
    await expect(filedPassword({ ...DATABASE, host: '::1' })).rejects.toThrow('such as \\:\\:1:5432:parley:ann:');
  });

  it('matches a socket by its folder and as localhost', async () => {
    write('/run/postgresql:5432:*:ann:folder', 'localhost:5432:*:bob:localhost');
    const socket = { ...DATABASE, host: '/run/postgresql' };
    expect(await filedPassword(socket)).toBe('folder');
    expect(await filedPassword({ ...socket, user: 'bob' })).toBe('localhost');
  });

  it('rejects a missing file and one that other users can read', async () => {
    await expect(filedPassword(DATABASE)).rejects.toThrow(`ENOENT: no such file or directory, stat '${path}'`);
    write('*:*:*:*:yes');
    chmodSync(path, 0o640);
    await expect(filedPassword(DATABASE)).rejects.toThrow(`run chmod 600 ${path}`);
  });
});

describe('password file', () => {
  let folder: string;
  let server: TestServer;
  beforeAll(async () => {
    folder = mkdtempSync('/tmp/parley-pgpass-');
    const rules = join(folder, 'hba.conf');
    writeFileSync(rules, 'local all locked scram-sha-256\nlocal all all trust\n');
    ownerOf(folder);
    server = await startServer(findBinaries()!, { settings: { hba_file: rules } });
    await server.query("CREATE ROLE locked LOGIN SUPERUSER PASSWORD 'first'");
    process.env.PGPASSFILE = join(folder, 'pgpass');
  });
  afterAll(async () => {
    delete process.env.PGPASSFILE;
    await server.stop();
    rmSync(folder, { recursive: true });
  });
  const write = (password: string) =>
    writeFileSync(process.env.PGPASSFILE!, `*:*:*:locked:${password}\n`, { mode: 0o600 });

  it('opens a database and applies a new password while the server runs', async () => {
    const url = server.url.replace('parley@', 'locked@');
    writeFileSync(process.env.PGPASSFILE!, '', { mode: 0o600 });
    await expect(inspectPostgres(url)).rejects.toThrow(/no password: set PGPASSWORD, or add a line/);
    write('wrong');
    await expect(inspectPostgres(url)).rejects.toThrow('password authentication failed');
    write('first');
    await migratePostgres(url);
    const storage = await openPostgresStorage({ url, clock: new FixedClock(), limits: { connections: 1 } });
    expect(await storage.currentTimeMs()).toBeGreaterThan(0);
    await server.query("ALTER ROLE locked PASSWORD 'second'");
    write('second');
    await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'locked'");
    expect(await storage.currentTimeMs().catch(() => storage.currentTimeMs())).toBeGreaterThan(0);
    await storage.close();
  });
});
