import type { BlobContent, BlobStore, ByteRange } from '../../files/blob-store.js';
import type { StoredFile, StoredThumbnail } from '../../files/file.js';
import type { FileTokens } from '../../files/file-tokens.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { RealmId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { canReadFile } from '../file-access.js';

/** A file to be read, all of it or a part. */
export interface ReadableFile extends StoredFile {
  read(range: ByteRange): BlobContent;
}

/** A temporary address needs no credentials for so long (messages §16.2). */
const TICKET_SECONDS = 60;

/** One file, for whoever may read it (messages §16.2). */
export class ReadFile {
  static readonly inject = ['unitOfWork', 'blobStore'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
  ) {}

  /** @throws DomainError UNKNOWN_FILE, CANNOT_VIEW_FILE */
  async execute(caller: Caller, { pathId }: { readonly pathId: string }): Promise<ReadableFile> {
    return openFile(await accessibleFile(this.uow, caller, pathId), this.blobs);
  }
}

/** What is shown in the place of an image, for whoever may read that (messages §16.2). */
export class ReadThumbnail {
  static readonly inject = ['unitOfWork', 'blobStore'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
  ) {}

  /** `format`: the thumbnail's name. @throws DomainError UNKNOWN_FILE, CANNOT_VIEW_FILE */
  async execute(
    caller: Caller,
    { pathId, format }: { readonly pathId: string; readonly format: string },
  ): Promise<ReadableFile> {
    const file = await accessibleFile(this.uow, caller, pathId);
    const thumbnails = await this.uow.read(({ files }) => files.listThumbnails(file.realmId, file.id));
    return openFile(thumbnailOf(file, thumbnails, format), this.blobs);
  }
}

/** As a file of its own. @throws DomainError UNKNOWN_FILE where there is none of this name */
export function thumbnailOf(file: StoredFile, thumbnails: readonly StoredThumbnail[], format: string): StoredFile {
  const thumbnail = thumbnails.find(({ name }) => name === format);
  if (!thumbnail) throw unknownFile();
  const { blob, size } = thumbnail;
  return { ...file, name: `${file.name}.webp`, contentType: 'image/webp', blob, size };
}

/** Makes an address of a file that needs no credentials for a minute (messages §16.2). */
export class CreateTemporaryFileUrl {
  static readonly inject = ['unitOfWork', 'fileTokens', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly tokens: FileTokens,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_FILE, CANNOT_VIEW_FILE */
  async execute(
    caller: Caller,
    { pathId }: { readonly pathId: string },
  ): Promise<{ readonly token: string; readonly name: string }> {
    const { id, realmId } = await accessibleFile(this.uow, caller, pathId);
    const token = this.tokens.sign({ realmId, fileId: id, expiresAt: this.clock.now() + TICKET_SECONDS });
    return { token, name: lastOf(pathId) };
  }
}

/** The file that a temporary address stands for. */
export class ReadTemporaryFile {
  static readonly inject = ['unitOfWork', 'blobStore', 'fileTokens', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly tokens: FileTokens,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError INVALID_FILE_TOKEN, INVALID_FILE_NAME */
  async execute(
    { realmId }: { readonly realmId: RealmId | null },
    { token, name }: { readonly token: string; readonly name: string },
  ): Promise<ReadableFile> {
    const ticket = this.tokens.verify(token);
    if (!ticket || ticket.realmId !== realmId || ticket.expiresAt <= this.clock.now()) throw invalidToken();
    const file = await this.uow.read(({ files }) => files.find(ticket.realmId, ticket.fileId));
    if (!file) throw invalidToken();
    if (lastOf(file.pathId) !== name) throw new DomainError('INVALID_FILE_NAME', 'Invalid filename');
    return openFile(file, this.blobs).catch((error) => {
      throw error instanceof DomainError ? invalidToken() : error;
    });
  }
}

const invalidToken = () => new DomainError('INVALID_FILE_TOKEN', 'Invalid token');

export const unknownFile = () => new DomainError('UNKNOWN_FILE', 'This file does not exist or has been deleted.');

const lastOf = (pathId: string): string => pathId.slice(pathId.lastIndexOf('/') + 1);

/** Its bytes may be gone, where it was deleted this moment. */
export async function openFile(file: StoredFile, blobs: BlobStore): Promise<ReadableFile> {
  if ((await blobs.sizeOf(file.blob)) === null) throw unknownFile();
  return { ...file, read: (range) => blobs.read(file.blob, range) };
}

/** @throws DomainError UNKNOWN_FILE, CANNOT_VIEW_FILE */
function accessibleFile(uow: UnitOfWork, caller: Caller, pathId: string): Promise<StoredFile> {
  return uow.read(async (reads) => {
    const actor = await reads.actors.get(caller);
    const [found] = await reads.files.listByPath(actor.realmId, [pathId]);
    const [file] = found ? await reads.files.listAttached(actor.realmId, [found.id]) : [];
    if (!file) throw unknownFile();
    if (!(await canReadFile(reads, actor, file))) {
      throw new DomainError('CANNOT_VIEW_FILE', 'You are not authorized to view this file.');
    }
    return file;
  });
}
