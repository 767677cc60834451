export { FolderBlobStore } from './folder-blob-store.js';
export { FolderPartialBlobStore } from './folder-partial-blob-store.js';
