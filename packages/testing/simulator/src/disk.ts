import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '@parley/domain/kernel';
import { administerDatabase } from '@parley/sqlite';

/** Reason why a disk writes nothing: no space, or errors of the device, which appear when a transaction is synced. */
export type DiskFailure = 'full' | 'broken';

/** Bytes of the database and its write-ahead log; null if there is no log. */
interface Image {
  readonly database: Buffer;
  readonly log: Buffer | null;
}

/** Files in memory survive a simulated crash too, and their syncs take no time. */
const FOLDER = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

const WRITE = /^\s*(INSERT|UPDATE|DELETE|REPLACE)\b/i;
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

const failureOf = (failure: DiskFailure): Error =>
  failure === 'full'
    ? Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
    : Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' });

/** Files of a database, which survive crashes, and the failures of the disk below SQLite's statements. */
export class SimulatedDisk {
  failure: DiskFailure | null = null;
  /** Called with each statement that writes or ends a transaction. */
  onStatement: (sql: string) => void = () => {};
  readonly folder = mkdtempSync(join(FOLDER, 'parley-simulator-'));
  readonly path = join(this.folder, 'parley.db');
  private readonly logPath = `${this.path}-wal`;
  private backup: Image | null = null;
  private survivor: Image | null = null;
  /** Open transactions that only read, which end with the same statement as those that write. */
  private readers = 0;
  private isWriting = false;
  private countdown: { statements: number; readonly run: () => void } | null = null;

  /** Called before each statement. @throws Error as SQLite does if the disk fails */
  readonly trace = (sql: string): void => {
    if (sql === 'BEGIN') this.readers++;
    else if (sql === 'BEGIN IMMEDIATE') this.isWriting = true;
    else if (sql === 'COMMIT' || sql === 'ROLLBACK') this.end(sql);
    else if (WRITE.test(sql)) this.write();
    this.onStatement(sql);
  };

  /** Calls `run` before a statement that writes, which must throw. */
  interruptAfter(statements: number, run: () => void): void {
    this.countdown = { statements, run };
  }

  /** Takes a consistent copy between two transactions. */
  backUp(): void {
    this.backup = this.image();
  }

  get hasBackup(): boolean {
    return this.backup !== null;
  }

  /** True between a loss of power and the next start. */
  get isLost(): boolean {
    return this.survivor !== null;
  }

  /** The power fails: committed transactions survive, the next one is torn. `tear`: fraction of its first page. */
  losePower(tear: number): void {
    this.countdown = null;
    const { database, log } = this.image();
    this.survivor = { database, log: log && torn(log, tear) };
  }

  /**
   * The files are those of the last backup at the next start, changed as by `parley restore`; unchanged if `secondsLost`
   * is null.
   */
  loseToBackup(secondsLost: number | null, clock: Clock): void {
    this.survivor = this.backup;
    if (secondsLost === null) return;
    const { database, log } = this.backup!;
    const folder = mkdtempSync(join(FOLDER, 'parley-restored-'));
    const path = join(folder, 'parley.db');
    writeFileSync(path, database);
    if (log) writeFileSync(`${path}-wal`, log);
    const administration = administerDatabase(path, clock);
    administration.skipIds(secondsLost);
    administration.endQueues();
    this.survivor = { database: readFileSync(path), log: null };
    rmSync(folder, { recursive: true });
  }

  /** Undoes everything that the dead process has written since, such as its orderly close. */
  recover(): void {
    this.countdown = null;
    this.readers = 0;
    this.isWriting = false;
    if (!this.survivor) return;
    const { database, log } = this.survivor;
    this.survivor = null;
    rmSync(`${this.path}-shm`, { force: true });
    rmSync(this.logPath, { force: true });
    // Keeps the file itself, because the server checks its identity.
    writeFileSync(this.path, database);
    if (log) writeFileSync(this.logPath, log);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  private end(sql: string): void {
    const isKnown = this.isWriting && this.readers === 0;
    if (isKnown && sql === 'COMMIT' && this.failure === 'broken') throw failureOf('broken');
    if (this.readers > 0) this.readers--;
    else this.isWriting = false;
  }

  private write(): void {
    const { countdown } = this;
    if (countdown && countdown.statements-- === 0) {
      this.countdown = null;
      countdown.run();
    }
    if (this.failure === 'full') throw failureOf('full');
  }

  private image(): Image {
    const log = existsSync(this.logPath) ? readFileSync(this.logPath) : null;
    return { database: readFileSync(this.path), log };
  }
}

/** Log with a half-written frame after the valid ones, which have the salt of the header. */
function torn(log: Buffer, tear: number): Buffer {
  if (log.length < LOG_HEADER_BYTES) return log;
  const frameBytes = FRAME_HEADER_BYTES + log.readUInt32BE(8);
  const salt = log.subarray(16, 24);
  let end = LOG_HEADER_BYTES;
  while (end + frameBytes <= log.length && log.subarray(end + 8, end + 16).equals(salt)) end += frameBytes;
  const frame = Buffer.alloc(Math.ceil(tear * frameBytes), 0x5a);
  if (frame.length >= 16) {
    // A commit record of a frame that was never complete.
    frame.writeUInt32BE(1, 0);
    frame.writeUInt32BE(1, 4);
    salt.copy(frame, 8);
  }
  return Buffer.concat([log.subarray(0, end), frame]);
}
