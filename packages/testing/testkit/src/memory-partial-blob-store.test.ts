import { partialBlobStoreContract } from './contracts/partial-blob-store.contract.js';
import { MemoryBlobStore } from './memory-blob-store.js';
import { MemoryPartialBlobStore } from './memory-partial-blob-store.js';

describe('MemoryPartialBlobStore', () =>
  partialBlobStoreContract(async () => {
    const clock = { nowMs: Date.now };
    const blobs = new MemoryBlobStore(clock);
    return { blobs, partials: new MemoryPartialBlobStore(blobs, clock), close: async () => {} };
  }));
