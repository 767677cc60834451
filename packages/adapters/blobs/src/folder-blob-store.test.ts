import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BlobKey } from '@parley/domain/files';
import { blobStoreContract } from '@parley/testkit/contracts';
import { FolderBlobStore } from './folder-blob-store.js';

let folder: string;
const open = async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-blobs-'));
  return {
    store: new FolderBlobStore(join(folder, 'files')),
    close: async () => rmSync(folder, { recursive: true }),
  };
};

describe('FolderBlobStore implements', () => blobStoreContract(open));

describe('FolderBlobStore', () => {
  const KEY = 'ab'.padEnd(32, '0') as BlobKey;
  async function* content() {
    yield Buffer.from('secret');
  }
  const files = () => join(folder, 'files');

  it('leaves no temporary file behind and denies access to other users', async () => {
    const { store, close } = await open();
    await store.put(KEY, content());
    expect(readdirSync(join(files(), 'unfinished'))).toEqual([]);
    expect(statSync(files()).mode & 0o077).toBe(0);
    expect(statSync(join(files(), 'ab', KEY)).mode & 0o077).toBe(0);
    await close();
  });

  it.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'])(
    'rejects content as SERVER_BUSY and reports it once on %s',
    async (code) => {
      folder = mkdtempSync(join(tmpdir(), 'parley-blobs-'));
      const reports: (string | null)[] = [];
      const store = new FolderBlobStore(files(), (problem) => reports.push(problem));
      const failing = async function* () {
        yield Buffer.from('begin');
        throw Object.assign(new Error(`${code}: write`), { code });
      };
      for (const _ of [1, 2]) {
        await expect(store.put(KEY, failing())).rejects.toMatchObject({
          code: 'SERVER_BUSY',
          details: { retryAfter: 1 },
          cause: { code },
        });
      }
      expect(readdirSync(join(files(), 'unfinished'))).toEqual([]);
      expect(await store.put(KEY, content())).toBe(6);
      expect(reports).toEqual([`The folder ${files()} cannot be written to: ${code}: write`, null]);
      rmSync(folder, { recursive: true });
    },
  );

  it('recreates the folder if it was removed', async () => {
    const { store, close } = await open();
    await store.put(KEY, content());
    rmSync(files(), { recursive: true });
    expect(await store.sizeOf(KEY)).toBeNull();
    await store.put(KEY, content());
    expect(await store.sizeOf(KEY)).toBe(6);
    await close();
  });

  it.each(['../../etc/passwd', '', 'AB'.padEnd(32, '0'), `${KEY}/x`])('rejects the key %j', async (key) => {
    const { store, close } = await open();
    await expect(store.put(key as BlobKey, content())).rejects.toThrow('Invalid blob key');
    await expect(store.sizeOf(key as BlobKey)).rejects.toThrow('Invalid blob key');
    await expect(store.remove(key as BlobKey)).rejects.toThrow('Invalid blob key');
    await close();
  });

  it('removes leftovers of aborted uploads but not uploads in progress', async () => {
    const { store, close } = await open();
    await store.put(KEY, content());
    const [old, young] = ['old', 'young'].map((name) => join(files(), 'unfinished', name)) as [string, string];
    writeFileSync(old, 'x');
    writeFileSync(young, 'x');
    utimesSync(old, 1000, 1000);
    await store.removeUnfinished(2_000_000);
    expect(readdirSync(join(files(), 'unfinished'))).toEqual(['young']);
    expect(await store.sizeOf(KEY)).toBe(6);
    await close();
  });
});
