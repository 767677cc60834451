import type { Randomness } from '../kernel/ports.js';
import { type BlobKey, type BlobStore, type ContentTypes, HEAD_BYTES } from './blobs.js';
import { type FileLimits, MIB } from './files.js';

/** Bytes that are safe, and belong to nothing yet. */
export interface ReceivedBlob {
  readonly key: BlobKey;
  /** In bytes. */
  readonly size: number;
  /** What its bytes are by themselves; null: nothing is known of such. */
  readonly recognizedType: string | null;
  /** Whether there are bytes at its beginning that no text has. */
  readonly isBinary: boolean;
}

/** Takes in what is uploaded, before anything is known of it. What nobody claims is swept away within hours. */
export class BlobReceiver {
  static readonly inject = ['blobStore', 'fileLimits', 'randomness', 'contentTypes'] as const;

  /** Of one blob. Whoever reads the content sees to it. */
  readonly maxBytes: number;

  constructor(
    private readonly blobs: BlobStore,
    limits: FileLimits,
    private readonly randomness: Randomness,
    private readonly contentTypes: ContentTypes,
  ) {
    this.maxBytes = limits.maxFileMib * MIB;
  }

  /** Resolves once the bytes are safe; keeps nothing when the content breaks off. */
  async receive(content: AsyncIterable<Uint8Array>): Promise<ReceivedBlob> {
    const key = newBlobKey(this.randomness);
    const head = new Head();
    const size = await this.blobs.put(key, head.watch(content));
    return { key, size, ...(await describeHead(head.bytes, this.contentTypes)) };
  }

  discard({ key }: Pick<ReceivedBlob, 'key'>): Promise<void> {
    return this.blobs.remove(key);
  }
}

export const newBlobKey = (randomness: Randomness): BlobKey => randomness.uuid().replaceAll('-', '') as BlobKey;

/** What the beginning of a content tells. */
export async function describeHead(
  head: Uint8Array,
  contentTypes: ContentTypes,
): Promise<Pick<ReceivedBlob, 'recognizedType' | 'isBinary'>> {
  return { recognizedType: await contentTypes.ofBytes(head), isBinary: head.includes(0) };
}

/** Keeps the beginning of what passes. */
class Head {
  private readonly kept = new Uint8Array(HEAD_BYTES);
  private length = 0;

  get bytes(): Uint8Array {
    return this.kept.subarray(0, this.length);
  }

  async *watch(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      if (this.length < HEAD_BYTES) {
        const part = chunk.subarray(0, HEAD_BYTES - this.length);
        this.kept.set(part, this.length);
        this.length += part.length;
      }
      yield chunk;
    }
  }
}
