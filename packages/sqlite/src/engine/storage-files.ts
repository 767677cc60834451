import { closeSync, fstatSync, openSync, readSync, realpathSync, type Stats, statSync } from 'node:fs';
import { endianness } from 'node:os';
import { DomainError } from '@parley/domain/kernel';
import type { StorageGuard } from './storage-guard.js';

/** Of the database file: where SQLite's file format begins, and what in it no commit changes. */
const HEADER_LENGTH = 100;
const FORMAT_LENGTH = 24;
const APPLICATION_ID_OFFSET = 68;
/** Of the log, and of each page in it. */
const WAL_HEADER_LENGTH = 32;
const FRAME_HEADER_LENGTH = 24;
const WAL_SALT_OFFSET = 16;
/** Of the index of the log, https://sqlite.org/walformat.html: the header twice, then how far the log is folded in. */
const INDEX_HEADER_LENGTH = 48;
const BACKFILL_OFFSET = 96;
/** How far somebody has begun to fold it in; more than that is done while they work, and after they have failed. */
const BACKFILL_ATTEMPTED_OFFSET = 128;
const INDEX_LENGTH = 136;

const LITTLE_ENDIAN = endianness() === 'LE';

/** What was found instead of the files that were opened. */
export interface StorageLoss {
  /** A sentence for the operator. */
  readonly problem: string;
  /** Whether what was opened is still whole, though nobody finds it by its name any more. */
  readonly isReadable: boolean;
}

interface OpenedFile {
  readonly path: string;
  readonly opened: Stats;
}

/**
 * Descriptors of files that SQLite has open, by file. POSIX forgets all locks that a process has on a file as soon as it
 * closes any descriptor of it, so these are closed only after SQLite's own, however many storages share the file.
 */
const openFiles = new Map<string, { users: number; readonly descriptors: number[] }>();

const keyOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

/** Whether a storage of this process has the file open: then it must not be opened and closed beside SQLite. */
export function isOpenHere(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && openFiles.has(keyOf(stats));
}

/**
 * The files of an open database: that what SQLite writes to is still what others find under its name. A file that was
 * deleted or replaced would take whatever is written until the process ends, and then be gone.
 */
export class StorageFiles implements StorageGuard {
  private readonly walPath: string;
  private readonly indexPath: string;
  private readonly database: Stats;
  /** What is committed is in these. */
  private readonly holdingData: readonly OpenedFile[];
  private readonly all: readonly OpenedFile[];
  private readonly databaseDescriptor: number;
  private readonly indexDescriptor: number;
  private size: number;
  private header: Buffer;
  /** How far the log was folded in when the header was read. */
  private headerAt: string;
  private isHeaderSuspect = false;
  private isLost = false;

  /** Of a database whose writer has just been opened. `onLoss` is called once. */
  constructor(
    private readonly path: string,
    private readonly onLoss: (loss: StorageLoss) => void,
  ) {
    // SQLite puts them beside the file itself, whatever link it was opened by.
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

  /** Everything there is to see, in a few system calls; for every second. @throws DomainError STORAGE_UNAVAILABLE */
  verify(): void {
    this.requireIntact();
    this.verifyThese(this.all);
    const damaged = this.findDamaged();
    if (damaged) this.lose({ problem: damaged, isReadable: false });
  }

  /** After SQLite has closed the files. */
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

  /** What was cut off or written over by somebody else than SQLite. */
  private findDamaged(): string | null {
    const before = this.readIndex();
    // Another process is just writing it.
    if (!before) return null;
    const damaged = this.findDamagedSince(before);
    if (damaged === null) return null;
    // Another process may have written while we looked.
    return this.readIndex()?.text === before.text ? damaged : null;
  }

  private findDamagedSince(index: WalIndex): string | null {
    const { size } = fstatSync(this.databaseDescriptor);
    // Pages that are missing at the end may be in the log still.
    if (size < Math.min(this.size, index.pages * index.pageSize)) return `${this.path} was truncated.`;
    this.size = size;
    if (index.frames > 0) {
      const expected = WAL_HEADER_LENGTH + index.frames * (FRAME_HEADER_LENGTH + index.pageSize);
      const log = readStart(this.walPath, WAL_HEADER_LENGTH);
      if (log.size < expected) return `${this.walPath} was truncated.`;
      if (log.start.toString('hex', WAL_SALT_OFFSET, WAL_SALT_OFFSET + 8) !== index.salts) {
        return `${this.walPath} was written over.`;
      }
    }
    return this.hasForeignHeader(index) ? `${this.path} was written over.` : null;
  }

  /**
   * The file itself changes only as the log is folded in, whose progress is noted a moment later; never where that fails, as on
   * a full disk: then only what no commit changes tells that the file is another one.
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

  /** Null: it is just being written. */
  private readIndex(): WalIndex | null {
    const bytes = Buffer.alloc(INDEX_LENGTH);
    readSync(this.indexDescriptor, bytes, 0, INDEX_LENGTH, 0);
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
      progress: `${salts}/${folded}`,
      isFolding: read32(bytes, BACKFILL_ATTEMPTED_OFFSET) > folded,
    };
  }
}

/** What SQLite knows of its log. */
interface WalIndex {
  readonly text: string;
  readonly pageSize: number;
  /** Pages in the log that count. */
  readonly frames: number;
  /** Of the whole database. */
  readonly pages: number;
  /** They change whenever the log begins anew. */
  readonly salts: string;
  /** Changes whenever a part of the log has been folded in. */
  readonly progress: string;
  /** A part of the log is being folded in, or could not be. */
  readonly isFolding: boolean;
}

const isOfSameFormat = (one: Buffer, other: Buffer): boolean =>
  one.subarray(0, FORMAT_LENGTH).equals(other.subarray(0, FORMAT_LENGTH)) &&
  one.readUInt32BE(APPLICATION_ID_OFFSET) === other.readUInt32BE(APPLICATION_ID_OFFSET);

const read16 = (bytes: Buffer, at: number): number => (LITTLE_ENDIAN ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
const read32 = (bytes: Buffer, at: number): number => (LITTLE_ENDIAN ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));

/** Of the log only, on which SQLite has no locks. */
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

const isUnavailable = () =>
  new DomainError('STORAGE_UNAVAILABLE', "The server's storage is unavailable. Please tell whoever runs it.");
