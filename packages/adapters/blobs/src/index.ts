export { type FilesListener, hashing } from './durable-files.js';
export { FolderBlobStore } from './folder-blob-store.js';
export { FolderPartialBlobStore } from './folder-partial-blob-store.js';
export { S3BlobStore, type S3Location } from './s3-blob-store.js';
export { S3PartialBlobStore } from './s3-partial-blob-store.js';
