import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { FolderBlobStore, S3BlobStore } from '@parley/blobs';
import type { BlobKey, BlobStore } from '@parley/domain/files';
import { type Logger, warn } from '@parley/http';
import { administerDatabase, isDatabaseFile, placeOf } from '@parley/sqlite';
import { type CopiedFiles, copyFiles, listBlobs } from '../backup/copy-files.js';
import { RESTORING } from '../backup/restore-backup.js';
import { StartupError, systemReasonOf } from '../kernel/startup-error.js';
import {
  blobStoreOf,
  databaseNameOf,
  FILES_MARK,
  type FilesConfiguration,
  isNewDatabase,
  isSplit,
  locationOf,
  sharedFolderOf,
  splitFolderOf,
} from './files-location.js';

/** Identity of a database. A copy has the same `id` and another `place`. */
export interface DatabaseIdentity {
  readonly id: string;
  readonly place: string;
  /** Place of the database from which `parley move` filled this one. */
  readonly formerPlace?: string | null;
  /** Timeline of PostgreSQL. A promoted copy has another one at the same place. */
  readonly timeline?: string;
  /** Timeline before a failover that this process has followed. */
  readonly formerTimeline?: string | undefined;
}

interface Mark extends Pick<DatabaseIdentity, 'id' | 'place' | 'timeline'> {
  /** File name of the database next to the default folder. It stays when both are copied or the database is restored. */
  readonly name?: string;
}

/** Relation between a database and a location of files. */
export type FilesState =
  | 'own'
  /** Without a mark, and not used by others. */
  | 'free'
  /** Used by several databases of a release without marks. */
  | 'shared'
  /** Marked by a database with the same identity at another place. */
  | 'original'
  | 'foreign';

interface Claim {
  /** True if the database was created just now, so that it has no files yet. */
  readonly isNew: boolean;
  /** Takes the location over from another database. */
  readonly adopts: boolean;
}

export const SHARED_ADVICE =
  'other databases share the folder of files. Run parley file split for each, or parley file adopt if no server uses the others';

/**
 * Marks the location of files as this database's. Two databases with one location would remove each other's files.
 * Returns false for a shared folder, which nobody may sweep.
 * @throws StartupError if the location holds the files of another database; another error if a bucket cannot be reached
 */
export async function claimFiles(
  configuration: FilesConfiguration,
  own: DatabaseIdentity,
  { isNew, adopts }: Claim,
): Promise<boolean> {
  const store = blobStoreOf(configuration);
  const claim = async (): Promise<boolean> => {
    const mark = markOf(configuration, own);
    if (adopts) {
      await store.putObject(FILES_MARK, mark);
      return true;
    }
    const state = await filesStateOf(configuration, own);
    if (state === 'own') {
      if (!(await readObject(store, FILES_MARK))?.equals(mark)) await store.putObject(FILES_MARK, mark);
      return true;
    }
    if (state === 'shared' && !isNew) return false;
    if (state === 'foreign' || state === 'original') throw notOwn(configuration, state);
    if (!(store instanceof FolderBlobStore)) await store.putObject(FILES_MARK, mark);
    // Another database may have claimed the folder since the check.
    else if (!(await store.addObject(FILES_MARK, mark))) return claim();
    return true;
  };
  try {
    return await claim();
  } catch (error) {
    if (error instanceof StartupError || configuration.files?.kind === 's3') throw error;
    throw new StartupError(`${locationOf(configuration)} cannot be used for files: ${systemReasonOf(error)}`);
  }
}

/** Claim of a server or command on the location of files. */
export class FilesClaim {
  private store: BlobStore | null = null;
  private last: DatabaseIdentity | null = null;
  private hasCopy = false;

  constructor(
    private readonly configuration: FilesConfiguration,
    private readonly identify: () => Promise<DatabaseIdentity>,
    private readonly logger: Logger,
  ) {}

  /** Warns if others share the location, and returns false. An unavailable bucket is claimed later. @throws StartupError */
  async start(store: BlobStore, options: Claim): Promise<boolean> {
    this.store = store;
    if (store instanceof S3BlobStore) {
      store.claimBy(async () => void (await this.claim(options)));
      await store.check().catch((error) => {
        if (error instanceof StartupError) throw error;
      });
      return true;
    }
    const isOwn = await this.claim(options);
    if (!isOwn) warn(this.logger, {}, `unused files are not removed: ${SHARED_ADVICE}`);
    return isOwn;
  }

  /** Stops changes of files if another database has taken the location over, and returns false. */
  readonly keep = async (): Promise<boolean> => {
    const { store } = this;
    try {
      await this.claim({ isNew: false, adopts: false });
      if (store instanceof FolderBlobStore) store.disk.lose(null);
      return true;
    } catch (error) {
      if (!(error instanceof StartupError)) return true;
      if (store instanceof FolderBlobStore) store.disk.lose(error.message);
      else if (store instanceof S3BlobStore) store.lose();
      return false;
    }
  };

  /** Stops changes of files until the next start, because a copy that looks like the database changes them too. */
  async leave(): Promise<void> {
    this.hasCopy = true;
    await this.keep();
  }

  /** A running server follows a failover to another timeline; others need `parley file adopt`. */
  private async claim(options: Claim): Promise<boolean> {
    if (this.hasCopy)
      throw new StartupError(
        `Another server uses ${locationOf(this.configuration).replace(/^T/, 't')} with a copy of this database. Stop one of them, and start the other again.`,
      );
    const own = await this.identify();
    const isOwn = await claimFiles(this.configuration, { ...own, formerTimeline: this.last?.timeline }, options);
    this.last = own;
    return isOwn;
  }
}

