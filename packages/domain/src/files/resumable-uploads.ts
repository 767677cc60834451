import { DomainError, type ErrorCode } from '../kernel/errors.js';
import type { Caller, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Clock, Randomness } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { describeHead, newBlobKey } from './blob-receiver.js';
import { type BlobKey, type BlobStore, type ContentTypes, HEAD_BYTES, removeBlobs, type StoredBlob } from './blobs.js';
import { type FileLimits, fileTooLarge, MIB, nameOfFile, requireRoomForFile, type StoredFile } from './files.js';
import { NewFiles } from './new-files.js';

/** Upload in parts, possibly with interruptions (messages §16.1). */
export interface UnfinishedUpload {
  /** End of the URL, which the finished file keeps. */
  readonly pathId: string;
  readonly realmId: RealmId;
  readonly ownerId: UserId;
  readonly name: string;
  /** Type claimed by the client; empty if missing. */
  readonly claimedType: string;
  /** Raw metadata as sent by the client. */
  readonly metadata: string;
  /** Size of the complete file in bytes. */
  readonly size: number;
  readonly blob: BlobKey;
  readonly expiresAt: UnixSeconds;
}

/** Maximum number of concurrent uploads per user. */
export const MAX_UNFINISHED_UPLOADS = 20;
/** Maximum length in characters. */
export const MAX_UPLOAD_METADATA = 4096;
/** Maximum time from the start of an upload to its last byte. */
export const UPLOAD_SECONDS = 86_400;

/** @throws DomainError TOO_MANY_UPLOADS */
export function requireRoomForUpload(unfinished: number): void {
  if (unfinished < MAX_UNFINISHED_UPLOADS) return;
  throw new DomainError('TOO_MANY_UPLOADS', `Too many unfinished uploads (limit: ${MAX_UNFINISHED_UPLOADS}).`);
}

export const unknownUpload = () => new DomainError('UNKNOWN_UPLOAD', 'This upload does not exist, or has expired.');

export const uploadConflict = () =>
  new DomainError('UPLOAD_CONFLICT', 'Another request continues this upload; ask for its offset.');

/** Errors after which the file can never be created. */
const FINAL: ReadonlySet<ErrorCode> = new Set(['UPLOAD_QUOTA_EXCEEDED', 'OWN_UPLOAD_QUOTA_EXCEEDED', 'TOO_MANY_FILES']);

export interface UnfinishedUploadReads {
  /** Returns null if the upload never started, is finished or was removed. */
  find(realmId: RealmId, pathId: string): Promise<UnfinishedUpload | null>;
  /** Summarizes the uploads of one user; `bytes` is their total size when finished. */
  summarize(realmId: RealmId, ownerId: UserId): Promise<{ readonly count: number; readonly bytes: number }>;
  /** Returns at most `limit` uploads of any realm that expired before this time. */
  listExpired(before: UnixSeconds, limit: number): Promise<readonly UnfinishedUpload[]>;
  /** Returns the given blobs that belong to unfinished uploads, of any realm. */
  filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>>;
}

/** Every implementation passes unfinished-upload-repository.contract.ts. */
export interface UnfinishedUploadRepository extends UnfinishedUploadReads {
  add(upload: UnfinishedUpload): Promise<void>;
  /** Has no effect if the upload does not exist. */
  remove(realmId: RealmId, pathId: string): Promise<void>;
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    unfinishedUploads: [reads: UnfinishedUploadReads, repository: UnfinishedUploadRepository];
  }
}

/**
 * Stores bytes of incomplete blobs, outside transactions. Every implementation passes partial-blob-store.contract.ts.
 */
export interface PartialBlobStore {
  /** Returns the number of durable bytes; 0 if the key does not exist. */
  sizeOf(key: BlobKey): Promise<number>;
  /**
   * Appends bytes to the `offset` existing ones. Resolves with the new total once all are durable. If the stream is
   * interrupted, received bytes are kept. @throws DomainError UPLOAD_CONFLICT for another number of existing bytes
   */
  append(key: BlobKey, offset: number, content: AsyncIterable<Uint8Array>): Promise<number>;
  /**
   * Turns the bytes, possibly none, into the blob with this key. Idempotent. @throws DomainError UPLOAD_CONFLICT if the
   * bytes change during the call
   */
  finish(key: BlobKey): Promise<void>;
  /** Has no effect if the key does not exist. */
  remove(key: BlobKey): Promise<void>;
  /** Returns at most `limit` blobs with keys above `after`, ascending; null starts at the beginning. */
  list(after: BlobKey | null, limit: number): Promise<readonly StoredBlob[]>;
}

/** Bytes of uploads, and the files created from them. Interrupted attempts can be repeated. */
export class UploadedBytes {
  static readonly inject = ['unitOfWork', 'partialBlobStore', 'blobStore', NewFiles, 'contentTypes'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly partials: PartialBlobStore,
    private readonly blobs: BlobStore,
    private readonly newFiles: NewFiles,
    private readonly contentTypes: ContentTypes,
  ) {}

