import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createParley, type Parley } from '@parley/server';
import { runCommand } from '@parley/server/testing';
import { until } from '@parley/testkit';
import S3rver from 's3rver';
import { MULTIPART, multipart } from '../testing/multipart.js';

// Prevents the bucket client from searching for keys elsewhere.
process.env.AWS_ACCESS_KEY_ID = 'S3RVER';
process.env.AWS_SECRET_ACCESS_KEY = 'S3RVER';

const FORM = new Uint8Array(multipart([{ name: 'a', content: 'hello' }]));
const ANN = { realm: '', externalId: 'u1' };

describe('server with a failing bucket', () => {
  let folder: string;
  let status: number;
  let bucket: Server;
  let parley: Parley;
  let server: Server;
  let authorization: string;
  const log: [object, string][] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'parley-bucket-'));
    status = 403;
    log.length = 0;
    bucket = createServer((request, response) => {
      request.resume();
      if (status === 200 && request.method === 'GET')
        response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
      else response.writeHead(status).end();
    }).listen(0, '127.0.0.1');
    await once(bucket, 'listening');
    const record = (fields: object, message: string) => log.push([fields, message]);
    parley = await createParley({
      database: `sqlite:${join(folder, 'parley.db')}`,
      url: 'http://localhost',
      files: `s3:letters?endpoint=http://127.0.0.1:${(bucket.address() as AddressInfo).port}`,
      metrics: true,
      logger: { info: () => {}, warn: record, error: record },
    });
    server = createServer(parley.handler).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await parley.realms.ensure({ name: '' });
    await parley.users.upsert({ ...ANN, name: 'Ann', email: 'ann@example.com', role: 'owner' });
    authorization = `Basic ${btoa(`ann@example.com:${await parley.users.apiKey(ANN)}`)}`;
  });
  afterEach(async () => {
    await parley.close();
    server.closeAllConnections();
    bucket.closeAllConnections();
    server.close();
    bucket.close();
    rmSync(folder, { recursive: true });
  });

  const call = (path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1${path}`, {
      ...init,
      headers: { Authorization: authorization, ...init.headers },
    });
  const upload = () => call('/user_uploads', { method: 'POST', headers: MULTIPART, body: FORM });

  it('asks clients to retry, names the bucket to its operator, and stays ready', async () => {
    const reason = expect.stringMatching(/^The bucket letters cannot be used: 403 /);
    const refused = await upload();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toEqual({
      result: 'error',
      msg: 'The files are not available; try again in a moment.',
      code: 'SERVER_NOT_READY',
    });
    expect((await upload()).status).toBe(503);
    expect((await call('/users/me')).status).toBe(200);
    expect(await parley.ready()).toMatchObject({ isReady: true, checks: { files: reason } });
    expect(await parley.metrics()).toMatch(/^parley_files_available\{bucket="letters"\} 0$/m);
    expect(log).toEqual([[{ reason }, 'the bucket fails: uploads and downloads get 503 until it works again']]);

    // The bucket is checked every ten seconds.
    status = 200;
    await until(async () => (await parley.ready()).checks.files === 'ok');
    expect(await parley.metrics()).toMatch(/^parley_files_available\{bucket="letters"\} 1$/m);
    expect(log.slice(1)).toEqual([[{}, 'the bucket works again']]);
  });
});

describe('parley doctor', () => {
  it('reports a bucket that rejects the credentials, without reading the whole database', async () => {
    const bucket = createServer((_, response) => void response.writeHead(403).end()).listen(0, '127.0.0.1');
    await once(bucket, 'listening');
    const folder = mkdtempSync(join(tmpdir(), 'parley-doctor-bucket-'));
    const database = `sqlite:${join(folder, 'parley.db')}`;
    await (await createParley({ database, url: 'http://localhost' })).close();
    const environment = {
      PARLEY_DATABASE: database,
      PARLEY_FILES: `s3:letters?endpoint=http://127.0.0.1:${(bucket.address() as AddressInfo).port}`,
    };
    expect(await runCommand(['doctor'], { environment })).toMatchObject({
      code: 3,
      out: expect.stringMatching(
        /PROBLEM {2}files: The bucket letters cannot be used: 403 Forbidden: the credentials are wrong or do not permit/,
      ),
    });
    bucket.close();
    rmSync(folder, { recursive: true });
  });
});

describe('server that starts before its bucket exists', () => {
  const open: Parley[] = [];
  let folder: string;
  let service: S3rver;
  let endpoint: string;
  const problems: object[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'parley-late-bucket-'));
    service = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory: join(folder, 's3') });
    endpoint = `http://127.0.0.1:${((await service.run()) as AddressInfo).port}`;
    problems.length = 0;
  });
  afterEach(async () => {
    for (const parley of open.splice(0)) await parley.close();
    await service.close();
    rmSync(folder, { recursive: true });
  });

  async function start(database: string): Promise<Parley> {
    const record = (fields: object) => void problems.push(fields);
    const parley = await createParley({
      database: `sqlite:${join(folder, database, 'parley.db')}`,
      url: 'http://localhost',
      files: `s3:late?endpoint=${endpoint}`,
      logger: { info: () => {}, warn: record, error: record },
    });
    open.push(parley);
    return parley;
  }

  const makeBucket = () =>
    (service as unknown as { readonly store: { putBucket(name: string): Promise<unknown> } }).store.putBucket('late');
  const filesOf = async (parley: Parley) => (await parley.ready()).checks.files;
  const FOREIGN = 'The bucket late holds the files of another database. Name another location in PARLEY_FILES';

  it('claims the bucket once it exists', async () => {
    const one = await start('one');
    expect(problems).toEqual([{ reason: expect.stringMatching(/^The bucket late cannot be used: 404 /) }]);
    await makeBucket();
    await until(async () => (await filesOf(one)) === 'ok');
    await expect(start('two')).rejects.toThrow('The bucket late holds the files of another database');
  });

  it('does not use a bucket that another database has claimed', async () => {
    const one = await start('one');
    await makeBucket();
    expect(await filesOf(await start('two'))).toBe('ok');
    await until(async () => (await filesOf(one))?.startsWith(FOREIGN) ?? false);
  });
});
