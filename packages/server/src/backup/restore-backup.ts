import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type BlobKey, type BlobStore, isBlobKey } from '@parley/domain/files';
import type { ErasureRecord } from '@parley/domain/kernel';
import type { ReplayedErasures } from '@parley/domain/membership';
import { HmacApiKeyMint } from '@parley/node-adapters';
import { administerDatabase } from '@parley/sqlite';
import { parseMarkedSecret } from '../kernel/secret-format.js';
import { StartupError } from '../kernel/startup-error.js';
import {
  type ArchiveEntry,
  BACKUP_ENTRIES,
  BACKUP_FORMAT,
  type BackupDescription,
  erasuresSince,
  parseDescription,
  readArchive,
  readText,
} from './backup.js';
import type { Checksums } from './checksums.js';
import { digestOf, findMissing } from './copy-files.js';

export interface RestoreTarget {
  /** Target path of the database, which must not exist yet. */
  readonly database: string;
  /** Target path of its secret. */
  readonly secretPath: string;
  /** Secret from the configuration or an existing file; null to restore the archived secret. */
  readonly secret: string | null;
  readonly blobs: BlobStore;
  readonly checksums?: Checksums | null;
  /** Folder of `blobs`; null for a bucket. */
  readonly filesFolder: string | null;
  /** Called with the restored database before files are stored. Throws if their location belongs to another one. */
  requireOwnFiles(database: string): Promise<void>;
  /** Known erasures. Those after the backup are repeated. */
  readonly erasures: readonly ErasureRecord[];
  /** Repeats erasures in the unfinished database, completely. */
  replay(database: string, secret: string, erasures: readonly ErasureRecord[]): Promise<ReplayedErasures>;
  /** True to end all browser sessions, also those that had ended after the backup. */
  readonly endsSessions: boolean;
  /** True for a copy for trying things, false for the server itself; null if nobody said, which needs the same address. */
  readonly isCopy: boolean | null;
  /** Public address of the restored server; null if none is configured. */
  readonly url: string | null;
  /** Replaces all API keys in the unfinished database; absent to keep them. */
  renewKeys?(database: string, secret: string): Promise<unknown>;
  readonly now: Date;
}

export interface RestoreResult extends BackupDescription {
  readonly files: number;
  /** Names of files in the database without bytes, or with bytes of another size or checksum. */
  readonly missingFiles: readonly string[];
  readonly replayed: ReplayedErasures;
  /** Ids that each counter has skipped. */
  readonly skippedIds: number;
  readonly endedSessions: number;
  readonly isCopy: boolean;
}

/** End of the name of an unfinished database. */
export const RESTORING = '.restoring';

/** Time for which the clocks of a backup and of an erasure may differ. Repeating an erasure has no effect. */
const CLOCK_MARGIN_SECONDS = 600;

const NOTHING_REPLAYED: ReplayedErasures = { repeated: [], withoutOwner: [] };

/** @throws StartupError, DatabaseRefused; leaves everything unchanged in that case */
export async function restoreBackup(path: string, target: RestoreTarget): Promise<RestoreResult> {
  const { database, secretPath } = target;
  for (const name of [database, `${database}-wal`]) {
    if (existsSync(name)) throw new StartupError(`${name} already exists; move it away first.`);
  }
  if (!existsSync(path)) throw new StartupError(`${path} does not exist.`);
  const madeFolder = mkdirSync(dirname(database), { recursive: true, mode: 0o700 });
  const unfinished = `${database}${RESTORING}`;
  removeDatabase(unfinished);
  const restoration = new Restoration(path, unfinished, target);
  try {
    const known: ReadonlyMap<string, string> = (await target.checksums?.read()) ?? new Map();
    const archived = await readArchive(path, (entry) => restoration.take(entry));
    const { description, secret } = restoration.complete();
    const existing = target.secret ?? secret;
    if (new HmacApiKeyMint(existing).secretFingerprint !== description.secretFingerprint) {
      throw new StartupError(
        `The secret of this server differs from that of the backup: set PARLEY_SECRET to the original secret, or move ${secretPath} away.`,
      );
    }
    const administration = administerDatabase(unfinished);
    const damage = administration.findDamage();
    if (damage.length > 0) throw new StartupError(`The database in ${path} is damaged: ${damage[0]}`);
    await restoration.replaceAltered(known, archived);
    administration.migrate();
    const skippedIds = administration.skipIds((target.now.getTime() - Date.parse(description.takenAt)) / 1000);
    administration.endQueues();
    if (target.isCopy !== null) administration.markCopy(target.isCopy);
    const { isCopy } = administration.inspect();
    const endedSessions = target.endsSessions ? administration.endSessions() : 0;
    const newer = erasuresSince(target.erasures, description, CLOCK_MARGIN_SECONDS);
    // A kill leaves no database at the path until all erasures are complete.
    const replayed = newer.length > 0 ? await target.replay(unfinished, existing, newer) : NOTHING_REPLAYED;
    await target.renewKeys?.(unfinished, existing);
    const { missing: missingFiles } = await findMissing(
      administration,
      (blob) => target.blobs.sizeOf(blob),
      known,
      (blob, size) => digestOf(blob, size, target.blobs),
    );
    if (target.secret === null)
      writeFileSync(secretPath, restoration.secretFile, { mode: 0o600, flag: 'wx', flush: true });
    // Moved last, so that a database at this path is always complete.
    renameSync(unfinished, database);
    const files = restoration.stored.length;
    return { ...description, files, missingFiles, replayed, skippedIds, endedSessions, isCopy };
  } catch (error) {
    await restoration.undo();
    if (madeFolder !== undefined) rmSync(madeFolder, { recursive: true });
    throw error;
  }
}

