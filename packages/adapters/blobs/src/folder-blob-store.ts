import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, link, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type BlobContent,
  type BlobKey,
  type BlobStore,
  type ByteRange,
  inOneChunk,
  isBlobKey,
  type StoredBlob,
} from '@parley/domain/files';
import {
  type FilesListener,
  FolderDisk,
  hashing,
  isMissing,
  namesIn,
  type StoredListener,
  syncFolder,
  writeAll,
} from './durable-files.js';

/** Number of key digits that name the subfolder, so that no folder contains more than a small part of all files. */
const SHARD_DIGITS = 2;
const UNFINISHED = 'unfinished';
/** Bytes per read, a compromise between calls and memory. */
const PIECE = 256 * 1024;

/**
 * Stores blobs as files in a folder, `a3/a3….`, readable only by the server's user. Bytes are written to a temporary
 * file, which is synced and renamed, so that existing files are complete.
 */
export class FolderBlobStore implements BlobStore {
  private readonly unfinished: string;
  /** Folders with names already synced to disk. */
  private readonly syncedFolders = new Set<string>();

  readonly disk: FolderDisk;

  constructor(
    private readonly folder: string,
    onProblem?: FilesListener,
    private readonly onStored?: StoredListener,
  ) {
    this.disk = new FolderDisk(folder, onProblem);
    this.unfinished = join(folder, UNFINISHED);
  }

  put(key: BlobKey, content: AsyncIterable<Uint8Array>): Promise<number> {
    return this.disk.saving(async () => {
      await this.makeFolder(this.unfinished);
      const temporary = join(this.unfinished, randomUUID());
      try {
        const hash = createHash('sha256');
        const size = await writeDurably(temporary, hashing(content, hash));
        await this.moveTo(key, temporary);
        await this.onStored?.(key, hash.digest('hex'));
        return size;
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    });
  }

  /** Turns a synced file on the same file system into a blob by renaming it. */
  async adopt(key: BlobKey, path: string): Promise<void> {
    await this.moveTo(key, path);
    if (!this.onStored) return;
    const hash = createHash('sha256');
    for await (const _ of hashing(createReadStream(this.pathOf(key)), hash));
    await this.onStored(key, hash.digest('hex'));
  }

  private async moveTo(key: BlobKey, path: string): Promise<void> {
    const target = this.pathOf(key);
    await this.makeFolder(this.shardOf(key));
    await rename(path, target);
    // The name is durable only after its folder is synced.
    await syncFolder(this.shardOf(key));
  }

  async sizeOf(key: BlobKey): Promise<number | null> {
    try {
      return (await stat(this.pathOf(key))).size;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  read(key: BlobKey, range: ByteRange): BlobContent {
    return new FileContent(this.pathOf(key), range);
  }

  async remove(key: BlobKey): Promise<void> {
    this.disk.requireOwn();
    await rm(this.pathOf(key), { force: true });
  }

  async list(after: BlobKey | null, limit: number): Promise<readonly StoredBlob[]> {
    const found: StoredBlob[] = [];
    for (const shard of (await namesIn(this.folder)).filter(({ name }) => isShard(name)).map(({ name }) => name)) {
      if (found.length >= limit) break;
      if (after !== null && shard < after.slice(0, SHARD_DIGITS)) continue;
      for (const { name } of await namesIn(join(this.folder, shard))) {
        if (found.length >= limit) break;
        if (!isBlobKey(name) || (after !== null && name <= after)) continue;
        const file = await stat(join(this.folder, shard, name)).catch(() => null);
        if (file) found.push({ key: name, storedAtMs: file.mtimeMs });
      }
    }
    return found;
  }

  async removeUnfinished(beforeMs: number): Promise<void> {
    for (const { name } of await namesIn(this.unfinished)) {
      const path = join(this.unfinished, name);
      const file = await stat(path).catch(() => null);
      if (file && file.mtimeMs < beforeMs) await rm(path, { force: true });
    }
  }

  /** Stores a small file that is not a blob. */
  async putObject(name: string, bytes: Uint8Array): Promise<void> {
    await this.makeFolder(this.unfinished);
    const temporary = join(this.unfinished, randomUUID());
    await writeDurably(temporary, inOneChunk(bytes));
    await rename(temporary, join(this.folder, name));
    await syncFolder(this.folder);
  }

  /** Like `putObject`, but returns false if the object exists. */
  async addObject(name: string, bytes: Uint8Array): Promise<boolean> {
    await this.makeFolder(this.unfinished);
    const temporary = join(this.unfinished, randomUUID());
    await writeDurably(temporary, inOneChunk(bytes));
    try {
      await link(temporary, join(this.folder, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    } finally {
      await rm(temporary, { force: true });
    }
    await syncFolder(this.folder);
    return true;
  }

  async *readObject(name: string): AsyncGenerator<Uint8Array> {
    yield await readFile(join(this.folder, name));
  }

  private shardOf(key: BlobKey): string {
    return join(this.folder, key.slice(0, SHARD_DIGITS));
  }

  private pathOf(key: BlobKey): string {
    if (!isBlobKey(key)) throw new Error('Invalid blob key');
    return join(this.shardOf(key), key);
  }

  private async makeFolder(path: string): Promise<void> {
    // Checked each time, since the folder may have been removed or replaced by a mount.
    const made = await mkdir(path, { recursive: true, mode: 0o700 });
    if (made === undefined && this.syncedFolders.has(path)) return;
    await syncFolder(this.folder);
    this.syncedFolders.add(path);
  }
}

/** Range of a file with read-ahead, so that disk and network work in parallel. */
class FileContent implements BlobContent {
  /** Reused buffers; otherwise garbage would accumulate at disk speed. */
  private readonly free: Buffer[] = [];

  constructor(
    private readonly path: string,
    private readonly range: ByteRange,
  ) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const { start, end } = this.range;
    if (start >= end) return;
    const file = await open(this.path);
    try {
      let ahead: Promise<Uint8Array> | null = this.readPiece(file, start);
      for (let position = start; ahead; ) {
        const piece: Uint8Array = await ahead;
        if (piece.length === 0) return;
        position += piece.length;
        ahead = position < end ? this.readPiece(file, position) : null;
        // If iteration stopped early, no other code handles this failure.
        ahead?.catch(() => undefined);
        yield piece;
      }
    } finally {
      await file.close();
    }
  }

  release(piece: Uint8Array): void {
    this.free.push(Buffer.from(piece.buffer));
  }

  private async readPiece(file: FileHandle, position: number): Promise<Uint8Array> {
    const length = Math.min(PIECE, this.range.end - position);
    const memory = this.free.pop() ?? Buffer.allocUnsafeSlow(length);
    const { bytesRead } = await file.read(memory, 0, length, position);
    return memory.subarray(0, bytesRead);
  }
}

const isShard = (name: string): boolean => /^[0-9a-f]{2}$/.test(name);

async function writeDurably(path: string, content: AsyncIterable<Uint8Array>): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  let size = 0;
  try {
    for await (const chunk of content) {
      await writeAll(file, chunk);
      size += chunk.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return size;
}
