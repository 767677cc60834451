export { storageContracts } from './all-contracts.js';
export { blobStoreContract } from './blob-store.contract.js';
export { busContract } from './bus.contract.js';
export { type ImageSample, imageProcessorContract } from './image-processor.contract.js';
export { partialBlobStoreContract } from './partial-blob-store.contract.js';
