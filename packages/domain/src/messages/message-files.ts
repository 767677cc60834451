import type { Channel } from '../channels/channel.js';
import type { BlobContent, BlobStore, ByteRange } from '../files/blobs.js';
import {
  type AttachedFile,
  type FileImage,
  type FileReads,
  HIDDEN,
  MAX_FILES_OF_MESSAGE,
  MAX_MESSAGES_OF_FILE,
  publishFileChanges,
  type StoredFile,
  type StoredThumbnail,
} from '../files/files.js';
import {
  ANIMATED_THUMBNAIL,
  MAKE_THUMBNAILS,
  STILL_THUMBNAIL,
  scheduleFile,
  scheduleThumbnails,
  Thumbnails,
  type ThumbnailsPayload,
  transcodedFormatOf,
} from '../files/thumbnails.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, FileId, RealmId, TokenScope, UnixSeconds } from '../kernel/ids.js';
import type { Job, JobHandler, JobWork } from '../kernel/jobs.js';
import type { Clock, TicketTokens } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { RenderedMessages, StoredUpload } from '../markdown/markdown.js';
import type { User } from '../users/user.js';
import { canReadFile } from './file-access.js';
import type { Message } from './message.js';
import { messageWatchers } from './message-delivery.js';

/** Returns the spellings of a path; links may contain non-ASCII characters literally or percent-encoded. */
export function spellingsOf(path: string): readonly string[] {
  if (!path.includes('%')) return [path];
  try {
    return [path, decodeURIComponent(path)];
  } catch {
    return [path];
  }
}

/** Returns the display data of a linked file (markdown §15.2). */
export function uploadOfFile({ contentType, image }: Pick<StoredFile, 'contentType' | 'image'>): StoredUpload {
  if (!image) return { contentType, image: null };
  const { width, height, isAnimated, thumbnail } = image;
  const shown = { width, height, isAnimated };
  if (thumbnail !== 'ready') return { contentType, image: { ...shown, thumbnail } };
  const ready = {
    format: isAnimated ? ANIMATED_THUMBNAIL : STILL_THUMBNAIL,
    transcodedFormat: transcodedFormatOf(contentType, image),
  };
  return { contentType, image: { ...shown, thumbnail: ready } };
}

/** Resolves the upload links of a text (markdown §15.2), keyed by path as typed. */
export async function resolveUploads(
  { files }: Pick<Repositories | Transaction, 'files'>,
  realmId: RealmId,
  paths: ReadonlySet<string>,
): Promise<ReadonlyMap<string, StoredUpload>> {
  const uploads = new Map<string, StoredUpload>();
  if (paths.size === 0) return uploads;
  const found = await files.listByPath(realmId, [...paths].flatMap(spellingsOf));
  const byPath = new Map(found.map((file) => [file.pathId, file]));
  for (const path of paths) {
    const file = spellingsOf(path)
      .map((spelling) => byPath.get(spelling))
      .find((it) => it);
    if (file) uploads.set(path, uploadOfFile(file));
  }
  return uploads;
}

/** Records the pending thumbnails of a message, which will replace its placeholders. `paths` are as typed. */
export async function awaitThumbnails(
  tx: Transaction,
  { realmId, id }: Pick<Message, 'realmId' | 'id'>,
  paths: ReadonlySet<string>,
): Promise<void> {
  // Most messages have no uploads.
  if (paths.size === 0) return;
  const files = await tx.files.listByPath(realmId, [...paths].flatMap(spellingsOf));
  await tx.files.awaitThumbnails(
    realmId,
    id,
    files.map((file) => file.id),
  );
}

/**
 * Returns the linked files that a message from this sender attaches, by ascending id. The sender must have read access
 * (messages §4.2), within the scope of the token with which they send.
 */
