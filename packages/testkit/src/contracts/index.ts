export { storageContracts } from './all-contracts.js';
export { blobStoreContract } from './blob-store.contract.js';
