import { exportsAsFileUser } from '@parley/domain/exports';
import {
  BeginUpload,
  BlobReceiver,
  CancelUpload,
  ContinueUpload,
  DeleteFile,
  type FileUser,
  FindUpload,
  FinishUpload,
  ListFiles,
  NewFiles,
  ResumableUploads,
  SweepFiles,
  Thumbnails,
  UploadFile,
  UploadFinisher,
} from '@parley/domain/files';
import {
  CreateTemporaryFileUrl,
  MakeThumbnails,
  ReadFile,
  ReadTemporaryFile,
  ReadThumbnail,
  SpectateFile,
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
  partialBlobStore,
  randomness,
  renderedMessages,
  serverChannelConfig,
  spectatedFiles,
  unitOfWork,
} = TOKENS;

/** Who needs files beside messages. */
const FILE_USERS: readonly FileUser[] = [scheduledMessagesAsFileUser, picturesAsFileUser, exportsAsFileUser];

export const filesModule = new ContainerModule(({ bind }) => {
  provide(bind, BlobReceiver, blobStore, fileLimits, randomness, contentTypes);
  provide(bind, Thumbnails, blobStore, imageProcessor, randomness);
  provide(bind, MakeThumbnails, unitOfWork, Thumbnails, renderedMessages, clock);
  provideAs(bind, LISTS.jobHandler, MakeThumbnails);
  provide(bind, NewFiles, fileLimits, randomness, clock, contentTypes, Thumbnails);
  provide(bind, UploadFile, unitOfWork, fileLimits, NewFiles);
  provide(bind, UploadFinisher, unitOfWork, partialBlobStore, blobStore, NewFiles, contentTypes);
  provide(bind, BeginUpload, unitOfWork, fileLimits, NewFiles, randomness, clock);
  provide(bind, FindUpload, unitOfWork, UploadFinisher, clock);
  provide(bind, ContinueUpload, unitOfWork, partialBlobStore, clock);
  provide(bind, FinishUpload, unitOfWork, UploadFinisher, clock);
  provide(bind, CancelUpload, unitOfWork, UploadFinisher, clock);
  provide(bind, ResumableUploads, BeginUpload, FindUpload, ContinueUpload, FinishUpload, CancelUpload);
  provide(bind, ListFiles, unitOfWork);
  provide(bind, DeleteFile, unitOfWork, blobStore);
  provide(bind, ReadFile, unitOfWork, blobStore);
  provide(bind, ReadThumbnail, unitOfWork, blobStore);
  provide(bind, SpectateFile, unitOfWork, blobStore, serverChannelConfig, spectatedFiles);
  provide(bind, CreateTemporaryFileUrl, unitOfWork, fileTokens, clock);
  provide(bind, ReadTemporaryFile, unitOfWork, blobStore, fileTokens, clock);
  provideFrom(
    bind,
    SweepFiles,
    (uow, blobs, partials, time) => new SweepFiles(uow, blobs, partials, time, FILE_USERS),
    unitOfWork,
    blobStore,
    partialBlobStore,
    clock,
  );
});