export async function attachableFiles(
  tx: Transaction,
  { realmId, id }: Pick<User, 'realmId' | 'id'>,
  paths: ReadonlySet<string>,
  scope?: TokenScope,
): Promise<readonly FileId[]> {
  // Most messages have no uploads.
  if (paths.size === 0) return [];
  const actor = (await tx.actors.list(realmId, [id])).get(id);
  if (!actor) return [];
  const linked = await tx.files.listByPath(realmId, [...paths].flatMap(spellingsOf));
  const files = await tx.files.listAttached(
    realmId,
    linked.slice(0, MAX_FILES_OF_MESSAGE).map((file) => file.id),
  );
  const attachable: FileId[] = [];
  for (const file of files) {
    if (file.messageIds.length < MAX_MESSAGES_OF_FILE && (await canReadFile(tx, actor, file, scope)))
      attachable.push(file.id);
  }
  return attachable;
}

/** Attaches files to a new message and notifies their owners. */
export async function attachFiles(
  tx: Transaction,
  { realmId, id }: Pick<Message, 'realmId' | 'id'>,
  ids: readonly FileId[],
): Promise<void> {
  if (ids.length === 0) return;
  await tx.files.attach(realmId, id, ids);
  await publishFileChanges(tx, realmId, ids);
}

/** Attachments of an edited message. */
export interface FilesOfEdit {
  /** All attached files after the edit. */
  readonly present: readonly FileId[];
  readonly added: readonly FileId[];
  readonly removed: readonly FileId[];
}

export async function filesOfEdit(
  tx: Transaction,
  { realmId, id, senderId }: Pick<Message, 'realmId' | 'id' | 'senderId'>,
  paths: ReadonlySet<string>,
  scope?: TokenScope,
): Promise<FilesOfEdit> {
  const before = await tx.files.listIdsOfMessage(realmId, id);
  const present = await attachableFiles(tx, { realmId, id: senderId }, paths, scope);
  // Files stay attached as long as they are linked: the message itself grants its readers access.
  const linked = new Set(before.length === 0 ? [] : (await linkedFiles(tx, realmId, paths)).map((file) => file.id));
  const kept = before.filter((file) => linked.has(file));
  return {
    present: [...new Set([...kept, ...present])],
    added: present.filter((file) => !before.includes(file)),
    removed: before.filter((file) => !linked.has(file)),
  };
}

const linkedFiles = (tx: Transaction, realmId: Message['realmId'], paths: ReadonlySet<string>) =>
  tx.files.listByPath(realmId, [...paths].flatMap(spellingsOf));

/**
 * Attaches and detaches files for an edit and notifies their owners. Returns the sender's files without remaining
 * references.
 */
export async function changeAttachedFiles(
  tx: Transaction,
  { realmId, id, senderId }: Pick<Message, 'realmId' | 'id' | 'senderId'>,
  { added, removed }: FilesOfEdit,
  at: UnixSeconds,
): Promise<readonly AttachedFile[]> {
  if (added.length + removed.length === 0) return [];
  if (added.length > 0) await tx.files.attach(realmId, id, added);
  if (removed.length > 0) await tx.files.detach(realmId, id, removed, at);
  await publishFileChanges(tx, realmId, [...removed, ...added]);
  const detached = await tx.files.listAttached(realmId, removed);
  return detached.filter((file) => file.ownerId === senderId && file.messageIds.length === 0);
}

/** File with content that can be read in full or in part. */
export interface ReadableFile extends StoredFile {
  read(range: ByteRange): BlobContent;
}

/** Validity of a temporary URL (messages §16.2). */
const TICKET_SECONDS = 60;

/** Returns a file if the caller may read it (messages §16.2). */
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

/** Returns a thumbnail if the caller may read its image (messages §16.2). */
export class ReadThumbnail {
  static readonly inject = ['unitOfWork', 'blobStore'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
  ) {}

  /** `format`: thumbnail name. @throws DomainError UNKNOWN_FILE, CANNOT_VIEW_FILE */
  async execute(
    caller: Caller,
    { pathId, format }: { readonly pathId: string; readonly format: string },
  ): Promise<ReadableFile> {
    const file = await accessibleFile(this.uow, caller, pathId);
    const thumbnails = await this.uow.read(file.realmId, ({ files }) => files.listThumbnails(file.realmId, file.id));
    return openFile(thumbnailOf(file, thumbnails, format), this.blobs);
  }
}

