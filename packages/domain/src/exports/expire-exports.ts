import type { BlobStore } from '../files/blob-store.js';
import type { Clock } from '../kernel/clock.js';
import type { Job } from '../kernel/job.js';
import type { JobHandler, JobWork } from '../kernel/job-handler.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { EXPIRE_EXPORT, type ExportPayload } from './export-jobs.js';
import { removeArchive } from './remove-archive.js';

/** Removes archives whose time is over (organization §8). */
export class ExpireExports implements JobHandler<ExportPayload> {
  static readonly inject = ['unitOfWork', 'blobStore', 'clock'] as const;

  readonly kind = EXPIRE_EXPORT;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly clock: Clock,
  ) {}

  async prepare({ realmId, payload }: Job<ExportPayload>): Promise<JobWork> {
    const found = await this.uow.read(({ exports }) => exports.find(realmId, payload.exportId));
    const { state } = found ?? {};
    // While the address leads there still: an attempt that fails is made again.
    if (state?.status === 'complete') await this.blobs.remove(state.blob);
    return async (tx) => {
      const now = await tx.exports.find(realmId, payload.exportId);
      if (now?.state.status === 'complete') await removeArchive(tx, now, this.clock.now());
    };
  }
}
