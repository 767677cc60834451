import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer as createHttpServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type BlobKey, CleanFiles, inOneChunk, type MetadataFinder, readBlob } from '@parley/domain/files';
import type { RealmId, UnitOfWork } from '@parley/domain/kernel';
import { SeededRandomness } from '@parley/testkit';
import { blobStoreContract, partialBlobStoreContract } from '@parley/testkit/contracts';
import S3rver from 's3rver';
import type { StoredListener } from './durable-files.js';
import { FolderBlobStore } from './folder-blob-store.js';
import { FolderPartialBlobStore } from './folder-partial-blob-store.js';
import { S3BlobStore } from './s3-blob-store.js';
import { S3PartialBlobStore } from './s3-partial-blob-store.js';

/** Real service with an empty bucket `parley` (`http://KEY:SECRET@127.0.0.1:9000`) in place of the server below. */
const real = process.env.PARLEY_S3 ? new URL(process.env.PARLEY_S3) : null;
const CREDENTIALS = { accessKeyId: real?.username ?? 'S3RVER', secretAccessKey: real?.password ?? 'S3RVER' };

/** Third-party S3 server on a folder. */
const directory = mkdtempSync(join(tmpdir(), 'parley-s3-'));
const service = new S3rver({
  address: '127.0.0.1',
  port: 0,
  silent: true,
  directory,
  configureBuckets: [{ name: 'parley', configs: [] }],
});
/** This server responds before the file is written, unlike real services. */
const { store } = service as unknown as {
  readonly store: {
    getResourcePath(bucket: string, key: string, resource: 'object'): string;
    putObject(object: { readonly bucket: string; readonly key: string }): Promise<{ readonly size: number }>;
  };
};
const putObject = store.putObject.bind(store);
store.putObject = async (object) => {
  const put = await putObject(object);
  while (statSync(store.getResourcePath(object.bucket, object.key, 'object')).size < put.size) await nextTurn();
  return put;
};
let endpoint: string;
let opened = 0;

