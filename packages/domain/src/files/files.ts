import { DomainError, declareErrors } from '../kernel/errors.js';
import { type FeatureParts, users } from '../kernel/event.js';
import type { FileId, MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Seed } from '../kernel/ports.js';
import { takeCodePoints } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { BlobKey } from './blobs.js';

/** Uploaded file. The bytes of its blob never change. */
export interface StoredFile {
  readonly id: FileId;
  readonly realmId: RealmId;
  /** `HIDDEN` if nobody may read the file. */
  readonly ownerId: UserId;
  /** Name given by the uploader. */
  readonly name: string;
  /** End of the file URL: `2/a3/{random}/cat.png`. */
  readonly pathId: string;
  readonly blob: BlobKey;
  /** Size in bytes. */
  readonly size: number;
  /** See `contentTypeOf`; browsers display only harmless types. */
  readonly contentType: string;
  readonly createdAt: UnixSeconds;
  /** Null if the file is not a displayable image. */
  readonly image: FileImage | null;
  /** Seed of temporary addresses. */
  readonly seed: Seed;
}

/** Properties of an image. */
export interface FileImage {
  /** Width and height in pixels as displayed, after applying the rotation from the metadata. */
  readonly width: number;
  readonly height: number;
  readonly isAnimated: boolean;
  /** State of the thumbnails; 'failed' means that the image cannot be displayed at all. */
  readonly thumbnail: 'pending' | 'ready' | 'failed';
}

/** Image derived from a file. Does not count as used space. */
export interface StoredThumbnail {
  /** For example, `840x560.webp`. */
  readonly name: string;
  readonly blob: BlobKey;
  /** Size in bytes. */
  readonly size: number;
}

export type NewFile = Omit<StoredFile, 'id' | 'seed'>;

/** File with the ids of messages that refer to it; ascending. */
export interface AttachedFile extends StoredFile {
  readonly messageIds: readonly MessageId[];
}

/** Limit per user. */
export const MAX_FILES = 20_000;
/** Maximum number of messages that can refer to one file; additional links grant no access. */
export const MAX_MESSAGES_OF_FILE = 1000;
/** Maximum number of files per message; additional links grant no access. */
export const MAX_FILES_OF_MESSAGE = 50;

/** Limits set by the operator. */
export interface FileLimits {
  /** Size of one file in MiB. */
  readonly maxFileMib: number;
  /** Total size of an organization's files in MiB; null for no limit. */
  readonly quotaMib: number | null;
  /** Total size of one user's files in MiB; null for no limit. */
  readonly userQuotaMib: number | null;
}

/** Number and total size of one user's files. */
export interface FileSpace {
  readonly count: number;
  readonly bytes: number;
}

export const MIB = 1024 * 1024;

/**
 * Requires room for one more file (messages §16.1). `usedBytes`: total size of the organization's files.
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
    throw ownQuotaExceeded();
  }
  if (own.count >= MAX_FILES) throw new DomainError('TOO_MANY_FILES', `Too many uploaded files (limit: ${MAX_FILES}).`);
}

export const ownQuotaExceeded = (): DomainError =>
  new DomainError('OWN_UPLOAD_QUOTA_EXCEEDED', 'Upload would exceed your upload quota.');

export const fileTooLarge = (maxMib: number): DomainError =>
  new DomainError(
    'FILE_TOO_LARGE',
    `File is larger than this server's configured maximum upload size (${maxMib} MiB).`,
  );

/** In code points. */
const MAX_NAME_LENGTH = 255;
const NAMELESS = 'uploaded-file';

/** Returns the stored name of a file, without a path and limited in length. */
export function nameOfFile(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1).replace(/\p{Cc}/gu, '');
  return last === '' ? NAMELESS : takeCodePoints(last, MAX_NAME_LENGTH);
}

/** Returns a name that is safe in URLs (messages §16.1). */
export function safeNameOf(name: string): string {
  const safe = name
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}_\s.-]/gu, '')
    .trim()
    .replace(/[-\s]+/g, '-');
  return safe === '' || safe === '.' || safe === '..' ? NAMELESS : takeCodePoints(safe, MAX_NAME_LENGTH);
}

