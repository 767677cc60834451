import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { FolderBlobStore, FolderPartialBlobStore } from '@parley/blobs';
import { ResumableUploads, SweepFiles } from '@parley/domain/files';
import { DomainError } from '@parley/domain/kernel';
import { MemoryBlobStore, MemoryPartialBlobStore } from '@parley/testkit';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { postFiles } from '../testing/multipart.js';
import { TestBrowser } from '../testing/test-browser.js';
import { basic, sharedServer, TestServer, type TestUser } from '../testing/test-server.js';

const HOUR = 3600;
const TUS = { 'Tus-Resumable': '1.0.0' };
const BYTES = { ...TUS, 'Content-Type': 'application/offset+octet-stream' };
const encoded = (text: string) => Buffer.from(text).toString('base64');

let server: TestServer;
let people: TestServer['people'];
const clock = { nowMs: () => server.clock.nowMs() };
const blobs = new MemoryBlobStore(clock);
const partials = new MemoryPartialBlobStore(blobs, clock);
let outsider: TestUser;

const options = {
  blobs,
  partialBlobs: partials,
  fileLimits: { maxFileMib: 1, quotaMib: 2, userQuotaMib: null },
};
const newOrganization = sharedServer(options);
beforeEach(async () => {
  blobs.clear();
  partials.clear();
  server = await newOrganization();
  ({ people } = server);
  const realmId = await server.addRealm('other');
  outsider = await server.addUser({ email: 'prospero@other.com', fullName: 'Prospero', realmId });
});

