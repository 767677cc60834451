import { mustBeOwner } from '@parley/domain/access';
import {
  findRun,
  type ImportCommand,
  type ImportFile,
  type ImportRun,
  type ImportRunner,
  MAX_IMPORT_REPORT_LENGTH,
  MAX_PROBLEM_LENGTH,
  RENEW_LEASE_MS,
  RUN_IMPORT,
  type RunPayload,
  requireChecked,
  requireClaimBy,
  requireIdle,
  requireRequester,
  requireRun,
  requireRunner,
} from '@parley/domain/exports';
import {
  type BlobKey,
  BlobReceiver,
  type BlobStore,
  type FileContent,
  inOneChunk,
  NewFiles,
  removeBlobs,
  removeFile,
  requireOwnFile,
  type StoredFile,
} from '@parley/domain/files';
import {
  type Caller,
  type Clock,
  DomainError,
  encodeJob,
  enforce,
  type FileId,
  type Job,
  type JobHandler,
  type JobWork,
  type RealmId,
  type RenewLease,
  type Timers,
  type Transaction,
  type UnitOfWork,
  type WorkOwner,
} from '@parley/domain/kernel';

export interface CheckImportInput extends Pick<ImportRun, 'claimBy' | 'sharesPublic'> {
  /** Path of an uploaded file of the caller. */
  readonly pathId: string;
  /** Path of an uploaded CSV file; null for none. */
  readonly peoplePathId: string | null;
}

/** Names of the uploaded files and the identities of a requested run, for the audit log. */
export interface RequestedImport extends Pick<ImportRun, 'claimBy'> {
  /** Null if the file was deleted. */
  readonly file: string | null;
  readonly peopleFile: string | null;
}

/** Starts a dry run of an uploaded export in the background, in place of an earlier run (extensions §11). */
export class CheckImport {
  static readonly inject = ['unitOfWork', 'importRunner', 'blobStore', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly runner: ImportRunner | null,
    private readonly blobs: BlobStore,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError MUST_BE_OWNER, IMPORTS_UNSUPPORTED, INVALID_CLAIM_BY, IMPORT_RUNNING, UNKNOWN_FILE */
  async execute(
    caller: Caller,
    { pathId, peoplePathId, claimBy, sharesPublic }: CheckImportInput,
  ): Promise<RequestedImport> {
    const { realmId, userId } = caller;
    const { removed, requested } = await this.uow.write(realmId, async (tx) => {
      enforce(mustBeOwner(await tx.actors.get(caller)));
      requireRunner(this.runner);
      requireClaimBy(claimBy);
      const earlier = await findRun(tx, realmId);
      requireIdle(earlier);
      const exported = await ownFile(tx, caller, pathId);
      const people = peoplePathId === null ? null : await ownFile(tx, caller, peoplePathId);
      const exportFileId = exported.id;
      const peopleFileId = people?.id ?? null;
      const blobs = earlier ? await removeRun(tx, earlier, [exportFileId, peopleFileId]) : [];
      const startedAt = this.clock.now();
      const run = await tx.importRuns.add({
        ...{ realmId, requesterId: userId, exportFileId, peopleFileId, claimBy, sharesPublic, startedAt },
        ...{ status: 'checking', report: null, reportFileId: null, problem: null },
      });
      await scheduleRun(tx, run, this.clock);
      const requested = { file: exported.name, peopleFile: people?.name ?? null, claimBy };
      return { removed: blobs, requested };
    });
    await removeBlobs(this.blobs, removed);
    return requested;
  }
}

/** Starts the import of the export that passed the dry run, or repeats a failed one (extensions §11). */
export class StartImport {
  static readonly inject = ['unitOfWork', 'importRunner', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly runner: ImportRunner | null,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError MUST_BE_OWNER, IMPORTS_UNSUPPORTED, UNKNOWN_IMPORT, IMPORT_RUNNING, IMPORT_NOT_CHECKED */
  execute(caller: Caller): Promise<RequestedImport> {
    return this.uow.write(caller.realmId, async (tx) => {
      enforce(mustBeOwner(await tx.actors.get(caller)));
      requireRunner(this.runner);
      const run = requireRun(await findRun(tx, caller.realmId));
      requireChecked(run);
      await tx.importRuns.update({ ...run, status: 'importing', problem: null, startedAt: this.clock.now() });
      await scheduleRun(tx, run, this.clock);
      const { realmId, exportFileId, peopleFileId, claimBy } = run;
      const nameOf = async (id: FileId | null) => (id && (await tx.files.find(realmId, id))?.name) ?? null;
      return { file: await nameOf(exportFileId), peopleFile: await nameOf(peopleFileId), claimBy };
    });
  }
}

/** Ends a run, even in progress, and deletes its files. Imported messages stay until the undo (extensions §11). */
export class DiscardImport {
  static readonly inject = ['unitOfWork', 'blobStore'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
  ) {}

