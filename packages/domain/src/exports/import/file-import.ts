import { newBlobKey } from '../../files/blob-receiver.js';
import type { BlobKey, BlobStore } from '../../files/blob-store.js';
import type { FileImage } from '../../files/file.js';
import { scheduleThumbnails, type Thumbnails } from '../../files/thumbnails.js';
import type { Clock, Randomness } from '../../kernel/clock.js';
import type { FileId, UserId } from '../../kernel/ids.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { FileCopy, RealmSource } from '../realm-copy.js';
import { IdMap, invalidImport } from './id-map.js';
import type { ImportedIds } from './imported-ids.js';

const FILES_AT_A_TIME = 100;

/** A file whose bytes are there. */
interface ReceivedFile {
  readonly copy: FileCopy;
  readonly ownerId: UserId;
  readonly blob: BlobKey;
  readonly size: number;
  readonly image: FileImage | null;
}

/** Files with their bytes. */
export class FileImport {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly thumbnails: Thumbnails,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
    private readonly ids: ImportedIds,
    private readonly source: RealmSource,
  ) {}

  async run(): Promise<{ readonly files: number; readonly missingFiles: number }> {
    const ids = new IdMap<FileId>('file', 'file');
    let files = 0;
    let missingFiles = 0;
    let received: ReceivedFile[] = [];
    const flush = async () => {
      const batch = received;
      received = [];
      await this.uow.write(async (tx) => {
        for (const file of batch) await this.addFile(tx, ids, file);
      });
      files += batch.length;
    };
    for await (const copy of this.source.files()) {
      if (copy.content) received.push(await this.receive(copy, copy.content));
      else missingFiles++;
      if (received.length >= FILES_AT_A_TIME) await flush();
    }
    await flush();
    return { files, missingFiles };
  }

  /** @throws DomainError SERVER_BUSY */
  private async receive(copy: FileCopy, content: AsyncIterable<Uint8Array>): Promise<ReceivedFile> {
    const { contentType } = copy.file;
    const ownerId = this.ids.users.get(copy.file.ownerId);
    const blob = newBlobKey(this.randomness);
    const size = await this.blobs.put(blob, content);
    return { copy, ownerId, blob, size, image: await this.thumbnails.inspect({ blob, size, contentType, ownerId }) };
  }

  private async addFile(tx: Transaction, ids: IdMap<FileId>, { copy, ...received }: ReceivedFile): Promise<void> {
    const { id, ...file } = copy.file;
    const pathId = this.ids.rewriter.pathId(file.pathId);
    if (pathId === null) throw invalidImport(`The file ${file.pathId} is of another organization.`);
    const row = { ...file, ...received, realmId: this.ids.realmId, pathId };
    const added = await ids.add(tx, id, () => tx.files.add(row));
    for (const messageId of copy.messageIds) {
      await tx.files.attach(this.ids.realmId, this.ids.messages.get(messageId), [added.id]);
      // It may have been sent shortly before the export.
      if (added.image) await tx.files.awaitThumbnails(this.ids.realmId, this.ids.messages.get(messageId), [added.id]);
      await tx.yield();
    }
    if (added.image) await scheduleThumbnails(tx, added, this.clock);
  }
}
