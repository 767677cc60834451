import type { RealmId, UserId } from '../kernel/ids.js';
import type { Randomness } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { type BlobKey, type BlobStore, type ContentTypes, HEAD_BYTES } from './blobs.js';
import { type FileLimits, MIB } from './files.js';
import { VisitorFiles } from './visitor-files.js';

/** Durably stored bytes that are not referenced yet. */
export interface ReceivedBlob {
  readonly key: BlobKey;
  /** Size in bytes. */
  readonly size: number;
  /** Content type detected from the bytes; null if unknown. */
  readonly recognizedType: string | null;
  /** True if the first bytes cannot be text. */
  readonly isBinary: boolean;
}

/** Receives uploads before anything is known about them. Unclaimed blobs are swept within hours. */
export class BlobReceiver {
  static readonly inject = [
    'blobStore',
    'fileLimits',
    'randomness',
    'contentTypes',
    'unitOfWork',
    VisitorFiles,
  ] as const;

  /** Maximum size of one blob, enforced by the reader of the content. */
  readonly maxBytes: number;

  constructor(
    private readonly blobs: BlobStore,
    limits: FileLimits,
    private readonly randomness: Randomness,
    private readonly contentTypes: ContentTypes,
    private readonly uow: UnitOfWork,
    private readonly visitors: VisitorFiles,
  ) {
    this.maxBytes = limits.maxFileMib * MIB;
  }

  /** Returns the bytes that this user may still upload; infinite unless they are a visitor. */
  roomFor({ realmId, userId }: { readonly realmId: RealmId; readonly userId: UserId }): Promise<number> {
    return this.uow.read(realmId, (reads) => this.visitors.roomFor(reads, realmId, userId));
  }

  /** Resolves once the bytes are durable; keeps nothing if the stream is interrupted. */
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

/** Describes content by its first bytes. */
export async function describeHead(
  head: Uint8Array,
  contentTypes: ContentTypes,
): Promise<Pick<ReceivedBlob, 'recognizedType' | 'isBinary'>> {
  return { recognizedType: await contentTypes.ofBytes(head), isBinary: head.includes(0) };
}

/** Keeps the first bytes of a stream. */
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
