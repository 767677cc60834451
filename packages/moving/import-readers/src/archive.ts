import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { DomainError } from '@parley/domain/kernel';
import { expansionProblem } from '@parley/export-files';
import { Entry, getFileNameLowLevel, openPromise, type ZipFile } from 'yauzl';
import { messageOf, sourceError } from './source-error.js';

/** Files of an export: a ZIP, a folder with the same files, or a single file of JSON. Names use slashes. */
export interface Archive {
  /** Name of the ZIP, folder or file, for error messages. */
  readonly name: string;
  /** Names in code point order. */
  readonly names: readonly string[];
  has(name: string): boolean;
  /** Size in bytes, as declared. */
  sizeOf(name: string): number;
  /**
   * Streams a file, or a range of bytes if `hasRanges`; the end of a range is exclusive.
   * @throws DomainError INVALID_IMPORT if it is missing, damaged, encrypted or suspiciously compressed
   */
  read(name: string, range?: ByteRange): AsyncIterable<Buffer>;
  /** True unless the files are compressed; allows reading ranges of files. */
  readonly hasRanges: boolean;
  close(): Promise<void>;
}

export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Protection against forged archives. */
export interface ArchiveLimits {
  readonly maxFiles: number;
  /** All files together, decompressed. */
  readonly maxBytes: number;
}

export const ARCHIVE_LIMITS: ArchiveLimits = {
  maxFiles: 2_000_000,
  maxBytes: 4 * 1024 ** 4,
};

const MAX_NAME_LENGTH = 1024;
const MAX_FOLDER_DEPTH = 32;

/**
 * Opens a ZIP, a folder or a file of JSON.
 * @param formatFolders folders of the export's format, with slashes, even if one of them contains all files
 * @throws DomainError INVALID_IMPORT
 */
export async function openArchive(
  path: string,
  limits: ArchiveLimits = ARCHIVE_LIMITS,
  formatFolders: readonly string[] = [],
): Promise<Archive> {
  const found = await stat(path).catch(() => null);
  if (found === null) throw sourceError(path, null, 'no such file or folder');
  if (found.isDirectory()) return withoutOuterFolder(await openFolder(path, limits), formatFolders);
  if (/\.jsonl?$/.test(path) && !(await isZip(path))) return openFile(path, found.size);
  return withoutOuterFolder(await openZip(path, found.size, limits), formatFolders);
}

function openFile(path: string, size: number): Archive {
  const name = basename(path);
  return {
    name,
    names: [name],
    has: (each) => each === name,
    sizeOf: (each) => (each === name ? size : 0),
    read: (each, range) => readFolderFile(dirname(path), each, each === name, range),
    hasRanges: true,
    close: () => Promise.resolve(),
  };
}

/** First bytes of a ZIP with files, without files, and in parts. */
const ZIP_SIGNATURES: readonly string[] = ['504b0304', '504b0506', '504b0708'];

async function isZip(path: string): Promise<boolean> {
  let start = '';
  for await (const chunk of createReadStream(path, { end: 3, encoding: 'hex' })) start += chunk;
  return ZIP_SIGNATURES.includes(start);
}

/**
 * Explains why no reader recognizes a ZIP. Returns for other files.
 * @throws DomainError INVALID_IMPORT
 */
export async function refuseZip(path: string): Promise<void> {
  const found = await stat(path);
  if (found.isDirectory()) return;
  if (found.size === 0) throw sourceError(basename(path), null, 'is empty');
  if (!(await isZip(path))) return;
  const archive = await openArchive(path);
  await archive.close();
  const names = archive.names.slice(0, 5).map(shown).join(', ');
  throw sourceError(archive.name, null, `contains no export of a known system. Its first files: ${names || 'none'}`);
}

/** A packed folder contains its own name. Archives of macOS have a second folder for attributes. */
function withoutOuterFolder(archive: Archive, formatFolders: readonly string[]): Archive {
  let names = archive.names.filter((name) => !isSystemFile(name));
  let prefix = '';
  for (let outer = outerFolder(names); outer !== '' && !formatFolders.includes(outer); outer = outerFolder(names)) {
    prefix += outer;
    names = names.map((name) => name.slice(outer.length));
  }
  return {
    ...archive,
    names,
    has: (name) => archive.has(prefix + name),
    sizeOf: (name) => archive.sizeOf(prefix + name),
    read: (name, range) => archive.read(prefix + name, range),
  };
}

/** Returns the folder that contains all files, with a slash. */
function outerFolder(names: readonly string[]): string {
  const outer = names[0]?.slice(0, names[0].indexOf('/') + 1) ?? '';
  return outer !== '' && names.every((name) => name.startsWith(outer)) ? outer : '';
}

const isSystemFile = (name: string): boolean =>
  name.startsWith('__MACOSX/') || /(?:^|\/)(?:\._[^/]*|\.DS_Store|Thumbs\.db|desktop\.ini)$/.test(name);

async function openFolder(path: string, limits: ArchiveLimits): Promise<Archive> {
  const sizes = new Map<string, number>();
  let bytes = 0;
  const walk = async (folder: string, depth: number): Promise<void> => {
    if (depth > MAX_FOLDER_DEPTH) throw sourceError(folder, null, 'folders are nested too deeply');
    for (const entry of await readdir(join(path, folder), { withFileTypes: true })) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      // Links could lead out of the folder.
      if (entry.isDirectory()) await walk(name, depth + 1);
      else if (entry.isFile()) {
        const { size } = await stat(join(path, name));
        bytes += size;
        requireRoom(path, sizes.size, bytes, limits);
        sizes.set(name, size);
      }
    }
  };
  await walk('', 0);
  return {
    name: basename(path),
    names: sorted(sizes.keys()),
    has: (name) => sizes.has(name),
    sizeOf: (name) => sizes.get(name) ?? 0,
    read: (name, range) => readFolderFile(path, name, sizes.has(name), range),
    hasRanges: true,
    close: () => Promise.resolve(),
  };
}

