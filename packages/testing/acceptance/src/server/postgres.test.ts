import { readTextsOfPostgres } from '@parley/postgres';
import { createDatabase } from '@parley/postgres/testing';
import { createParley } from '@parley/server';
import { runCommand } from '@parley/server/testing';
import { FakeMailer, MemoryBlobStore } from '@parley/testkit';
import { isOnPostgres } from '../testing/test-storage.js';

const UNREACHABLE = 'postgres://parley@localhost/chat?host=/nowhere';
const SECRET = 'the secret of every server';

// Prevents the bucket client from searching for keys elsewhere.
process.env.AWS_ACCESS_KEY_ID ??= 'none';
process.env.AWS_SECRET_ACCESS_KEY ??= 'none';

async function run(database: string, ...args: readonly string[]) {
  const environment = {
    PARLEY_DATABASE: database,
    PARLEY_SECRET: SECRET,
    PARLEY_FILES: 's3:parley?endpoint=http://127.0.0.1:9',
    PARLEY_SMTP_URL: 'smtp://mail.example.com',
    PARLEY_URL: 'https://chat.example.com',
  };
  return runCommand(args, { environment, input: 'nothing will come of nothing' });
}

const open = (database: string, options: object = {}) =>
  createParley({
    database,
    url: 'https://chat.example.com',
    secret: SECRET,
    files: new MemoryBlobStore({ nowMs: Date.now }),
    mailer: new FakeMailer(),
    ...options,
  });

describe('PostgreSQL database', () => {
  it('is rejected without secret, files and mail server', async () => {
    const bare = createParley({ database: UNREACHABLE, url: 'https://chat.example.com' });
    await expect(bare).rejects.toThrow(
      'A database on PostgreSQL requires PARLEY_SECRET (secret), PARLEY_FILES (files), PARLEY_SMTP_URL (smtpUrl or mailer).',
    );
  });

  it('is rejected with a password in its URL, without showing the password', async () => {
    const { code, err } = await run('postgres://parley:hunter2@localhost/chat', 'realm', 'list');
    expect(code).not.toBe(0);
    expect(err).toContain('PARLEY_DATABASE must be of the form postgres://USER@HOST/NAME');
    expect(err).not.toContain('hunter2');
  });

  it('is rejected with a one-sentence error while unreachable', async () => {
    await expect(open(UNREACHABLE)).rejects.toThrow(/^Cannot use database postgres:.*: connect ENOENT/);
  });

  it('is reported by parley doctor if it or its bucket cannot be reached', async () => {
    const { code, out } = await run(UNREACHABLE, 'doctor');
    expect(code).toBe(3);
    expect(out).toContain('PROBLEM  database: Cannot use database postgres://parley@localhost/chat?host=/nowhere');
    expect(out).toContain('PROBLEM  files: The bucket parley cannot be used: ');
  });

  it.each([
    ['backup', '/tmp/backup.tar'],
    ['restore', '/tmp/backup.tar'],
  ])('is not supported by parley %s', async (...args) => {
    const { code, err } = await run(UNREACHABLE, ...args);
    expect(code).not.toBe(0);
    expect(err).toContain(`parley ${args[0]} works on SQLite only.`);
  });

  if (isOnPostgres) {
    it('serves an organization once parley migrate has created the schema', async () => {
      const { url, drop } = await createDatabase({ copyOf: 'template0' });
      await expect(open(url)).rejects.toThrow('run parley migrate');
      const found = await run(url, 'migrate', '--check');
      expect(found.code).toBe(3);
      const pending = [...found.out.matchAll(/^ {2}pending: (.+)$/gm)].map(([, step]) => step);
      expect((await run(url, 'doctor')).out).toContain(`schema: ${pending.length} migration steps are pending`);
      const migrated = await run(url, 'migrate');
      expect(migrated).toMatchObject({ code: 0, out: `Applied: ${pending.join(', ')}.` });
      expect(await run(url, 'migrate', '--check')).toMatchObject({ code: 0 });
      const created = await run(url, 'realm', 'create', 'shop', 'The Shop');
      expect(created.code).toBe(0);
      expect(JSON.parse(created.err)).toMatchObject({ audit: 'command', command: 'realm create', result: 'done' });

      const parley = await open(url);
      await parley.users.upsert({ realm: 'shop', externalId: 'u1', name: 'Ann', role: 'owner' });
      await parley.as({ realm: 'shop', externalId: 'u1' }).channels.create({ name: 'orders' });
      await parley.close();

      await expect(open(url, { secret: 'another secret' })).rejects.toThrow('is not the secret of the database');
      const again = await open(url);
      expect((await again.realms.list()).map(({ name }) => name)).toEqual(['shop']);
      await again.close();
      expect((await run(url, 'user', 'list', '--realm=shop')).out).toContain('Ann');

      const rows: string[] = [];
      await readTextsOfPostgres(url, ({ table, bytes }) => {
        if (Buffer.from(bytes).includes('orders')) rows.push(table);
      });
      expect(rows).toContain('channel');

      const { out } = await run(url, 'doctor');
      expect(out).toMatch(/^ok {7}schema: \d+, that of this version$/m);
      for (const subject of ['server: PostgreSQL', 'secret: belongs to the database'])
        expect(out).toContain(`ok       ${subject}`);
      expect(out).toMatch(/^ok {7}connections: \d+ of \d+ connections are in use; there is room for \d+ more server/m);
      expect(out).toMatch(/^ok {7}durability: commits wait for the disk/m);
      expect(out).toContain('ok       clock: that of this machine agrees with the server');
      await drop();
    });
  }
});
