import type { Caller, FileId, RealmId, UnixSeconds } from '../kernel/ids.js';
import type { Clock } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { ENTITIES_PER_PAGE, ROWS_PER_PAGE } from '../kernel/work.js';
import { type BlobKey, type BlobStore, removeBlobs, type StoredBlob } from './blobs.js';
import { CleanFiles } from './clean-files.js';
import { TERMS_AT_A_TIME } from './file-texts.js';
import { type AttachedFile, hideFile, removeFile, requireOwnFile, type StoredFile } from './files.js';
import { NewFiles, type UploadFileInput } from './new-files.js';
import type { PartialBlobStore } from './resumable-uploads.js';

/** Creates a file from received bytes (messages §16.1). Only its owner may read it until a message refers to it. */
export class UploadFile {
  static readonly inject = ['unitOfWork', NewFiles] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly newFiles: NewFiles,
  ) {}

  /** @throws DomainError FILE_TOO_LARGE, UPLOAD_QUOTA_EXCEEDED, OWN_UPLOAD_QUOTA_EXCEEDED, TOO_MANY_FILES, SERVER_BUSY */
  execute(caller: Caller, upload: UploadFileInput): Promise<StoredFile> {
    return this.newFiles.store(this.uow, caller, upload);
  }
}

export interface ListFilesOutput {
  /** Oldest first. */
  readonly files: readonly AttachedFile[];
  /** Total size of the realm's files. */
  readonly usedBytes: number;
}

/** Lists the caller's files (users §16). */
export class ListFiles {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ realmId, userId }: Caller): Promise<ListFilesOutput> {
    return this.uow.read(realmId, async (reads) => {
      const files: AttachedFile[] = [];
      for (;;) {
        const page = await reads.files.list(realmId, userId, files.at(-1)?.id ?? 0, ENTITIES_PER_PAGE);
        files.push(...page);
        if (page.length < ENTITIES_PER_PAGE) return { files, usedBytes: await reads.files.usedBytes(realmId) };
      }
    });
  }
}

/** Deletes one of the caller's files regardless of references (users §16). */
export class DeleteFile {
  static readonly inject = ['unitOfWork', 'blobStore', 'clock', 'fileUsers'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly clock: Clock,
    private readonly fileUsers: readonly FileUser[],
  ) {}

  /** @throws DomainError UNKNOWN_FILE */
  async execute({ realmId, userId }: Caller, { id }: { readonly id: FileId }): Promise<void> {
    const blobs = await this.uow.write(realmId, async (tx) => {
      const file = requireOwnFile(await tx.files.find(realmId, id), userId);
      if (await outlivesDeletion(tx, this.fileUsers, file)) return hideFile(tx, file, this.clock.now());
      return removeFile(tx, file);
    });
    // The file is no longer reachable. If removal fails, the sweep removes the bytes.
    for (const blob of blobs) await this.blobs.remove(blob).catch(() => undefined);
  }
}

/** Feature, other than messages, that uses files or blobs. */
export interface FileUser {
  /** Returns true if the file is needed until its owner deletes it. */
  readonly needsFile?: (reads: Repositories, file: StoredFile) => Promise<boolean>;
  /** Returns true if the file must be kept even after its owner deletes it. */
  readonly outlivesDeletion?: (reads: Repositories, file: StoredFile) => Promise<boolean>;
  /** Returns the given blobs that belong to the feature. */
  readonly filterBlobs?: (reads: Repositories, keys: readonly BlobKey[]) => Promise<ReadonlySet<BlobKey>>;
}

export interface SweepFilesInput {
  /** Period in which deleted messages can be restored with their files. */
  readonly keepDetachedSeconds: number;
  /** True to count without removing. */
  readonly isDryRun?: boolean;
}

export interface SweepFilesOutput {
  /** Number of unreferenced files. */
  readonly files: number;
  /** Number of expired uploads. */
  readonly uploads: number;
  /** Number of orphaned blobs, including incomplete ones. */
  readonly blobs: number;
}

/** Time limit after the upload for a message to refer to the file. */
const KEEP_UNATTACHED_SECONDS = 7 * 86_400;
/** Maximum time between writing the bytes and the row that names them. */
const KEEP_UNNAMED_MS = 3_600_000;
const FILES_AT_A_TIME = 50;

async function isNeeded(reads: Repositories, fileUsers: readonly FileUser[], file: StoredFile): Promise<boolean> {
  const [attached] = await reads.files.listAttached(file.realmId, [file.id]);
  // Its messages may have been restored.
  if (attached && attached.messageIds.length > 0) return true;
  for (const { needsFile } of fileUsers) if (await needsFile?.(reads, file)) return true;
  return outlivesDeletion(reads, fileUsers, file);
}