/** Returns the thumbnail as a file. @throws DomainError UNKNOWN_FILE if no thumbnail has this name */
export function thumbnailOf(file: StoredFile, thumbnails: readonly StoredThumbnail[], format: string): StoredFile {
  const thumbnail = thumbnails.find(({ name }) => name === format);
  if (!thumbnail) throw unknownFile();
  const { blob, size } = thumbnail;
  return { ...file, name: `${file.name}.webp`, contentType: 'image/webp', blob, size };
}

/** Creates a URL that grants access to a file for one minute without credentials (messages §16.2). */
export class CreateTemporaryFileUrl {
  static readonly inject = ['unitOfWork', 'fileTokens', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly tokens: TicketTokens,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_FILE, CANNOT_VIEW_FILE */
  async execute(
    caller: Caller,
    { pathId }: { readonly pathId: string },
  ): Promise<{ readonly token: string; readonly name: string }> {
    const { id, realmId, seed } = await accessibleFile(this.uow, caller, pathId);
    const token = this.tokens.sign({ realmId, id, expiresAt: this.clock.now() + TICKET_SECONDS }, seed);
    return { token, name: lastOf(pathId) };
  }
}

/** Returns the file of a temporary URL. */
export class ReadTemporaryFile {
  static readonly inject = ['unitOfWork', 'blobStore', 'fileTokens', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly tokens: TicketTokens,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError INVALID_FILE_TOKEN, INVALID_FILE_NAME */
  async execute(
    { realmId }: { readonly realmId: RealmId | null },
    { token, name }: { readonly token: string; readonly name: string },
  ): Promise<ReadableFile> {
    const file = await this.tokens.find(token, async (ticket) => {
      if (ticket.realmId !== realmId || ticket.expiresAt <= this.clock.now()) return null;
      return this.uow.read(realmId, ({ files }) => files.find(realmId, ticket.id as FileId));
    });
    if (!file || file.ownerId === HIDDEN) throw invalidToken();
    if (lastOf(file.pathId) !== name) throw new DomainError('INVALID_FILE_NAME', 'Invalid filename');
    return openFile(file, this.blobs).catch((error) => {
      throw error instanceof DomainError ? invalidToken() : error;
    });
  }
}

const invalidToken = () => new DomainError('INVALID_FILE_TOKEN', 'Invalid token');

export const unknownFile = () => new DomainError('UNKNOWN_FILE', 'This file does not exist or has been deleted.');

const lastOf = (pathId: string): string => pathId.slice(pathId.lastIndexOf('/') + 1);

/** Opens the file; its content may be missing if the file was deleted concurrently. */
export async function openFile(file: StoredFile, blobs: BlobStore): Promise<ReadableFile> {
  if ((await blobs.sizeOf(file.blob)) === null) throw unknownFile();
  return { ...file, read: (range) => blobs.read(file.blob, range) };
}

/** @throws DomainError UNKNOWN_FILE, CANNOT_VIEW_FILE */
function accessibleFile(uow: UnitOfWork, caller: Caller, pathId: string): Promise<StoredFile> {
  return uow.read(caller.realmId, async (reads) => {
    const actor = await reads.actors.get(caller);
    const [found] = await reads.files.listByPath(actor.realmId, [pathId]);
    const [file] = found ? await reads.files.listAttached(actor.realmId, [found.id]) : [];
    if (!file) throw unknownFile();
    if (!(await canReadFile(reads, actor, file, caller.scope))) {
      throw new DomainError('CANNOT_VIEW_FILE', 'You are not authorized to view this file.');
    }
    return file;
  });
}

/**
 * Stores and publishes new HTML of an unchanged text; does nothing if the HTML is the same too. `channel` is null for
 * direct messages.
 */
export async function showRerendered(
  tx: Transaction,
  message: Message,
  channel: Channel | null,
  rendered: string,
  at: UnixSeconds,
): Promise<void> {
  const { realmId, id, content } = message;
  if (rendered === message.renderedContent) return;
  await tx.messages.rerender(realmId, id, rendered);
  await tx.events.append(realmId, {
    event: { type: 'message.rerendered', messageId: id, at, content, rendered },
    audience: messageWatchers(message, channel),
    quotes: id,
  });
}

/** Maximum number of messages per unit of work. */
const MESSAGES_PER_UPDATE = 50;

/** Creates thumbnails of an image and inserts them into messages with placeholders (markdown §15.2). */
export class MakeThumbnails implements JobHandler<ThumbnailsPayload> {
  static readonly inject = ['unitOfWork', Thumbnails, 'renderedMessages', 'clock'] as const;

