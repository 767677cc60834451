import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { extract, pack } from 'tar-stream';
import { StartupError } from '../startup-error.js';

/**
 * A backup is a tar archive: what it is of (`parley-backup.json`), the database, its secret, the bytes of files, and, at the end,
 * the checksums of all of these in the form that `sha256sum --check` reads.
 */
export const BACKUP_ENTRIES = {
  description: 'parley-backup.json',
  database: 'parley.db',
  secret: 'parley.db.secret',
  files: 'files/',
  checksums: 'SHA256SUMS',
} as const;

export const BACKUP_FORMAT = 1;

/** The first entry. */
export interface BackupDescription {
  readonly format: number;
  /** What has made it. */
  readonly version: string;
  readonly schema: number;
  /** Of the secret that goes with the database. */
  readonly secretFingerprint: string;
  /** ISO 8601. When the copy of the database began. */
  readonly takenAt: string;
}

export interface ArchiveEntry {
  readonly name: string;
  readonly size: number;
  readonly content: AsyncIterable<Uint8Array>;
}

/** What is written before the disk has it; less keeps others' commits from waiting for all of it. */
const BYTES_PER_SYNC = 1024 * 1024;
/** Checksums and descriptions are read into memory. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;
const MODE = 0o600;

/** Writes a new file, closed to other users; `pace` is asked after each part, and may take its time. */
export async function writeArchive(
  path: string,
  entries: AsyncIterable<ArchiveEntry>,
  pace: (bytes: number) => Promise<void>,
): Promise<void> {
  const file = await open(path, 'wx', MODE);
  try {
    const archive = pack();
    const filling = fill(archive, entries);
    // What fails in there ends the archive, and with it the loop below, which throws it: nobody else listens.
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
 * Reads an archive to its end and compares the checksums. `take` gets each entry but the checksums, and may leave its content
 * unread. @throws StartupError when it is damaged, cut off or none of ours; what was taken until then is not to be trusted
 */
export async function readArchive(path: string, take: (entry: ArchiveEntry) => Promise<void>): Promise<void> {
  const reading = createReadStream(path);
  const found = new Map<string, string>();
  let stated: Map<string, string> | null = null;
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
      const content = hashing(entry as AsyncIterable<Uint8Array>, hash);
      await take({ name, size, content });
      // What nobody wanted is checked as well.
      for await (const _ of content);
      found.set(name, hash.digest('hex'));
    }
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw damaged(path, (error as Error).message);
  } finally {
    reading.destroy();
  }
  if (stated === null) throw damaged(path, 'its end is missing');
  for (const [name, checksum] of stated) {
    if (found.get(name) !== checksum)
      throw damaged(path, `${name} is ${found.has(name) ? 'not as it was' : 'missing'}`);
  }
  if (found.size !== stated.size) throw damaged(path, 'it has entries without checksums');
}

async function* hashing(content: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
}

/** Of a short entry. */
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

const damaged = (path: string, why: string) => new StartupError(`${path} is no backup, or damaged: ${why}.`);
