import { DomainError, declareErrors } from '../kernel/errors.js';
import { type FeatureParts, users } from '../kernel/event.js';
import type { FileId, MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { takeCodePoints } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { BlobKey } from './blobs.js';

/** What somebody uploaded. Its bytes never change. */
export interface StoredFile {
  readonly id: FileId;
  readonly realmId: RealmId;
  readonly ownerId: UserId;
  /** As they called it. */
  readonly name: string;
  /** What its address ends in: `2/a3/{random}/cat.png`. */
  readonly pathId: string;
  readonly blob: BlobKey;
  /** In bytes. */
  readonly size: number;
  /** See `contentTypeOf`; shown by browsers only where that can do no harm. */
  readonly contentType: string;
  readonly createdAt: UnixSeconds;
  /** Null: it is no image, or none that can be shown. */
  readonly image: FileImage | null;
}

/** What is known of an image. */
export interface FileImage {
  /** In pixels, as it is seen: turned as its metadata say. */
  readonly width: number;
  readonly height: number;
  readonly isAnimated: boolean;
  /** Whether there are smaller ones to be shown in its place; 'failed': it cannot be shown at all. */
  readonly thumbnail: 'pending' | 'ready' | 'failed';
}

/** An image made of a file's. It is no part of the space that files take. */
export interface StoredThumbnail {
  /** `840x560.webp`. */
  readonly name: string;
  readonly blob: BlobKey;
  /** In bytes. */
  readonly size: number;
}

export type NewFile = Omit<StoredFile, 'id'>;

/** A file and the messages that refer to it; ascending. */
export interface AttachedFile extends StoredFile {
  readonly messageIds: readonly MessageId[];
}

/** Of one user. */
export const MAX_FILES = 20_000;
/** That refer to one file: further ones may link to it, which gives nobody access. */
export const MAX_MESSAGES_OF_FILE = 1000;
/** That one message refers to; further links give nobody access. */
export const MAX_FILES_OF_MESSAGE = 50;

/** Bounds that the operator chose. */
export interface FileLimits {
  /** Of one file, in MiB. */
  readonly maxFileMib: number;
  /** Of all files of an organization together, in MiB; null: none. */
  readonly quotaMib: number | null;
  /** Of all files of one user together, in MiB; null: none. */
  readonly userQuotaMib: number | null;
}

/** What files take, of one user. */
export interface FileSpace {
  readonly count: number;
  readonly bytes: number;
}

export const MIB = 1024 * 1024;

/**
 * Whether there is room for one more file (messages §16.1). `usedBytes`: of all files of the organization.
 * @throws DomainError UPLOAD_QUOTA_EXCEEDED, OWN_UPLOAD_QUOTA_EXCEEDED, TOO_MANY_FILES
 */
export function requireRoomForFile(
  { quotaMib, userQuotaMib }: FileLimits,
  size: number,
  usedBytes: number,
  own: FileSpace,
): void {
  if (quotaMib !== null && usedBytes + size > quotaMib * MIB) {
    throw new DomainError('UPLOAD_QUOTA_EXCEEDED', "Upload would exceed your organization's upload quota.");
  }
  if (userQuotaMib !== null && own.bytes + size > userQuotaMib * MIB) {
    throw new DomainError('OWN_UPLOAD_QUOTA_EXCEEDED', 'Upload would exceed your upload quota.');
  }
  if (own.count >= MAX_FILES) throw new DomainError('TOO_MANY_FILES', `Too many uploaded files (limit: ${MAX_FILES}).`);
}

export const fileTooLarge = (maxMib: number): DomainError =>
  new DomainError(
    'FILE_TOO_LARGE',
    `File is larger than this server's configured maximum upload size (${maxMib} MiB).`,
  );

/** In code points. */
const MAX_NAME_LENGTH = 255;
const NAMELESS = 'uploaded-file';

/** The name that a file keeps: never a path, and not without end. */
export function nameOfFile(given: string): string {
  const last = given.slice(given.lastIndexOf('/') + 1).replace(/\p{Cc}/gu, '');
  return last === '' ? NAMELESS : takeCodePoints(last, MAX_NAME_LENGTH);
}

/** What of a name can stand in an address (messages §16.1). */
export function safeNameOf(name: string): string {
  const safe = name
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}_\s.-]/gu, '')
    .trim()
    .replace(/[-\s]+/g, '-');
  return safe === '' || safe === '.' || safe === '..' ? NAMELESS : takeCodePoints(safe, MAX_NAME_LENGTH);
}

