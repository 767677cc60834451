import { FixedClock, MemoryBlobStore, SeededRandomness } from '@parley/testkit';
import type { RealmId } from '../kernel/ids.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { type BlobKey, inOneChunk } from './blobs.js';
import { CleanFiles, type Patch, patched } from './clean-files.js';

const PATCHES: readonly Patch[] = [
  { start: 1, end: 5, bytes: [...Buffer.from('ab')], fill: 0x2e },
  { start: 5, end: 7, bytes: [...Buffer.from('xyz')], fill: 0 },
  { start: 9, end: 12, bytes: [], fill: 0x2d },
];

async function* inPieces(text: string, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += length) yield Buffer.from(text.slice(at, at + length));
}

it.each([1, 2, 5, 20])('patches change content in pieces of %i bytes in their ranges only', async (length) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of patched(inPieces('0123456789ABCD', length), PATCHES)) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe('0ab..xy78---CD');
});

it('patches leave the original bytes unchanged', async () => {
  const original = Buffer.from('0123456789ABCD');
  for await (const _ of patched(inOneChunk(original), PATCHES));
  expect(original.toString()).toBe('0123456789ABCD');
});

describe('clean file', () => {
  const realmId = 2 as RealmId;
  const blob = 'a'.repeat(32) as BlobKey;

  async function clean(patches: readonly Patch[], { keepFileMetadata = false, keepsOriginal = false } = {}) {
    const blobs = new MemoryBlobStore(new FixedClock());
    const size = await blobs.put(blob, inPieces('0123456789ABCD', 5));
    const uow = { read: async () => ({ settings: { keepFileMetadata } }) } as unknown as UnitOfWork;
    const finder = { find: async () => patches };
    const key = await new CleanFiles(uow, blobs, finder, new SeededRandomness(1)).clean(
      { realmId, blob, size },
      keepsOriginal,
    );
    return { isCopy: key !== blob, keys: (await blobs.list(null, 10)).length, original: await blobs.sizeOf(blob) };
  }

  it('has a new key and replaces the original', async () => {
    expect(await clean(PATCHES)).toEqual({ isCopy: true, keys: 1, original: null });
  });

  it('is added to an original that is kept', async () => {
    expect(await clean(PATCHES, { keepsOriginal: true })).toEqual({ isCopy: true, keys: 2, original: 14 });
  });

  it('is the original if it has no metadata or the organization keeps them', async () => {
    const original = { isCopy: false, keys: 1, original: 14 };
    expect(await clean([])).toEqual(original);
    expect(await clean(PATCHES, { keepFileMetadata: true })).toEqual(original);
  });
});
