import { mustBeOwner } from '@parley/domain/access';
import { findRun, type ImportBatch, type ImportRun, type ImportRunner, RENEW_LEASE_MS } from '@parley/domain/exports';
import {
  type Caller,
  type Clock,
  encodeJob,
  enforce,
  type ImportBatchId,
  idPayload,
  type Job,
  type JobHandler,
  type JobWork,
  jobKind,
  type RenewLease,
  type Timers,
  type UnitOfWork,
} from '@parley/domain/kernel';
import { ImportUndo, loadLatest } from './undo-import.use-cases.js';

type UndoPayload = { readonly batchId: ImportBatchId };

export const UNDO_IMPORT = jobKind<UndoPayload>({
  name: 'imports.undo',
  readPayload: idPayload<UndoPayload>('batchId'),
  retries: { maxAttempts: 3, firstDelaySeconds: 60, maxDelaySeconds: 3600 },
  leaseSeconds: (4 * RENEW_LEASE_MS) / 1000,
  concurrency: 1,
});

export interface ListImportsOutput {
  /** Oldest first. */
  readonly batches: readonly ImportBatch[];
  /** Null if no owner uploaded an export. */
  readonly run: ListedRun | null;
  /** True if the server imports uploaded exports. */
  readonly acceptsUploads: boolean;
}

export interface ListedRun extends Pick<ImportRun, 'status' | 'startedAt' | 'report' | 'problem'> {
  /** Name of the export; null if the file no longer exists. */
  readonly name: string | null;
  /** Path of the HTML report; null for other owners, who cannot read the file. */
  readonly reportPathId: string | null;
}

/** Lists the imports of the organization, and the uploaded export (extensions §11). */
export class ListImports {
  static readonly inject = ['unitOfWork', 'importRunner'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly runner: ImportRunner | null,
  ) {}

  /** @throws DomainError MUST_BE_OWNER */
  execute(caller: Caller): Promise<ListImportsOutput> {
    const { realmId, userId } = caller;
    return this.uow.read(realmId, async ({ actors, importBatches, importRuns, files }) => {
      enforce(mustBeOwner(await actors.get(caller)));
      const batches = await importBatches.list(realmId);
      const acceptsUploads = this.runner !== null;
      const run = await findRun({ importRuns }, realmId);
      if (!run) return { batches, run, acceptsUploads };
      const { status, startedAt, report, problem, exportFileId, reportFileId, requesterId } = run;
      const file = await files.find(realmId, exportFileId);
      const page = reportFileId !== null && requesterId === userId ? await files.find(realmId, reportFileId) : null;
      const listed = {
        status,
        startedAt,
        report,
        problem,
        name: file?.name ?? null,
        reportPathId: page?.pathId ?? null,
      };
      return { batches, run: listed, acceptsUploads };
    });
  }
}

/** Starts to remove the messages of an import in the background (extensions §11). */
export class RequestUndoImport {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** Idempotent. @throws DomainError MUST_BE_OWNER, UNKNOWN_IMPORT, IMPORT_RUNNING, LATER_IMPORT */
  execute(caller: Caller, { batchId }: UndoPayload): Promise<void> {
    const { realmId } = caller;
    return this.uow.write(realmId, async (tx) => {
      enforce(mustBeOwner(await tx.actors.get(caller)));
      const batch = await loadLatest(tx, realmId, batchId);
      const key = String(batchId);
      if (batch.status === 'undone' || (await tx.jobs.isScheduled(realmId, UNDO_IMPORT.name, key))) return;
      await tx.importBatches.update({ ...batch, status: 'undoing' });
      await tx.jobs.schedule(encodeJob(UNDO_IMPORT, { realmId, dueAt: this.clock.now(), key, payload: { batchId } }));
    });
  }
}

/** Removes the messages of an import that an owner requested, and keeps those that people used since. */
export class UndoRequestedImports implements JobHandler<UndoPayload> {
  static readonly inject = [ImportUndo, 'timers'] as const;
  constructor(
    private readonly imports: ImportUndo,
    private readonly timers: Timers,
  ) {}

  readonly kind = UNDO_IMPORT;

  async prepare({ realmId, payload }: Job<UndoPayload>, renewLease: RenewLease): Promise<JobWork> {
    let renewedAt = this.timers.elapsedMs();
    const onProgress = async () => {
      if (this.timers.elapsedMs() - renewedAt < RENEW_LEASE_MS) return;
      renewedAt = this.timers.elapsedMs();
      if (!(await renewLease())) throw new Error('Another process undoes the import');
    };
    await this.imports.undo({ realmId, ...payload, isForced: false, isDryRun: false, onProgress });
    return async () => {};
  }
}
