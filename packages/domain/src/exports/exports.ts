import type { BlobKey, BlobStore } from '../files/blobs.js';
import type { FileUser } from '../files/files.use-cases.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import { type FeatureParts, users } from '../kernel/event.js';
import type { ExportId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { idPayload, type Job, type JobHandler, type JobWork, jobKind } from '../kernel/jobs.js';
import type { Clock } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { RealmSource } from './realm-copy.js';

/** What of private things is in it: nothing, what belongs to those who agree, or everything. */
export type ExportType = 'public' | 'withConsent' | 'withoutConsent';

/** What became of an export, and when. The bytes of a complete one are there until it is deleted. */
export type ExportState =
  | { readonly status: 'pending' }
  | { readonly status: 'complete'; readonly blob: BlobKey; readonly size: number }
  | { readonly status: 'failed' | 'deleted'; readonly at: UnixSeconds };

/** An archive of the organization that an administrator asked for (organization §8). */
export interface RealmExport {
  readonly id: ExportId;
  readonly realmId: RealmId;
  readonly actingUserId: UserId;
  readonly type: ExportType;
  readonly requestedAt: UnixSeconds;
  /** What its address ends in, by which alone whoever has it may fetch the archive: `2/a3/{random}/lear.tar.gz`. */
  readonly pathId: string;
  readonly state: ExportState;
}

/** Bounds of what the server exports by itself. */
export interface ExportLimits {
  /** Whom to ask for more. */
  readonly operator: string;
  readonly maxMessages: number;
  /** Of files and pictures. */
  readonly maxBytes: number;
}

export const MAX_EXPORTED_MESSAGES = 250_000;
export const MAX_EXPORTED_BYTES = 10 * 1024 ** 3;

/** In `EXPORTS_WINDOW_SECONDS`, whatever became of them. */
export const MAX_RECENT_EXPORTS = 5;
export const EXPORTS_WINDOW_SECONDS = 7 * 86_400;
/** Older ones are forgotten: their archives are gone by then. */
export const MAX_LISTED_EXPORTS = 100;
/** How long an archive is there. */
export const KEEP_ARCHIVE_SECONDS = 30 * 86_400;

/** @throws DomainError TOO_MANY_EXPORTS */
export function requireRoomForExport(exports: readonly Pick<RealmExport, 'requestedAt'>[], now: UnixSeconds): void {
  const recent = exports.filter(({ requestedAt }) => requestedAt > now - EXPORTS_WINDOW_SECONDS);
  if (recent.length >= MAX_RECENT_EXPORTS) throw new DomainError('TOO_MANY_EXPORTS', 'Exceeded rate limit.');
}

/** @throws DomainError EXPORT_TOO_LARGE */
export function requireExportable(
  { operator, maxMessages, maxBytes }: ExportLimits,
  { messages, bytes }: { readonly messages: number; readonly bytes: number },
): void {
  if (messages <= maxMessages && bytes <= maxBytes) return;
  throw new DomainError('EXPORT_TOO_LARGE', `Please request a manual export from ${operator}.`);
}

/** Whether there is an archive to delete. @throws DomainError EXPORT_DELETED, EXPORT_FAILED, EXPORT_IN_PROGRESS */
export function requireArchive({ state }: RealmExport): BlobKey {
  switch (state.status) {
    case 'complete':
      return state.blob;
    case 'deleted':
      throw new DomainError('EXPORT_DELETED', 'Export already deleted');
    case 'failed':
      throw new DomainError('EXPORT_FAILED', 'Export failed, nothing to delete');
    case 'pending':
      throw new DomainError('EXPORT_IN_PROGRESS', 'Export still in progress');
  }
}

/** Where the archive is, counted from the organization's own address; null: there is none. */
export const exportPath = ({ pathId, state }: Pick<RealmExport, 'pathId' | 'state'>): string | null =>
  state.status === 'complete' ? `/user_avatars/exports/${pathId}` : null;

export interface ExportReads {
  find(realmId: RealmId, id: ExportId): Promise<RealmExport | null>;
  findByPath(realmId: RealmId, pathId: string): Promise<RealmExport | null>;
  /** Ascending id. */
  list(realmId: RealmId): Promise<readonly RealmExport[]>;
  /** Which of these blobs are archives, of whatever realm. */
  filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>>;
}

/** Every implementation passes export-repository.contract.ts. */
export interface ExportRepository extends ExportReads {
  add(given: Omit<RealmExport, 'id'>): Promise<RealmExport>;
  setState(realmId: RealmId, id: ExportId, state: ExportState): Promise<void>;
  /** Without effect where there is none. */
  remove(realmId: RealmId, id: ExportId): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    exports: [reads: ExportReads, repository: ExportRepository];
  }
}

