import { createReadStream, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BlobKey, BlobStore } from '@parley/domain/files';
import { copyDatabase, findDamage, inspectDatabase, listBlobs } from '@parley/sqlite';
import { HmacApiKeyMint } from '../authentication/hmac-api-key-mint.js';
import { formatSecret } from '../secret-format.js';
import { StartupError } from '../startup-error.js';
import {
  type ArchiveEntry,
  BACKUP_ENTRIES,
  BACKUP_FORMAT,
  type BackupDescription,
  readArchive,
  writeArchive,
} from './archive.js';

export interface BackupSource {
  /** Path of the database. */
  readonly database: string;
  readonly secret: string;
  readonly blobs: BlobStore;
  readonly version: string;
}

export interface BackupOptions {
  readonly takenAt: Date;
  /** Of what is read and written, so that the disk is left to the server; null: as quickly as it goes. */
  readonly bytesPerSecond: number | null;
}

export interface BackupResult extends BackupDescription {
  /** Of the archive. */
  readonly bytes: number;
  readonly files: number;
  /** Files that the database knows and whose bytes are gone. */
  readonly missingFiles: readonly string[];
}

const BLOBS_AT_A_TIME = 1000;

/**
 * Makes an archive of everything a server needs, beside a server that may be running. Everything that was acknowledged when it
 * began is in it. The copy of the database is checked, and the archive read once more before it gets its name.
 * @throws StartupError, DatabaseRefused; nothing is left behind then
 */
export async function createBackup(source: BackupSource, path: string, options: BackupOptions): Promise<BackupResult> {
  if (existsSync(path)) throw new StartupError(`${path} is there already; give the backup another name.`);
  const { schema, secretFingerprint } = inspectDatabase(source.database);
  const ownFingerprint = new HmacApiKeyMint(source.secret).secretFingerprint;
  if (secretFingerprint !== null && secretFingerprint !== ownFingerprint) {
    throw new StartupError('The secret is another one than the database was made with; a backup would be of no use.');
  }
  const copy = `${path}.database`;
  const unfinished = `${path}.unfinished`;
  for (const name of [copy, unfinished]) {
    if (existsSync(name)) throw new StartupError(`${name} is in the way: a backup is being made, or was broken off.`);
  }
  try {
    const pace = new Pace(options.bytesPerSecond);
    await copyDatabase(source.database, copy, { onProgress: (copied) => pace.block(copied) });
    const damage = findDamage(copy);
    if (damage.length > 0) throw new StartupError(`The database is damaged: ${damage[0]}`);
    const description: BackupDescription = {
      format: BACKUP_FORMAT,
      version: source.version,
      schema,
      secretFingerprint: ownFingerprint,
      takenAt: options.takenAt.toISOString(),
    };
    const packed = new Set<string>();
    await writeArchive(unfinished, entriesOf(source, copy, description, packed), (bytes) => pace.wait(bytes));
    const missingFiles = missingOf(copy, packed);
    rmSync(copy);
    await readArchive(unfinished, async () => {});
    renameSync(unfinished, path);
    return { ...description, bytes: statSync(path).size, files: packed.size, missingFiles };
  } finally {
    for (const name of [copy, unfinished]) rmSync(name, { force: true });
  }
}

/** The bytes of files come after the copy of the database: what it knows is still there, since nothing is removed at once. */
async function* entriesOf(
  { secret, blobs }: BackupSource,
  copy: string,
  description: BackupDescription,
  packed: Set<string>,
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
      // Somebody has just removed it.
      if (size === null) continue;
      packed.add(key);
      yield { name: `${BACKUP_ENTRIES.files}${key}`, size, content: blobs.read(key, { start: 0, end: size }) };
    }
    after = page.at(-1)!.key;
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

function missingOf(database: string, packed: ReadonlySet<string>): readonly string[] {
  const missing: string[] = [];
  for (let after = ''; ; ) {
    const page = listBlobs(database, after, BLOBS_AT_A_TIME);
    if (page.length === 0) return missing;
    for (const { blob } of page) if (!packed.has(blob)) missing.push(blob);
    after = page.at(-1)!.blob;
  }
}

/** Holds work to a speed. */
class Pace {
  private done = 0;
  private readonly startedAt = performance.now();
  private blocked = 0;

  constructor(private readonly bytesPerSecond: number | null) {}

  /** After so many bytes more. */
  async wait(bytes: number): Promise<void> {
    this.done += bytes;
    const ms = this.aheadMs();
    if (ms >= 1) await sleep(ms);
  }

  /** The same where nothing can be awaited; `total`: of all bytes. Nobody else waits for this process. */
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
