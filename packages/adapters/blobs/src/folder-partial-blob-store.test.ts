import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BlobKey } from '@parley/domain/files';
import { MemoryBlobStore } from '@parley/testkit';
import { partialBlobStoreContract } from '@parley/testkit/contracts';
import { FolderBlobStore } from './folder-blob-store.js';
import { FolderPartialBlobStore } from './folder-partial-blob-store.js';

const open = async (kind: 'folder' | 'other' = 'folder') => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-partial-'));
  const blobs =
    kind === 'folder' ? new FolderBlobStore(join(folder, 'files')) : new MemoryBlobStore({ nowMs: Date.now });
  const partials = new FolderPartialBlobStore(join(folder, 'files', 'uploads'), blobs);
  return { folder, blobs, partials, close: async () => rmSync(folder, { recursive: true }) };
};

describe('FolderPartialBlobStore with a folder store implements', () => partialBlobStoreContract(open));
describe('FolderPartialBlobStore with another store implements', () => partialBlobStoreContract(() => open('other')));

it('FolderPartialBlobStore denies access to other users and survives the blob sweep', async () => {
  const { folder, partials, blobs, close } = await open();
  const key = 'ab'.padEnd(32, '0') as BlobKey;
  await partials.append(key, 0, (async function* () {})());
  expect(statSync(join(folder, 'files', 'uploads')).mode & 0o077).toBe(0);
  expect(statSync(join(folder, 'files', 'uploads', key)).mode & 0o077).toBe(0);
  await blobs.removeUnfinished(Date.now() + 60_000);
  expect(await partials.list(null, 9)).toHaveLength(1);
  for (const wrong of ['../../etc/passwd', '', `${key}/x`]) {
    await expect(partials.append(wrong as BlobKey, 0, (async function* () {})())).rejects.toThrow('Invalid blob key');
  }
  await close();
});

it.each(['folder', 'other'] as const)(
  'FolderPartialBlobStore with a blob store of kind %s rejects bytes as SERVER_BUSY on a full disk and keeps earlier ones',
  async (kind) => {
    const { partials, close } = await open(kind);
    const key = 'ab'.padEnd(32, '0') as BlobKey;
    const content = async function* () {
      yield Buffer.from('begin');
      throw Object.assign(new Error('write'), { code: 'ENOSPC' });
    };
    await expect(partials.append(key, 0, content())).rejects.toMatchObject({ code: 'SERVER_BUSY' });
    expect(await partials.sizeOf(key)).toBe(5);
    await close();
  },
);
