import { BlobReceiver, DeleteFile, type FileUser, ListFiles, SweepFiles, UploadFile } from '@parley/domain/files';
import { CreateTemporaryFileUrl, ReadFile, ReadTemporaryFile } from '@parley/domain/messages';
import { picturesAsFileUser } from '@parley/domain/pictures';
import { scheduledMessagesAsFileUser } from '@parley/domain/scheduling';
import { ContainerModule } from 'inversify';
import { provide, provideFrom } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { blobStore, clock, fileLimits, fileTokens, randomness, unitOfWork } = TOKENS;

/** Who needs files beside messages. */
const FILE_USERS: readonly FileUser[] = [scheduledMessagesAsFileUser, picturesAsFileUser];

export const filesModule = new ContainerModule(({ bind }) => {
  provide(bind, BlobReceiver, blobStore, fileLimits, randomness);
  provide(bind, UploadFile, unitOfWork, fileLimits, randomness, clock);
  provide(bind, ListFiles, unitOfWork);
  provide(bind, DeleteFile, unitOfWork, blobStore);
  provide(bind, ReadFile, unitOfWork, blobStore);
  provide(bind, CreateTemporaryFileUrl, unitOfWork, fileTokens, clock);
  provide(bind, ReadTemporaryFile, unitOfWork, blobStore, fileTokens, clock);
  provideFrom(
    bind,
    SweepFiles,
    (uow, blobs, time) => new SweepFiles(uow, blobs, time, FILE_USERS),
    unitOfWork,
    blobStore,
    clock,
  );
});