async function outlivesDeletion(
  reads: Repositories,
  fileUsers: readonly FileUser[],
  file: StoredFile,
): Promise<boolean> {
  for (const { outlivesDeletion } of fileUsers) if (await outlivesDeletion?.(reads, file)) return true;
  return false;
}

interface RemovedFiles {
  /** First file that was not processed; null if all were. */
  readonly next: StoredFile | null;
  readonly removed: number;
  readonly kept: readonly StoredFile[];
  /** Unreferenced blobs. */
  readonly blobs: readonly BlobKey[];
}

/** Removes unneeded files, and at most `TERMS_AT_A_TIME` search terms of them. */
async function removeUnneeded(
  tx: Transaction,
  fileUsers: readonly FileUser[],
  files: readonly StoredFile[],
): Promise<RemovedFiles> {
  const blobs: BlobKey[] = [];
  const kept: StoredFile[] = [];
  let removed = 0;
  let room = TERMS_AT_A_TIME;
  for (const file of files) {
    if (await isNeeded(tx, fileUsers, file)) kept.push(file);
    else {
      room -= await tx.fileTexts.remove(file.realmId, file.id, room);
      if (room === 0) return { next: file, removed, kept, blobs };
      blobs.push(...(await removeFile(tx, file)));
      removed++;
    }
  }
  return { next: null, removed, kept, blobs };
}

/** Files that nothing needs any longer, removed with their bytes without waiting for the sweep. */
export class UnneededFiles {
  static readonly inject = ['blobStore', 'fileUsers'] as const;
  constructor(
    private readonly blobs: BlobStore,
    private readonly fileUsers: readonly FileUser[],
  ) {}

  /** Keeps files that a message or feature needs. Takes several units of work. */
  async remove(uow: UnitOfWork, realmId: RealmId, ids: readonly FileId[]): Promise<void> {
    for (let rest = ids; rest.length > 0; ) {
      const page = rest.slice(0, FILES_AT_A_TIME);
      const { next, blobs } = await uow.write(realmId, async (tx) =>
        removeUnneeded(tx, this.fileUsers, await tx.files.listAttached(realmId, page)),
      );
      await removeBlobs(this.blobs, blobs);
      rest = rest.slice(next ? rest.indexOf(next.id) : page.length);
    }
  }
}

export interface StripFilesOutput {
  readonly files: number;
  /** Number of files with metadata, which were cleaned unless it is a dry run. */
  readonly cleaned: number;
  /** Number of files that a legal hold keeps as they are. */
  readonly held: number;
  /** Number of files with missing bytes. */
  readonly missing: number;
}

/** Removes metadata from files that were stored before. Can be repeated after an interruption. */
export class StripFiles {
  static readonly inject = ['unitOfWork', 'blobStore', 'fileUsers', CleanFiles] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly fileUsers: readonly FileUser[],
    private readonly cleanFiles: CleanFiles,
  ) {}

  async execute({ isDryRun }: { readonly isDryRun: boolean }): Promise<StripFilesOutput> {
    const counts = { files: 0, cleaned: 0, held: 0, missing: 0 };
    for (let last = 0; ; ) {
      const page = await this.uow.readAcross((reads) => reads.files.listAcross(last, FILES_AT_A_TIME));
      for (const file of page) {
        const outcome = await this.strip(file, isDryRun);
        if (outcome) counts[outcome]++;
      }
      counts.files += page.length;
      last = page.at(-1)?.id ?? last;
      if (page.length < FILES_AT_A_TIME) return counts;
    }
  }

  private async strip(file: StoredFile, isDryRun: boolean): Promise<'cleaned' | 'held' | 'missing' | null> {
    const { realmId, id } = file;
    if ((await this.blobs.sizeOf(file.blob)) !== file.size) return 'missing';
    const patches = await this.cleanFiles.find(file);
    if (patches.length === 0) return null;
    if (await this.uow.read(realmId, (reads) => outlivesDeletion(reads, this.fileUsers, file))) return 'held';
    if (isDryRun) return 'cleaned';
    const blob = await this.cleanFiles.copy(file, patches);
    const isHeld = await this.uow.write(realmId, async (tx) => {
      const isHeld = await outlivesDeletion(tx, this.fileUsers, file);
      if (!isHeld) await tx.files.setBlob(realmId, id, blob);
      return isHeld;
    });
    await removeBlobs(this.blobs, [isHeld ? blob : file.blob]);
    return isHeld ? 'held' : 'cleaned';
  }
}

