import { users } from '../../events/audience.js';
import type { Caller } from '../../shared/caller.js';
import type { Clock, Randomness } from '../../shared/clock.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import type { ReceivedBlob } from '../blob-receiver.js';
import { type ContentTypes, contentTypeOf } from '../content-type.js';
import { type FileLimits, fileTooLarge, nameOfFile, pathIdOf, requireRoomForFile, type StoredFile } from '../file.js';
import { viewOfFile } from '../file-events.js';
import { scheduleThumbnails, type Thumbnails } from '../thumbnails.js';

export interface UploadFileInput {
  /** Null: it was too large, so that nothing was kept. */
  readonly blob: ReceivedBlob | null;
  /** As the client calls it. */
  readonly name: string;
  /** As the client claims; empty: it does not. */
  readonly claimedType: string;
}

/** Makes a file of bytes that were received (messages §16.1). Nobody else may read it until a message refers to it. */
export class UploadFile {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly limits: FileLimits,
    private readonly randomness: Randomness,
    private readonly clock: Clock,
    private readonly contentTypes: ContentTypes,
    private readonly thumbnails: Thumbnails,
  ) {}

  /** @throws DomainError FILE_TOO_LARGE, UPLOAD_QUOTA_EXCEEDED, TOO_MANY_FILES, SERVER_BUSY */
  async execute(caller: Caller, { blob, claimedType, ...input }: UploadFileInput): Promise<StoredFile> {
    const name = nameOfFile(input.name);
    const digits = `${this.randomness.uuid()}${this.randomness.uuid()}`.replaceAll('-', '');
    const content = blob && (await this.describe(blob, name, claimedType));
    return this.uow.write(async (tx) => {
      const { realmId, id: ownerId } = await tx.actors.get(caller);
      if (!blob || !content) throw fileTooLarge(this.limits.maxFileMib);
      requireRoomForFile(this.limits, blob.size, {
        usedBytes: await tx.files.usedBytes(realmId),
        count: await tx.files.count(realmId, ownerId),
      });
      const file = await tx.files.add({
        realmId,
        ownerId,
        name,
        pathId: pathIdOf(realmId, name, digits),
        blob: blob.key,
        size: blob.size,
        ...content,
        createdAt: this.clock.now(),
      });
      const usedBytes = await tx.files.usedBytes(realmId);
      await tx.events.append(realmId, {
        event: { type: 'file.added', file: viewOfFile({ ...file, messageIds: [] }), usedBytes },
        audience: users([ownerId]),
      });
      if (file.image) await scheduleThumbnails(tx, file, this.clock);
      return file;
    });
  }

  private async describe(blob: ReceivedBlob, name: string, claimed: string) {
    const contentType = contentTypeOf({
      recognized: blob.recognizedType,
      isBinary: blob.isBinary,
      claimed,
      ofName: this.contentTypes.ofName(name),
    });
    return { contentType, image: await this.thumbnails.inspect({ blob: blob.key, size: blob.size, contentType }) };
  }
}