  readonly kind = MAKE_THUMBNAILS;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly thumbnails: Thumbnails,
    private readonly rendered: RenderedMessages,
    private readonly clock: Clock,
  ) {}

  async prepare({ realmId, payload }: Job<ThumbnailsPayload>): Promise<JobWork> {
    const file = await this.uow.read(realmId, (reads) => findFile(reads, realmId, payload));
    const isPending = file !== null && (file.image === null || file.image.thumbnail === 'pending');
    const made = isPending ? await this.thumbnails.make(file) : null;
    return async (tx) => {
      if (file && isPending) await this.store(tx, file, made);
      if (file) await this.showIn(tx, realmId, file.id);
      await this.goOn(tx, realmId, payload);
    };
  }

  /** Marks an image as failed if every attempt crashes or times out. */
  async giveUp(tx: Transaction, { realmId, payload }: Job<ThumbnailsPayload>): Promise<void> {
    const file = await findFile(tx, realmId, payload);
    if (file) {
      await this.store(tx, file, null);
      await this.showIn(tx, realmId, file.id);
    }
    await this.goOn(tx, realmId, payload);
  }

  private async goOn(tx: Transaction, realmId: RealmId, { fileId, ownerId }: ThumbnailsPayload): Promise<void> {
    const next = ownerId === null ? null : await tx.files.findPendingImage(realmId, ownerId, fileId);
    if (next) await scheduleThumbnails(tx, next, this.clock);
  }

  private async store(
    tx: Transaction,
    { realmId, id, image }: StoredFile,
    made: { readonly image: FileImage; readonly thumbnails: readonly StoredThumbnail[] } | null,
  ): Promise<void> {
    if (made) await tx.files.setImage(realmId, id, made.image, made.thumbnails);
    else if (image) await tx.files.setImage(realmId, id, { ...image, thumbnail: 'failed' }, []);
  }

  private async showIn(tx: Transaction, realmId: RealmId, fileId: FileId): Promise<void> {
    const file = await tx.files.find(realmId, fileId);
    if (!file) return;
    const upload = uploadOfFile(file);
    const ids = await tx.files.listAwaiting(realmId, fileId, MESSAGES_PER_UPDATE);
    const messages = await tx.messages.list(realmId, ids);
    const channelIds = new Set(messages.flatMap(({ channelId }) => channelId ?? []));
    const channels = new Map((await tx.channels.list(realmId, [...channelIds])).map((one) => [one.id, one]));
    for (const message of messages) {
      const rendered = this.rendered.showThumbnails(message.renderedContent, (path) =>
        spellingsOf(path).includes(file.pathId) ? upload : null,
      );
      const channel = message.channelId === null ? null : (channels.get(message.channelId) ?? null);
      await showRerendered(tx, message, channel, rendered, this.clock.now());
    }
    await tx.files.endAwaiting(realmId, fileId, ids);
    if (ids.length === MESSAGES_PER_UPDATE) await scheduleFile(tx, file, this.clock);
  }
}

const findFile = (
  { files }: { readonly files: Pick<FileReads, 'find' | 'findPendingImage'> },
  realmId: RealmId,
  { fileId, ownerId }: ThumbnailsPayload,
): Promise<StoredFile | null> =>
  ownerId === null ? files.find(realmId, fileId) : files.findPendingImage(realmId, ownerId, fileId);
