import type { Randomness } from '../shared/clock.js';
import type { BlobKey, BlobStore } from './blob-store.js';
import { type FileLimits, MIB } from './file.js';

/** Bytes that are safe, and belong to nothing yet. */
export interface ReceivedBlob {
  readonly key: BlobKey;
  /** In bytes. */
  readonly size: number;
}

/** Takes in what is uploaded, before anything is known of it. What nobody claims is swept away within hours. */
export class BlobReceiver {
  /** Of one blob. Whoever reads the content sees to it. */
  readonly maxBytes: number;

  constructor(
    private readonly blobs: BlobStore,
    limits: FileLimits,
    private readonly randomness: Randomness,
  ) {
    this.maxBytes = limits.maxFileMib * MIB;
  }

  /** Resolves once the bytes are safe; keeps nothing when the content breaks off. */
  async receive(content: AsyncIterable<Uint8Array>): Promise<ReceivedBlob> {
    const key = this.randomness.uuid().replaceAll('-', '') as BlobKey;
    return { key, size: await this.blobs.put(key, content) };
  }

  discard({ key }: ReceivedBlob): Promise<void> {
    return this.blobs.remove(key);
  }
}