/** Removes unneeded files and orphaned bytes. Run daily by a worker. */
export class SweepFiles {
  static readonly inject = ['unitOfWork', 'blobStore', 'partialBlobStore', 'clock', 'fileUsers'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly partials: PartialBlobStore,
    private readonly clock: Clock,
    private readonly fileUsers: readonly FileUser[],
  ) {}

  async execute({ keepDetachedSeconds, isDryRun = false }: SweepFilesInput): Promise<SweepFilesOutput> {
    const now = this.clock.now();
    const keepAttached = Math.max(keepDetachedSeconds, KEEP_UNATTACHED_SECONDS);
    let files = 0;
    for (const [wasAttached, keep] of [
      [false, KEEP_UNATTACHED_SECONDS],
      [true, keepAttached],
    ] as const) {
      files += isDryRun
        ? await this.count(wasAttached, now - keep)
        : await this.sweepFiles(wasAttached, now - keep, now);
    }
    const uploads = await this.sweepUploads(now, isDryRun);
    return { files, uploads, blobs: await this.sweepBlobs(isDryRun) };
  }

  /** Leaves the bytes to the sweep of orphaned blobs. */
  private async sweepUploads(now: UnixSeconds, isDryRun: boolean): Promise<number> {
    if (isDryRun) {
      return (await this.uow.readAcross((reads) => reads.unfinishedUploads.listExpired(now, ROWS_PER_PAGE))).length;
    }
    for (let count = 0; ; ) {
      const expired = await this.uow.writeAcross(async (tx) => {
        const uploads = await tx.unfinishedUploads.listExpired(now, FILES_AT_A_TIME);
        for (const { realmId, pathId } of uploads) await tx.unfinishedUploads.remove(realmId, pathId);
        return uploads;
      });
      count += expired.length;
      if (expired.length < FILES_AT_A_TIME) return count;
    }
  }

  /** Counts up to the batch limit of a sweep, which is sufficient. */
  private count(wasAttached: boolean, before: UnixSeconds): Promise<number> {
    return this.uow.readAcross(async (reads) => {
      let count = 0;
      for (const file of await reads.files.listUnreferenced(wasAttached, before, ROWS_PER_PAGE)) {
        if (!(await isNeeded(reads, this.fileUsers, file))) count++;
      }
      return count;
    });
  }

  private async sweepFiles(wasAttached: boolean, before: UnixSeconds, now: UnixSeconds): Promise<number> {
    let count = 0;
    for (;;) {
      const { isLast, swept, removed } = await this.uow.writeAcross(async (tx) => {
        const candidates = await tx.files.listUnreferenced(wasAttached, before, FILES_AT_A_TIME);
        const { next, removed, kept, blobs } = await removeUnneeded(tx, this.fileUsers, candidates);
        for (const file of kept) await tx.files.postpone(file.realmId, file.id, now);
        return { isLast: next === null && candidates.length < FILES_AT_A_TIME, swept: removed, removed: blobs };
      });
      await removeBlobs(this.blobs, removed);
      count += swept;
      if (isLast) return count;
    }
  }

  private async sweepBlobs(isDryRun: boolean): Promise<number> {
    const before = this.clock.nowMs() - KEEP_UNNAMED_MS;
    if (!isDryRun) await this.blobs.removeUnfinished(before);
    let count = 0;
    for (const store of [this.blobs, this.partials]) {
      let last: BlobKey | null = null;
      for (;;) {
        const page: readonly StoredBlob[] = await store.list(last, ROWS_PER_PAGE);
        const old = page.filter(({ storedAtMs }) => storedAtMs < before).map(({ key }) => key);
        const needed = old.length === 0 ? new Set<BlobKey>() : await this.neededOf(old);
        for (const key of old) {
          if (needed.has(key)) continue;
          count++;
          if (!isDryRun) await store.remove(key);
        }
        last = page.at(-1)?.key ?? null;
        if (page.length < ROWS_PER_PAGE) break;
      }
    }
    return count;
  }

  private neededOf(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>> {
    return this.uow.readAcross(async (reads) => {
      const needed = new Set(await reads.files.filterBlobs(keys));
      for (const key of await reads.unfinishedUploads.filterBlobs(keys)) needed.add(key);
      for (const { filterBlobs } of this.fileUsers) {
        for (const key of (await filterBlobs?.(reads, keys)) ?? []) needed.add(key);
      }
      return needed;
    });
  }
}