interface About {
  readonly name?: string;
  readonly type?: string;
  readonly size?: number | string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

const begin = (as: TestUser | null, { name = 'a b.txt', type = 'text/plain', size = 10, ...more }: About = {}) =>
  server.request('POST', more.path ?? '/tus/', {
    as,
    ...(more.body !== undefined && { body: more.body }),
    headers: {
      ...TUS,
      'Upload-Length': String(size),
      'Upload-Metadata': `filename ${encoded(name)},filetype ${encoded(type)}`,
      ...more.headers,
    },
  });
/** Returns the id of an upload, which ends its URL. */
const idOf = (location: unknown): string => String(location).split('/tus/')[1]!;
/** Starts an upload and returns its path below the API's. */
const begun = async (as: TestUser, about: About = {}): Promise<string> => {
  const { status, headers } = await begin(as, about);
  expect(status).toBe(201);
  return `/tus/${idOf(headers.location)}`;
};
const on = (method: string, path: string, as: TestUser | null, more: object = {}, realm?: string) =>
  server.request(method as 'HEAD', path, { as, headers: TUS, ...more, ...(realm !== undefined && { realm }) });
const send = (path: string, as: TestUser, offset: number, body: string | Buffer, headers: object = {}) =>
  on('PATCH', path, as, { body, headers: { ...BYTES, 'Upload-Offset': String(offset), ...headers } });
const offsetOf = async (path: string, as: TestUser): Promise<string | undefined> =>
  (await on('HEAD', path, as)).headers['upload-offset'] as string | undefined;
const listed = async (as: TestUser): Promise<Wire[]> =>
  (fieldsOf(await server.get('/attachments', as)) as Wire).attachments;

describe('resumable upload (messages §16.1)', () => {
  it("becomes a file at the upload's URL with the last byte", async () => {
    const { hamlet } = people;
    const queue = await openQueue(server, hamlet);
    const response = await begin(hamlet);
    expect([response.status, response.body]).toEqual([201, null]);
    const ID = `${server.realmId}/[0-9a-f]{2}/[\\w-]{24}/a-b.txt`;
    expect(response.headers).toMatchObject({
      location: expect.stringMatching(new RegExp(`^/api/v1/tus/${ID}$`)),
      'tus-resumable': '1.0.0',
      'upload-expires': new Date((server.clock.now() + 24 * HOUR) * 1000).toUTCString(),
      'cache-control': 'no-store',
    });
    const path = `/tus/${idOf(response.headers.location)}`;
    const first = await send(path, hamlet, 0, 'hello');
    expect([first.status, first.headers['upload-offset']]).toEqual([204, '5']);
    const head = await on('HEAD', path, hamlet);
    expect(head.headers).toMatchObject({ 'upload-offset': '5', 'upload-length': '10', 'cache-control': 'no-store' });
    expect(await listed(hamlet)).toEqual([]);
    const url = path.replace('/tus/', '/user_uploads/');
    expect((await server.request('GET', `/${url}`, { as: hamlet })).status).toBe(404);

    const last = await send(path, hamlet, 5, 'world');
    expect([last.status, last.headers['upload-offset'], last.headers['content-type']]).toEqual([
      200,
      '10',
      'application/json',
    ]);
    expect(last.body).toEqual({ url, filename: 'a b.txt' });
    expect((await server.request('GET', `/${url}`, { as: hamlet })).body).toBe('helloworld');
    const [attachment] = await listed(hamlet);
    expect(attachment).toMatchObject({ name: 'a b.txt', size: 10, path_id: url.slice('/user_uploads/'.length) });
    expect(await eventsAfter(server, queue)).toEqual([
      { type: 'attachment', op: 'add', attachment, upload_space_used: 10 },
    ]);
    expect([partials.size, blobs.size]).toEqual([0, 1]);

    // A finished upload accepts no more bytes and is not stored twice.
    expect((await send(path, hamlet, 10, '')).status).toBe(409);
    expect((await send(path, hamlet, 10, '!')).status).toBe(413);
    expect((await on('DELETE', path, hamlet)).status).toBe(404);
    expect((await server.request('GET', `/${url}`, { as: hamlet })).body).toBe('helloworld');
    expect([partials.size, blobs.size]).toEqual([0, 1]);
  });

  it('accepts bytes in the first request and empty files', async () => {
    const { hamlet } = people;
    const whole = await begin(hamlet, { size: 5, body: 'hello', headers: BYTES });
    expect([whole.status, whole.headers['upload-offset'], whole.body]).toEqual([
      201,
      '5',
      { url: `/user_uploads/${idOf(whole.headers.location)}`, filename: 'a b.txt' },
    ]);
    const part = await begin(hamlet, { size: 5, body: 'hel', headers: BYTES });
    expect([part.status, part.headers['upload-offset']]).toEqual([201, '3']);
    const empty = await begin(hamlet, { size: 0 });
    expect([empty.status, empty.body.filename]).toEqual([201, 'a b.txt']);
    expect((await listed(hamlet)).map(({ size }) => size)).toEqual([5, 0]);
  });

  it('returns the same path with and without a trailing slash', async () => {
    const { location } = (await begin(people.hamlet, { path: '/tus', name: 'é b.png' })).headers;
    expect(location).toMatch(/^\/api\/v1\/tus\/\d+\/[0-9a-f]{2}\/[\w-]{24}\/%C3%A9-b\.png$/);
    const path = `/tus/${idOf(location)}`;
    expect(await offsetOf(path, people.hamlet)).toBe('0');
    expect((await send(path, people.hamlet, 0, '0123456789')).body).toEqual({
      url: decodeURIComponent(path).replace('/tus/', '/user_uploads/'),
      filename: 'é b.png',
    });
  });

  it('detects the type from the bytes', async () => {
    const { hamlet } = people;
    const content = Buffer.concat([Buffer.from('%PDF-1.7'), Buffer.alloc(12)]);
    const path = await begun(hamlet, { size: 20, type: 'text/html' });
    await send(path, hamlet, 0, content);
    const { headers } = await server.request('GET', `/${path.replace('/tus/', '/user_uploads/')}`, { as: hamlet });
    expect(headers['content-type']).toBe('application/pdf');
  });

  it('reports completion to a client that missed the last response', async () => {
    const { hamlet } = people;
    const path = await begun(hamlet);
    await send(path, hamlet, 0, '0123456789');
    const { status, headers } = await on('HEAD', path, hamlet);
    expect([status, headers['upload-offset'], headers['upload-length']]).toEqual([200, '10', '10']);
    expect(await listed(hamlet)).toHaveLength(1);
  });

  it("finishes on the client's request if only the row is missing", async () => {
    const { hamlet } = people;
    const path = await begun(hamlet);
    jest.spyOn(blobs, 'read').mockImplementationOnce(() => {
      throw new Error('the process ended');
    });
    expect((await send(path, hamlet, 0, '0123456789')).status).toBe(500);
    expect(await listed(hamlet)).toEqual([]);
    expect([partials.size, blobs.size]).toEqual([0, 1]);
    server.clock.advance(2 * HOUR);
    await server.parley.useCase(SweepFiles).execute({ keepDetachedSeconds: 0 });
    expect(await offsetOf(path, hamlet)).toBe('10');
    expect(await listed(hamlet)).toMatchObject([{ size: 10 }]);
    expect((await server.request('GET', `/${path.replace('/tus/', '/user_uploads/')}`, { as: hamlet })).body).toBe(
      '0123456789',
    );
  });

  it.each(['STORAGE_UNAVAILABLE', 'SERVER_BUSY'] as const)(
    'survives a database that fails with %s while the file is created',
    async (code) => {
      const { hamlet } = people;
      const path = await begun(hamlet);
      jest
        .spyOn(server.parley.ports.unitOfWork, 'write')
        .mockRejectedValueOnce(new DomainError(code, 'Later.', { retryAfter: 1 } as never));
      const failed = await send(path, hamlet, 0, '0123456789');
      expectRefusal(failed, 'Later.', { status: 503, code: 'SERVER_NOT_READY' });
      expect(failed.headers['retry-after']).toBe('1');
      expect([partials.size, blobs.size]).toEqual([0, 1]);
      expect(await offsetOf(path, hamlet)).toBe('10');
      expect(await listed(hamlet)).toMatchObject([{ size: 10 }]);
    },
  );

  it('asks the client to retry if a part cannot be stored while more bytes arrive', async () => {
    const { hamlet } = people;
    const path = await begun(hamlet, { size: 1_000_000 });
    const lost = new DomainError('STORAGE_UNAVAILABLE', 'Later.');
    jest.spyOn(partials, 'append').mockImplementationOnce(async (_, __, content) => {
      for await (const _ of content) break;
      // The destroyed stream reports another error.
      await setImmediate();
      throw lost;
    });
    const failed = await send(path, hamlet, 0, Buffer.alloc(1_000_000));
    expectRefusal(failed, 'Later.', { status: 503, code: 'SERVER_NOT_READY' });
    expect(failed.headers['retry-after']).toBe('1');
    expect((await send(path, hamlet, 0, Buffer.alloc(1_000_000))).status).toBe(200);
  });

  it('can be repeated in each of its requests after a database failure', async () => {
    const { hamlet } = people;
    const path = await begun(hamlet);
    const { unitOfWork } = server.parley.ports;
    const lost = new DomainError('STORAGE_UNAVAILABLE', 'Later.');
    for (const [method, request] of [
      ['write', () => begin(hamlet)],
      ['read', () => on('HEAD', path, hamlet)],
      ['read', () => send(path, hamlet, 0, 'hello')],
      ['write', () => on('DELETE', path, hamlet)],
    ] as const) {
      const read = jest.spyOn(unitOfWork, 'read');
      // The credentials are cached, so the first unit is the use case's.
      jest.spyOn(unitOfWork, method).mockRejectedValueOnce(lost);
      const { status, headers } = await request();
      expect([status, headers['retry-after']]).toEqual([503, '1']);
      read.mockRestore();
      jest.restoreAllMocks();
    }
    expect(await offsetOf(path, hamlet)).toBe('0');
    expect((await send(path, hamlet, 0, '0123456789')).status).toBe(200);
  });

  it('responds with a conflict if another node receives or finishes it at the same time', async () => {
    const { hamlet } = people;
    const conflict = (response: Awaited<ReturnType<typeof send>>) =>
      expectRefusal(response, 'Another request continues this upload; ask for its offset.', {
        status: 409,
        code: 'UPLOAD_CONFLICT',
      });
    const path = await begun(hamlet);
    const append = partials.append.bind(partials);
    const interruptBy = (text: string) =>
      jest.spyOn(partials, 'append').mockImplementationOnce(async (key, offset, content) => {
        await append(key, offset, Readable.from([Buffer.from(text)]));
        return append(key, offset, content);
      });
    interruptBy('01234');
    conflict(await send(path, hamlet, 0, '0123456789'));
    expect(await offsetOf(path, hamlet)).toBe('5');
    // The parts of the other node replace longer ones.
    jest.spyOn(partials, 'append').mockResolvedValueOnce(10);
    conflict(await send(path, hamlet, 5, '56789'));
    expect((await send(path, hamlet, 5, '56789')).status).toBe(200);
    conflict(await send(path, hamlet, 10, ''));
    expect(await offsetOf(path, hamlet)).toBe('10');
    expect(await listed(hamlet)).toHaveLength(1);
  });

  it('deletes all data when terminated', async () => {
    const { hamlet } = people;
    const path = await begun(hamlet);
    await send(path, hamlet, 0, 'hello');
    expect((await on('DELETE', path, hamlet)).status).toBe(204);
    expect((await on('HEAD', path, hamlet)).status).toBe(404);
    expect((await on('DELETE', path, hamlet)).status).toBe(404);
    expect([partials.size, blobs.size]).toEqual([0, 0]);
    const finished = await begun(hamlet, { size: 2 });
    await send(finished, hamlet, 0, 'ab');
    expect((await on('DELETE', finished, hamlet)).status).toBe(404);
    expect(await listed(hamlet)).toHaveLength(1);
  });

  it('expires after a day and loses its bytes', async () => {
    // The sweep counts the uploads of all organizations.
    server = await TestServer.start(options);
    const { hamlet } = server.people;
    const path = await begun(hamlet);
    await send(path, hamlet, 0, 'hello');
    server.clock.advance(24 * HOUR - 1);
    expect(await offsetOf(path, hamlet)).toBe('5');
    const sweep = (isDryRun = false) => server.parley.useCase(SweepFiles).execute({ keepDetachedSeconds: 0, isDryRun });
    expect(await sweep()).toEqual({ files: 0, uploads: 0, blobs: 0 });
    server.clock.advance(2);
    expect((await on('HEAD', path, hamlet)).status).toBe(404);
    expect((await send(path, hamlet, 5, 'world')).status).toBe(404);
    expect(await sweep(true)).toEqual({ files: 0, uploads: 1, blobs: 0 });
    expect(await sweep()).toEqual({ files: 0, uploads: 1, blobs: 1 });
    expect(partials.size).toBe(0);
  });

  it('rejects other users', async () => {
    const { hamlet, desdemona } = people;
    const path = await begun(hamlet);
    for (const [as, realm] of [
      [desdemona, undefined],
      [outsider, 'other'],
    ] as const) {
      for (const method of ['HEAD', 'DELETE']) expect((await on(method, path, as, {}, realm)).status).toBe(404);
      const more = { body: 'x', headers: { ...BYTES, 'Upload-Offset': '0' } };
      expect((await on('PATCH', path, as, more, realm)).status).toBe(404);
    }
    for (const method of ['HEAD', 'PATCH', 'DELETE']) expect((await on(method, path, null)).status).toBe(401);
    expectRefusal(await begin(null), 'Not logged in: API authentication or user session required', {
      status: 401,
      code: 'UNAUTHORIZED',
    });
    expect(await offsetOf(path, hamlet)).toBe('0');
    await send(path, hamlet, 0, '0123456789');
    expect((await on('HEAD', path, desdemona)).status).toBe(404);
  });

  it.each([
    ['a file that is too large', { size: 1024 * 1024 + 1 }, 413, /^File is larger than this server's configured/],
    ['oversized metadata', { name: 'x'.repeat(4000) }, 413, /^Upload metadata too long \(limit: 4096\)\.$/],
  ])('rejects %s', async (_what, about, status, message) => {
    const response = await begin(people.hamlet, about);
    expect([response.status, response.headers['content-type']]).toEqual([status, 'application/json']);
    expect(response.body).toEqual({ message: expect.stringMatching(message) });
  });

  it('counts the announced size towards the quota, and the stored files at completion', async () => {
    const { hamlet, cordelia } = people;
    const MIB = 1024 * 1024;
    const path = await begun(hamlet, { size: MIB });
    await begun(hamlet, { size: MIB });
    const quota = { message: "Upload would exceed your organization's upload quota." };
    const refused = await begin(hamlet, { size: 1 });
    expect([refused.status, refused.body]).toEqual([413, quota]);
    // Other uploads are rejected once the space is used.
    for (const name of ['x', 'y']) {
      fieldsOf(await postFiles(server, '/user_uploads', cordelia, [{ name, content: Buffer.alloc(MIB) }]));
    }
    const late = await send(path, hamlet, 0, Buffer.alloc(MIB));
    expect([late.status, late.body]).toEqual([413, quota]);
    expect((await on('HEAD', path, hamlet)).status).toBe(404);
    expect([partials.size, blobs.size]).toEqual([0, 2]);
  });

  it('is limited to twenty unfinished uploads', async () => {
    const { hamlet } = people;
    const paths: string[] = [];
    for (let i = 0; i < 20; i++) paths.push(await begun(hamlet));
    const refused = await begin(hamlet);
    expect([refused.status, refused.body]).toEqual([403, { message: 'Too many unfinished uploads (limit: 20).' }]);
    await begun(people.cordelia);
    expect((await on('DELETE', paths[0]!, hamlet)).status).toBe(204);
    await begun(hamlet);
  });

  it('accepts browser sessions with a CSRF token', async () => {
    const browser = await TestBrowser.loggedIn(server, people.hamlet);
    const headers = { ...TUS, 'Upload-Length': '5' };
    const begun = await browser.request('POST', '/api/v1/tus/', undefined, { headers });
    expect(begun.status).toBe(201);
    const path = begun.headers.location!;
    const bytes = { ...BYTES, 'Upload-Offset': '0' };
    const forged = { headers: { ...bytes, 'X-CSRFToken': '' }, body: 'hello' };
    expect((await browser.request('PATCH', path, undefined, forged)).status).toBe(403);
    expect((await browser.request('PATCH', path, undefined, { headers: bytes, body: 'hello' })).status).toBe(200);
    expect(await listed(people.hamlet)).toHaveLength(1);
    // Sessions are rejected in the rest of the API.
    expect((await browser.get('/api/v1/users/me')).status).toBe(401);
  });

  it('rejects requests that violate the protocol', async () => {
    const { hamlet } = people;
    const path = await begun(hamlet);
    const body = 'hello';
    for (const [method, target, headers, status] of [
      ['POST', '/tus/', {}, 412],
      ['POST', '/tus/', { ...TUS, 'Tus-Resumable': '0.1.0' }, 400],
      ['POST', '/tus/', TUS, 400],
      ['POST', '/tus/', { ...TUS, 'Upload-Length': '-1' }, 400],
      ['POST', '/tus/', { ...TUS, 'Upload-Length': '1', 'Upload-Metadata': 'filename *' }, 400],
      ['POST', '/tus/', { ...TUS, 'Upload-Defer-Length': '1' }, 501],
      ['PATCH', path, { ...BYTES }, 403],
      ['PATCH', path, { ...TUS, 'Upload-Offset': '0', 'Content-Type': 'text/plain' }, 400],
      ['PATCH', path, { ...BYTES, 'Upload-Offset': '1' }, 409],
      ['PATCH', `${path}x`, { ...BYTES, 'Upload-Offset': '0' }, 404],
      ['PATCH', '/tus/..%2f..%2fetc', { ...BYTES, 'Upload-Offset': '0' }, 404],
    ] as const) {
      const response = await on(method, target, hamlet, { headers, ...(method === 'PATCH' && { body }) });
      expect([method, headers, response.status]).toEqual([method, headers, status]);
    }
    expect((await send(path, hamlet, 0, '0123456789x')).status).toBe(413);
    expect(await offsetOf(path, hamlet)).toBe('0');
    const options = await on('OPTIONS', '/tus/', null);
    expect(options.headers).toMatchObject({
      'tus-version': '1.0.0',
      'tus-extension': 'creation,creation-with-upload,expiration,termination',
      'tus-max-size': String(1024 * 1024),
    });
  });
});

it('server accepts one of several concurrent requests at the same offset and responds to the others with a conflict', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-concurrent-'));
  const onDisk = new FolderBlobStore(folder);
  const parts = new FolderPartialBlobStore(join(folder, 'uploads'), onDisk);
  const other = await TestServer.start({ blobs: onDisk, partialBlobs: parts });
  const { hamlet } = other.people;
  const content = randomBytes(100_000);
  const headers = { ...TUS, 'Upload-Length': String(content.length), 'Upload-Metadata': `filename ${encoded('a')}` };
  for (let round = 0; round < 5; round++) {
    const { location } = (await other.request('POST', '/tus/', { as: hamlet, headers })).headers;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        other.request('PATCH', `/tus/${idOf(location)}`, {
          as: hamlet,
          body: content,
          headers: { ...BYTES, 'Upload-Offset': '0' },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
  }
  await other.close();
  rmSync(folder, { recursive: true });
});

describe('interrupted upload', () => {
  it('resumes after the received bytes, even after a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-resumed-'));
    const onDisk = new FolderBlobStore(folder);
    const parts = new FolderPartialBlobStore(join(folder, 'uploads'), onDisk);
    const other = await TestServer.start({ blobs: onDisk, partialBlobs: parts });
    const { hamlet } = other.people;
    const content = randomBytes(400_000);
    const headers = { ...TUS, 'Upload-Length': String(content.length), 'Upload-Metadata': `filename ${encoded('a')}` };
    const { location } = (await other.request('POST', '/tus/', { as: hamlet, headers })).headers;
    const path = `/tus/${idOf(location)}`;

    const { hostname, port } = new URL(other.url);
    const sent = { ...BYTES, 'Upload-Offset': '0', 'Content-Length': content.length, Authorization: basic(hamlet) };
    const broken = request({ hostname, port, method: 'PATCH', path: `/api/v1${path}`, headers: sent });
    broken.on('error', () => {});
    broken.write(content.subarray(0, 250_000));
    const progress = async () =>
      (await parts.list(null, 9)).length > 0 && (await parts.sizeOf((await parts.list(null, 9))[0]!.key));
    while ((await progress()) !== 250_000) await new Promise((resolve) => setTimeout(resolve, 10));
    broken.destroy();

    const head = await other.request('HEAD', path, { as: hamlet, headers: TUS });
    expect(head.headers['upload-offset']).toBe('250000');
    const rest = await other.request('PATCH', path, {
      as: hamlet,
      body: content.subarray(250_000),
      headers: { ...BYTES, 'Upload-Offset': '250000' },
    });
    expect(rest.status).toBe(200);
    const { port: same } = new URL(other.url);
    const whole = await fetch(`http://localhost:${same}${rest.body.url}`, {
      headers: { Authorization: basic(hamlet) },
    });
    expect(Buffer.from(await whole.arrayBuffer()).equals(content)).toBe(true);
    expect(readdirSync(join(folder, 'uploads'))).toEqual([]);
    await other.close();
    rmSync(folder, { recursive: true });
  });
});

