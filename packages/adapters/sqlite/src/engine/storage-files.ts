import { closeSync, existsSync, fstatSync, openSync, readSync, realpathSync, type Stats, statSync } from 'node:fs';
import { endianness } from 'node:os';
import { DomainError } from '@parley/domain/kernel';
import type { StorageGuard } from './storage-guard.js';

/** Length of the file header, and of its constant part. */
const HEADER_LENGTH = 100;
const FORMAT_LENGTH = 24;
const APPLICATION_ID_OFFSET = 68;
/** Header lengths of the log and of each of its pages. */
const WAL_HEADER_LENGTH = 32;
const FRAME_HEADER_LENGTH = 24;
const WAL_SALT_OFFSET = 16;
/**
 * Layout of the log index, https://sqlite.org/walformat.html: two copies of the header, then the checkpoint progress.
 */
const INDEX_HEADER_LENGTH = 48;
const BACKFILL_OFFSET = 96;
/** Target of a checkpoint; ahead of the actual progress during a checkpoint or after a failed one. */
const BACKFILL_ATTEMPTED_OFFSET = 128;
const INDEX_LENGTH = 136;

const LITTLE_ENDIAN = endianness() === 'LE';

/** Problem with the opened files. */
export interface StorageLoss {
  /** Sentence for the operator. */
  readonly problem: string;
  /** True if the opened files are intact although their names no longer lead to them. */
  readonly isReadable: boolean;
}

interface OpenedFile {
  readonly path: string;
  readonly opened: Stats;
}

/**
 * Descriptors of files opened by SQLite, by file. POSIX drops all of a process's locks on a file when it closes any
 * descriptor of the file. These descriptors are therefore closed after SQLite's own, even if several storages share the
 * file.
 */
const openFiles = new Map<string, { users: number; readonly descriptors: number[] }>();

const keyOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

/** True if a storage in this process has the file open, which must then not be opened and closed separately. */
export function isOpenHere(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && openFiles.has(keyOf(stats));
}

/**
 * Checks that SQLite still writes to the files found under their names. A deleted or replaced file would accept
 * writes until the process ends and then be lost.
 */
export class StorageFiles implements StorageGuard {
  private readonly walPath: string;
  private readonly indexPath: string;
  private readonly database: Stats;
  /** Files with committed data. */
  private readonly holdingData: readonly OpenedFile[];
  private readonly all: readonly OpenedFile[];
  private readonly databaseDescriptor: number;
  private readonly indexDescriptor: number;
  private size: number;
  private header: Buffer;
  /** Checkpoint progress when the header was read. */
  private headerAt: string;
  private isHeaderSuspect = false;
  private isLost = false;

  /** Opens the guard of a database whose writer was just opened. `onLoss` is called once. */
  constructor(
    private readonly path: string,
    private readonly onLoss: (loss: StorageLoss) => void,
  ) {
    // SQLite places side files next to the real file, even if opened through a link.
    const real = realpathSync(path);
    this.walPath = `${real}-wal`;
    this.indexPath = `${real}-shm`;
    this.databaseDescriptor = openSync(path, 'r');
    this.indexDescriptor = openSync(this.indexPath, 'r');
    this.database = fstatSync(this.databaseDescriptor);
    this.holdingData = [
      { path, opened: this.database },
      { path: this.walPath, opened: statSync(this.walPath) },
    ];
    this.all = [...this.holdingData, { path: this.indexPath, opened: fstatSync(this.indexDescriptor) }];
    const key = keyOf(this.database);
    const open = openFiles.get(key) ?? { users: 0, descriptors: [] };
    open.users++;
    open.descriptors.push(this.databaseDescriptor, this.indexDescriptor);
    openFiles.set(key, open);
    this.size = this.database.size;
    this.header = this.readHeader();
    this.headerAt = this.readIndex()?.progress ?? '';
  }

  requireIntact(): void {
    if (this.isLost) throw isUnavailable();
  }

  verifyNames(): void {
    this.requireIntact();
    this.verifyThese(this.holdingData);
  }

  /**
   * Performs all checks in a few system calls; intended to run every second. @throws DomainError STORAGE_UNAVAILABLE
   */
  verify(): void {
    this.requireIntact();
    this.verifyThese(this.all);
    const damaged = this.findDamaged();
    if (damaged) this.lose({ problem: damaged, isReadable: false });
  }

  /** Call after SQLite closed the files. */
  close(): void {
    const key = keyOf(this.database);
    const open = openFiles.get(key);
    if (!open || --open.users > 0) return;
    openFiles.delete(key);
    for (const descriptor of open.descriptors) closeSync(descriptor);
  }

  private lose(loss: StorageLoss): never {
    this.isLost = true;
    this.onLoss(loss);
    throw isUnavailable();
  }

  private verifyThese(files: readonly OpenedFile[]): void {
    for (const { path, opened } of files) {
      const found = statSync(path, { throwIfNoEntry: false });
      if (found !== undefined && found.ino === opened.ino && found.dev === opened.dev) continue;
      const what = found === undefined ? 'deleted or moved' : 'replaced by another file';
      this.lose({ problem: `${path} was ${what} while the database was in use.`, isReadable: true });
    }
  }

  /** Detects truncation or overwriting by a program other than SQLite. */
  private findDamaged(): string | null {
    const before = this.readIndex();
    // Another process is writing the index.
    if (!before) return null;
    const damaged = this.findDamagedSince(before);
    if (damaged === null) return null;
    // Another process may have written during the check.
    return this.readIndex()?.text === before.text ? damaged : null;
  }