  /** @throws DomainError MUST_BE_OWNER, UNKNOWN_IMPORT */
  async execute(caller: Caller): Promise<void> {
    const { realmId } = caller;
    const removed = await this.uow.write(realmId, async (tx) => {
      enforce(mustBeOwner(await tx.actors.get(caller)));
      return removeRun(tx, requireRun(await findRun(tx, realmId)), []);
    });
    await removeBlobs(this.blobs, removed);
  }
}

/** Runs dry runs and imports that owners requested. */
export class RunRequestedImports implements JobHandler<RunPayload> {
  static readonly inject = ['unitOfWork', 'importRunner', 'blobStore', BlobReceiver, NewFiles, 'timers'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly runner: ImportRunner | null,
    private readonly blobs: BlobStore,
    private readonly receiver: BlobReceiver,
    private readonly newFiles: NewFiles,
    private readonly timers: Timers,
  ) {}

  readonly kind = RUN_IMPORT;

  async prepare({ realmId, payload, attempt }: Job<RunPayload>, renewLease: RenewLease): Promise<JobWork> {
    const loaded = await this.load(realmId, payload);
    if (!loaded) return async () => {};
    // Attempts that ended in a crash also count.
    if (attempt > this.kind.retries.maxAttempts) {
      throw new DomainError('IMPORT_INTERRUPTED', 'The import was interrupted too often.');
    }
    const { run, command } = loaded;
    let renewedAt = this.timers.elapsedMs();
    const running = this.runner!.run(command, async () => {
      // The command looks the organization up by its name.
      if (!(await this.isCurrent(run, command)))
        throw new Error('The import was discarded, or its organization renamed');
      if (this.timers.elapsedMs() - renewedAt < RENEW_LEASE_MS) return;
      renewedAt = this.timers.elapsedMs();
      if (!(await renewLease())) throw new Error('Another process runs the import');
    });
    const outcome = await running.catch(async (error) => {
      // The discard deleted the job and the files.
      if (await this.uow.read(realmId, ({ importRuns }) => importRuns.find(realmId, run.id))) throw error;
      return null;
    });
    if (outcome === null) return async () => {};
    if (outcome.problem !== null) return (tx) => fail(tx, run, outcome.problem);
    const page = outcome.page && (await this.keepPage({ realmId: run.realmId, userId: run.requesterId }, outcome.page));
    return async (tx) => {
      const current = await tx.importRuns.find(realmId, run.id);
      if (!current) return;
      await removeFiles(tx, realmId, [current.reportFileId]);
      const reportFileId = page && (await this.addPage(tx, run, page));
      const report = outcome.report.slice(0, MAX_IMPORT_REPORT_LENGTH);
      if (!command.isDryRun) await removeFiles(tx, realmId, [run.exportFileId, run.peopleFileId]);
      const status = command.isDryRun ? 'checked' : 'imported';
      await tx.importRuns.update({ ...current, status, report, reportFileId });
    };
  }

  async giveUp(tx: Transaction, { realmId, payload }: Job<RunPayload>, error: unknown): Promise<void> {
    const run = await tx.importRuns.find(realmId, payload.runId);
    const problem = error instanceof DomainError ? error.message : "The import failed; see the server's log.";
    if (run) await fail(tx, run, problem);
  }