  /** Returns the number of durable bytes. @throws DomainError UPLOAD_CONFLICT for another offset */
  append({ blob }: UnfinishedUpload, offset: number, content: AsyncIterable<Uint8Array>): Promise<number> {
    return this.partials.append(blob, offset, content);
  }

  /** Number of received bytes. */
  async sizeOf({ blob, size }: UnfinishedUpload): Promise<number> {
    const received = await this.partials.sizeOf(blob);
    // The bytes may already be a blob without a file row.
    return received === 0 && size > 0 ? ((await this.blobs.sizeOf(blob)) ?? 0) : received;
  }

  /**
   * Creates the file, or deletes all data of an upload that exceeds a limit. @throws DomainError UNKNOWN_UPLOAD,
   * UPLOAD_CONFLICT, UPLOAD_QUOTA_EXCEEDED, OWN_UPLOAD_QUOTA_EXCEEDED, TOO_MANY_FILES, SERVER_BUSY
   */
  async finish(caller: Caller, upload: UnfinishedUpload): Promise<StoredFile> {
    const { realmId, pathId } = upload;
    const content = await this.describe(caller, upload).catch(async (error: unknown) => {
      // A concurrent request may have finished or cancelled the upload and removed its bytes.
      const isThere = await this.uow.read(realmId, ({ unfinishedUploads }) => unfinishedUploads.find(realmId, pathId));
      if (isThere) throw error;
      return null;
    });
    try {
      const file = await this.uow.write(realmId, async (tx) => {
        const actor = await tx.actors.get(caller);
        const [finished] = await tx.files.listByPath(realmId, [pathId]);
        if (finished) return finished;
        if (content === null) throw unknownUpload();
        if (!(await tx.unfinishedUploads.find(realmId, pathId))) throw unknownUpload();
        await tx.unfinishedUploads.remove(realmId, pathId);
        return this.newFiles.add(tx, actor, pathId, content);
      });
      // Concurrent requests may read the original until the file exists.
      if (file.blob !== upload.blob) await removeBlobs(this.blobs, [upload.blob]);
      return file;
    } catch (error) {
      if (error instanceof DomainError && FINAL.has(error.code)) await this.discard(upload);
      throw error;
    }
  }

  private async describe(caller: Caller, { blob: key, size, name, claimedType }: UnfinishedUpload) {
    await this.partials.finish(key);
    const head: Uint8Array[] = [];
    for await (const chunk of this.blobs.read(key, { start: 0, end: Math.min(size, HEAD_BYTES) })) head.push(chunk);
    const received = { key, size, ...(await describeHead(joined(head), this.contentTypes)) };
    return this.newFiles.describe(caller, received, name, claimedType, true);
  }

  /**
   * Returns false if the upload was finished or cancelled in the meantime, so that its bytes belong to the file. If
   * removing the bytes fails, the sweep removes them.
   */
  async discard({ realmId, pathId, blob }: UnfinishedUpload): Promise<boolean> {
    const isThere = await this.uow.write(realmId, async (tx) => {
      const found = await tx.unfinishedUploads.find(realmId, pathId);
      if (found) await tx.unfinishedUploads.remove(realmId, pathId);
      return found !== null;
    });
    // The daily sweep removes blobs without a row.
    if (isThere) for (const store of [this.partials, this.blobs]) await store.remove(blob).catch(() => undefined);
    return isThere;
  }
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

export interface BeginUploadInput {
  /** Name given by the client. */
  readonly name: string;
  /** Type claimed by the client; empty if missing. */
  readonly claimedType: string;
  /** Raw metadata as sent by the client. */
  readonly metadata: string;
  /** Size of the complete file in bytes. */
  readonly size: number;
}

interface UploadInput {
  readonly pathId: string;
}

/** Progress of an upload. */
export interface UploadProgress extends Pick<UnfinishedUpload, 'pathId' | 'size' | 'metadata'> {
  /** Number of durable bytes. */
  readonly offset: number;
  /** Null if the upload has expired or is finished. */
  readonly expiresAt: UnfinishedUpload['expiresAt'] | null;
}

/** Uploads that can be interrupted and resumed (messages §16.1). One request of the tus protocol takes several steps. */
export class ResumableUploads {
  static readonly inject = ['unitOfWork', UploadedBytes, NewFiles, 'fileLimits', 'randomness', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly bytes: UploadedBytes,
    private readonly newFiles: NewFiles,
    private readonly limits: FileLimits,
    private readonly randomness: Randomness,
    private readonly clock: Clock,
  ) {}

