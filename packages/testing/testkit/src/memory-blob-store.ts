import type { BlobKey, BlobStore, ByteRange, StoredBlob } from '@parley/domain/files';
import type { Clock } from '@parley/domain/kernel';

/** Stores blobs in a map. */
export class MemoryBlobStore implements BlobStore {
  private readonly blobs = new Map<BlobKey, { readonly bytes: Uint8Array; readonly storedAtMs: number }>();

  constructor(private readonly clock: Pick<Clock, 'nowMs'>) {}

  contents(): readonly Uint8Array[] {
    return [...this.blobs.values()].map(({ bytes }) => bytes);
  }

  get size(): number {
    return this.blobs.size;
  }

  clear(): void {
    this.blobs.clear();
  }

  async put(key: BlobKey, content: AsyncIterable<Uint8Array>): Promise<number> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    this.blobs.set(key, { bytes, storedAtMs: this.clock.nowMs() });
    return bytes.length;
  }

  async sizeOf(key: BlobKey): Promise<number | null> {
    return this.blobs.get(key)?.bytes.length ?? null;
  }

  async *read(key: BlobKey, { start, end }: ByteRange): AsyncGenerator<Uint8Array> {
    const blob = this.blobs.get(key);
    if (!blob) throw new Error('The blob does not exist');
    if (start < end) yield blob.bytes.subarray(start, end);
  }

  async remove(key: BlobKey): Promise<void> {
    this.blobs.delete(key);
  }

  async removeUnfinished(): Promise<void> {}

  async list(after: BlobKey | null, limit: number): Promise<readonly StoredBlob[]> {
    return [...this.blobs]
      .filter(([key]) => after === null || key > after)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, limit)
      .map(([key, { storedAtMs }]) => ({ key, storedAtMs }));
  }
}
