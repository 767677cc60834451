import type { Randomness } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { newBlobKey } from './blob-receiver.js';
import { type BlobKey, type BlobStore, readBlob, removeBlobs } from './blobs.js';
import { findMetadata, type Patch, patched } from './file-metadata.js';
import type { StoredFile } from './files.js';

type FileBytes = Pick<StoredFile, 'realmId' | 'blob' | 'size'>;

/** Removes place, camera and other metadata from pictures and videos, unless the organization keeps them. */
export class CleanFiles {
  static readonly inject = ['unitOfWork', 'blobStore', 'randomness'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly randomness: Randomness,
  ) {}

  /** Returns the patches that clean a file; empty if nothing is to be removed. */
  async find({ realmId, blob, size }: FileBytes): Promise<readonly Patch[]> {
    const read = (start: number, end: number) => readBlob(this.blobs, { blob, size: end - start }, start);
    const patches = await findMetadata({ size, read });
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
