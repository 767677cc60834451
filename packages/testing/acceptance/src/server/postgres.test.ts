import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3BlobStore } from '@parley/blobs';
import { firstOf } from '@parley/domain/kernel';
import { listBlobsOfPostgres, readTextsOfPostgres } from '@parley/postgres';
import {
  createDatabase,
  findBinaries,
  openGate,
  startRecovered,
  startServer,
  startStandby,
  type TestServer,
} from '@parley/postgres/testing';
import { createParley } from '@parley/server';
import { runCommand } from '@parley/server/testing';
import { FakeMailer, MemoryBlobStore, until } from '@parley/testkit';
import S3rver from 's3rver';
import { MULTIPART, multipart } from '../testing/multipart.js';
import { isOnPostgres } from '../testing/test-storage.js';

const UNREACHABLE = 'postgres://parley@localhost/chat?host=/nowhere';
const SECRET = 'the secret of every server';

// Prevents the bucket client from searching for keys elsewhere.
process.env.AWS_ACCESS_KEY_ID = 'S3RVER';
process.env.AWS_SECRET_ACCESS_KEY = 'S3RVER';

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

(isOnPostgres ? describe : describe.skip)('copy of a PostgreSQL server', () => {
  const IS_COPY = 'The bucket letters holds the files of another database, of which this one is a copy.';
  const servers: TestServer[] = [];
  let folder: string;
  let service: S3rver;
  let files: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'parley-promoted-'));
    service = new S3rver({
      ...{ address: '127.0.0.1', port: 0, silent: true, directory: join(folder, 's3') },
      configureBuckets: [{ name: 'letters', configs: [] }],
    });
    files = `s3:letters?endpoint=http://127.0.0.1:${((await service.run()) as AddressInfo).port}`;
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
    await service.close();
    rmSync(folder, { recursive: true });
  });

  async function start(server: Promise<TestServer>): Promise<TestServer> {
    servers.push(await server);
    return server;
  }

  /** Starts and stops Parley on a server. Returns the id of a message that it sends. */
  async function send({ url }: TestServer): Promise<number> {
    const ann = { realm: '', externalId: 'u1' };
    const parley = await open(url, { files });
    try {
      await parley.realms.ensure({ name: '' });
      await parley.users.upsert({ ...ann, name: 'Ann', role: 'owner' });
      await parley.as(ann).channels.ensure({ name: 'orders' });
      return (await parley.as(ann).messages.send({ channel: 'orders', topic: 'a', content: 'a' })).id;
    } finally {
      await parley.close();
    }
  }

  it.each([
    ['standby', startStandby],
    ['base backup recovered to a point in time', startRecovered],
  ])('keeps off the bucket of its original until file adopt: promoted %s', async (_, startCopy) => {
    const binaries = findBinaries()!;
    const original = await start(startServer(binaries));
    expect(await run(original.url, 'migrate')).toMatchObject({ code: 0 });
    await send(original);
    const gate = await openGate(original.socket);
    const copy = await start(startCopy(binaries, gate.port));
    if (startCopy === startStandby) await copy.query('SELECT pg_promote()');
    await until(async () => !(await copy.query('SELECT pg_is_in_recovery() AS is'))[0].is);
    await gate.close();

    await expect(send(copy)).rejects.toThrow(IS_COPY);
    expect((await run(copy.url, 'doctor', '--files', files)).out).toContain(`PROBLEM  files: ${IS_COPY}`);

    // A restart after a crash is no promotion.
    const before = await send(original);
    await original.kill();
    await original.start();
    expect(await send(original)).toBeGreaterThan(before);

    expect(await run(copy.url, 'file', 'adopt', '--files', files)).toMatchObject({ code: 0 });
    await send(copy);
    await expect(send(original)).rejects.toThrow(IS_COPY);
  });
});

