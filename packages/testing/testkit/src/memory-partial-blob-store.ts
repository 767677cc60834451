import {
  type BlobKey,
  type BlobStore,
  type PartialBlobStore,
  type StoredBlob,
  uploadConflict,
} from '@parley/domain/files';
import type { Clock } from '@parley/domain/kernel';

/** Stores partial blobs in a map. */
export class MemoryPartialBlobStore implements PartialBlobStore {
  private readonly parts = new Map<BlobKey, { readonly bytes: Buffer; readonly storedAtMs: number }>();

  constructor(
    private readonly blobs: BlobStore,
    private readonly clock: Pick<Clock, 'nowMs'>,
  ) {}

  get size(): number {
    return this.parts.size;
  }

  clear(): void {
    this.parts.clear();
  }

  async sizeOf(key: BlobKey): Promise<number> {
    return this.parts.get(key)?.bytes.length ?? 0;
  }

  async append(key: BlobKey, offset: number, content: AsyncIterable<Uint8Array>): Promise<number> {
    const present = this.parts.get(key)?.bytes ?? Buffer.alloc(0);
    if (present.length !== offset) throw uploadConflict();
    const chunks: Uint8Array[] = [present];
    try {
      for await (const chunk of content) chunks.push(chunk);
    } finally {
      this.parts.set(key, { bytes: Buffer.concat(chunks), storedAtMs: this.clock.nowMs() });
    }
    return this.sizeOf(key);
  }

  async finish(key: BlobKey): Promise<void> {
    const bytes = this.parts.get(key)?.bytes;
    if (!bytes && (await this.blobs.sizeOf(key)) !== null) return;
    await this.blobs.put(
      key,
      (async function* () {
        if (bytes) yield bytes;
      })(),
    );
    this.parts.delete(key);
  }

  async remove(key: BlobKey): Promise<void> {
    this.parts.delete(key);
  }

  async list(after: BlobKey | null, limit: number): Promise<readonly StoredBlob[]> {
    return [...this.parts]
      .filter(([key]) => after === null || key > after)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, limit)
      .map(([key, { storedAtMs }]) => ({ key, storedAtMs }));
  }
}
