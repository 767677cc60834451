import type { Randomness } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { newBlobKey } from './blob-receiver.js';
import { type BlobKey, type BlobStore, readBlob, removeBlobs } from './blobs.js';
import type { StoredFile } from './files.js';

/** Replacement for the bytes from `start` (inclusive) to `end` (exclusive): `bytes`, cut if necessary, and then `fill`. */
export interface Patch {
  readonly start: number;
  readonly end: number;
  readonly bytes: readonly number[];
  readonly fill: number;
}

export interface ScannedFile {
  readonly size: number;
  /** Returns the bytes of this range, which lies within the file. */
  readonly read: (start: number, end: number) => Promise<Uint8Array>;
}

/** Finds place, camera and other metadata in pictures and videos. */
export interface MetadataFinder {
  /**
   * Returns the patches that remove the metadata, sorted by start; empty if there are none. They keep length, pixels,
   * orientation and color profile. The content is untrusted, and reading it in bounded parts lets other requests run.
   */
  find(file: ScannedFile): Promise<readonly Patch[]>;
}

type FileBytes = Pick<StoredFile, 'realmId' | 'blob' | 'size'>;

/** Removes place, camera and other metadata from pictures and videos, unless the organization keeps them. */
export class CleanFiles {
  static readonly inject = ['unitOfWork', 'blobStore', 'metadataFinder', 'randomness'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly metadata: MetadataFinder,
    private readonly randomness: Randomness,
  ) {}

  /** Returns the patches that clean a file; empty if nothing is to be removed. */
  async find({ realmId, blob, size }: FileBytes): Promise<readonly Patch[]> {
    const read = (start: number, end: number) => readBlob(this.blobs, { blob, size: end - start }, start);
    const patches = await this.metadata.find({ size, read });
    if (patches.length === 0) return patches;
    const { settings } = await this.uow.read(realmId, ({ realms }) => realms.get(realmId));
    return settings.keepFileMetadata ? [] : patches;
  }

  /** Stores a clean copy. Returns its key. */
  async copy({ blob, size }: FileBytes, patches: readonly Patch[]): Promise<BlobKey> {
    const key = newBlobKey(this.randomness);
    await this.blobs.put(key, patched(this.blobs.read(blob, { start: 0, end: size }), patches));
    return key;
  }

  /** Cleans bytes that no row names yet. Returns the key of the result, which replaces the original or is added to it. */
  async clean(file: FileBytes, keepsOriginal: boolean): Promise<BlobKey> {
    const patches = await this.find(file);
    if (patches.length === 0) return file.blob;
    const key = await this.copy(file, patches);
    if (!keepsOriginal) await removeBlobs(this.blobs, [file.blob]);
    return key;
  }
}

/** Applies patches, which are sorted by start, to content. */
export async function* patched(
  content: AsyncIterable<Uint8Array>,
  patches: readonly Patch[],
): AsyncGenerator<Uint8Array> {
  let at = 0;
  let first = 0;
  for await (const chunk of content) {
    const bytes = Uint8Array.from(chunk);
    const end = at + bytes.length;
    while (first < patches.length && patches[first]!.end <= at) first++;
    for (let index = first; index < patches.length && patches[index]!.start < end; index++) {
      applyPatch(patches[index]!, bytes, at);
    }
    yield bytes;
    at = end;
  }
}

/** Changes bytes that start at `offset` of the file. */
export function applyPatch(patch: Patch, bytes: Uint8Array, offset: number): void {
  const start = Math.max(patch.start, offset);
  const end = Math.min(patch.end, offset + bytes.length);
  if (start >= end) return;
  bytes.fill(patch.fill, start - offset, end - offset);
  for (let at = start; at < end && at - patch.start < patch.bytes.length; at++) {
    bytes[at - offset] = patch.bytes[at - patch.start]!;
  }
}