  /** Returns null if the run was discarded. @throws DomainError MUST_BE_OWNER, UNKNOWN_FILE */
  private load(realmId: RealmId, { runId }: RunPayload) {
    return this.uow.read(realmId, async (reads) => {
      const run = await reads.importRuns.find(realmId, runId);
      if (!run) return null;
      const { requesterId: userId, exportFileId, peopleFileId, claimBy, sharesPublic, status } = run;
      await requireRequester(reads, realmId, userId);
      const { stringId } = await reads.realms.get(realmId);
      const fileOf = async (id: FileId) => this.open(requireOwnFile(await reads.files.find(realmId, id), userId));
      const exported = await fileOf(exportFileId);
      const people = peopleFileId === null ? null : await fileOf(peopleFileId);
      const isDryRun = status !== 'importing';
      const command = {
        ...{ realmId, requesterId: userId, stringId, isDryRun, exported, people, claimBy, sharesPublic },
      } satisfies ImportCommand;
      return { run, command };
    });
  }

  private open({ name, blob, size }: StoredFile): ImportFile {
    return { name, content: this.blobs.read(blob, { start: 0, end: size }) };
  }

  /** @throws DomainError MUST_BE_OWNER */
  private isCurrent(
    { realmId, id, requesterId }: ImportRun,
    { stringId }: Pick<ImportCommand, 'stringId'>,
  ): Promise<boolean> {
    return this.uow.read(realmId, async (reads) => {
      await requireRequester(reads, realmId, requesterId);
      const run = await reads.importRuns.find(realmId, id);
      return run !== null && (await reads.realms.get(realmId)).stringId === stringId;
    });
  }

  /** Stores the page; a sweep removes its bytes if the transaction fails. */
  private async keepPage(owner: WorkOwner, page: Uint8Array): Promise<FileContent> {
    const received = await this.receiver.receive(inOneChunk(page));
    return this.newFiles.describe(owner, received, 'import-report.html', 'text/html');
  }

  /** Returns null if the owner has no room for the file. */
  private async addPage(
    tx: Transaction,
    { realmId, requesterId }: ImportRun,
    page: FileContent,
  ): Promise<FileId | null> {
    try {
      const path = this.newFiles.newPath(realmId, page.name);
      return (await this.newFiles.add(tx, { realmId, id: requesterId }, path, page)).id;
    } catch (error) {
      if (error instanceof DomainError) return null;
      throw error;
    }
  }
}

/** @throws DomainError UNKNOWN_FILE */
async function ownFile(tx: Transaction, { realmId, userId }: Caller, pathId: string): Promise<StoredFile> {
  const [file = null] = await tx.files.listByPath(realmId, [pathId]);
  return requireOwnFile(file, userId);
}

async function scheduleRun(tx: Transaction, { id, realmId }: ImportRun, clock: Clock): Promise<void> {
  await tx.jobs.schedule(
    encodeJob(RUN_IMPORT, { realmId, dueAt: clock.now(), key: String(id), payload: { runId: id } }),
  );
}

async function fail(tx: Transaction, { realmId, id }: ImportRun, problem: string): Promise<void> {
  const run = await tx.importRuns.find(realmId, id);
  if (!run) return;
  await tx.importRuns.update({ ...run, status: 'failed', problem: problem.slice(0, MAX_PROBLEM_LENGTH) });
}

/** Removes a run with its files, except those to keep. Returns the blobs that are now unreferenced. */
async function removeRun(
  tx: Transaction,
  { id, realmId, exportFileId, peopleFileId, reportFileId }: ImportRun,
  kept: readonly (FileId | null)[],
): Promise<readonly BlobKey[]> {
  await tx.jobs.cancel(realmId, RUN_IMPORT.name, String(id));
  await tx.importRuns.remove(realmId, id);
  return removeFiles(
    tx,
    realmId,
    [exportFileId, peopleFileId, reportFileId].filter((fileId) => !kept.includes(fileId)),
  );
}

/** Removes files that no message refers to. Returns the blobs that are now unreferenced. */
async function removeFiles(
  tx: Transaction,
  realmId: RealmId,
  ids: readonly (FileId | null)[],
): Promise<readonly BlobKey[]> {
  const removed: BlobKey[] = [];
  const attached = await tx.files.listAttached(
    realmId,
    ids.filter((id) => id !== null),
  );
  for (const file of attached) if (file.messageIds.length === 0) removed.push(...(await removeFile(tx, file)));
  return removed;
}
