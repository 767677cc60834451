import type { Caller } from '../kernel/caller.js';
import { DomainError } from '../kernel/errors.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { describeHead } from './blob-receiver.js';
import type { BlobStore } from './blob-store.js';
import { type ContentTypes, HEAD_BYTES } from './content-type.js';
import type { StoredFile } from './file.js';
import { NewFiles } from './new-files.js';
import { type PartialBlobStore, type UnfinishedUpload, unknownUpload } from './unfinished-upload.js';

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