const URL_SAFE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** `2/a3/{24 random characters}/cat.png`. `digits`: at least 38 random ones, hexadecimal. */
export function pathIdOf(realmId: RealmId, name: string, digits: string): string {
  const random = Array.from({ length: 12 }, (_, at) => {
    const value = Number.parseInt(digits.slice(2 + 3 * at, 5 + 3 * at), 16);
    return URL_SAFE.charAt(value >> 6) + URL_SAFE.charAt(value & 63);
  }).join('');
  return `${realmId}/${digits.slice(0, 2)}/${random}/${safeNameOf(name)}`;
}

/** @throws DomainError UNKNOWN_FILE */
export function ownFile(file: StoredFile | null, userId: UserId): StoredFile {
  if (file?.ownerId === userId) return file;
  throw new DomainError('UNKNOWN_FILE', 'Invalid attachment');
}

export interface FileReads {
  /** Null for those of other realms. */
  find(realmId: RealmId, id: FileId): Promise<StoredFile | null>;
  /** Unknown paths are left out; ascending id. */
  listByPath(realmId: RealmId, pathIds: readonly string[]): Promise<readonly StoredFile[]>;
  /** The owner's with an id above `after`, ascending; at most `limit`. */
  list(realmId: RealmId, ownerId: UserId, after: number, limit: number): Promise<readonly AttachedFile[]>;
  /** Of these files; unknown ones are left out; ascending id. */
  listAttached(realmId: RealmId, ids: readonly FileId[]): Promise<readonly AttachedFile[]>;
  /** The files that a message refers to; ascending. */
  listIdsOfMessage(realmId: RealmId, messageId: MessageId): Promise<readonly FileId[]>;
  /** Costs what files the owner has. */
  spaceOf(realmId: RealmId, ownerId: UserId): Promise<FileSpace>;
  /** The owner's oldest image, from that file on, whose thumbnails are still to be made. Costs what files there are from there on. */
  findPendingImage(realmId: RealmId, ownerId: UserId, from: FileId): Promise<StoredFile | null>;
  /** Of all files of a realm, in bytes. */
  usedBytes(realmId: RealmId): Promise<number>;
  /** Images made of it. */
  listThumbnails(realmId: RealmId, id: FileId): Promise<readonly StoredThumbnail[]>;
  /** Messages that show a placeholder until the file has thumbnails; ascending, at most `limit`. */
  listAwaiting(realmId: RealmId, id: FileId, limit: number): Promise<readonly MessageId[]>;
  /** Which of these blobs belong to files or their thumbnails, of whatever realm. */
  filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>>;
  /**
   * Files, of whatever realm, to which no message has referred since before then; the longest unreferred first, at most `limit`.
   * `wasAttached`: those to which one referred once.
   */
  listUnreferenced(wasAttached: boolean, before: UnixSeconds, limit: number): Promise<readonly StoredFile[]>;
}

/** Every implementation passes file-repository.contract.ts. */
export interface FileRepository extends FileReads {
  /** Nothing refers to it yet. */
  add(file: NewFile): Promise<StoredFile>;
  /** From now on the message refers to these files. */
  attach(realmId: RealmId, messageId: MessageId, ids: readonly FileId[]): Promise<void>;
  /** From now on the message does not refer to these files any more. */
  detach(realmId: RealmId, messageId: MessageId, ids: readonly FileId[], at: UnixSeconds): Promise<void>;
  /** From now on these messages refer to no file. Answers to which they did; ascending. */
  detachAll(realmId: RealmId, messageIds: readonly MessageId[], at: UnixSeconds): Promise<readonly FileId[]>;
  /** What is known of an image now, with the thumbnails that there were none of before. */
  setImage(realmId: RealmId, id: FileId, image: FileImage, thumbnails: readonly StoredThumbnail[]): Promise<void>;
  /** The message shows a placeholder for each of these files. */
  awaitThumbnails(realmId: RealmId, messageId: MessageId, ids: readonly FileId[]): Promise<void>;
  /** These messages show no placeholder for the file any more. */
  endAwaiting(realmId: RealmId, id: FileId, messageIds: readonly MessageId[]): Promise<void>;
  /** A message refers to it after all, or something else does: it counts as unreferenced from then on. */
  postpone(realmId: RealmId, id: FileId, at: UnixSeconds): Promise<void>;
  /** With its thumbnails. Without effect where there is none. */
  remove(realmId: RealmId, id: FileId): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    files: [reads: FileReads, repository: FileRepository];
  }
}

