import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashing } from '@parley/blobs';
import type { BlobKey, BlobStore } from '@parley/domain/files';
import { type ErasureRecord, lastOf } from '@parley/domain/kernel';
import { HmacApiKeyMint } from '@parley/node-adapters';
import { administerDatabase } from '@parley/sqlite';
import { extract, pack } from 'tar-stream';
import { formatSecret } from '../kernel/secret-format.js';
import { StartupError } from '../kernel/startup-error.js';
import type { Checksums } from './checksums.js';
import { findMissing } from './copy-files.js';

/**
 * Entries of a backup, a tar archive: description (`parley-backup.json`), database, secret and file bytes. The last
 * entry has their checksums in the format of `sha256sum --check`.
 */
export const BACKUP_ENTRIES = {
  description: 'parley-backup.json',
  database: 'parley.db',
  secret: 'parley.db.secret',
  files: 'files/',
  checksums: 'SHA256SUMS',
} as const;

export const BACKUP_FORMAT = 1;

/** First entry of a backup. */
export interface BackupDescription {
  readonly format: number;
  /** Version of the program that made the backup. */
  readonly version: string;
  readonly schema: number;
  /** Fingerprint of the secret that belongs to the database. */
  readonly secretFingerprint: string;
  /** Start time of the database copy, in ISO 8601. */
  readonly takenAt: string;
  /** Public address of the server; absent if none was configured, or a release before 0.4 made the backup. */
  readonly url?: string;
}

export interface ArchiveEntry {
  readonly name: string;
  readonly size: number;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Bytes written between syncs to disk. A small number keeps other commits from waiting for one large sync. */
const BYTES_PER_SYNC = 1024 * 1024;
/** Limit for checksums and descriptions, which are read into memory. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;
const MODE = 0o600;

/** Writes a new file that other users cannot access. `pace` is awaited after each chunk. */
export async function writeArchive(
  path: string,
  entries: AsyncIterable<ArchiveEntry>,
  pace: (bytes: number) => Promise<void>,
): Promise<void> {
  const file = await open(path, 'wx', MODE);
  try {
    const archive = pack();
    const filling = fill(archive, entries);
    // A failure of `fill` destroys the archive, so the loop below throws.
    filling.catch((error: Error) => archive.destroy(error));
    let unsynced = 0;
    for await (const chunk of archive as AsyncIterable<Uint8Array>) {
      await file.writeFile(chunk);
      unsynced += chunk.byteLength;
      if (unsynced >= BYTES_PER_SYNC) {
        await file.datasync();
        unsynced = 0;
      }
      await pace(chunk.byteLength);
    }
    await filling;
    await file.sync();
  } finally {
    await file.close();
  }
}

async function fill(archive: ReturnType<typeof pack>, entries: AsyncIterable<ArchiveEntry>): Promise<void> {
  const checksums: string[] = [];
  for await (const { name, size, content } of entries) {
    const hash = createHash('sha256');
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: Error | null) => (error ? reject(error) : resolve());
      const entry = archive.entry({ name, size, mode: MODE }, settle);
      Readable.from(hashing(content, hash)).once('error', reject).pipe(entry);
    });
    checksums.push(`${hash.digest('hex')}  ${name}\n`);
  }
  archive.entry({ name: BACKUP_ENTRIES.checksums, mode: MODE }, checksums.join(''));
  archive.finalize();
}

/**
 * Reads a whole archive, verifies the checksums and returns them by entry name. `take` receives every entry except the
 * checksums and may leave its content unread. @throws StartupError if the archive is damaged, truncated or not a backup;
 * entries received before are then not trustworthy. Errors of `take` are thrown as they are
 */