describe('parley doctor', () => {
  it('names rows that were written while the clock was ahead', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-doctor-clock-'));
    const { url, drop } = isOnPostgres
      ? await createDatabase()
      : { url: `sqlite:${join(folder, 'parley.db')}`, drop: async () => {} };
    const work = async (aheadMs: number, channel: string) => {
      const nowMs = () => Date.now() + aheadMs;
      const parley = await open(url, { clock: { nowMs, now: () => Math.floor(nowMs() / 1000) } });
      await parley.realms.ensure({ name: '' });
      const ann = { realm: '', externalId: 'u1' };
      await parley.users.upsert({ ...ann, name: 'Ann', role: 'owner' });
      await parley.as(ann).channels.create({ name: channel });
      await parley.as(ann).messages.send({ channel, topic: 'a', content: channel });
      await parley.close();
    };
    const environment = { PARLEY_DATABASE: url, PARLEY_SECRET: SECRET };
    const clock = async () =>
      (await runCommand(['doctor'], { environment })).out.split('\n').filter((line) => /clock: it was/.test(line));
    await work(0, 'now');
    expect(await clock()).toEqual([]);
    await work(2 * 86_400_000, 'later');
    const [line, ...others] = await clock();
    expect(others).toEqual([]);
    expect(line).toMatch(
      /^consider clock: it was wrong, or is: \d+ messages, \d+ events.* have times in the future, the latest 2\d{3}-/,
    );
    await drop();
    rmSync(folder, { recursive: true });
  });

  it('finds missing objects of a bucket, and a bucket that the server refuses', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-doctor-files-'));
    const service = new S3rver({
      ...{ address: '127.0.0.1', port: 0, silent: true, directory: join(folder, 's3') },
      configureBuckets: [{ name: 'letters', configs: [] }],
    });
    const { port } = (await service.run()) as AddressInfo;
    const { url, drop } = isOnPostgres
      ? await createDatabase()
      : { url: `sqlite:${join(folder, 'parley.db')}`, drop: async () => {} };
    const location = `s3:letters?endpoint=http://127.0.0.1:${port}`;
    const environment = { PARLEY_DATABASE: url, PARLEY_SECRET: SECRET, PARLEY_FILES: location };
    const files = async (...flags: readonly string[]) =>
      (await runCommand(['doctor', ...flags], { environment })).out.split('\n').filter((line) => / files: /.test(line));

    const ann = { realm: '', externalId: 'u1' };
    const parley = await open(url, { files: location });
    await parley.realms.ensure({ name: '' });
    await parley.users.upsert({ ...ann, name: 'Ann', email: 'ann@example.com' });
    const server = createServer(parley.handler).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const Authorization = `Basic ${btoa(`ann@example.com:${await parley.users.apiKey(ann)}`)}`;
    for (const content of ['hello', 'hello again']) {
      const uploaded = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/user_uploads`, {
        method: 'POST',
        headers: { ...MULTIPART, Authorization },
        body: new Uint8Array(multipart([{ name: 'a', content }])),
      });
      expect(uploaded.status).toBe(200);
    }
    server.closeAllConnections();
    server.close();
    await parley.close();
    const responds = 'ok       files: the bucket letters responds';
    expect(await files('--thorough')).toEqual([responds, 'ok       files: the content of 2 files exists']);

    const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
    const endpoint = `http://127.0.0.1:${port}`;
    const store = new S3BlobStore({ bucket: 'letters', prefix: '', endpoint, region: 'us-east-1', credentials });
    const { key } = firstOf(await store.list(null, 2));
    if (isOnPostgres) {
      const all = await listBlobsOfPostgres(url, '', 3);
      expect(all.map(({ blob, size }) => [blob === key, typeof size])).toEqual(
        [true, false].map((is) => [is, 'number']),
      );
      expect(await listBlobsOfPostgres(url, key, 3)).toEqual(all.slice(1));
    }
    await store.remove(key);
    const missing = `PROBLEM  files: the content of 1 of 2 files is missing or altered, such as ${key}`;
    expect(await files('--thorough')).toEqual([responds, missing]);
    expect(await files()).toEqual([responds]);

    await store.putObject('parley-database.json', Buffer.from('{"id":"another","place":"elsewhere"}'));
    const refusal = await open(url, { files: location }).catch((error: Error) => error.message);
    expect(refusal).toContain('The bucket letters holds the files of another database');
    expect(await files()).toEqual([responds, `PROBLEM  files: ${refusal}`]);
    await drop();
    await service.close();
    rmSync(folder, { recursive: true });
  });
});
