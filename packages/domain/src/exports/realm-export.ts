import type { BlobKey } from '../files/blob-store.js';
import { DomainError } from '../kernel/errors.js';
import type { ExportId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';

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
