import type { Caller } from '../../kernel/caller.js';
import type { FileId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { BlobStore } from '../blob-store.js';
import { ownFile } from '../file.js';
import { removeFile } from '../file-events.js';

/** Deletes a file of one's own, whatever refers to it (users §16). */
export class DeleteFile {
  static readonly inject = ['unitOfWork', 'blobStore'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
  ) {}

  /** @throws DomainError UNKNOWN_FILE */
  async execute({ realmId, userId }: Caller, { id }: { readonly id: FileId }): Promise<void> {
    const blobs = await this.uow.write(async (tx) => {
      const file = ownFile(await tx.files.find(realmId, id), userId);
      return removeFile(tx, file);
    });
    // Nobody can reach it any more. Where this fails, the sweep finds it.
    for (const blob of blobs) await this.blobs.remove(blob).catch(() => undefined);
  }
}