/** Rejects a location with the files of others before a database is created. @throws StartupError */
export async function refuseUsedFiles(configuration: FilesConfiguration): Promise<void> {
  const state = await filesStateOf(configuration, null).catch(() => 'free');
  // Another process may have created the database since the check.
  if (state === 'free' || !isNewDatabase(configuration)) return;
  throw new StartupError(
    `${locationOf(configuration)} holds the files of another database. Create this one in another folder, or set ` +
      'PARLEY_FILES (files). If the other one was deleted, move its files away, or take them over: parley file adopt --new-database',
  );
}

export function notOwn(configuration: FilesConfiguration, state: FilesState): StartupError {
  const remedy =
    configuration.files === null
      ? 'Copy its own files into a folder of its own by parley file split, or move it into another folder.'
      : 'Name another location in PARLEY_FILES (files).';
  return new StartupError(
    `${locationOf(configuration)} holds the files of another database${state === 'original' ? ', of which this one is a copy' : ''}. ` +
      `${remedy} If no server uses that database any more, for example after a restore, run: parley file adopt`,
  );
}

/** Changes nothing. @throws Error if other databases use the location */
export async function requireOwnLocation(
  configuration: FilesConfiguration,
  own: DatabaseIdentity | null,
): Promise<void> {
  const state = await filesStateOf(configuration, own);
  if (state === 'shared') {
    const others = sharersOf(defaultOf(configuration)!).join(', ');
    throw new Error(`${SHARED_ADVICE}${others && ` (${others})`}; until then, unused files are not removed`);
  }
  if (state !== 'own' && state !== 'free') throw notOwn(configuration, state);
}

/** Changes nothing. `own` is null for a database that does not exist yet. */
export async function filesStateOf(
  configuration: FilesConfiguration,
  own: DatabaseIdentity | null,
): Promise<FilesState> {
  const store = blobStoreOf(configuration);
  const bytes = await readObject(store, FILES_MARK);
  const path = defaultOf(configuration);
  if (bytes === null) return path !== null && sharersOf(path).length > 0 ? 'shared' : 'free';
  const mark = parseMark(bytes);
  if (own === null) return 'foreign';
  if (mark.id === own.id) {
    const isOwn =
      [own.place, own.formerPlace].includes(mark.place) || (path !== null && mark.name === databaseNameOf(path));
    // Marks of older releases have no timeline.
    const isSameTimeline = [undefined, own.timeline, own.formerTimeline].includes(mark.timeline);
    return isOwn && isSameTimeline ? 'own' : 'original';
  }
  return path !== null && existsSync(path) && (await hasFilesIn(store, path)) ? 'shared' : 'foreign';
}

/**
 * Reads the identity of a database without changing it. The id is empty if no release from 0.3 on has opened it.
 * @throws DatabaseRefused
 */
export const identityOf = (path: string): DatabaseIdentity => ({
  id: administerDatabase(path).inspect().installation ?? '',
  place: placeOf(path),
});

/** Path of the database if its files are in the default folder; else null. */
const defaultOf = ({ files, database }: FilesConfiguration): string | null =>
  files === null && database?.kind === 'sqlite' ? database.path : null;

/** Names of other databases with files in the same default folder. */
function sharersOf(path: string): readonly string[] {
  if (isSplit(path)) return [];
  const folder = dirname(resolve(path));
  const own = databaseNameOf(path);
  return readdirSync(folder).filter((name) => {
    const other = join(folder, name);
    const isFile = !name.endsWith(RESTORING) && statSync(other, { throwIfNoEntry: false })?.isFile();
    return isFile && isDatabaseFile(other) && databaseNameOf(other) !== own && !isSplit(other);
  });
}

const BLOBS_TO_TRY = 1000;

async function hasFilesIn(store: FolderBlobStore | S3BlobStore, path: string): Promise<boolean> {
  for (const { blob } of administerDatabase(path).listBlobs('', BLOBS_TO_TRY))
    if ((await store.sizeOf(blob as BlobKey)) !== null) return true;
  return false;
}

const markOf = (configuration: FilesConfiguration, { id, place, timeline }: DatabaseIdentity): Buffer => {
  const path = defaultOf(configuration);
  return Buffer.from(JSON.stringify({ id, place, timeline, ...(path !== null && { name: databaseNameOf(path) }) }));
};

/** Returns a mark of no database if it is damaged. */
function parseMark(bytes: Buffer): Mark {
  try {
    return JSON.parse(bytes.toString()) as Mark;
  } catch {
    return { id: '', place: '' };
  }
}

/** Returns null if there is none. */
export async function readObject(store: FolderBlobStore | S3BlobStore, name: string): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of store.readObject(name)) chunks.push(chunk);
    return Buffer.concat(chunks);
  } catch (error) {
    return nullIfMissing(error);
  }
}

export function nullIfMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT' || (error as Error).name === 'NoSuchKey') return null;
  throw error;
}

export interface SplitFiles extends CopiedFiles {
  readonly folder: string;
}

/**
 * Copies the files of a database from the default folder into a separate one, and marks that last. Can be repeated.
 * @throws StartupError
 */
export async function splitFiles(configuration: FilesConfiguration, path: string): Promise<SplitFiles> {
  const own = requireIdentity(path);
  const folder = splitFolderOf(path);
  const target = new FolderBlobStore(folder);
  const files = await copyFiles(listBlobs(administerDatabase(path)), {
    source: new FolderBlobStore(sharedFolderOf(path)),
    target,
  });
  await target.putObject(FILES_MARK, markOf({ ...configuration, files: null }, own));
  return { folder, ...files };
}

/** @throws StartupError, DatabaseRefused */
export function requireIdentity(path: string): DatabaseIdentity {
  const own = identityOf(path);
  if (own.id === '') throw new StartupError(`${path} is from a release before 0.3: run parley migrate first.`);
  return own;
}