  private findDamagedSince(index: WalIndex): string | null {
    const { size } = fstatSync(this.databaseDescriptor);
    // Missing pages at the end may still be in the log.
    if (size < Math.min(this.size, index.pages * index.pageSize)) return `${this.path} was truncated.`;
    this.size = size;
    if (index.frames > 0) {
      const expected = WAL_HEADER_LENGTH + index.frames * (FRAME_HEADER_LENGTH + index.pageSize);
      const log = readStart(this.walPath, WAL_HEADER_LENGTH);
      if (log.size < expected) return `${this.walPath} was truncated.`;
      if (log.start.toString('hex', WAL_SALT_OFFSET, WAL_SALT_OFFSET + 8) !== index.salts) {
        return `${this.walPath} was overwritten.`;
      }
    }
    return this.hasForeignHeader(index) ? `${this.path} was overwritten.` : null;
  }

  /**
   * True if the header belongs to another database. The file changes only at checkpoints, and their progress is
   * recorded slightly later. After a failed checkpoint, as on a full disk, only the constant part of the header is
   * comparable.
   */
  private hasForeignHeader({ progress, isFolding }: WalIndex): boolean {
    const header = this.readHeader();
    if (
      header.equals(this.header) ||
      progress !== this.headerAt ||
      (isFolding && isOfSameFormat(header, this.header))
    ) {
      this.header = header;
      this.headerAt = progress;
      this.isHeaderSuspect = false;
      return false;
    }
    if (this.isHeaderSuspect) return true;
    this.isHeaderSuspect = true;
    return false;
  }

  private readHeader(): Buffer {
    const header = Buffer.alloc(HEADER_LENGTH);
    readSync(this.databaseDescriptor, header, 0, HEADER_LENGTH, 0);
    return header;
  }

  /** Returns null while the index is being written. */
  private readIndex(): WalIndex | null {
    return readWalIndex(this.indexDescriptor);
  }
}

/** Returns null while the index is being written. */
function readWalIndex(descriptor: number): WalIndex | null {
  const bytes = Buffer.alloc(INDEX_LENGTH);
  readSync(descriptor, bytes, 0, INDEX_LENGTH, 0);
  const header = bytes.subarray(0, INDEX_HEADER_LENGTH);
  if (!header.equals(bytes.subarray(INDEX_HEADER_LENGTH, 2 * INDEX_HEADER_LENGTH))) return null;
  const salts = header.toString('hex', 32, 40);
  const pageSize = read16(header, 14);
  const folded = read32(bytes, BACKFILL_OFFSET);
  return {
    text: bytes.toString('hex'),
    pageSize: pageSize === 1 ? 65_536 : pageSize,
    frames: read32(header, 16),
    pages: read32(header, 20),
    salts,
    folded,
    progress: `${salts}/${folded}`,
    isFolding: read32(bytes, BACKFILL_ATTEMPTED_OFFSET) > folded,
  };
}

/** SQLite's log index. */
interface WalIndex {
  readonly text: string;
  readonly pageSize: number;
  /** Number of valid pages in the log. */
  readonly frames: number;
  /** Number of log pages already copied to the database file. */
  readonly folded: number;
  /** Number of pages in the whole database. */
  readonly pages: number;
  /** Change whenever the log restarts. */
  readonly salts: string;
  /** Changes after each partial checkpoint. */
  readonly progress: string;
  /** True if a checkpoint is running or has failed. */
  readonly isFolding: boolean;
}

const isOfSameFormat = (one: Buffer, other: Buffer): boolean =>
  one.subarray(0, FORMAT_LENGTH).equals(other.subarray(0, FORMAT_LENGTH)) &&
  one.readUInt32BE(APPLICATION_ID_OFFSET) === other.readUInt32BE(APPLICATION_ID_OFFSET);

const read16 = (bytes: Buffer, at: number): number => (LITTLE_ENDIAN ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
const read32 = (bytes: Buffer, at: number): number => (LITTLE_ENDIAN ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));

/** Reads only the log, on which SQLite holds no locks. */
function readStart(path: string, length: number): { readonly size: number; readonly start: Buffer } {
  const descriptor = openSync(path, 'r');
  try {
    const start = Buffer.alloc(length);
    readSync(descriptor, start, 0, length, 0);
    return { size: fstatSync(descriptor).size, start };
  } finally {
    closeSync(descriptor);
  }
}

/**
 * True if lost pages are missing from the log of a database that this process does not have open. The log is then
 * shorter than its index says, and SQLite would ignore the lost changes.
 */
export function isLogLost(path: string): boolean {
  const indexPath = `${path}-shm`;
  if (!existsSync(indexPath)) return false;
  const descriptor = openSync(indexPath, 'r');
  try {
    const index = readWalIndex(descriptor);
    if (index === null || index.frames === 0 || index.folded >= index.frames) return false;
    const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    const isShort = size < WAL_HEADER_LENGTH + index.frames * (FRAME_HEADER_LENGTH + index.pageSize);
    // Another process may have written during the check.
    return isShort && readWalIndex(descriptor)?.text === index.text;
  } finally {
    closeSync(descriptor);
  }
}

const isUnavailable = () =>
  new DomainError('STORAGE_UNAVAILABLE', "The server's storage is unavailable. Please notify its operator.");
