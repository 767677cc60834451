import type { Caller } from '../../kernel/caller.js';
import type { Clock, Randomness } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { newBlobKey } from '../blob-receiver.js';
import { type FileLimits, fileTooLarge, MIB, nameOfFile, requireRoomForFile, type StoredFile } from '../file.js';
import { NewFiles } from '../new-files.js';
import {
  MAX_UPLOAD_METADATA,
  type PartialBlobStore,
  requireRoomForUpload,
  type UnfinishedUpload,
  UPLOAD_SECONDS,
  unknownUpload,
} from '../unfinished-upload.js';
import { UploadFinisher } from '../upload-finisher.js';

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
