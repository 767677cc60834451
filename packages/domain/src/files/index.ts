import './file-errors.js';

export { BlobReceiver, type ReceivedBlob } from './blob-receiver.js';
export {
  type BlobContent,
  type BlobKey,
  type BlobStore,
  type ByteRange,
  isBlobKey,
  type StoredBlob,
} from './blob-store.js';
export type { ContentTypes } from './content-type.js';
export type {
  AttachedFile,
  FileImage,
  FileLimits,
  FileRepository,
  FileSpace,
  NewFile,
  StoredFile,
  StoredThumbnail,
} from './file.js';
export { type FileEventTypes, type FileView, viewOfFile } from './file-events.js';
export type { FileTicket, FileTokens } from './file-tokens.js';
export { ANIMATED_THUMBNAIL, STILL_THUMBNAIL, THUMBNAIL_SIZE } from './thumbnails.js';
export type { PartialBlobStore, UnfinishedUpload, UnfinishedUploadRepository } from './unfinished-upload.js';
export * from './use-cases/delete-file.js';
export * from './use-cases/list-files.js';
export * from './use-cases/resumable-uploads.js';
export * from './use-cases/sweep-files.js';
export * from './use-cases/upload-file.js';