export const FILE_ERRORS = declareErrors({
  UNKNOWN_FILE: 'unknown',
  FILE_TOO_LARGE: 'invalid',
  /** The organization's. */
  UPLOAD_QUOTA_EXCEEDED: 'conflict',
  OWN_UPLOAD_QUOTA_EXCEEDED: 'conflict',
  TOO_MANY_FILES: 'conflict',
  TOO_MANY_UPLOADS: 'conflict',
  UNKNOWN_UPLOAD: 'unknown',
  /** What the client says of a file is too long. */
  UPLOAD_METADATA_TOO_LONG: 'invalid',
  /** Made up, expired, or the file is gone. */
  INVALID_FILE_TOKEN: 'invalid',
  /** Not the name of the file that the token is for. */
  INVALID_FILE_NAME: 'invalid',
});

type FileErrors = typeof FILE_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends FileErrors {}
}

/** What clients show of a file. */
export type FileView = Pick<AttachedFile, 'id' | 'name' | 'pathId' | 'size' | 'createdAt' | 'messageIds'>;

/** To those whose files they are (users §16). `usedBytes`: of all files of the realm. */
export interface FileEventTypes {
  'file.added': { readonly file: FileView; readonly usedBytes: number };
  /** Other messages refer to it. */
  'file.changed': { readonly file: FileView; readonly usedBytes: number };
  'file.removed': { readonly id: FileId; readonly usedBytes: number };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends FileEventTypes {}
}

export const FILE_FEATURE = {
  eventFormats: {
    'file.added': 1,
    'file.changed': 1,
    'file.removed': 1,
  },
  notExported: {
    unfinishedUploads: 'They are finished where they began.',
  },
} satisfies FeatureParts<FileEventTypes>;

export const viewOfFile = ({ id, name, pathId, size, createdAt, messageIds }: AttachedFile): FileView => ({
  id,
  name,
  pathId,
  size,
  createdAt,
  messageIds,
});

/** Announces to the owners that other messages refer to their files. */
export async function publishFileChanges(tx: Transaction, realmId: RealmId, ids: readonly FileId[]): Promise<void> {
  if (ids.length === 0) return;
  const usedBytes = await tx.files.usedBytes(realmId);
  for (const file of await tx.files.listAttached(realmId, ids)) {
    await tx.events.append(realmId, {
      event: { type: 'file.changed', file: viewOfFile(file), usedBytes },
      audience: users([file.ownerId]),
    });
  }
}

/** Answers which blobs belong to nothing from then on. */
export async function removeFile(
  tx: Transaction,
  { realmId, id, ownerId, blob }: Pick<AttachedFile, 'realmId' | 'id' | 'ownerId' | 'blob'>,
): Promise<readonly BlobKey[]> {
  const thumbnails = await tx.files.listThumbnails(realmId, id);
  await tx.files.remove(realmId, id);
  await tx.events.append(realmId, {
    event: { type: 'file.removed', id, usedBytes: await tx.files.usedBytes(realmId) },
    audience: users([ownerId]),
  });
  return [blob, ...thumbnails.map((thumbnail) => thumbnail.blob)];
}

/** What a temporary address stands for. */
export interface FileTicket {
  readonly realmId: RealmId;
  readonly fileId: FileId;
  readonly expiresAt: UnixSeconds;
}

/** Makes texts of tickets that nobody else can make. Synchronous and quick. */
export interface FileTokens {
  /** URL-safe. */
  sign(ticket: FileTicket): string;
  /** Null: none that was signed. Whether it has expired is up to whoever asks. */
  verify(token: string): FileTicket | null;
}