export async function readArchive(
  path: string,
  take: (entry: ArchiveEntry) => Promise<void>,
): Promise<ReadonlyMap<string, string>> {
  const reading = createReadStream(path);
  const found = new Map<string, string>();
  let stated: Map<string, string> | null = null;
  let isTaking = false;
  const parser = extract();
  reading.once('error', (error) => parser.destroy(error));
  try {
    for await (const entry of reading.pipe(parser)) {
      const { name, size = 0, type } = entry.header;
      if (type !== 'file' || stated !== null) throw damaged(path, `${name} does not belong there`);
      if (name === BACKUP_ENTRIES.checksums) {
        stated = parseChecksums(await readText(entry, size));
        continue;
      }
      if (found.has(name)) throw damaged(path, `${name} is in it twice`);
      const hash = createHash('sha256');
      const content = contentOf(path, hashing(entry as AsyncIterable<Uint8Array>, hash));
      isTaking = true;
      await take({ name, size, content });
      isTaking = false;
      // Unread content is included in the checksum as well.
      for await (const _ of content);
      found.set(name, hash.digest('hex'));
    }
  } catch (error) {
    if (isTaking || error instanceof StartupError) throw error;
    throw damaged(path, (error as Error).message);
  } finally {
    reading.destroy();
  }
  if (stated === null) throw damaged(path, 'its end is missing');
  for (const [name, checksum] of stated) {
    if (found.get(name) !== checksum) throw damaged(path, `${name} is ${found.has(name) ? 'modified' : 'missing'}`);
  }
  if (found.size !== stated.size) throw damaged(path, 'it contains entries without checksums');
  return found;
}

/** Content of an entry. Its failures mean a damaged archive, unlike those of the place where it is stored. */
async function* contentOf(path: string, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } catch (error) {
    throw damaged(path, (error as Error).message);
  }
}

/** True for a file that begins like a backup, which may still be damaged. */
export async function isBackup(path: string): Promise<boolean> {
  if (!statSync(path).isFile()) return false;
  const name = `${BACKUP_ENTRIES.description}\0`;
  return (await text(createReadStream(path, { end: name.length - 1 }))) === name;
}

/** Reads the description of a backup, which may be damaged elsewhere. @throws StartupError */
export async function readDescription(path: string): Promise<BackupDescription> {
  const reading = createReadStream(path);
  const parser = extract();
  reading.once('error', (error) => parser.destroy(error));
  try {
    for await (const entry of reading.pipe(parser)) {
      const description = parseDescription(await readText(entry, entry.header.size ?? 0));
      if (description) return description;
      break;
    }
  } finally {
    reading.destroy();
  }
  throw damaged(path, 'its description is invalid');
}

export interface VerifiedBackup extends BackupDescription {
  readonly bytes: number;
  readonly files: number;
}

/** Reads a whole backup and verifies its checksums. @throws StartupError if it is damaged, truncated or not a backup */
export async function verifyBackup(path: string): Promise<VerifiedBackup> {
  const names = new Set<string>();
  const description = await readDescription(path);
  await readArchive(path, async ({ name }) => {
    names.add(name);
  });
  for (const name of [BACKUP_ENTRIES.database, BACKUP_ENTRIES.secret])
    if (!names.has(name)) throw damaged(path, `${name} is missing`);
  const files = [...names].filter((name) => name.startsWith(BACKUP_ENTRIES.files)).length;
  return { ...description, bytes: statSync(path).size, files };
}

export interface ListedBackup {
  readonly path: string;
  readonly bytes: number;
  /** Null for an empty or damaged file. */
  readonly description: BackupDescription | null;
  /** Null for a whole backup. */
  readonly problem: string | null;
}

/** Yields all archives of backups in a folder by name, also empty, truncated and altered ones. Reads them completely. */
export async function* backupsIn(folder: string): AsyncGenerator<ListedBackup> {
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats?.isFile()) continue;
    const { size: bytes } = stats;
    if (bytes === 0 && name.endsWith('.tar')) yield { path, bytes, description: null, problem: 'is empty' };
    else if (await isBackup(path)) {
      const [description, damage] = await verifyBackup(path).then(
        (verified) => [verified, null] as const,
        (error: Error) => [null, error.message] as const,
      );
      yield { path, bytes, description, problem: damage ?? problemOf(path) };
    }
  }
}

/** Returns the problem of an undamaged backup; null if it is whole. */
export const problemOf = (path: string): string | null =>
  path.endsWith(INCOMPLETE) ? 'is incomplete: files are missing or altered' : null;

/** Returns the path of the newest archive; null if there is none. */
export async function newestBackupIn(folder: string): Promise<string | null> {
  const paths = readdirSync(folder).map((name) => join(folder, name));
  const archives = paths.filter((path) => /\.tar(?:\.incomplete)?$/.test(path) && statSync(path).isFile());
  return archives.sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs).at(-1) ?? null;
}

