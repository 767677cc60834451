import type { Hash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import type { BlobKey } from '@parley/domain/files';
import { DomainError } from '@parley/domain/kernel';

/** Writes a whole chunk, since the kernel may write less per call. */
export async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  let written = 0;
  while (written < chunk.length) written += (await file.write(chunk, written)).bytesWritten;
}

/** Called with the SHA-256 checksum of the content of each new blob. Must not fail. */
export type StoredListener = (key: BlobKey, checksum: string) => Promise<void>;

/** Updates a hash with content that passes. */
export async function* hashing(content: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
}

/** Error codes of a full, read-only or failing disk, including quotas and file size limits of the process. */
const DISK_FAILURES = new Set(['EDQUOT', 'EFBIG', 'EIO', 'ENOSPC', 'EROFS']);

/** Receives the reason when a store begins to fail, and null when it works again. */
export type FilesListener = (problem: string | null) => void;

/** Disk of a folder. A failure is an operational problem, not a bug. */
export class FolderDisk {
  private isFailing = false;
  private loss: string | null = null;

  constructor(
    private readonly folder: string,
    private readonly onProblem: FilesListener = () => {},
  ) {}

  /** Rejects all changes for this reason; null to accept them again. */
  lose(reason: string | null): void {
    if ((reason === null) !== (this.loss === null)) this.onProblem(reason);
    this.loss = reason;
  }

  /** @throws DomainError SERVER_BUSY if the folder is lost */
  requireOwn(): void {
    if (this.loss !== null) throw busy(new Error(this.loss));
  }

  /** Runs work that writes files. @throws DomainError SERVER_BUSY if the disk is full, read-only or failing, or lost */
  async saving<T>(work: () => Promise<T>): Promise<T> {
    this.requireOwn();
    try {
      const result = await work();
      if (this.isFailing) this.onProblem(null);
      this.isFailing = false;
      return result;
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException;
      if (!DISK_FAILURES.has(code)) throw error;
      if (!this.isFailing) this.onProblem(`The folder ${this.folder} cannot be written to: ${message}`);
      this.isFailing = true;
      throw busy(error);
    }
  }
}

function busy(cause: unknown): Error {
  const text = 'The server cannot save files right now; try again in a moment.';
  return Object.assign(new DomainError('SERVER_BUSY', text, { retryAfter: 1 }), { cause });
}

/** Makes changes of a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Returns entries ascending; empty if there is no such folder. */
export async function namesIn(path: string): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