  /**
   * Starts an upload. @throws DomainError FILE_TOO_LARGE, UPLOAD_METADATA_TOO_LONG, TOO_MANY_UPLOADS,
   * UPLOAD_QUOTA_EXCEEDED, OWN_UPLOAD_QUOTA_EXCEEDED, TOO_MANY_FILES
   */
  begin(caller: Caller, { claimedType, metadata, size, ...input }: BeginUploadInput): Promise<UnfinishedUpload> {
    const { maxFileMib } = this.limits;
    const name = nameOfFile(input.name);
    return this.uow.write(caller.realmId, async (tx) => {
      const { realmId, id: ownerId } = await tx.actors.get(caller);
      if (size > maxFileMib * MIB) throw fileTooLarge(maxFileMib);
      if (metadata.length > MAX_UPLOAD_METADATA) {
        throw new DomainError('UPLOAD_METADATA_TOO_LONG', `Upload metadata too long (limit: ${MAX_UPLOAD_METADATA}).`);
      }
      const unfinished = await tx.unfinishedUploads.summarize(realmId, ownerId);
      requireRoomForUpload(unfinished.count);
      const ofAll = (await tx.files.usedBytes(realmId)) + unfinished.bytes;
      const own = await tx.files.spaceOf(realmId, ownerId);
      requireRoomForFile(this.limits, size, ofAll, {
        count: own.count + unfinished.count,
        bytes: own.bytes + unfinished.bytes,
      });
      await this.newFiles.visitors.requireRoom(tx, realmId, ownerId, size);
      const upload: UnfinishedUpload = {
        pathId: this.newFiles.newPath(realmId, name),
        realmId,
        ownerId,
        name,
        claimedType,
        metadata,
        size,
        blob: newBlobKey(this.randomness),
        expiresAt: this.clock.now() + UPLOAD_SECONDS,
      };
      await tx.unfinishedUploads.add(upload);
      return upload;
    });
  }

  /**
   * Returns the progress of one of the caller's uploads, so that it can be resumed. Finishes an upload if only the final
   * response was lost. @throws DomainError UNKNOWN_UPLOAD, and the codes of `finish`
   */
  async find(caller: Caller, { pathId }: UploadInput): Promise<UploadProgress> {
    const { upload, file } = await this.load(caller, pathId);
    if (!upload) return { pathId, size: file.size, offset: file.size, metadata: '', expiresAt: null };
    const { size, metadata, expiresAt } = upload;
    const offset = await this.bytes.sizeOf(upload);
    if (offset === size) await this.bytes.finish(caller, upload);
    return { pathId, size, offset, metadata, expiresAt };
  }

  /**
   * Appends bytes to one of the caller's uploads. Returns the number of durable bytes. Bytes received before an
   * interruption are kept. @throws DomainError UNKNOWN_UPLOAD, or UPLOAD_CONFLICT if it is finished or has another offset
   */
  async append(
    caller: Caller,
    { pathId, offset, content }: UploadInput & { readonly offset: number; readonly content: AsyncIterable<Uint8Array> },
  ): Promise<number> {
    const { upload } = await this.load(caller, pathId);
    if (!upload) throw uploadConflict();
    return this.bytes.append(upload, offset, content);
  }

  /**
   * Creates a file from one of the caller's complete uploads. @throws DomainError UNKNOWN_UPLOAD, UPLOAD_CONFLICT,
   * UPLOAD_QUOTA_EXCEEDED, OWN_UPLOAD_QUOTA_EXCEEDED, TOO_MANY_FILES, SERVER_BUSY
   */
  async finish(caller: Caller, { pathId }: UploadInput): Promise<StoredFile> {
    const { upload, file } = await this.load(caller, pathId);
    if (!upload) return file;
    if ((await this.bytes.sizeOf(upload)) !== upload.size) throw uploadConflict();
    return this.bytes.finish(caller, upload);
  }

  /** Cancels one of the caller's uploads. @throws DomainError UNKNOWN_UPLOAD, even if the upload is finished */
  async cancel(caller: Caller, { pathId }: UploadInput): Promise<void> {
    const { upload } = await this.load(caller, pathId);
    if (!upload || !(await this.bytes.discard(upload))) throw unknownUpload();
  }

  /** Loads the caller's upload or the file created from it. @throws DomainError UNKNOWN_UPLOAD */
  private load(caller: Caller, pathId: string): Promise<UploadOrFile> {
    return this.uow.read(caller.realmId, async ({ actors, files, unfinishedUploads }) => {
      const { realmId, id } = await actors.get(caller);
      const upload = await unfinishedUploads.find(realmId, pathId);
      if (upload?.ownerId === id && upload.expiresAt > this.clock.now()) return { upload, file: null };
      const [file] = upload ? [] : await files.listByPath(realmId, [pathId]);
      if (file?.ownerId === id) return { upload: null, file };
      throw unknownUpload();
    });
  }
}

type UploadOrFile =
  | { readonly upload: UnfinishedUpload; readonly file: null }
  | { readonly upload: null; readonly file: StoredFile };
