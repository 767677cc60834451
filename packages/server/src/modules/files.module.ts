import {
  BlobReceiver,
  DeleteFile,
  type FileUser,
  ListFiles,
  SweepFiles,
  Thumbnails,
  UploadFile,
} from '@parley/domain/files';
import {
  CreateTemporaryFileUrl,
  MakeThumbnails,
  ReadFile,
  ReadTemporaryFile,
  ReadThumbnail,
} from '@parley/domain/messages';
import { picturesAsFileUser } from '@parley/domain/pictures';
import { scheduledMessagesAsFileUser } from '@parley/domain/scheduling';
import { ContainerModule } from 'inversify';
import { provide, provideAs, provideFrom } from '../provide.js';
import { LISTS, TOKENS } from '../tokens.js';

const {
  blobStore,
  clock,
  contentTypes,
  fileLimits,
  fileTokens,
  imageProcessor,
  randomness,
  renderedMessages,
  unitOfWork,
} = TOKENS;

/** Who needs files beside messages. */
const FILE_USERS: readonly FileUser[] = [scheduledMessagesAsFileUser, picturesAsFileUser];

export const filesModule = new ContainerModule(({ bind }) => {
  provide(bind, BlobReceiver, blobStore, fileLimits, randomness, contentTypes);
  provide(bind, Thumbnails, blobStore, imageProcessor, randomness);
  provide(bind, MakeThumbnails, unitOfWork, Thumbnails, renderedMessages, clock);
  provideAs(bind, LISTS.jobHandler, MakeThumbnails);
  provide(bind, UploadFile, unitOfWork, fileLimits, randomness, clock, contentTypes, Thumbnails);
  provide(bind, ListFiles, unitOfWork);
  provide(bind, DeleteFile, unitOfWork, blobStore);
  provide(bind, ReadFile, unitOfWork, blobStore);
  provide(bind, ReadThumbnail, unitOfWork, blobStore);
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
