export { FolderBlobStore } from './folder-blob-store.js';