describe('fully received upload', () => {
  async function complete() {
    const { hamlet } = people;
    const caller = { realmId: server.realmId, userId: hamlet.id, clientName: 'test' };
    const uploads = server.parley.useCase(ResumableUploads);
    const given = { name: 'a.txt', claimedType: 'text/plain', metadata: '', size: 5 };
    const upload = await uploads.begin(caller, given);
    await partials.append(upload.blob, 0, Readable.from([Buffer.from('hello')]));
    const read = () => server.request('GET', `//user_uploads/${upload.pathId}`, { as: hamlet });
    return { uploads, caller, upload, read };
  }

  it('becomes one file despite concurrent completion', async () => {
    const { uploads, caller, upload, read } = await complete();
    const [first, second] = await Promise.all([
      uploads.finish(caller, upload),
      uploads.finish(caller, upload),
      uploads.find(caller, upload),
    ]);
    expect(second).toEqual(first);
    expect(await uploads.finish(caller, upload)).toEqual(first);
    expect(await listed(people.hamlet)).toHaveLength(1);
    expect((await read()).body).toBe('hello');
  });

  it('limits the length of its metadata', async () => {
    const { uploads, caller } = await complete();
    const given = { name: 'b.txt', claimedType: 'text/plain', size: 5 };
    await uploads.begin(caller, { ...given, metadata: 'x'.repeat(4096) });
    const more = uploads.begin(caller, { ...given, metadata: 'x'.repeat(4097) });
    await expect(more).rejects.toMatchObject({ code: 'UPLOAD_METADATA_TOO_LONG' });
  });

  it('is unknown if it is terminated while its file is being created', async () => {
    const { uploads, caller, upload } = await complete();
    const read = blobs.read.bind(blobs);
    jest.spyOn(blobs, 'read').mockImplementationOnce(async function* (...given) {
      await uploads.cancel(caller, upload);
      yield* read(...given);
    });
    await expect(uploads.finish(caller, upload)).rejects.toMatchObject({ code: 'UNKNOWN_UPLOAD' });
    expect(await listed(people.hamlet)).toEqual([]);
  });

  it('keeps its bytes if terminated too late', async () => {
    const { uploads, caller, upload, read } = await complete();
    const { unitOfWork } = server.parley.ports;
    const write = unitOfWork.write.bind(unitOfWork);
    // Completes the upload between lookup and removal.
    jest.spyOn(unitOfWork, 'write').mockImplementationOnce(async (realmId, work) => {
      await uploads.finish(caller, upload);
      return write(realmId, work);
    });
    await expect(uploads.cancel(caller, upload)).rejects.toMatchObject({ code: 'UNKNOWN_UPLOAD' });
    expect(await listed(people.hamlet)).toHaveLength(1);
    expect((await read()).body).toBe('hello');
  });
});

