import { createReadStream } from 'node:fs';
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type BlobKey,
  type BlobStore,
  isBlobKey,
  type PartialBlobStore,
  type StoredBlob,
  uploadConflict,
} from '@parley/domain/files';
import { FolderDisk, isMissing, namesIn, syncFolder, writeAll } from './durable-files.js';
import { FolderBlobStore } from './folder-blob-store.js';

/** Maximum unsynced bytes at a system failure. The file size never includes missing bytes. */
const SYNC_EVERY = 16 * 1024 * 1024;

/** Stores partial blobs as files in a folder, readable only by the server's user. */
export class FolderPartialBlobStore implements PartialBlobStore {
  private readonly disk: FolderDisk;

  constructor(
    private readonly folder: string,
    /** A folder store on the same file system adopts the file itself; other stores receive its bytes. */
    private readonly blobs: BlobStore,
  ) {
    this.disk = blobs instanceof FolderBlobStore ? blobs.disk : new FolderDisk(folder);
  }

  async sizeOf(key: BlobKey): Promise<number> {
    try {
      return (await stat(this.pathOf(key))).size;
    } catch (error) {
      if (isMissing(error)) return 0;
      throw error;
    }
  }

  append(key: BlobKey, offset: number, content: AsyncIterable<Uint8Array>): Promise<number> {
    return this.disk.saving(() => this.write(key, offset, content));
  }

  finish(key: BlobKey): Promise<void> {
    return this.disk.saving(() => this.complete(key));
  }

  private async write(key: BlobKey, offset: number, content: AsyncIterable<Uint8Array>): Promise<number> {
    const path = this.pathOf(key);
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const file = await open(path, 'a', 0o600);
    let size = (await file.stat()).size;
    try {
      if (size !== offset) throw uploadConflict();
      let unsynced = 0;
      for await (const chunk of content) {
        await writeAll(file, chunk);
        size += chunk.length;
        unsynced += chunk.length;
        if (unsynced < SYNC_EVERY) continue;
        await file.datasync();
        unsynced = 0;
      }
    } finally {
      try {
        await file.sync();
      } finally {
        await file.close();
      }
    }
    if (offset === 0) await syncFolder(this.folder);
    return size;
  }

  private async complete(key: BlobKey): Promise<void> {
    const path = this.pathOf(key);
    if (!(await exists(path))) {
      if ((await this.blobs.sizeOf(key)) !== null) return;
      await this.write(key, 0, nothing());
    }
    try {
      if (this.blobs instanceof FolderBlobStore) await this.blobs.adopt(key, path);
      else {
        await this.blobs.put(key, createReadStream(path));
        await rm(path, { force: true });
      }
    } catch (error) {
      // A concurrent request may have finished the same upload.
      if (!isMissing(error) || (await this.blobs.sizeOf(key)) === null) throw error;
    }
  }

  /** Received bytes. */
  content(key: BlobKey): AsyncIterable<Uint8Array> {
    return createReadStream(this.pathOf(key));
  }

  async remove(key: BlobKey): Promise<void> {
    await rm(this.pathOf(key), { force: true });
  }

  async list(after: BlobKey | null, limit: number): Promise<readonly StoredBlob[]> {
    const found: StoredBlob[] = [];
    for (const { name } of await namesIn(this.folder)) {
      if (found.length >= limit) break;
      if (!isBlobKey(name) || (after !== null && name <= after)) continue;
      const file = await stat(join(this.folder, name)).catch(() => null);
      if (file) found.push({ key: name, storedAtMs: file.mtimeMs });
    }
    return found;
  }

  private pathOf(key: BlobKey): string {
    if (!isBlobKey(key)) throw new Error('Invalid blob key');
    return join(this.folder, key);
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error) => {
      if (isMissing(error)) return false;
      throw error;
    },
  );

async function* nothing(): AsyncGenerator<Uint8Array> {}