const URL_SAFE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Returns `2/a3/{24 random characters}/cat.png`. `digits` holds at least 38 random hexadecimal digits. */
export function pathIdOf(realmId: RealmId, name: string, digits: string): string {
  const random = Array.from({ length: 12 }, (_, at) => {
    const value = Number.parseInt(digits.slice(2 + 3 * at, 5 + 3 * at), 16);
    return URL_SAFE.charAt(value >> 6) + URL_SAFE.charAt(value & 63);
  }).join('');
  return `${realmId}/${digits.slice(0, 2)}/${random}/${safeNameOf(name)}`;
}

/** @throws DomainError UNKNOWN_FILE */
export function requireOwnFile(file: StoredFile | null, userId: UserId): StoredFile {
  if (file?.ownerId === userId) return file;
  throw new DomainError('UNKNOWN_FILE', 'Invalid attachment');
}

export interface FileReads {
  /** Returns null for files of other realms. */
  find(realmId: RealmId, id: FileId): Promise<StoredFile | null>;
  /** Omits unknown paths and hidden files; ascending id. */
  listByPath(realmId: RealmId, pathIds: readonly string[]): Promise<readonly StoredFile[]>;
  /** Returns at most `limit` of the owner's files with ids above `after`, ascending. */
  list(realmId: RealmId, ownerId: UserId, after: number, limit: number): Promise<readonly AttachedFile[]>;
  /** Omits unknown files; ascending id. */
  listAttached(realmId: RealmId, ids: readonly FileId[]): Promise<readonly AttachedFile[]>;
  /** Returns the files that a message refers to; ascending. */
  listIdsOfMessage(realmId: RealmId, messageId: MessageId): Promise<readonly FileId[]>;
  /** The cost grows with the number of the owner's files. */
  spaceOf(realmId: RealmId, ownerId: UserId): Promise<FileSpace>;
  /**
   * Returns the owner's oldest image with pending thumbnails, starting at this file. The cost grows with the number of
   * files from there on.
   */
  findPendingImage(realmId: RealmId, ownerId: UserId, from: FileId): Promise<StoredFile | null>;
  /** Returns the total size of a realm's files in bytes. */
  usedBytes(realmId: RealmId): Promise<number>;
  /** Returns at most `limit` files of any realm with ids above `after`, ascending. */
  listAcross(after: number, limit: number): Promise<readonly StoredFile[]>;
  /** Returns the thumbnails of the file. */
  listThumbnails(realmId: RealmId, id: FileId): Promise<readonly StoredThumbnail[]>;
  /** Returns at most `limit` messages, ascending, that show a placeholder until the thumbnails are ready. */
  listAwaiting(realmId: RealmId, id: FileId, limit: number): Promise<readonly MessageId[]>;
  /** Returns the given blobs that belong to files or thumbnails, of any realm. */
  filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>>;
  /**
   * Returns at most `limit` files of any realm that have been unreferenced since before this time, longest first.
   * `wasAttached` selects files that were referenced once.
   */
  listUnreferenced(wasAttached: boolean, before: UnixSeconds, limit: number): Promise<readonly StoredFile[]>;
}

/** Every implementation passes file-repository.contract.ts. */
export interface FileRepository extends FileReads {
  /** Adds a file without references, with a new seed. */
  add(file: NewFile): Promise<StoredFile>;
  /** Adds references from the message to these files. */
  attach(realmId: RealmId, messageId: MessageId, ids: readonly FileId[]): Promise<void>;
  /** Removes references from the message to these files. */
  detach(realmId: RealmId, messageId: MessageId, ids: readonly FileId[], at: UnixSeconds): Promise<void>;
  /** Removes all references from these messages. Returns the affected files, ascending. */
  detachAll(realmId: RealmId, messageIds: readonly MessageId[], at: UnixSeconds): Promise<readonly FileId[]>;
  /** Has no effect on a missing file. */
  setBlob(realmId: RealmId, id: FileId, blob: BlobKey): Promise<void>;
  /** Updates the image properties and adds thumbnails. */
  setImage(realmId: RealmId, id: FileId, image: FileImage, thumbnails: readonly StoredThumbnail[]): Promise<void>;
  /** Records that the message shows a placeholder for each of these files. */
  awaitThumbnails(realmId: RealmId, messageId: MessageId, ids: readonly FileId[]): Promise<void>;
  /** Records that these messages no longer show a placeholder for the file. */
  endAwaiting(realmId: RealmId, id: FileId, messageIds: readonly MessageId[]): Promise<void>;
  /** Restarts the period without references, because the file is still in use. */
  postpone(realmId: RealmId, id: FileId, at: UnixSeconds): Promise<void>;
  /** Gives these files to another user of the realm. */
  changeOwner(realmId: RealmId, ids: readonly FileId[], ownerId: UserId): Promise<void>;
  /** Removes the references to the file and its owner. Has no effect on a missing file. */
  hide(realmId: RealmId, id: FileId, at: UnixSeconds): Promise<void>;
  /** Removes the file with its thumbnails. Has no effect on a missing file. */
  remove(realmId: RealmId, id: FileId): Promise<void>;
}