/**
 * Removes older backups with names that differ from that of `path` only in digits: complete ones beyond `keep`, and
 * incomplete ones other than the newest backup. Returns the removed paths.
 */
export async function pruneBackups(path: string, keep: number): Promise<readonly string[]> {
  const seriesOf = (name: string) => basename(name, INCOMPLETE).replaceAll(/\d+/g, '0');
  const removed: string[] = [];
  const folder = dirname(path);
  const series = readdirSync(folder)
    .filter((name) => seriesOf(name) === seriesOf(path))
    .map((name) => join(folder, name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  let complete = 0;
  for (const other of series) {
    if (!(await isBackup(other))) continue;
    const isComplete = !other.endsWith(INCOMPLETE);
    if (isComplete ? ++complete <= keep : basename(other) === basename(path)) continue;
    rmSync(other);
    removed.push(other);
  }
  return removed;
}

/** Returns null for an invalid description. */
export function parseDescription(text: string): BackupDescription | null {
  try {
    return JSON.parse(text) as BackupDescription;
  } catch {
    return null;
  }
}

/** Returns the erasures that a backup may lack. */
export const erasuresSince = (
  erasures: readonly ErasureRecord[],
  { takenAt }: Pick<BackupDescription, 'takenAt'>,
  marginSeconds = 0,
): readonly ErasureRecord[] => {
  const since = Math.floor(Date.parse(takenAt) / 1000) - marginSeconds;
  return erasures.filter(({ requestedAt }) => requestedAt >= since);
};

/** Reads the text of a small entry. */
export async function readText(content: AsyncIterable<unknown>, size: number): Promise<string> {
  if (size > MAX_TEXT_BYTES) throw new Error('an entry is too large');
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

const parseChecksums = (text: string): Map<string, string> =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );

const damaged = (path: string, why: string) => new StartupError(`${path} is not a backup or is damaged: ${why}.`);

export interface BackupSource {
  /** Path of the database. */
  readonly database: string;
  readonly secret: string;
  readonly blobs: BlobStore;
  readonly checksums?: Checksums | null;
  readonly version: string;
  /** Public address; null if none is configured. */
  readonly url: string | null;
}

export interface BackupOptions {
  readonly takenAt: Date;
  /** Read and write limit that leaves disk bandwidth to the server; null for full speed. */
  readonly bytesPerSecond: number | null;
}

export interface BackupResult extends BackupDescription {
  /** Size of the archive. */
  readonly bytes: number;
  readonly files: number;
  /** Path of the archive: that of the request, with `INCOMPLETE` at its end if files are missing. */
  readonly path: string;
  /** Names of files in the database without bytes, or with bytes of another size or checksum. */
  readonly missingFiles: readonly string[];
}

/** End of the name of an archive without all files, which can be restored but replaces no backup. */
export const INCOMPLETE = '.incomplete';

const BLOBS_AT_A_TIME = 1000;

/**
 * Archives a complete server, which may be running. Contains everything acknowledged before the start. Verifies the
 * database copy and the archive before renaming it to `path`. Removes what a killed backup to the same path has left.
 * @throws StartupError, DatabaseRefused; leaves no file behind in that case
 */
export async function createBackup(source: BackupSource, path: string, options: BackupOptions): Promise<BackupResult> {
  if (existsSync(path)) throw new StartupError(`${path} already exists; choose another name.`);
  const { schema, secretFingerprint } = administerDatabase(source.database).inspect();
  const ownFingerprint = new HmacApiKeyMint(source.secret).secretFingerprint;
  if (secretFingerprint !== null && secretFingerprint !== ownFingerprint) {
    throw new StartupError('The secret is not the secret of the database; the backup would be useless.');
  }
  clearUnfinished(path);
  const copy = `${path}.${process.pid}.database`;
  const unfinished = `${path}.${process.pid}.unfinished`;
  try {
    const pace = new Pace(options.bytesPerSecond);
    await administerDatabase(source.database).copy(copy, { onProgress: (copied) => pace.block(copied) });
    const damage = administerDatabase(copy).findDamage();
    if (damage.length > 0) throw new StartupError(`The database is damaged: ${damage[0]}`);
    const description: BackupDescription = {
      format: BACKUP_FORMAT,
      version: source.version,
      schema,
      secretFingerprint: ownFingerprint,
      takenAt: options.takenAt.toISOString(),
      ...(source.url !== null && { url: source.url }),
    };
    const known: ReadonlyMap<string, string> = (await source.checksums?.read()) ?? new Map();
    const packed = new Map<string, number>();
    await writeArchive(unfinished, entriesOf(source, copy, description, packed), (bytes) => pace.wait(bytes));
    const archived = await readArchive(unfinished, async () => {});
    const checksumOf = (blob: string) => archived.get(`${BACKUP_ENTRIES.files}${blob}`)!;
    const sizeOf = (blob: string) => packed.get(blob);
    const { missing: missingFiles } = await findMissing(administerDatabase(copy), sizeOf, known, checksumOf);
    rmSync(copy);
    const checksums = new Map([...packed.keys()].map((key) => [key, checksumOf(key)]));
    // The record of the backup in the same folder reports failures.
    await source.checksums?.update(known, checksums, missingFiles).catch(() => {});
    const done = missingFiles.length === 0 ? path : `${path}${INCOMPLETE}`;
    renameSync(unfinished, done);
    return { ...description, path: done, bytes: statSync(done).size, files: packed.size, missingFiles };
  } finally {
    for (const name of [copy, unfinished]) rmSync(name, { force: true });
  }
}

/** Removes unfinished files of processes that have ended. @throws StartupError if another backup to `path` runs */
function clearUnfinished(path: string): void {
  const start = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) {
    const pid = name.startsWith(start) && /^(\d+)\.(?:database|unfinished)/.exec(name.slice(start.length))?.[1];
    if (!pid) continue;
    if (isRunning(Number(pid))) throw new StartupError(`Another backup to ${path} is running: process ${pid}.`);
    rmSync(join(dirname(path), name));
  }
}

/** True for another process. After a restart in a container, a new process may have the number of the killed one. */
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Yields the entries. File bytes follow the database copy: referenced files still exist, since removal is delayed. */
async function* entriesOf(
  { secret, blobs }: BackupSource,
  copy: string,
  description: BackupDescription,
  packed: Map<string, number>,
): AsyncGenerator<ArchiveEntry> {
  yield textEntry(BACKUP_ENTRIES.description, `${JSON.stringify(description, null, 2)}\n`);
  yield { name: BACKUP_ENTRIES.database, size: statSync(copy).size, content: createReadStream(copy) };
  yield textEntry(BACKUP_ENTRIES.secret, formatSecret(secret));
  let after: BlobKey | null = null;
  for (;;) {
    const page: Awaited<ReturnType<BlobStore['list']>> = await blobs.list(after, BLOBS_AT_A_TIME);
    if (page.length === 0) return;
    for (const { key } of page) {
      const size = await blobs.sizeOf(key);
      // Removed in the meantime.
      if (size === null) continue;
      packed.set(key, size);
      yield { name: `${BACKUP_ENTRIES.files}${key}`, size, content: blobs.read(key, { start: 0, end: size }) };
    }
    after = lastOf(page).key;
  }
}

function textEntry(name: string, text: string): ArchiveEntry {
  const bytes = Buffer.from(text);
  return {
    name,
    size: bytes.length,
    content: (async function* () {
      yield bytes;
    })(),
  };
}

/** Throttles work. */
class Pace {
  private done = 0;
  private readonly startedAt = performance.now();
  private blocked = 0;

  constructor(private readonly bytesPerSecond: number | null) {}

  /** Waits until the speed limit allows this many more bytes. */
  async wait(bytes: number): Promise<void> {
    this.done += bytes;
    const ms = this.aheadMs();
    if (ms >= 1) await sleep(ms);
  }

  /** Blocking variant for synchronous work; `total` counts all bytes so far. Blocking is harmless in this process. */
  block(total: number): void {
    this.done += total - this.blocked;
    this.blocked = total;
    const ms = this.aheadMs();
    if (ms >= 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  }

  private aheadMs(): number {
    if (this.bytesPerSecond === null) return 0;
    return (this.done / this.bytesPerSecond) * 1000 - (performance.now() - this.startedAt);
  }
}
