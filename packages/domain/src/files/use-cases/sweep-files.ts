import type { Clock } from '../../shared/clock.js';
import type { UnixSeconds } from '../../shared/ids.js';
import type { Repositories, UnitOfWork } from '../../shared/unit-of-work.js';
import type { BlobKey, BlobStore } from '../blob-store.js';
import type { StoredFile } from '../file.js';
import { removeFile } from '../file-events.js';

/** Something beside messages that needs files or blobs. */
export interface FileUser {
  /** Whether the file is still needed. */
  readonly needsFile?: (reads: Repositories, file: StoredFile) => Promise<boolean>;
  /** Which of the blobs belong to it. */
  readonly filterBlobs?: (reads: Repositories, keys: readonly BlobKey[]) => Promise<ReadonlySet<BlobKey>>;
}

export interface SweepFilesInput {
  /** How long deleted messages can be put back, with what they refer to. */
  readonly keepDetachedSeconds: number;
  /** Only counts. */
  readonly isDryRun?: boolean;
}

export interface SweepFilesOutput {
  /** Files to which nothing refers. */
  readonly files: number;
  /** Blobs that belong to nothing. */
  readonly blobs: number;
}

/** From the upload on, for a message to refer to it. */
const KEEP_UNATTACHED_SECONDS = 7 * 86_400;
/** Between the bytes and the row that names them. */
const KEEP_UNNAMED_MS = 3_600_000;
const FILES_AT_A_TIME = 50;
const BLOBS_AT_A_TIME = 500;

/** Removes files that nobody needs any more, and bytes that belong to nothing. For a worker, once a day. */
export class SweepFiles {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
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
    return { files, blobs: await this.sweepBlobs(isDryRun) };
  }

  /** Up to what is swept at once: there is no more to be learnt from a longer look. */
  private count(wasAttached: boolean, before: UnixSeconds): Promise<number> {
    return this.uow.read(async (reads) => {
      let count = 0;
      for (const file of await reads.files.listUnreferenced(wasAttached, before, BLOBS_AT_A_TIME)) {
        if (!(await this.isNeeded(reads, file))) count++;
      }
      return count;
    });
  }

  private async sweepFiles(wasAttached: boolean, before: UnixSeconds, now: UnixSeconds): Promise<number> {
    let count = 0;
    for (;;) {
      const { found, swept, removed } = await this.uow.write(async (tx) => {
        const candidates = await tx.files.listUnreferenced(wasAttached, before, FILES_AT_A_TIME);
        const blobs: BlobKey[] = [];
        let files = 0;
        for (const file of candidates) {
          if (await this.isNeeded(tx, file)) await tx.files.postpone(file.realmId, file.id, now);
          else {
            blobs.push(...(await removeFile(tx, file)));
            files++;
          }
          await tx.yield();
        }
        return { found: candidates.length, swept: files, removed: blobs };
      });
      // What fails here belongs to nothing, and is found as such.
      for (const key of removed) await this.blobs.remove(key).catch(() => undefined);
      count += swept;
      if (found < FILES_AT_A_TIME) return count;
    }
  }

  private async isNeeded(reads: Repositories, file: StoredFile): Promise<boolean> {
    const [attached] = await reads.files.listAttached(file.realmId, [file.id]);
    // Messages that were put back.
    if (attached && attached.messageIds.length > 0) return true;
    for (const { needsFile } of this.fileUsers) if (needsFile && (await needsFile(reads, file))) return true;
    return false;
  }

  private async sweepBlobs(isDryRun: boolean): Promise<number> {
    const before = this.clock.nowMs() - KEEP_UNNAMED_MS;
    if (!isDryRun) await this.blobs.removeUnfinished(before);
    let count = 0;
    let last: BlobKey | null = null;
    for (;;) {
      const page: Awaited<ReturnType<BlobStore['list']>> = await this.blobs.list(last, BLOBS_AT_A_TIME);
      const old = page.filter(({ storedAtMs }) => storedAtMs < before).map(({ key }) => key);
      const needed = new Set<BlobKey>();
      if (old.length > 0) {
        await this.uow.read(async (reads) => {
          for (const key of await reads.files.filterBlobs(old)) needed.add(key);
          for (const { filterBlobs } of this.fileUsers) {
            for (const key of (await filterBlobs?.(reads, old)) ?? []) needed.add(key);
          }
        });
      }
      for (const key of old) {
        if (needed.has(key)) continue;
        count++;
        if (!isDryRun) await this.blobs.remove(key);
      }
      last = page.at(-1)?.key ?? null;
      if (page.length < BLOBS_AT_A_TIME) return count;
    }
  }
}
