import { DomainError } from '../kernel/errors.js';
import type { Caller, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Clock, Randomness } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { describeHead, newBlobKey } from './blob-receiver.js';
import { type BlobKey, type BlobStore, type ContentTypes, HEAD_BYTES, type StoredBlob } from './blobs.js';
import { type FileLimits, fileTooLarge, MIB, nameOfFile, requireRoomForFile, type StoredFile } from './files.js';
import { NewFiles } from './new-files.js';

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

/** Makes files of uploads whose bytes are all there. Whoever was interrupted at it may begin again. */
export class UploadFinisher {
  static readonly inject = ['unitOfWork', 'partialBlobStore', 'blobStore', NewFiles, 'contentTypes'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly partials: PartialBlobStore,
    private readonly blobs: BlobStore,
    private readonly newFiles: NewFiles,
    private readonly contentTypes: ContentTypes,
  ) {}

  /** How many bytes there are. */
  async sizeOf({ blob, size }: UnfinishedUpload): Promise<number> {
    const received = await this.partials.sizeOf(blob);
    // They may be a blob already, and its row what is missing.
    return received === 0 && size > 0 ? ((await this.blobs.sizeOf(blob)) ?? 0) : received;
  }

  /** @throws DomainError UNKNOWN_UPLOAD, UPLOAD_QUOTA_EXCEEDED, OWN_UPLOAD_QUOTA_EXCEEDED, TOO_MANY_FILES, SERVER_BUSY; of an upload that is refused nothing is left */
  async finish(caller: Caller, upload: UnfinishedUpload): Promise<StoredFile> {
    const { realmId, pathId, blob: key, size, name } = upload;
    await this.partials.finish(key);
    const head: Uint8Array[] = [];
    for await (const chunk of this.blobs.read(key, { start: 0, end: Math.min(size, HEAD_BYTES) })) head.push(chunk);
    const received = { key, size, ...(await describeHead(joined(head), this.contentTypes)) };
    const content = await this.newFiles.describe(caller.userId, received, name, upload.claimedType);
    try {
      return await this.uow.write(async (tx) => {
        const actor = await tx.actors.get(caller);
        const [finished] = await tx.files.listByPath(realmId, [pathId]);
        if (finished) return finished;
        if (!(await tx.unfinishedUploads.find(realmId, pathId))) throw unknownUpload();
        await tx.unfinishedUploads.remove(realmId, pathId);
        return this.newFiles.add(tx, actor, pathId, content);
      });
    } catch (error) {
      if (error instanceof DomainError && !error.is('SERVER_BUSY')) await this.discard(upload);
      throw error;
    }
  }

