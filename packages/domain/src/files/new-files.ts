import type { Actor } from '../access/actor.js';
import { users } from '../kernel/event.js';
import type { Caller, RealmId } from '../kernel/ids.js';
import type { Clock, Randomness } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { WorkOwner } from '../kernel/work-queue.js';
import type { ReceivedBlob } from './blob-receiver.js';
import { type ContentTypes, contentTypeOf } from './blobs.js';
import {
  type FileLimits,
  fileTooLarge,
  MIB,
  type NewFile,
  nameOfFile,
  pathIdOf,
  requireRoomForFile,
  type StoredFile,
  viewOfFile,
} from './files.js';
import { scheduleThumbnails, Thumbnails } from './thumbnails.js';
import { VisitorFiles } from './visitor-files.js';

/** Properties of a new file with durable bytes. */
export type FileContent = Pick<NewFile, 'name' | 'blob' | 'size' | 'contentType' | 'image'>;

export interface UploadFileInput {
  /** Null if the upload was too large and discarded. */
  readonly blob: ReceivedBlob | null;
  /** Name given by the client. */
  readonly name: string;
  /** Type claimed by the client; empty if missing. */
  readonly claimedType: string;
}

/** Creates files from received bytes. */
export class NewFiles {
  static readonly inject = ['fileLimits', 'randomness', 'clock', 'contentTypes', Thumbnails, VisitorFiles] as const;
  constructor(
    private readonly limits: FileLimits,
    private readonly randomness: Randomness,
    private readonly clock: Clock,
    private readonly contentTypes: ContentTypes,
    private readonly thumbnails: Thumbnails,
    readonly visitors: VisitorFiles,
  ) {}

  /** Returns the end of the URL for a new file. */
  newPath(realmId: RealmId, name: string): string {
    return pathIdOf(realmId, name, `${this.randomness.uuid()}${this.randomness.uuid()}`.replaceAll('-', ''));
  }

  /** @throws DomainError FILE_TOO_LARGE and the codes of `describe` and `add` */
  async store(uow: UnitOfWork, caller: Caller, { blob, claimedType, ...input }: UploadFileInput): Promise<StoredFile> {
    const name = nameOfFile(input.name);
    const content = blob && (await this.describe(caller, blob, name, claimedType));
    return uow.write(
      caller.realmId,
      async (tx) => {
        const actor = await tx.actors.get(caller);
        if (!content) {
          // The receiver discards bytes for which a visitor has no room.
          await this.visitors.requireRoom(tx, actor.realmId, actor.id, this.limits.maxFileMib * MIB);
          throw fileTooLarge(this.limits.maxFileMib);
        }
        return this.add(tx, actor, this.newPath(actor.realmId, name), content);
      },
      { shared: { kind: 'uploads' } },
    );
  }

  /** Slow. @throws DomainError SERVER_BUSY */
  async describe(
    { realmId, userId: ownerId }: WorkOwner,
    { key, size, recognizedType, isBinary }: ReceivedBlob,
    name: string,
    claimed: string,
    keepsOriginal = false,
  ) {
    const ofName = this.contentTypes.ofName(name);
    const contentType = contentTypeOf({ recognized: recognizedType, isBinary, claimed, ofName });
    const prepared = await this.thumbnails.prepare({ realmId, ownerId, blob: key, size, contentType }, keepsOriginal);
    return { name, size, contentType, ...prepared } satisfies FileContent;
  }

  /**
   * Adds a file that only its owner may read until a message refers to it. @throws DomainError UPLOAD_QUOTA_EXCEEDED,
   * OWN_UPLOAD_QUOTA_EXCEEDED, TOO_MANY_FILES
   */
  async add(
    tx: Transaction,
    { realmId, id: ownerId }: Pick<Actor, 'realmId' | 'id'>,
    pathId: string,
    content: FileContent,
  ): Promise<StoredFile> {
    const ofAll = await tx.files.usedBytes(realmId);
    requireRoomForFile(this.limits, content.size, ofAll, await tx.files.spaceOf(realmId, ownerId));
    await this.visitors.take(tx, realmId, ownerId, content.size);
    const file = await tx.files.add({ realmId, ownerId, pathId, ...content, createdAt: this.clock.now() });
    const usedBytes = await tx.files.usedBytes(realmId);
    await tx.events.append(realmId, {
      event: { type: 'file.added', file: viewOfFile({ ...file, messageIds: [] }), usedBytes },
      audience: users([ownerId]),
    });
    if (file.image) await scheduleThumbnails(tx, file, this.clock);
    return file;
  }
}
