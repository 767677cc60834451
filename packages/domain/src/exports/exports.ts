import type { BlobKey, BlobStore } from '../files/blobs.js';
import type { FileUser } from '../files/files.use-cases.js';
import { hasPassed } from '../kernel/clock-watch.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import { type FeatureParts, users } from '../kernel/event.js';
import type { ExportId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { idPayload, type Job, type JobHandler, type JobWork, jobKind } from '../kernel/jobs.js';
import type { Clock } from '../kernel/ports.js';
import type { RealmRowReads, RealmRows, RowRules } from '../kernel/rows.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';

/** Scope of private data: none, that of consenting users, or all. */
export type ExportType = 'public' | 'withConsent' | 'withoutConsent';

/**
 * State of an export, with the time of its last change. The archive of a complete export exists until it is deleted.
 */
export type ExportState =
  | { readonly status: 'pending' }
  | { readonly status: 'complete'; readonly blob: BlobKey; readonly size: number }
  | { readonly status: 'failed' | 'deleted'; readonly at: UnixSeconds };

/** Archive of the organization requested by an administrator (organization §8). */
export interface RealmExport {
  readonly id: ExportId;
  readonly realmId: RealmId;
  readonly actingUserId: UserId;
  readonly type: ExportType;
  readonly requestedAt: UnixSeconds;
  /** End of the archive's URL, which alone grants access: `2/a3/{random}/lear.tar.gz`. */
  readonly pathId: string;
  readonly state: ExportState;
}

/** Limits for exports made by the server itself. */
export interface ExportLimits {
  /** Contact address for larger exports. */
  readonly operator: string;
  readonly maxMessages: number;
  /** Maximum total size of files and pictures. */
  readonly maxBytes: number;
}

export const MAX_EXPORTED_MESSAGES = 250_000;
export const MAX_EXPORTED_BYTES = 10 * 1024 ** 3;

/** Maximum number of exports per `EXPORTS_WINDOW_SECONDS`, regardless of their result. */
export const MAX_RECENT_EXPORTS = 5;
export const EXPORTS_WINDOW_SECONDS = 7 * 86_400;
/** Older exports are deleted, because their archives have already expired. */
export const MAX_LISTED_EXPORTS = 100;
/** Lifetime of an archive. */
export const KEEP_ARCHIVE_SECONDS = 30 * 86_400;

/** @throws DomainError TOO_MANY_EXPORTS */
export function requireRoomForExport(exports: readonly Pick<RealmExport, 'requestedAt'>[], now: UnixSeconds): void {
  const recent = exports.filter(({ requestedAt }) => !hasPassed(requestedAt, EXPORTS_WINDOW_SECONDS, now));
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

/** Returns the archive to delete. @throws DomainError EXPORT_DELETED, EXPORT_FAILED, EXPORT_IN_PROGRESS */
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

/** Path of the archive, relative to the organization's address; null if there is none. */
export const exportPath = ({ pathId, state }: Pick<RealmExport, 'pathId' | 'state'>): string | null =>
  state.status === 'complete' ? `/user_avatars/exports/${pathId}` : null;

export interface ExportReads extends RealmRowReads<RealmExport> {
  findByPath(realmId: RealmId, pathId: string): Promise<RealmExport | null>;
  /** Returns the given blobs that are export archives, of any realm. */
  filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>>;
}

/** Every implementation passes export-repository.contract.ts. */
export interface ExportRepository extends ExportReads, RealmRows<RealmExport> {}

export const EXPORT_ROWS: RowRules<RealmExport> = { kind: 'realmExport', owner: 'realm', order: ['id'] };

export const EXPORT_ERRORS = declareErrors({
  /** The import is inconsistent or contains invalid data. */
  INVALID_IMPORT: 'invalid',
  /** Too many exports in the last seven days. */
  TOO_MANY_EXPORTS: 'conflict',
  /** The organization is too large for an export without the operator. */
  EXPORT_TOO_LARGE: 'conflict',
  /** The export does not exist. */
  UNKNOWN_EXPORT: 'unknown',
  /** The archive was already deleted. */
  EXPORT_DELETED: 'conflict',
  /** The export failed and has no archive. */
  EXPORT_FAILED: 'conflict',
  /** The archive is not complete. */
  EXPORT_IN_PROGRESS: 'conflict',
});

type ExportErrors = typeof EXPORT_ERRORS;

/** Export as shown to clients. */
export interface ExportView {
  readonly id: ExportId;
  readonly actingUserId: UserId;
  readonly type: ExportType;
  readonly requestedAt: UnixSeconds;
  /** Path relative to the organization's address; null if there is no archive. */
  readonly path: string | null;
  readonly isPending: boolean;
  readonly deletedAt: UnixSeconds | null;
  readonly failedAt: UnixSeconds | null;
}

export function viewOfExport(newExport: RealmExport): ExportView {
  const { id, actingUserId, type, requestedAt, state } = newExport;
  return {
    id,
    actingUserId,
    type,
    requestedAt,
    path: exportPath(newExport),
    isPending: state.status === 'pending',
    deletedAt: state.status === 'deleted' ? state.at : null,
    failedAt: state.status === 'failed' ? state.at : null,
  };
}

export interface ExportEventTypes {
  /**
   * Sent to the requester of the changed export, with all exports of the organization, at most `MAX_LISTED_EXPORTS`
   * (organization §8).
   */
  'exports.changed': { readonly exports: readonly ExportView[] };
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    exports: [reads: ExportReads, repository: ExportRepository];
  }
  interface ErrorCodes extends ExportErrors {}
  interface DomainEventTypes extends ExportEventTypes {}
}

export const EXPORT_FEATURE = {
  eventFormats: { 'exports.changed': 1 },
  // Archives are blobs without a file.
  fileUser: { filterBlobs: ({ exports }, keys) => exports.filterBlobs(keys) },
  rows: { exports: EXPORT_ROWS },
  notExported: {
    exports: 'Archives stay on the original server.',
  },
} satisfies FeatureParts<ExportEventTypes> & { readonly fileUser: FileUser };

/** Publishes the list of exports (organization §8). */
export async function publishExports(tx: Transaction, realmId: RealmId, receiverId: UserId): Promise<void> {
  const exports = (await tx.exports.list(realmId)).map(viewOfExport);
  await tx.events.append(realmId, { event: { type: 'exports.changed', exports }, audience: users([receiverId]) });
}

export type ExportPayload = { readonly exportId: ExportId };

const readPayload = idPayload<ExportPayload>('exportId');

/** Maximum delay before a retry after a crash; the lease is renewed continuously. */
const LEASE_SECONDS = 120;

export const WRITE_EXPORT = jobKind<ExportPayload>({
  name: 'exports.write',
  readPayload,
  retries: { maxAttempts: 3, firstDelaySeconds: 60, maxDelaySeconds: 3600 },
  leaseSeconds: LEASE_SECONDS,
  concurrency: 1,
});

export const RENEW_LEASE_MS = (LEASE_SECONDS * 1000) / 4;

/** Removes the archive of an export after its lifetime. */
export const EXPIRE_EXPORT = jobKind<ExportPayload>({
  name: 'exports.expire',
  readPayload,
  concurrency: 1,
  isFixed: true,
  deletes: true,
});

/** Makes the archive of an export unavailable; the caller must delete its bytes. */
export async function removeArchive(tx: Transaction, removed: RealmExport, at: UnixSeconds): Promise<void> {
  const { id, realmId, actingUserId } = removed;
  await tx.exports.update({ ...removed, state: { status: 'deleted', at } });
  await tx.jobs.cancel(realmId, EXPIRE_EXPORT.name, String(id));
  await publishExports(tx, realmId, actingUserId);
}

/** Removes expired archives (organization §8). */
export class ExpireExports implements JobHandler<ExportPayload> {
  static readonly inject = ['unitOfWork', 'blobStore', 'clock'] as const;

  readonly kind = EXPIRE_EXPORT;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly clock: Clock,
  ) {}

  async prepare({ realmId, payload }: Job<ExportPayload>): Promise<JobWork> {
    const found = await this.uow.read(realmId, ({ exports }) => exports.find(realmId, payload.exportId));
    const { state } = found ?? {};
    // The row still refers to the bytes, so a failed attempt is retried.
    if (state?.status === 'complete') await this.blobs.remove(state.blob);
    return async (tx) => {
      const now = await tx.exports.find(realmId, payload.exportId);
      if (now?.state.status === 'complete') await removeArchive(tx, now, this.clock.now());
    };
  }
}