  /**
   * False: it was finished or given up meanwhile, and what there is of bytes belongs to the file. Where removing bytes fails, the
   * sweep finds them.
   */
  async discard({ realmId, pathId, blob }: UnfinishedUpload): Promise<boolean> {
    const isThere = await this.uow.write(async (tx) => {
      const found = await tx.unfinishedUploads.find(realmId, pathId);
      if (found) await tx.unfinishedUploads.remove(realmId, pathId);
      return found !== null;
    });
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
  /** As the client calls it. */
  readonly name: string;
  /** As the client claims; empty: it does not. */
  readonly claimedType: string;
  /** All that the client says of it, as it was written. */
  readonly metadata: string;
  /** Of the whole, in bytes. */
  readonly size: number;
}

/** Begins an upload that may be interrupted and go on (messages §16.1). */
export class BeginUpload {
  static readonly inject = ['unitOfWork', 'fileLimits', NewFiles, 'randomness', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly limits: FileLimits,
    private readonly newFiles: NewFiles,
    private readonly randomness: Randomness,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError FILE_TOO_LARGE, UPLOAD_METADATA_TOO_LONG, TOO_MANY_UPLOADS, UPLOAD_QUOTA_EXCEEDED, OWN_UPLOAD_QUOTA_EXCEEDED, TOO_MANY_FILES */
  execute(caller: Caller, { claimedType, metadata, size, ...input }: BeginUploadInput): Promise<UnfinishedUpload> {
    const { maxFileMib } = this.limits;
    const name = nameOfFile(input.name);
    return this.uow.write(async (tx) => {
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
}

interface UploadInput {
  readonly pathId: string;
}

/** How far an upload is. */
export interface UploadProgress extends Pick<UnfinishedUpload, 'pathId' | 'size' | 'metadata'> {
  /** How many bytes are safe. */
  readonly offset: number;
  /** Null: it has expired or is finished. */
  readonly expiresAt: UnfinishedUpload['expiresAt'] | null;
}

/** How far an upload of one's own is, so that it can go on. */
export class FindUpload {
  static readonly inject = ['unitOfWork', UploadFinisher, 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly finisher: UploadFinisher,
    private readonly clock: Clock,
  ) {}

  /** What only its last answer was lost of is finished here. @throws DomainError UNKNOWN_UPLOAD, and what finishing it is refused with */
  async execute(caller: Caller, { pathId }: UploadInput): Promise<UploadProgress> {
    const { upload, file } = await find(this.uow, caller, pathId, this.clock);
    if (!upload) return { pathId, size: file.size, offset: file.size, metadata: '', expiresAt: null };
    const { size, metadata, expiresAt } = upload;
    const offset = await this.finisher.sizeOf(upload);
    if (offset === size) await this.finisher.finish(caller, upload);
    return { pathId, size, offset, metadata, expiresAt };
  }
}

/** Takes further bytes of an upload of one's own. */
export class ContinueUpload {
  static readonly inject = ['unitOfWork', 'partialBlobStore', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly partials: PartialBlobStore,
    private readonly clock: Clock,
  ) {}

  /** Answers how many bytes are safe then. What came of content that breaks off is kept. @throws DomainError UNKNOWN_UPLOAD */
  async execute(
    caller: Caller,
    { pathId, offset, content }: UploadInput & { readonly offset: number; readonly content: AsyncIterable<Uint8Array> },
  ): Promise<number> {
    const { upload } = await find(this.uow, caller, pathId, this.clock);
    if (!upload) throw unknownUpload();
    return this.partials.append(upload.blob, offset, content);
  }
}

/** Makes a file of an upload of one's own whose bytes are all there. */
export class FinishUpload {
  static readonly inject = ['unitOfWork', UploadFinisher, 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly finisher: UploadFinisher,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_UPLOAD, UPLOAD_QUOTA_EXCEEDED, OWN_UPLOAD_QUOTA_EXCEEDED, TOO_MANY_FILES, SERVER_BUSY */
  async execute(caller: Caller, { pathId }: UploadInput): Promise<StoredFile> {
    const { upload, file } = await find(this.uow, caller, pathId, this.clock);
    if (!upload) return file;
    if ((await this.finisher.sizeOf(upload)) !== upload.size) throw unknownUpload();
    return this.finisher.finish(caller, upload);
  }
}

/** Gives an upload of one's own up. */
export class CancelUpload {
  static readonly inject = ['unitOfWork', UploadFinisher, 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly finisher: UploadFinisher,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_UPLOAD, also when it is finished */
  async execute(caller: Caller, { pathId }: UploadInput): Promise<void> {
    const { upload } = await find(this.uow, caller, pathId, this.clock);
    if (!upload || !(await this.finisher.discard(upload))) throw unknownUpload();
  }
}

/** Of the caller's own, or the file that was made of it. @throws DomainError UNKNOWN_UPLOAD */
function find(
  uow: UnitOfWork,
  caller: Caller,
  pathId: string,
  clock: Clock,
): Promise<
  { readonly upload: UnfinishedUpload; readonly file: null } | { readonly upload: null; readonly file: StoredFile }
> {
  return uow.read(async ({ actors, files, unfinishedUploads }) => {
    const { realmId, id } = await actors.get(caller);
    const upload = await unfinishedUploads.find(realmId, pathId);
    if (upload?.ownerId === id && upload.expiresAt > clock.now()) return { upload, file: null };
    const [file] = upload ? [] : await files.listByPath(realmId, [pathId]);
    if (file?.ownerId === id) return { upload: null, file };
    throw unknownUpload();
  });
}

/** All that there is to do with such an upload. */
export class ResumableUploads {
  static readonly inject = [BeginUpload, FindUpload, ContinueUpload, FinishUpload, CancelUpload] as const;
  constructor(
    readonly begin: BeginUpload,
    readonly find: FindUpload,
    readonly goOn: ContinueUpload,
    readonly finish: FinishUpload,
    readonly cancel: CancelUpload,
  ) {}
}
