import { createHash } from 'node:crypto';
import { hashing } from '@parley/blobs';
import type { BlobKey, BlobStore, PartialBlobStore } from '@parley/domain/files';
import { type BlobRecord, DomainError, lastOf } from '@parley/domain/kernel';
import { BLOB_TABLES, type Row, type TableSource } from '@parley/storage';
import { StartupError } from '../kernel/startup-error.js';

export interface CopiedFiles {
  readonly copied: number;
  /** Number of files that an earlier run has copied. */
  readonly present: number;
  /** Files that are missing, or have another size than in the database. */
  readonly missing: readonly string[];
}

const BLOBS_AT_A_TIME = 1000;

/** Database of any kind, which other processes may use. */
export interface BlobLister {
  /** Returns the blobs that the database refers to, in pages by name. @throws DatabaseRefused */
  listBlobs(after: string, limit: number): readonly BlobRecord[] | Promise<readonly BlobRecord[]>;
}

/** Returns the files that a database refers to. @throws DatabaseRefused */
export async function* listBlobs(database: BlobLister): AsyncGenerator<BlobRecord> {
  for (let after = ''; ; ) {
    const page = await database.listBlobs(after, BLOBS_AT_A_TIME);
    if (page.length === 0) return;
    for (const record of page) {
      after = record.blob;
      yield record;
    }
  }
}

/** Counts the files of a database, and names those without content, or with content of another size or checksum. */
export async function findMissing(
  database: BlobLister,
  sizeOf: (blob: BlobKey) => Promise<number | null> | number | undefined,
  known: ReadonlyMap<string, string> = new Map(),
  checksumOf: (blob: BlobKey, size: number) => Promise<string> | string | undefined = () => undefined,
): Promise<{ readonly count: number; readonly missing: readonly string[] }> {
  const missing: string[] = [];
  let count = 0;
  for await (const { blob, size } of listBlobs(database)) {
    count++;
    const [key, checksum] = [blob as BlobKey, known.get(blob)];
    const hasSize = (await sizeOf(key)) === size;
    if (!hasSize || (checksum && (await checksumOf(key, size)) !== checksum)) missing.push(blob);
  }
  return { count, missing };
}

/** Returns the same as `listBlobs`, for a database that is open exclusively. */
export function* blobsOf(source: TableSource): Generator<BlobRecord> {
  for (const table of BLOB_TABLES)
    for (const [blob, size] of rowsOf(source, table, ['blob', 'size']))
      yield { blob: String(blob), size: Number(size) };
}

export function* uploadsOf(source: TableSource): Generator<BlobKey> {
  for (const [blob] of rowsOf(source, 'unfinished_upload', ['blob'])) yield blob as BlobKey;
}

function* rowsOf(source: TableSource, table: string, columns: readonly string[]) {
  for (let after: Row = ['']; ; ) {
    const rows = source.rows({ table, columns, key: ['blob'], after });
    if (rows.length === 0) return;
    yield* rows;
    after = lastOf(rows).slice(0, 1);
  }
}

/**
 * Copies files and compares each with the original. Can be repeated: it reads existing copies, and writes only those
 * that differ. @throws StartupError
 */
export async function copyFiles(
  blobs: Iterable<BlobRecord> | AsyncIterable<BlobRecord>,
  { source, target }: { readonly source: BlobStore; readonly target: BlobStore },
  onFile: (count: number) => void = () => {},
): Promise<CopiedFiles> {
  let [copied, present] = [0, 0];
  const missing: string[] = [];
  for await (const { blob, size } of blobs) {
    const key = blob as BlobKey;
    await naming(blob, async () => {
      const end = await source.sizeOf(key);
      if (end !== size) missing.push(blob);
      if (end === null) return;
      if (await isSame(key, end, source, target)) present++;
      else {
        await target.put(key, source.read(key, { start: 0, end }));
        if (!(await isSame(key, end, source, target))) throw new Error('the copy differs from the original');
        copied++;
      }
      onFile(copied + present);
    });
  }
  return { copied, present, missing };
}

interface UploadSource extends PartialBlobStore {
  content(key: BlobKey): AsyncIterable<Uint8Array>;
}

/** Copies the received bytes of unfinished uploads, again if it is repeated. Returns their number. @throws StartupError */
export async function copyUploads(
  keys: Iterable<BlobKey>,
  { source, target }: { readonly source: UploadSource; readonly target: PartialBlobStore },
): Promise<number> {
  let copied = 0;
  for (const key of keys) {
    await naming(key, async () => {
      const size = await source.sizeOf(key);
      if (size === 0) return;
      await target.remove(key);
      if ((await target.append(key, 0, source.content(key))) !== size)
        throw new Error('the copy differs from the original');
      copied++;
    });
  }
  return copied;
}

async function isSame(key: BlobKey, end: number, source: BlobStore, target: BlobStore): Promise<boolean> {
  if ((await target.sizeOf(key)) !== end) return false;
  return (await digestOf(key, end, source)) === (await digestOf(key, end, target));
}

export async function digestOf(key: BlobKey, end: number, store: BlobStore): Promise<string> {
  const hash = createHash('sha256');
  for await (const _ of hashing(store.read(key, { start: 0, end }), hash));
  return hash.digest('hex');
}

async function naming(blob: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { message } = error instanceof DomainError && error.cause instanceof Error ? error.cause : (error as Error);
    throw new StartupError(`Cannot copy the file ${blob}: ${message}. Run the command again to continue.`);
  }
}