beforeAll(async () => {
  const { port } = (await service.run()) as AddressInfo;
  endpoint = real?.origin ?? `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await service.close();
  rmSync(directory, { recursive: true });
});

const storeAt = (prefix: string, limits = {}, onStored?: StoredListener) =>
  new S3BlobStore(
    {
      bucket: 'parley',
      prefix,
      endpoint,
      region: 'us-east-1',
      credentials: CREDENTIALS,
    },
    limits,
    undefined,
    undefined,
    onStored,
  );
const open = async () => ({ store: storeAt(`files-${opened++}/`), close: async () => {} });

describe('S3BlobStore implements', () => blobStoreContract(open));

describe('FolderPartialBlobStore with a bucket implements', () =>
  partialBlobStoreContract(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-partial-'));
    const blobs = storeAt(`files-${opened++}/`);
    return {
      blobs,
      partials: new FolderPartialBlobStore(folder, blobs),
      close: async () => rmSync(folder, { recursive: true }),
    };
  }));

describe('S3PartialBlobStore implements', () =>
  partialBlobStoreContract(async () => {
    const blobs = storeAt(`files-${opened++}/`);
    return { blobs, partials: new S3PartialBlobStore(blobs), close: async () => {} };
  }));

describe('checksums of new blobs', () => {
  const KEY = 'ef'.padEnd(32, '0') as BlobKey;
  const CONTENT = 'some bytes';
  const EXPECTED = [[KEY, createHash('sha256').update(CONTENT).digest('hex')]];

  it.each(['folder', 'bucket'])('are passed on by a %s after uploads at once and in parts', async (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-checksums-'));
    for (const isInParts of [true, false]) {
      const stored: unknown[] = [];
      const onStored: StoredListener = async (...blob) => void stored.push(blob);
      const blobs =
        kind === 'bucket'
          ? storeAt(`files-${opened++}/`, {}, onStored)
          : new FolderBlobStore(folder, undefined, onStored);
      const partials =
        blobs instanceof S3BlobStore
          ? new S3PartialBlobStore(blobs)
          : new FolderPartialBlobStore(join(folder, 'uploads'), blobs);
      if (isInParts) {
        for (const start of [0, 5]) {
          await partials.append(KEY, start, inOneChunk(Buffer.from(CONTENT.slice(start, start + 5))));
          expect(stored).toEqual([]);
        }
        await partials.finish(KEY);
      } else await blobs.put(KEY, inOneChunk(Buffer.from(CONTENT)));
      expect(stored).toEqual(EXPECTED);
    }
    rmSync(folder, { recursive: true });
  });
});

describe('S3BlobStore with a claim', () => {
  const KEY = 'ef'.padEnd(32, '0') as BlobKey;

  it('rejects all requests until the claim has succeeded', async () => {
    const store = storeAt(`files-${opened++}/`);
    let isOurs = false;
    store.claimBy(async () => {
      if (!isOurs) throw new Error('it belongs to another database');
    });
    const put = () => store.put(KEY, Readable.from([Buffer.from('bytes')]));
    await expect(put()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    await expect(store.check()).rejects.toThrow('it belongs to another database');
    expect(store.problem).toBe('it belongs to another database');
    await expect(store.sizeOf(KEY)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    isOurs = true;
    await store.check();
    expect([store.problem, await put()]).toEqual([null, 5]);
  });

  // Removes the bucket by the server's own functions.
  (real ? it.skip : it)('claims the bucket again after it was absent', async () => {
    const { store: disk } = service as unknown as {
      readonly store: { putBucket(name: string): Promise<unknown>; deleteBucket(name: string): Promise<unknown> };
    };
    await disk.putBucket('absent');
    const location = { bucket: 'absent', prefix: '', endpoint, region: 'us-east-1', credentials: CREDENTIALS };
    const store = new S3BlobStore(location);
    let claims = 0;
    store.claimBy(async () => void claims++);
    await store.check();
    await disk.deleteBucket('absent');
    await expect(store.putObject('a', Buffer.from('a'))).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    await disk.putBucket('absent');
    await expect(store.putObject('a', Buffer.from('a'))).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    await store.check();
    await store.putObject('a', Buffer.from('a'));
    expect(claims).toBe(2);
  });
});

describe('S3PartialBlobStore on two servers', () => {
  const KEY = 'cd'.padEnd(32, '0') as BlobKey;
  const contentOf = async function* (...pieces: readonly Uint8Array[]) {
    yield* pieces;
  };
  const two = () => {
    const prefix = `files-${opened++}/`;
    return [storeAt(prefix), storeAt(prefix)].map((blobs) => ({ blobs, partials: new S3PartialBlobStore(blobs) }));
  };

  it('continues an upload of several parts on the other server', async () => {
    const [one, other] = two();
    const whole = randomBytes(20 * 1024 * 1024);
    const half = 11 * 1024 * 1024;
    expect(await one!.partials.append(KEY, 0, contentOf(whole.subarray(0, 4), whole.subarray(4, half)))).toBe(half);
    expect(await other!.partials.sizeOf(KEY)).toBe(half);
    expect(await other!.partials.append(KEY, half, contentOf(whole.subarray(half)))).toBe(whole.length);
    expect((await one!.partials.list(null, 9)).map(({ key }) => key)).toEqual([KEY]);
    await one!.partials.finish(KEY);
    const read: Uint8Array[] = [];
    for await (const piece of other!.blobs.read(KEY, { start: 0, end: whole.length })) read.push(piece);
    expect(Buffer.concat(read).equals(whole)).toBe(true);
    expect([await other!.partials.sizeOf(KEY), await one!.partials.list(null, 9)]).toEqual([0, []]);
  });

  it('continues after overlapping parts of both servers and removes all of them', async () => {
    const [one, other] = two();
    const whole = randomBytes(20);
    const put = (offset: number, end: number) =>
      one!.blobs.putObject(`uploads/${KEY}/${String(offset).padStart(15, '0')}`, whole.subarray(offset, end));
    // A late part of one server has replaced the first part of the other one.
    await put(0, 3);
    await put(8, 16);
    expect(await other!.partials.sizeOf(KEY)).toBe(3);
    expect(await other!.partials.append(KEY, 3, contentOf(whole.subarray(3, 11)))).toBe(11);
    expect(await one!.partials.sizeOf(KEY)).toBe(11);
    expect(await other!.partials.append(KEY, 11, contentOf(whole.subarray(11)))).toBe(20);
    expect(await one!.partials.sizeOf(KEY)).toBe(20);
    await one!.partials.finish(KEY);
    const read: Uint8Array[] = [];
    for await (const piece of other!.blobs.read(KEY, { start: 0, end: 20 })) read.push(piece);
    expect(Buffer.concat(read).equals(whole)).toBe(true);
    expect(await one!.partials.list(null, 9)).toEqual([]);
  });

  it('refuses to complete a blob if its parts become shorter during the call', async () => {
    const [one, other] = two();
    await one!.partials.append(KEY, 0, contentOf(Buffer.from('all of it')));
    const readObject = one!.blobs.readObject.bind(one!.blobs);
    jest.spyOn(one!.blobs, 'readObject').mockImplementation(async function* (name) {
      await other!.blobs.putObject(name, Buffer.from('all'));
      yield* readObject(name);
    });
    await expect(one!.partials.finish(KEY)).rejects.toMatchObject({ code: 'UPLOAD_CONFLICT' });
    expect(await other!.partials.sizeOf(KEY)).toBe(3);
  });

  it('completes a blob once if both servers finish it at the same time', async () => {
    const servers = two();
    await servers[0]!.partials.append(KEY, 0, contentOf(Buffer.from('all of it')));
    await Promise.all(servers.map(({ partials }) => partials.finish(KEY)));
    expect(await servers[1]!.blobs.sizeOf(KEY)).toBe(9);
  });
});

describe('a folder copied into a bucket', () => {
  const UPLOAD = 'ef'.padEnd(32, '0') as BlobKey;
  const contentOf = async function* (text: string) {
    yield Buffer.from(text);
  };

  it('keeps unfinished uploads', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-copied-'));
    const uploads = new FolderPartialBlobStore(join(folder, 'uploads'), new FolderBlobStore(folder));
    await uploads.append(UPLOAD, 0, contentOf('first half, '));
    const { store } = await open();
    const partials = new S3PartialBlobStore(store);
    expect(await partials.append(UPLOAD, 0, uploads.content(UPLOAD))).toBe(12);
    rmSync(folder, { recursive: true });
    await partials.append(UPLOAD, 12, contentOf('second half'));
    await partials.finish(UPLOAD);
    const read: Uint8Array[] = [];
    for await (const piece of store.read(UPLOAD, { start: 0, end: 23 })) read.push(piece);
    expect(Buffer.concat(read).toString()).toBe('first half, second half');
  });
});

/** Content without an end, and whether its reader has released it. */
function endlessContent() {
  const endless = { isReleased: false, content: pieces() };
  async function* pieces() {
    try {
      for (;;) yield Buffer.alloc(1024 * 1024);
    } finally {
      endless.isReleased = true;
    }
  }
  return endless;
}

describe('S3BlobStore', () => {
  const KEY = 'ab'.padEnd(32, '0') as BlobKey;

  it('stores content larger than one part, but no aborted content', async () => {
    const { store } = await open();
    const piece = Buffer.alloc(1024 * 1024, 'abcdefg');
    const pieces = (count: number, isBroken = false) =>
      (async function* () {
        for (let i = 0; i < count; i++) yield piece;
        if (isBroken) throw new Error('gone');
      })();
    expect(await store.put(KEY, pieces(18))).toBe(18 * piece.length);
    expect(await store.sizeOf(KEY)).toBe(18 * piece.length);
    let read = 0;
    for await (const chunk of store.read(KEY, { start: 10, end: 18 * piece.length })) read += chunk.length;
    expect(read).toBe(18 * piece.length - 10);
    await store.remove(KEY);
    await expect(store.put(KEY, pieces(18, true))).rejects.toThrow('gone');
    expect(await store.sizeOf(KEY)).toBeNull();
  });

  it('serves other readers while many clients read slowly', async () => {
    const store = storeAt(`files-${opened++}/`, { connections: 2, readerMs: 100 });
    const whole = randomBytes(9 * 1024 * 1024);
    const all = { start: 0, end: whole.length };
    await store.put(KEY, Readable.from([whole]));
    const slow = Array.from({ length: 4 }, () => store.read(KEY, all));
    const taken = slow.map(() => [] as Uint8Array[]);
    const takeOne = (content: AsyncGenerator<Uint8Array>, n: number) =>
      content.next().then(({ value }) => taken[n]!.push(value));
    await Promise.all(slow.map(takeOne));
    // Streamed content occupies a connection only for a limited time.
    await Promise.all(slow.map(takeOne));
    const read: Uint8Array[] = [];
    for await (const chunk of store.read(KEY, all)) read.push(chunk);
    expect(Buffer.concat(read).equals(whole)).toBe(true);
    for (const [n, content] of slow.entries()) {
      for await (const chunk of content) taken[n]!.push(chunk);
      expect(Buffer.concat(taken[n]!).equals(whole)).toBe(true);
    }
  });

  it('ignores other objects in the bucket', async () => {
    const [outer, inner] = [storeAt(''), storeAt(`files-${opened++}/`)];
    await inner.put(KEY, (async function* () {})());
    expect((await outer.list(null, 1000)).map(({ key }) => key)).not.toContain(KEY);
    expect((await inner.list(null, 1000)).map(({ key }) => key)).toEqual([KEY]);
  });

  describe('S3BlobStore with a paginating service', () => {
    const sdk = jest.requireActual<typeof import('@aws-sdk/client-s3')>('@aws-sdk/client-s3');
    let asked: object[];
    let answers: object[];
    let send: jest.SpyInstance;
    beforeEach(() => {
      asked = [];
      send = jest.spyOn(sdk.S3Client.prototype, 'send').mockImplementation((command) => {
        asked.push({ ...(command as { readonly input: object }).input });
        const isListing = !(command instanceof sdk.AbortMultipartUploadCommand);
        return Promise.resolve(isListing ? answers.shift() : {}) as never;
      });
    });
    afterEach(() => send.mockRestore());
    const BUCKET = { Bucket: 'parley', Prefix: 'files/' };
    const begun = (Key: string, UploadId: string, Initiated = new Date(0)) => ({ Key, UploadId, Initiated });

    it('aborts old unfinished uploads of this store only', async () => {
      answers = [
        {
          Uploads: [`files/${KEY}`, 'files/film.mp4', `others/${KEY}`].map((key) => begun(key, 'a')),
          IsTruncated: true,
          NextKeyMarker: `files/${KEY}`,
          NextUploadIdMarker: 'a',
        },
        { IsTruncated: true, NextKeyMarker: `files/${KEY}`, NextUploadIdMarker: 'b' },
        { Uploads: [begun(`files/${KEY}`, 'c', new Date(1000)), begun(`files/${KEY}`, 'd')], IsTruncated: false },
      ];
      await storeAt('files/').removeUnfinished(1000);
      const aborted = { Bucket: 'parley', Key: `files/${KEY}` };
      expect(asked).toEqual([
        BUCKET,
        { ...aborted, UploadId: 'a' },
        { ...BUCKET, KeyMarker: `files/${KEY}`, UploadIdMarker: 'a' },
        { ...BUCKET, KeyMarker: `files/${KEY}`, UploadIdMarker: 'b' },
        { ...aborted, UploadId: 'd' },
      ]);
    });

    it('stops when a service does not return the next position', async () => {
      answers = [{ Uploads: [], IsTruncated: true }];
      await storeAt('files/').removeUnfinished(1000);
      expect(asked).toEqual([BUCKET]);
    });

    it('lists blobs despite empty pages', async () => {
      answers = [
        { Contents: [{ Key: 'files/film.mp4' }], IsTruncated: true, NextContinuationToken: 'second' },
        { IsTruncated: true, NextContinuationToken: 'third' },
        {
          Contents: [{ Key: `files/${KEY}`, LastModified: new Date(5) }],
          IsTruncated: true,
          NextContinuationToken: 'fourth',
        },
      ];
      expect(await storeAt('files/').list('0'.repeat(32) as BlobKey, 1)).toEqual([{ key: KEY, storedAtMs: 5 }]);
      expect(asked).toMatchObject([
        { ...BUCKET, StartAfter: `files/${'0'.repeat(32)}` },
        { ContinuationToken: 'second' },
        { ContinuationToken: 'third' },
      ]);
    });
  });

  it.each(['../../etc/passwd', '', `${KEY}/x`])('rejects the key %j', async (key) => {
    const { store } = await open();
    await expect(store.sizeOf(key as BlobKey)).rejects.toThrow('Invalid blob key');
  });

  describe('with a failing bucket', () => {
    let status: number;
    let failing: Server;
    let problems: (string | null)[];
    let store: S3BlobStore;
    beforeEach(async () => {
      status = 200;
      problems = [];
      failing = createHttpServer((_, response) => void response.writeHead(status).end());
      await new Promise<void>((resolve) => failing.listen(0, '127.0.0.1', resolve));
      const endpoint = `http://127.0.0.1:${(failing.address() as AddressInfo).port}`;
      const location = { bucket: 'parley', prefix: '', endpoint, region: 'us-east-1', credentials: CREDENTIALS };
      store = new S3BlobStore(location, {}, (problem) => problems.push(problem));
    });
    afterEach(() => failing.close());

    it.each([
      [403, '403 '],
      [500, '500 '],
    ])('names the bucket and the status %d until a check succeeds', async (code, text) => {
      status = code;
      const problem = expect.stringContaining(`The bucket parley cannot be used: ${text}`);
      for (let n = 0; n < 2; n++) {
        await expect(store.sizeOf(KEY)).rejects.toMatchObject({
          code: 'STORAGE_UNAVAILABLE',
          message: 'The files are not available; try again in a moment.',
          cause: { message: problem },
        });
      }
      await expect(store.check()).rejects.toMatchObject({ message: problem });
      expect(problems).toEqual([problem]);
      expect(store.problem).toEqual(problem);
      status = 200;
      await store.sizeOf(KEY);
      expect(problems).toHaveLength(1);
      await store.check();
      expect([problems, store.problem]).toEqual([[problem, null], null]);
    });

    it('reports a bucket that does not exist', async () => {
      status = 404;
      await expect(store.check()).rejects.toThrow('The bucket parley cannot be used: 404 NotFound');
      expect(problems).toHaveLength(1);
    });

    it('does not count a missing blob as a failure', async () => {
      status = 404;
      expect(await store.sizeOf(KEY)).toBeNull();
      await expect(store.read(KEY, { start: 0, end: 1 }).next()).rejects.toThrow();
      expect(problems).toEqual([]);
    });

    it('names a bucket that cannot be reached or does not respond', async () => {
      const port = (failing.address() as AddressInfo).port;
      failing.removeAllListeners('request');
      const silent = new S3BlobStore(
        { bucket: 'silent', prefix: '', endpoint: `http://127.0.0.1:${port}`, region: 'x', credentials: CREDENTIALS },
        { checkMs: 100 },
      );
      await expect(silent.check()).rejects.toThrow('The bucket silent cannot be used: no response within 0.1 s');
      failing.closeAllConnections();
      await new Promise((resolve) => failing.close(resolve));
      const reason = expect.stringMatching(/^The bucket silent cannot be used: .*ECONNREFUSED/);
      await expect(silent.sizeOf(KEY)).rejects.toMatchObject({ cause: { message: reason } });
      expect(silent.problem).toEqual(reason);
    });

    it("rejects content with the bucket's error if a part cannot be stored", async () => {
      failing.removeAllListeners('request');
      failing.on('request', (request, response) => {
        request.resume();
        if (request.url?.includes('uploads')) response.end('<Result><UploadId>1</UploadId></Result>');
        else response.writeHead(500).end();
      });
      const endless = endlessContent();
      await expect(store.put(KEY, endless.content)).rejects.toMatchObject({
        code: 'STORAGE_UNAVAILABLE',
        cause: { message: expect.stringMatching(/^The bucket parley cannot be used: 500 /) },
      });
      expect(endless.isReleased).toBe(true);
    });

    it('does not count interrupted content as a failure', async () => {
      const broken = (async function* () {
        yield Buffer.alloc(12 * 1024 * 1024);
        throw new Error('gone');
      })();
      await expect(store.put(KEY, broken)).rejects.toThrow();
      expect(problems).toEqual([]);
    });
  });

  it.each([
    ['says nothing', ''],
    ['stalls in the middle of a response', 'HTTP/1.1 206 Partial Content\r\nContent-Length: 10\r\n\r\nhalf'],
  ])('aborts requests to a service that %s', async (_, said) => {
    const silent = createServer((socket) => void socket.on('error', () => undefined).write(said));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const connections = new Set<Socket>();
    silent.on('connection', (socket) => connections.add(socket));
    const store = new S3BlobStore(
      {
        bucket: 'silent',
        prefix: '',
        endpoint: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
        region: 'us-east-1',
        credentials: CREDENTIALS,
      },
      { connectMs: 1000, answerMs: 100 },
    );
    await expect(store.read(KEY, { start: 0, end: 10 }).next()).rejects.toThrow();
    for (const socket of connections) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });

  it('reads only the beginning of an endless error response', async () => {
    let sent = 0;
    const endless = createHttpServer((_, response) => {
      response.writeHead(500, { 'Content-Type': 'application/xml' });
      const timer = setInterval(() => {
        if (response.writableNeedDrain) return;
        response.write('<Error>'.padEnd(65_536, 'x'));
        sent += 65_536;
      });
      response.on('close', () => clearInterval(timer));
    });
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
    const store = new S3BlobStore({
      bucket: 'endless',
      prefix: '',
      endpoint: `http://127.0.0.1:${(endless.address() as AddressInfo).port}`,
      region: 'us-east-1',
      credentials: CREDENTIALS,
    });
    await expect(store.read(KEY, { start: 0, end: 10 }).next()).rejects.toThrow();
    expect(sent).toBeLessThan(10_000_000);
    endless.closeAllConnections();
    await new Promise((resolve) => endless.close(resolve));
  });

  describe('S3BlobStore with a misbehaving service', () => {
    const SHORT = 512 * 1024;
    let answers: ((response: ServerResponse, range: string) => void)[];
    let other: Server;
    let store: S3BlobStore;
    beforeEach(async () => {
      other = createHttpServer((request, response) => answers.shift()!(response, request.headers.range!));
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      store = new S3BlobStore({
        bucket: 'other',
        prefix: '',
        endpoint: `http://127.0.0.1:${(other.address() as AddressInfo).port}`,
        region: 'us-east-1',
        credentials: CREDENTIALS,
      });
    });
    afterEach(async () => {
      other.closeAllConnections();
      await new Promise((resolve) => other.close(resolve));
    });
    const whole = (response: ServerResponse) =>
      response.writeHead(206, { 'Content-Length': SHORT }).end(Buffer.alloc(SHORT));

    it('sends no further requests for a missing object', async () => {
      const empty = (response: ServerResponse) => response.writeHead(206, { 'Content-Length': 0 }).end();
      answers = [empty];
      await expect(store.read(KEY, { start: 0, end: 10 }).next()).rejects.toThrow(
        'returned fewer bytes of a blob than announced',
      );
    });

    it('ends the blob stream when its connection breaks', async () => {
      answers = [
        whole,
        (response, range) => {
          expect(range).toBe(`bytes=${SHORT}-${3 * SHORT - 1}`);
          response.writeHead(206, { 'Content-Length': 2 * SHORT }).write(Buffer.alloc(1000));
          setTimeout(() => response.destroy(), 50);
        },
      ];
      const content = store.read(KEY, { start: 0, end: 3 * SHORT });
      expect((await content.next()).value).toHaveLength(SHORT);
      const rest = async () => {
        for await (const _ of content);
      };
      await expect(rest()).rejects.toThrow();
      expect(answers).toEqual([]);
    });

    it('stops sending rejected content and releases its source', async () => {
      const endless = endlessContent();
      const refusal = (response: ServerResponse) => response.writeHead(403, { 'Content-Length': 0 }).end();
      answers = Array(100).fill(refusal);
      await expect(store.put(KEY, endless.content)).rejects.toThrow();
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(endless.isReleased).toBe(true);
    });
  });

  it('fails for a missing bucket instead of appearing empty', async () => {
    const store = new S3BlobStore({
      bucket: 'nothing',
      prefix: '',
      endpoint,
      region: 'us-east-1',
      credentials: CREDENTIALS,
    });
    await expect(store.list(null, 1)).rejects.toThrow();
  });
});

/** Finds the name of a camera. */
const metadata: MetadataFinder = {
  find: async ({ size, read }) => {
    const start = Buffer.from(await read(0, size)).indexOf('CamCo');
    return start < 0 ? [] : [{ start, end: start + 5, bytes: [], fill: 0 }];
  },
};

it('replaces a picture in a bucket by a copy without metadata', async () => {
  const blobs = storeAt('metadata/');
  const uow = { read: async () => ({ settings: { keepFileMetadata: false } }) } as unknown as UnitOfWork;
  const cleanFiles = new CleanFiles(uow, blobs, metadata, new SeededRandomness(1));
  const photo = Buffer.from('photo by CamCo 5');
  const before = 'a'.repeat(32) as BlobKey;
  const size = await blobs.put(before, inOneChunk(photo));
  const after = await cleanFiles.clean({ realmId: 2 as RealmId, blob: before, size }, false);
  expect([await blobs.sizeOf(before), await blobs.sizeOf(after)]).toEqual([null, size]);
  expect(Buffer.from(await readBlob(blobs, { blob: after, size })).includes('CamCo')).toBe(false);
  expect(await cleanFiles.clean({ realmId: 2 as RealmId, blob: after, size }, false)).toBe(after);
});
