import { createReadStream, existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { S3BlobStore } from '@parley/blobs';
import type { StoredText } from '@parley/domain/kernel';
import { IMPORT_FOLDER } from '@parley/export-files';
import { administerDatabase } from '@parley/sqlite';
import type { Configuration } from '../configuration/configuration.js';
import { StartupError } from '../kernel/startup-error.js';
import { blobStoreOf, filesFolderOf } from '../start/files-location.js';
import { outboxesOf } from '../start/open-parley.js';
import { MAX_WORD_BYTES, MAX_WORDS, MIN_WORD_BYTES, type WordLine, WordSearch } from './word-search.js';

/** Place of a word, which is named by its line in the list only. */
export interface FoundWord {
  readonly line: WordLine;
  /** File, object of a bucket, or table with the row. */
  readonly place: string;
  /** Offset in bytes within the place. */
  readonly offset: number;
}

export interface WordReport {
  readonly bytes: number;
  readonly files: number;
  /** Files in which text may be compressed. */
  readonly compressedFiles: number;
  /** Reason why earlier versions of objects in a bucket were not searched; null if they were, or if there is no bucket. */
  readonly unsearchedVersions: string | null;
  readonly found: number;
}

const BYTES_AT_A_TIME = 1024 * 1024;
const MAX_LIST_BYTES = MAX_WORDS * (MAX_WORD_BYTES + 2);

/** Reads one word per line. @throws StartupError, which names lines but no words */
export async function readWords(path: string): Promise<ReadonlyMap<WordLine, string>> {
  if (!existsSync(path)) throw new StartupError(`${path} does not exist.`);
  if ((await stat(path)).size > MAX_LIST_BYTES) throw new StartupError(`${path} is too large for ${MAX_WORDS} words.`);
  const words = new Map<WordLine, string>();
  for (const [index, text] of (await readFile(path, 'utf8')).split(/\r?\n/).entries()) {
    const word = text.trim();
    if (word === '') continue;
    const bytes = Buffer.byteLength(word);
    if (bytes < MIN_WORD_BYTES || bytes > MAX_WORD_BYTES) {
      throw new StartupError(`Line ${index + 1} must have ${MIN_WORD_BYTES} to ${MAX_WORD_BYTES} bytes.`);
    }
    words.set(index + 1, word);
  }
  if (words.size === 0) throw new StartupError(`${path} has no words.`);
  if (words.size > MAX_WORDS) throw new StartupError(`${path} has more than ${MAX_WORDS} words.`);
  return words;
}

/** Searches everything that the server stores. `onFound` is called with each place. */
export async function findWords(
  configuration: Configuration,
  words: ReadonlyMap<WordLine, string>,
  onFound: (found: FoundWord) => void,
): Promise<WordReport> {
  const search = new WordSearch(words);
  const report: { -readonly [Field in keyof WordReport]: WordReport[Field] } = {
    ...{ bytes: 0, files: 0, compressedFiles: 0, unsearchedVersions: null, found: 0 },
  };
  const add = (place: string) => (line: WordLine, offset: number) => {
    report.found++;
    onFound({ line, place, offset });
  };
  const takeRow = ({ table, row, bytes }: StoredText) => {
    report.bytes += bytes.length;
    search.find(bytes, (line, offset) => add(`table ${table}, row ${row}`)(line, offset));
  };
  const searchBytes = async (place: string, content: AsyncIterable<Uint8Array>) => {
    let [state, offset] = [0, 0];
    for await (const part of content) {
      if (offset === 0 && isCompressed(part)) report.compressedFiles++;
      state = search.scan(part, state, offset, add(place));
      offset += part.length;
    }
    report.files++;
    report.bytes += offset;
  };
  const searchFile = (path: string) =>
    searchBytes(path, createReadStream(path, { highWaterMark: BYTES_AT_A_TIME })).catch((error) => {
      // Removed in the meantime.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    });
  const { database } = configuration;
  if (database.kind === 'sqlite') {
    // Words in files of the database are named by their rows too. Otherwise, only rows that are split between pages remain.
    for (const path of await filesOfDatabase(resolve(database.path))) await searchFile(path);
    administerDatabase(database.path).readTexts(takeRow, { onlySplit: report.found === 0 });
    for (const outbox of outboxesOf(configuration)) for await (const path of filesIn(outbox)) await searchFile(path);
  } else {
    const { readTextsOfPostgres } = await import('@parley/postgres');
    await readTextsOfPostgres(database.url, takeRow);
  }
  const blobs = blobStoreOf(configuration);
  if (blobs instanceof S3BlobStore) {
    for await (const { name, content } of blobs.openAll()) await searchBytes(`object ${name}`, content);
    try {
      for await (const { name, content } of blobs.openEarlierVersions()) await searchBytes(`object ${name}`, content);
    } catch (error) {
      // Some services have no versions, and some credentials may not list them.
      report.unsearchedVersions = (error as Error).message;
    }
  } else for await (const path of filesIn(filesFolderOf(configuration))) await searchFile(path);
  return report;
}

/** True for the beginnings of gzip and ZIP files. */
const isCompressed = ([first, second]: Uint8Array): boolean =>
  (first === 0x1f && second === 0x8b) || (first === 0x50 && second === 0x4b);

/** Database, its log, ledger, audit lines and unfinished copies, and folders of imports next to it. */
async function filesOfDatabase(path: string): Promise<readonly string[]> {
  const folder = dirname(path);
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const own = join(folder, entry.name);
    if (entry.isFile() && entry.name.startsWith(basename(path))) found.push(own);
    if (entry.isDirectory() && entry.name.startsWith(IMPORT_FOLDER))
      for await (const file of filesIn(own)) found.push(file);
  }
  // The log first: what is copied from it in the meantime is found in the database.
  return found.sort().reverse();
}

async function* filesIn(folder: string): AsyncGenerator<string> {
  if (!existsSync(folder)) return;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (entry.isFile()) yield path;
  }
}
