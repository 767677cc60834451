import type { FolderBlobStore, S3BlobStore } from '@parley/blobs';
import { StartupError } from '../kernel/startup-error.js';

/** Object that names the database whose files a location holds. */
const MARK = 'parley-database.json';

/** Identity of a database. A copy has the same `id` and another `place`. */
export interface DatabaseIdentity {
  readonly id: string;
  readonly place: string;
  /** Place of the database from which `parley move` filled this one. */
  readonly formerPlace?: string | null;
}

type MarkedStore = Pick<FolderBlobStore | S3BlobStore, 'readObject' | 'putObject'>;

/**
 * Marks a location of files as this database's. Two databases with one location would remove each other's files.
 * @throws StartupError if the location holds the files of another database
 */
export async function claimFiles(store: MarkedStore, location: string, own: DatabaseIdentity): Promise<void> {
  const mark = await readMark(store);
  if (mark?.id === own.id && mark.place === own.place) return;
  const isMoved = mark !== null && mark.id === own.id && mark.place === own.formerPlace;
  if (mark !== null && !isMoved) {
    throw new StartupError(
      `${location} holds the files of another database${mark.id === own.id ? ', of which this one is a copy' : ''}. ` +
        'Name another location in PARLEY_FILES (files). If no server uses that database any more, for example after a ' +
        'restore, run: parley file adopt',
    );
  }
  await adoptFiles(store, own);
}

/** Marks a location of files as this database's, whatever it held before. */
export async function adoptFiles(store: MarkedStore, { id, place }: DatabaseIdentity): Promise<void> {
  await store.putObject(MARK, Buffer.from(JSON.stringify({ id, place })));
}

/** Returns null without a readable mark. */
async function readMark(store: MarkedStore): Promise<DatabaseIdentity | null> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of store.readObject(MARK)) chunks.push(chunk);
    const { id, place } = JSON.parse(Buffer.concat(chunks).toString());
    return { id, place };
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return null;
    throw error;
  }
}

const isMissing = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ENOENT' || (error as Error).name === 'NoSuchKey';