export const EXPORT_ERRORS = declareErrors({
  /** What is to be imported contradicts itself, or holds what no organization can have. */
  INVALID_IMPORT: 'invalid',
  TOO_MANY_EXPORTS: 'conflict',
  /** The operator has to make it, from the command line. */
  EXPORT_TOO_LARGE: 'conflict',
  UNKNOWN_EXPORT: 'unknown',
  /** Its bytes, not those of one under way, or that failed. */
  EXPORT_DELETED: 'conflict',
  EXPORT_FAILED: 'conflict',
  EXPORT_IN_PROGRESS: 'conflict',
});

type ExportErrors = typeof EXPORT_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends ExportErrors {}
}

/** An export as clients are shown it. */
export interface ExportView {
  readonly id: ExportId;
  readonly actingUserId: UserId;
  readonly type: ExportType;
  readonly requestedAt: UnixSeconds;
  /** Counted from the organization's own address; null: there is no archive. */
  readonly path: string | null;
  readonly isPending: boolean;
  readonly deletedAt: UnixSeconds | null;
  readonly failedAt: UnixSeconds | null;
}

export function viewOfExport(given: RealmExport): ExportView {
  const { id, actingUserId, type, requestedAt, state } = given;
  return {
    id,
    actingUserId,
    type,
    requestedAt,
    path: exportPath(given),
    isPending: state.status === 'pending',
    deletedAt: state.status === 'deleted' ? state.at : null,
    failedAt: state.status === 'failed' ? state.at : null,
  };
}

export interface ExportEventTypes {
  /** To whoever asked for the one that changed: all of the organization, at most `MAX_LISTED_EXPORTS` (organization §8). */
  'exports.changed': { readonly exports: readonly ExportView[] };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends ExportEventTypes {}
}

export const EXPORT_FEATURE = {
  eventFormats: { 'exports.changed': 1 },
  // Archives are blobs that belong to no file.
  fileUser: { filterBlobs: ({ exports }, keys) => exports.filterBlobs(keys) },
  notExported: {
    exports: 'Archives stay on the server that made them.',
  },
} satisfies FeatureParts<ExportEventTypes> & { readonly fileUser: FileUser };

/** Organization §8. */
export async function publishExports(tx: Transaction, realmId: RealmId, receiverId: UserId): Promise<void> {
  const exports = (await tx.exports.list(realmId)).map(viewOfExport);
  await tx.events.append(realmId, { event: { type: 'exports.changed', exports }, audience: users([receiverId]) });
}

export type ExportPayload = { readonly exportId: ExportId };

const readPayload = idPayload<ExportPayload>('exportId');

/** After a crash another attempt begins this much later: the lease is renewed all the time. */
const LEASE_SECONDS = 120;

export const WRITE_EXPORT = jobKind<ExportPayload>({
  name: 'exports.write',
  readPayload,
  retries: { maxAttempts: 3, firstDelaySeconds: 60, maxDelaySeconds: 3600 },
  leaseSeconds: LEASE_SECONDS,
  concurrency: 1,
});

export const RENEW_LEASE_MS = (LEASE_SECONDS * 1000) / 4;

/** The archive of an export has been there long enough. */
export const EXPIRE_EXPORT = jobKind<ExportPayload>({ name: 'exports.expire', readPayload, concurrency: 1 });

/** Makes one file of what an export holds. What it needs beside it on the disk is named by the export. */
export interface ArchiveWriter {
  /**
   * The bytes, in pieces that are made as they are asked for. `rest` is awaited after every few messages. Whoever stops asking
   * leaves nothing behind.
   */
  write(id: ExportId, source: RealmSource, rest: () => Promise<void>): AsyncIterable<Uint8Array>;
  /** Removes what an attempt that broke off has left, with the whole process perhaps. */
  clean(id: ExportId): Promise<void>;
}

/** The archive of an export cannot be fetched any more; its bytes are the caller's to remove. */
export async function removeArchive(
  tx: Transaction,
  { id, realmId, actingUserId }: RealmExport,
  at: UnixSeconds,
): Promise<void> {
  await tx.exports.setState(realmId, id, { status: 'deleted', at });
  await tx.jobs.cancel(realmId, EXPIRE_EXPORT.name, String(id));
  await publishExports(tx, realmId, actingUserId);
}

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