describe('concurrent upload limit', () => {
  it('covers resumable and form uploads until one finishes', async () => {
    const other = await TestServer.start({ blobs, partialBlobs: partials, limits: { uploadsPerUser: 1 } });
    const { hamlet, cordelia } = other.people;
    const { location } = (
      await other.request('POST', '/tus/', { as: hamlet, headers: { ...TUS, 'Upload-Length': '10' } })
    ).headers;
    const { hostname, port } = new URL(other.url);
    const headers = { ...BYTES, 'Upload-Offset': '0', 'Content-Length': 10, Authorization: basic(hamlet) };
    const path = `/api/v1/tus/${idOf(location)}`;
    // The later upload is rejected.
    const arriving = new Promise((resolve) => {
      const append = partials.append.bind(partials);
      jest.spyOn(partials, 'append').mockImplementationOnce((...args) => {
        resolve(null);
        return append(...args);
      });
    });
    const open = request({ hostname, port, method: 'PATCH', path, headers });
    const closed = new Promise((resolve) => open.on('close', resolve));
    open.on('error', () => {});
    open.write('half');
    const HELLO = [{ name: 'a', content: 'hello' }];
    await arriving;
    const second = await postFiles(other, '/user_uploads', hamlet, HELLO);
    expect([second.status, second.body.code]).toEqual([429, 'RATE_LIMIT_HIT']);
    fieldsOf(await postFiles(other, '/user_uploads', cordelia, HELLO));
    open.end('whole!');
    await closed;
    fieldsOf(await postFiles(other, '/user_uploads', hamlet, HELLO));
    await other.close();
  });
});
