import { statfs } from 'node:fs/promises';
import { DomainError } from '@parley/domain/kernel';

const MIB = 1024 ** 2;
/** Seconds: an operator has to make room first. */
const RETRY_AFTER = 60;
/** Written between two looks at the disk. */
const LOOK_EVERY_BYTES = 16 * MIB;

/** The room on a disk on which something long is being written, some of which stays free for others. */
export class DiskRoom {
  private unseen = 0;

  constructor(
    private readonly folder: string,
    private readonly minFreeBytes: number,
    private readonly freeBytesOf: (folder: string) => Promise<number> = freeBytes,
  ) {}

  /** @throws DomainError SERVER_BUSY where there is not as much, before anything is written */
  async require(bytes: number): Promise<void> {
    if ((await this.freeBytesOf(this.folder)) < bytes + this.minFreeBytes) throw await this.refusal(bytes);
  }

  /** Called with what is about to be written. @throws DomainError SERVER_BUSY when others would soon find no room */
  async take(bytes: number): Promise<void> {
    this.unseen += bytes;
    if (this.unseen < LOOK_EVERY_BYTES) return;
    await this.require(this.unseen);
    this.unseen = 0;
  }

  /** `bytes`: known to be needed. */
  async refusal(bytes = 0): Promise<DomainError> {
    const free = Math.floor((await this.freeBytesOf(this.folder)) / MIB);
    const needed = Math.ceil((bytes + this.minFreeBytes) / MIB);
    return new DomainError(
      'SERVER_BUSY',
      `There is not enough space in ${this.folder}: at least ${needed} MiB more are needed, ${free} are free.`,
      { retryAfter: RETRY_AFTER },
    );
  }
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** A quota, and a limit of the process for its files, are no more room either. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

export const isDiskFull = (error: unknown): boolean => FULL.has((error as NodeJS.ErrnoException).code ?? '');
