import type { Caller } from '../../kernel/caller.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { ReceivedBlob } from '../blob-receiver.js';
import { type FileLimits, fileTooLarge, nameOfFile, type StoredFile } from '../file.js';
import { NewFiles } from '../new-files.js';

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
  static readonly inject = ['unitOfWork', 'fileLimits', NewFiles] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly limits: FileLimits,
    private readonly newFiles: NewFiles,
  ) {}

  /** @throws DomainError FILE_TOO_LARGE, UPLOAD_QUOTA_EXCEEDED, OWN_UPLOAD_QUOTA_EXCEEDED, TOO_MANY_FILES, SERVER_BUSY */
  async execute(caller: Caller, { blob, claimedType, ...input }: UploadFileInput): Promise<StoredFile> {
    const name = nameOfFile(input.name);
    const content = blob && (await this.newFiles.describe(caller.userId, blob, name, claimedType));
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      if (!content) throw fileTooLarge(this.limits.maxFileMib);
      return this.newFiles.add(tx, actor, this.newFiles.newPath(actor.realmId, name), content);
    });
  }
}
