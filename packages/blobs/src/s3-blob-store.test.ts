import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BlobKey } from '@parley/domain/files';
import { blobStoreContract, partialBlobStoreContract } from '@parley/testkit/contracts';
import S3rver from 's3rver';
import { FolderPartialBlobStore } from './folder-partial-blob-store.js';
import { S3BlobStore } from './s3-blob-store.js';

/** A server of others that speaks S3, on a folder. */
const directory = mkdtempSync(join(tmpdir(), 'parley-s3-'));
const service = new S3rver({
  address: '127.0.0.1',
  port: 0,
  silent: true,
  directory,
  configureBuckets: [{ name: 'parley', configs: [] }],
});
let endpoint: string;
let opened = 0;

beforeAll(async () => {
  const { port } = (await service.run()) as AddressInfo;
  endpoint = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await service.close();
  rmSync(directory, { recursive: true });
});

const storeAt = (prefix: string) =>
  new S3BlobStore({
    bucket: 'parley',
    prefix,
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  });
const open = async () => ({ store: storeAt(`files-${opened++}/`), close: async () => {} });

describe('a bucket as', () => blobStoreContract(open));

describe('a folder beside a bucket as', () =>
  partialBlobStoreContract(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-partial-'));
    const blobs = storeAt(`files-${opened++}/`);
    return {
      blobs,
      partials: new FolderPartialBlobStore(folder, blobs),
      close: async () => rmSync(folder, { recursive: true }),
    };
  }));

describe('the bucket', () => {
  const KEY = 'ab'.padEnd(32, '0') as BlobKey;

  it('stores content larger than one part, and nothing of content that breaks off', async () => {
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

  it('may hold other objects, which are not taken for blobs', async () => {
    const [outer, inner] = [storeAt(''), storeAt(`files-${opened++}/`)];
    await inner.put(KEY, (async function* () {})());
    expect((await outer.list(null, 1000)).map(({ key }) => key)).not.toContain(KEY);
    expect((await inner.list(null, 1000)).map(({ key }) => key)).toEqual([KEY]);
  });

  describe('answers in pages, and', () => {
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

    it('gives up the unfinished uploads of each, but for those of others and for new ones', async () => {
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

    it('does not ask again where a service does not say what comes next', async () => {
      answers = [{ Uploads: [], IsTruncated: true }];
      await storeAt('files/').removeUnfinished(1000);
      expect(asked).toEqual([BUCKET]);
    });

    it('lists the blobs of each, though a page may have none', async () => {
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

  it.each(['../../etc/passwd', '', `${KEY}/x`])('refuses the key %j', async (key) => {
    const { store } = await open();
    await expect(store.sizeOf(key as BlobKey)).rejects.toThrow('No blob has such a key');
  });

  it('says which one cannot be reached', async () => {
    const store = new S3BlobStore({
      bucket: 'away',
      prefix: '',
      endpoint: 'http://127.0.0.1:9',
      region: 'us-east-1',
      credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    });
    await expect(store.sizeOf(KEY)).rejects.toThrow(/^The bucket away cannot be reached: .*ECONNREFUSED/);
  });

  it('fails where it does not exist, instead of seeming empty', async () => {
    const store = new S3BlobStore({
      bucket: 'nothing',
      prefix: '',
      endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    });
    await expect(store.list(null, 1)).rejects.toThrow();
  });
});
