import type { BlobStore } from '../../files/blob-store.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { ExportId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { canExport } from '../../realms/realm-permissions.js';
import { requireArchive } from '../realm-export.js';
import { removeArchive } from '../remove-archive.js';

/** Deletes the archive of an export, of which is known from then on that there was one (organization §8). */
export class DeleteExport {
  static readonly inject = ['unitOfWork', 'blobStore', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_EXPORT, EXPORT_DELETED, EXPORT_FAILED, EXPORT_IN_PROGRESS */
  async execute(caller: Caller, { id }: { readonly id: ExportId }): Promise<void> {
    const blob = await this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(canExport(actor));
      const found = await tx.exports.find(actor.realmId, id);
      if (!found) throw new DomainError('UNKNOWN_EXPORT', 'Invalid data export ID');
      const archive = requireArchive(found);
      await removeArchive(tx, found, this.clock.now());
      return archive;
    });
    // Nobody can reach it any more. Where this fails, the sweep finds it.
    await this.blobs.remove(blob).catch(() => undefined);
  }
}
