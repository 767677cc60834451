import { type BlobKey, isBlobKey, type PartialBlobStore, type StoredBlob, uploadConflict } from '@parley/domain/files';
import type { S3BlobStore } from './s3-blob-store.js';

/** Size of a part; one is in memory per upload. */
const PART_BYTES = 8 * 1024 * 1024;
const FOLDER = 'uploads/';
/** Digits of the offset in a name, so that names sort by offset. */
const DIGITS = 15;

interface Part {
  readonly name: string;
  readonly offset: number;
  readonly size: number;
}

/**
 * Stores partial blobs in the same bucket as the blobs, so that any server can receive the next bytes. Services cannot
 * append to objects, so each part is an object named after its offset. Large parts use multipart uploads.
 */
export class S3PartialBlobStore implements PartialBlobStore {
  private readonly finishing = new Map<BlobKey, Promise<void>>();

  constructor(private readonly blobs: S3BlobStore) {}

  async sizeOf(key: BlobKey): Promise<number> {
    return endOf(await this.partsOf(key));
  }

  async append(key: BlobKey, offset: number, content: AsyncIterable<Uint8Array>): Promise<number> {
    if ((await this.sizeOf(key)) !== offset) throw uploadConflict();
    let size = offset;
    let pieces: Uint8Array[] = [];
    let bytes = 0;
    const store = async () => {
      if (bytes === 0) return;
      await this.blobs.putObject(`${folderOf(key)}${String(size).padStart(DIGITS, '0')}`, Buffer.concat(pieces, bytes));
      size += bytes;
      [pieces, bytes] = [[], 0];
    };
    try {
      for await (const piece of content) {
        pieces.push(piece);
        bytes += piece.length;
        if (bytes >= PART_BYTES) await store();
      }
    } finally {
      await store();
    }
    return size;
  }

  async finish(key: BlobKey): Promise<void> {
    let running = this.finishing.get(key);
    if (!running) {
      running = this.finishNow(key).finally(() => this.finishing.delete(key));
      this.finishing.set(key, running);
    }
    return running;
  }

  /** Received bytes. */
  async *content(key: BlobKey): AsyncGenerator<Uint8Array> {
    yield* this.read(await this.partsOf(key));
  }

  async remove(key: BlobKey): Promise<void> {
    for await (const { name } of this.blobs.listObjects(folderOf(key), null)) await this.blobs.removeObject(name);
  }

  async list(after: BlobKey | null, limit: number): Promise<readonly StoredBlob[]> {
    const found = new Map<BlobKey, StoredBlob>();
    // Sorts after every part of the key.
    const start = after === null ? null : `${FOLDER}${after}0`;
    for await (const { name, storedAtMs } of this.blobs.listObjects(FOLDER, start)) {
      const key = name.slice(FOLDER.length).split('/')[0]!;
      if (!isBlobKey(key)) continue;
      if (found.size === limit && !found.has(key)) break;
      found.set(key, { key, storedAtMs: Math.max(storedAtMs, found.get(key)?.storedAtMs ?? 0) });
    }
    return [...found.values()];
  }

  private async finishNow(key: BlobKey): Promise<void> {
    const parts = await this.partsOf(key);
    if (parts.length === 0 && (await this.blobs.sizeOf(key)) !== null) return;
    try {
      const stored = await this.blobs.complete(key, this.read(parts));
      if (stored !== endOf(parts)) throw uploadConflict();
    } catch (error) {
      // Another server may have finished the same upload and removed its parts.
      if ((await this.blobs.sizeOf(key)) !== endOf(parts)) throw error;
    }
    await this.remove(key);
  }

  private async *read(parts: readonly Part[]): AsyncGenerator<Uint8Array> {
    for (const { name } of parts) yield* this.blobs.readObject(name);
  }

  /** Returns the parts up to the first gap, without duplicates that another server has received. */
  private async partsOf(key: BlobKey): Promise<readonly Part[]> {
    const folder = folderOf(key);
    const parts: Part[] = [];
    for await (const { name, size } of this.blobs.listObjects(folder, null)) {
      const offset = Number(name.slice(folder.length));
      if (offset < endOf(parts)) continue;
      if (offset !== endOf(parts)) break;
      parts.push({ name, offset, size });
    }
    return parts;
  }
}

function folderOf(key: BlobKey): string {
  if (!isBlobKey(key)) throw new Error('Invalid blob key');
  return `${FOLDER}${key}/`;
}

function endOf(parts: readonly Part[]): number {
  const last = parts.at(-1);
  return last ? last.offset + last.size : 0;
}