async function* readFolderFile(
  path: string,
  name: string,
  isThere: boolean,
  range: ByteRange | undefined,
): AsyncGenerator<Buffer> {
  if (!isThere) throw sourceError(name, null, 'no such file');
  yield* wrapped(name, createReadStream(join(path, name), range && { start: range.start, end: range.end - 1 }));
}

async function openZip(path: string, fileSize: number, limits: ArchiveLimits): Promise<Archive> {
  const name = basename(path);
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false, decodeStrings: false }).catch((error) => {
    throw sourceError(name, null, `not a ZIP archive that can be read: ${messageOf(error)}`);
  });
  try {
    const entries = await zipEntries(zip, name, fileSize, limits);
    return {
      name,
      names: sorted(entries.keys()),
      has: (each) => entries.has(each),
      sizeOf: (each) => entries.get(each)?.uncompressedSize ?? 0,
      read: (each) => readZipFile(zip, each, entries.get(each)),
      hasRanges: false,
      close: async () => zip.close(),
    };
  } catch (error) {
    zip.close();
    throw error instanceof DomainError ? error : sourceError(name, null, messageOf(error));
  }
}

async function zipEntries(
  zip: ZipFile,
  archiveName: string,
  fileSize: number,
  limits: ArchiveLimits,
): Promise<ReadonlyMap<string, Entry>> {
  const entries = new Map<string, Entry>();
  let bytes = 0;
  let packed = 0;
  for await (const entry of zip.eachEntry()) {
    const name = nameOf(entry);
    if (name.endsWith('/')) continue;
    const reason = unsafeName(name);
    if (reason) throw sourceError(archiveName, null, `contains a file with an unsafe name, ${shown(name)}: ${reason}`);
    const other = entries.get(name);
    if (other && (other.crc32 !== entry.crc32 || other.uncompressedSize !== entry.uncompressedSize))
      throw sourceError(archiveName, null, `contains ${shown(name)} twice, with different contents`);
    bytes += entry.uncompressedSize;
    packed += entry.compressedSize;
    requireRoom(archiveName, entries.size, bytes, limits);
    // Files of a zip bomb share their compressed bytes.
    if (packed > fileSize) throw sourceError(archiveName, null, 'declares more compressed data than it contains');
    entries.set(name, compact(entry));
  }
  return entries;
}

/** Keeps only the fields needed to read the file; an archive can contain millions. */
function compact(entry: Entry): Entry {
  const { compressedSize, uncompressedSize, compressionMethod, generalPurposeBitFlag } = entry;
  const { relativeOffsetOfLocalHeader, crc32: checksum } = entry;
  return Object.assign(new Entry(), {
    compressedSize,
    uncompressedSize,
    compressionMethod,
    generalPurposeBitFlag,
    relativeOffsetOfLocalHeader,
    crc32: checksum,
  });
}

/** Many tools, Slack's among them, write UTF-8 without the flag that says so. */
function nameOf(entry: Entry): string {
  const { fileNameRaw, generalPurposeBitFlag, extraFields } = entry;
  const utf8 = decodeUtf8(fileNameRaw);
  const name = utf8 ?? getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false);
  return name.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}

function unsafeName(name: string): string | null {
  if (name === '') return 'it is empty';
  if (name.length > MAX_NAME_LENGTH) return 'it is too long';
  if (name.includes('\0')) return 'it contains a null character';
  if (name.startsWith('/') || /^[a-z]:/i.test(name)) return 'it is absolute';
  return name.split('/').includes('..') ? 'it leads out of the archive' : null;
}

async function* readZipFile(zip: ZipFile, name: string, entry: Entry | undefined): AsyncGenerator<Buffer> {
  if (!entry) throw sourceError(name, null, 'no such file');
  const problem = expansionProblem(entry.uncompressedSize, entry.compressedSize);
  if (problem !== null) throw sourceError(name, null, problem);
  const stream = await zip.openReadStreamPromise(entry).catch((error) => {
    throw sourceError(name, null, messageOf(error));
  });
  let checksum = 0;
  for await (const chunk of wrapped(name, stream)) {
    checksum = crc32(chunk, checksum);
    yield chunk;
  }
  if (checksum !== entry.crc32) throw sourceError(name, null, 'is damaged: its checksum is wrong');
}

/** Streams with errors that name the file, and destroys the stream if the reader stops early. */
async function* wrapped(name: string, stream: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) yield chunk;
  } catch (error) {
    throw sourceError(name, null, `cannot be read: ${messageOf(error)}`);
  } finally {
    stream.destroy();
  }
}

function requireRoom(name: string, files: number, bytes: number, limits: ArchiveLimits): void {
  if (files >= limits.maxFiles) throw sourceError(name, null, `contains more than ${limits.maxFiles} files`);
  if (bytes > limits.maxBytes) throw sourceError(name, null, `expands to more than ${limits.maxBytes} bytes`);
}

const sorted = (names: Iterable<string>): string[] => [...names].sort((a, b) => (a < b ? -1 : 1));
const shown = (name: string): string => JSON.stringify(name.slice(0, 100));
