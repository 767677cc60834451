import type { FileImage, FileReads, StoredFile, StoredThumbnail } from '../../files/file.js';
import {
  MAKE_THUMBNAILS,
  scheduleFile,
  scheduleThumbnails,
  Thumbnails,
  type ThumbnailsPayload,
} from '../../files/thumbnails.js';
import type { Clock } from '../../kernel/clock.js';
import type { FileId, RealmId } from '../../kernel/ids.js';
import type { Job } from '../../kernel/job.js';
import type { JobHandler, JobWork } from '../../kernel/job-handler.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { RenderedMessages } from '../../markdown/markdown.js';
import { spellingsOf, uploadOfFile } from '../linked-uploads.js';
import { messageWatchers } from '../message-audiences.js';

/** Of one unit; a further one goes on. */
const MESSAGES_AT_A_TIME = 50;

/** Makes thumbnails of an image, and shows them in the messages that have placeholders for them (markdown §15.2). */
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
    const file = await this.uow.read((reads) => findFile(reads, realmId, payload));
    const isPending = file !== null && (file.image === null || file.image.thumbnail === 'pending');
    const made = isPending ? await this.thumbnails.make(file) : null;
    return async (tx) => {
      if (file && isPending) await this.store(tx, file, made);
      if (file) await this.showIn(tx, realmId, file.id);
      await this.goOn(tx, realmId, payload);
    };
  }

  /** The image ends every attempt at it, or takes longer than any may take. */
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
    const ids = await tx.files.listAwaiting(realmId, fileId, MESSAGES_AT_A_TIME);
    const messages = await tx.messages.list(realmId, ids);
    const channelIds = new Set(messages.flatMap(({ channelId }) => channelId ?? []));
    const channels = new Map((await tx.channels.list(realmId, [...channelIds])).map((one) => [one.id, one]));
    for (const message of messages) {
      const rendered = this.rendered.showThumbnails(message.renderedContent, (path) =>
        spellingsOf(path).includes(file.pathId) ? upload : null,
      );
      if (rendered === message.renderedContent) continue;
      await tx.messages.rerender(realmId, message.id, rendered);
      await tx.events.append(realmId, {
        event: {
          type: 'message.rerendered',
          messageId: message.id,
          at: this.clock.now(),
          content: message.content,
          rendered,
        },
        audience: messageWatchers(
          message,
          message.channelId === null ? null : (channels.get(message.channelId) ?? null),
        ),
        quotes: message.id,
      });
      await tx.yield();
    }
    await tx.files.endAwaiting(realmId, fileId, ids);
    if (ids.length === MESSAGES_AT_A_TIME) await scheduleFile(tx, file, this.clock);
  }
}

const findFile = (
  { files }: { readonly files: Pick<FileReads, 'find' | 'findPendingImage'> },
  realmId: RealmId,
  { fileId, ownerId }: ThumbnailsPayload,
): Promise<StoredFile | null> =>
  ownerId === null ? files.find(realmId, fileId) : files.findPendingImage(realmId, ownerId, fileId);
