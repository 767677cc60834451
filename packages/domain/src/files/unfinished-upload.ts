import { DomainError } from '../kernel/errors.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { BlobKey, StoredBlob } from './blob-store.js';

/** A file whose bytes arrive in parts, with interruptions in between (messages §16.1). */
export interface UnfinishedUpload {
  /** What its address ends in, and the file's afterwards. */
  readonly pathId: string;
  readonly realmId: RealmId;
  readonly ownerId: UserId;
  readonly name: string;
  /** As the client claims; empty: it does not. */
  readonly claimedType: string;
  /** All that the client says of it, as it was written. */
  readonly metadata: string;
  /** Of the whole, in bytes. */
  readonly size: number;
  readonly blob: BlobKey;
  readonly expiresAt: UnixSeconds;
}

/** Of one user, at the same time. */
export const MAX_UNFINISHED_UPLOADS = 20;
/** In characters. */
export const MAX_UPLOAD_METADATA = 4096;
/** From the beginning to the last byte. */
export const UPLOAD_SECONDS = 86_400;

/** @throws DomainError TOO_MANY_UPLOADS */
export function requireRoomForUpload(unfinished: number): void {
  if (unfinished < MAX_UNFINISHED_UPLOADS) return;
  throw new DomainError('TOO_MANY_UPLOADS', `Too many unfinished uploads (limit: ${MAX_UNFINISHED_UPLOADS}).`);
}

export const unknownUpload = () => new DomainError('UNKNOWN_UPLOAD', 'This upload does not exist, or has expired.');

export interface UnfinishedUploadReads {
  /** Null: it was never begun, or is finished or removed. */
  find(realmId: RealmId, pathId: string): Promise<UnfinishedUpload | null>;
  /** Of one user; `bytes`: what they will have when they are finished. */
  summarize(realmId: RealmId, ownerId: UserId): Promise<{ readonly count: number; readonly bytes: number }>;
  /** Of whatever realm, whose time ended before then; at most `limit`. */
  listExpired(before: UnixSeconds, limit: number): Promise<readonly UnfinishedUpload[]>;
  /** Which of these blobs belong to unfinished uploads, of whatever realm. */
  filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>>;
}

/** Every implementation passes unfinished-upload-repository.contract.ts. */
export interface UnfinishedUploadRepository extends UnfinishedUploadReads {
  add(upload: UnfinishedUpload): Promise<void>;
  /** Without effect where there is none. */
  remove(realmId: RealmId, pathId: string): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    unfinishedUploads: [reads: UnfinishedUploadReads, repository: UnfinishedUploadRepository];
  }
}

/**
 * Where bytes are that do not make a blob yet. Like blobs they are outside of units of work. Every implementation passes
 * partial-blob-store.contract.ts.
 */
export interface PartialBlobStore {
  /** How many bytes there are, all of which survive the process; 0 where there is nothing. */
  sizeOf(key: BlobKey): Promise<number>;
  /**
   * Puts bytes behind those that are there, of which there must be `offset`. Resolves with how many there are then, once they are safe.
   * Where the content breaks off, what came of it stays.
   */
  append(key: BlobKey, offset: number, content: AsyncIterable<Uint8Array>): Promise<number>;
  /** From then on what is there, perhaps nothing, is the blob of this key. Without effect when it is already. */
  finish(key: BlobKey): Promise<void>;
  /** Without effect where there is nothing. */
  remove(key: BlobKey): Promise<void>;
  /** At most `limit` with keys above `after`, ascending; null: from the first. */
  list(after: BlobKey | null, limit: number): Promise<readonly StoredBlob[]>;
}