/** @throws StartupError if the address is another one and nobody said what the restored server is for */
function requirePurpose(
  { url: original }: BackupDescription,
  { isCopy, url }: Pick<RestoreTarget, 'isCopy' | 'url'>,
): void {
  if (isCopy !== null || original === undefined || original === url) return;
  throw new StartupError(
    `The backup is of the server at ${original}, but this one ${url === null ? 'has no address (--url)' : `is at ${url}`}. ` +
      'Add --copy to try things, so that nothing leaves the restored server, or --original if it replaces that server.',
  );
}

function removeEmptyFolders(folder: string): void {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeEmptyFolders(join(folder, entry.name));
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

/** @throws StartupError if the restoration of the database was interrupted */
export function refuseUnfinishedRestore(database: string): void {
  if (!existsSync(`${database}${RESTORING}`)) return;
  throw new StartupError(
    `The restoration of ${database} was interrupted: run parley restore again. To begin without the backup, remove ${database}${RESTORING}.`,
  );
}

function removeDatabase(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
}

/** Entries restored from an archive so far. */
class Restoration {
  readonly stored: BlobKey[] = [];
  /** Files that an earlier attempt or the server has stored, by their names in the archive. */
  private readonly present = new Map<string, BlobKey>();
  secretFile = '';
  private description: BackupDescription | null = null;
  private secret: string | null = null;
  private hasDatabase = false;

  constructor(
    private readonly path: string,
    private readonly database: string,
    private readonly target: Pick<RestoreTarget, 'blobs' | 'filesFolder' | 'requireOwnFiles' | 'isCopy' | 'url'>,
  ) {}

  async take({ name, size, content }: ArchiveEntry): Promise<void> {
    if (this.description === null) {
      if (name !== BACKUP_ENTRIES.description) throw this.refusal('it is not a backup');
      this.description = this.parseDescription(await readText(content, size));
      requirePurpose(this.description, this.target);
    } else if (name === BACKUP_ENTRIES.database) {
      await pipeline(content, createWriteStream(this.database, { mode: 0o600, flags: 'wx', flush: true }));
      this.hasDatabase = true;
      await this.target.requireOwnFiles(this.database);
    } else if (name === BACKUP_ENTRIES.secret) {
      this.secretFile = await readText(content, size);
      this.secret = parseMarkedSecret(this.secretFile.trim());
    } else await this.takeFile(name, content);
  }

  /** Accepts only valid keys, since they become paths. */
  private async takeFile(name: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const key = name.startsWith(BACKUP_ENTRIES.files) ? name.slice(BACKUP_ENTRIES.files.length) : '';
    if (!isBlobKey(key)) throw this.refusal(`it contains an unexpected entry ${JSON.stringify(name)}`);
    if ((await this.target.blobs.sizeOf(key)) !== null) {
      this.present.set(name, key);
      return;
    }
    this.stored.push(key);
    await this.target.blobs.put(key, content);
  }

  /** Replaces present files with another checksum than the `known` one, or than the archived one if none is known. */
  async replaceAltered(known: ReadonlyMap<string, string>, archived: ReadonlyMap<string, string>): Promise<void> {
    const { blobs } = this.target;
    for (const [name, key] of this.present) {
      const checksum = await digestOf(key, (await blobs.sizeOf(key))!, blobs);
      if (checksum === (known.get(key) ?? archived.get(name))) this.present.delete(name);
    }
    if (this.present.size === 0) return;
    await readArchive(this.path, async ({ name, content }) => {
      const key = this.present.get(name);
      if (key) await blobs.put(key, content);
    });
  }

  complete(): { readonly description: BackupDescription; readonly secret: string } {
    const { description, secret, hasDatabase } = this;
    if (description === null || secret === null || !hasDatabase) throw this.refusal('it is incomplete');
    return { description, secret };
  }

  async undo(): Promise<void> {
    removeDatabase(this.database);
    const { blobs, filesFolder } = this.target;
    // An unreachable bucket keeps them; its sweep removes them later.
    for (const key of this.stored) await blobs.remove(key).catch(() => {});
    if (filesFolder !== null && this.stored.length > 0) removeEmptyFolders(filesFolder);
  }

  private parseDescription(text: string): BackupDescription {
    const description = parseDescription(text);
    if (!description) throw this.refusal('its description is invalid');
    if (description.format !== BACKUP_FORMAT) {
      throw this.refusal(`its format ${JSON.stringify(description.format)} is unknown to this version`);
    }
    if (Number.isNaN(Date.parse(description.takenAt))) throw this.refusal('its time is invalid');
    return description;
  }

  private refusal(why: string): StartupError {
    return new StartupError(`${this.path} cannot be restored: ${why}.`);
  }
}