export const FILE_ERRORS = declareErrors({
  /** The file does not exist, or the caller may not change it; 404 for reading. */
  UNKNOWN_FILE: 'unknown',
  /** The file exceeds the server's size limit. */
  FILE_TOO_LARGE: 'invalid',
  /** The organization's quota is exceeded. */
  UPLOAD_QUOTA_EXCEEDED: 'conflict',
  /** The user's quota is exceeded, or that of all visitors. */
  OWN_UPLOAD_QUOTA_EXCEEDED: 'conflict',
  /** The user has too many files. */
  TOO_MANY_FILES: 'conflict',
  /** The user has too many unfinished uploads; 403 for resumable uploads. */
  TOO_MANY_UPLOADS: 'conflict',
  /** Unknown, expired, cancelled or another user's; 404 for resumable uploads. */
  UNKNOWN_UPLOAD: 'unknown',
  /** Another request continues or finishes the same resumable upload. */
  UPLOAD_CONFLICT: 'conflict',
  /** The metadata of the upload is too long; 413 for resumable uploads. */
  UPLOAD_METADATA_TOO_LONG: 'invalid',
  /** The temporary URL is invalid or expired, or its file is gone. */
  INVALID_FILE_TOKEN: 'invalid',
  /** The name does not match the temporary URL. */
  INVALID_FILE_NAME: 'invalid',
});

type FileErrors = typeof FILE_ERRORS;

/** File as shown by clients. */
export type FileView = Pick<AttachedFile, 'id' | 'name' | 'pathId' | 'size' | 'createdAt' | 'messageIds'>;

/** Sent to the file's owner (users §16). `usedBytes`: total size of the realm's files. */
export interface FileEventTypes {
  'file.added': { readonly file: FileView; readonly usedBytes: number };
  /** Published when the messages that refer to the file change. */
  'file.changed': { readonly file: FileView; readonly usedBytes: number };
  'file.removed': { readonly id: FileId; readonly usedBytes: number };
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    files: [reads: FileReads, repository: FileRepository];
  }
  interface ErrorCodes extends FileErrors {}
  interface DomainEventTypes extends FileEventTypes {}
}

export const FILE_FEATURE = {
  eventFormats: {
    'file.added': 1,
    'file.changed': 1,
    'file.removed': 1,
  },
  notExported: {
    fileTexts: 'They follow from files.',
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

/** Notifies owners that the references to their files changed. */
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

/** Removes the file and returns the blobs that are now unreferenced. */
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

/** Owner of files that were deleted but are kept for a hold. */
export const HIDDEN = 0 as UserId;

/** Deletes the file for everybody but keeps it until the sweep of unneeded files may remove it. */
export async function hideFile(
  tx: Transaction,
  { realmId, id, ownerId }: Pick<AttachedFile, 'realmId' | 'id' | 'ownerId'>,
  at: UnixSeconds,
): Promise<readonly BlobKey[]> {
  await tx.files.hide(realmId, id, at);
  await tx.events.append(realmId, {
    event: { type: 'file.removed', id, usedBytes: await tx.files.usedBytes(realmId) },
    audience: users([ownerId]),
  });
  return [];
}
