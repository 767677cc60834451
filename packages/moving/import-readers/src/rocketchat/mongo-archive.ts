import { createReadStream } from 'node:fs';
import { appendFile, mkdir, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DiskRoom, IMPORT_FOLDER, importLimits, isDiskFull, unpacksTooLarge } from '@parley/export-files';
import { gunzipped, MAX_DOCUMENT_BYTES, MIN_DOCUMENT_BYTES, parseBson } from '../bson-documents.js';
import { flagOf, textOf } from '../fields.js';
import { sourceError } from '../source-error.js';

/** First bytes of an archive by `mongodump --archive`, and of a gzip file. */
const MAGIC = 0x8199e26d;
const GZIP_MAGIC = 0x8b1f;
/** Value of a length field that ends a list of documents. */
const END = -1;

const MAX_COLLECTIONS = 10_000;
/** Documents of a block are written together up to this size. */
const MAX_BUFFER = 1024 ** 2;

/** Returns the names of the collections in an archive; null for other files. */
export async function collectionsOf(path: string): Promise<readonly string[] | null> {
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) return null;
  const names: string[] = [];
  try {
    for await (const { document } of partsOf(path, found.size)) {
      if (document === null) return names;
      const name = textOf(parseBson(document), 'collection');
      if (name !== '') names.push(name);
      if (names.length > MAX_COLLECTIONS) return null;
    }
  } catch {
    return null;
  }
  return null;
}

/**
 * Unpacks an archive into a temporary folder with a file per collection, like `mongodump` without `--archive`. Returns the
 * folder. @throws DomainError INVALID_IMPORT, SERVER_BUSY
 */
export async function unpackArchive(path: string, maxBytes = Infinity, roomOf = importRoom): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), IMPORT_FOLDER));
  const room = await roomOf(folder);
  try {
    await unpackInto(folder, path, room, maxBytes);
    return folder;
  } catch (error) {
    const cause = isDiskFull(error) ? await room.refusal() : error;
    await rm(folder, { recursive: true, force: true });
    throw cause;
  }
}

const importRoom = async (folder: string): Promise<DiskRoom> =>
  new DiskRoom(folder, (await importLimits(folder)).minFreeBytes);

async function unpackInto(folder: string, path: string, room: DiskRoom, maxBytes: number): Promise<void> {
  const name = basename(path);
  const collections = new Map<string, Collection>();
  let isPrelude = true;
  let current: Collection | null = null;
  let bytes = 0;
  const { size } = await stat(path);
  await room.require(size);
  for await (const { document } of partsOf(path, size)) {
    bytes += document?.length ?? 0;
    if (bytes > maxBytes) throw unpacksTooLarge(maxBytes);
    await room.take(document?.length ?? 0);
    if (document === null) {
      isPrelude = false;
      await current?.flush();
      current = null;
    } else if (isPrelude) continue;
    else if (current) await current.add(document);
    else current = collectionOf(parseBson(document), collections, folder, name);
  }
  for (const collection of collections.values()) {
    if (!collection.isComplete) throw sourceError(name, null, `ends within the collection ${collection.name}`);
  }
}

/** Returns the collection that the header of a block names. @throws DomainError INVALID_IMPORT */
function collectionOf(header: unknown, collections: Map<string, Collection>, folder: string, file: string): Collection {
  const names = [textOf(header, 'db'), textOf(header, 'collection')] as const;
  const key = names.join('/');
  if (!names.every(isSafeName))
    throw sourceError(file, null, `has a collection with an unsafe name: ${JSON.stringify(key)}`);
  let collection = collections.get(key);
  if (!collection) {
    if (collections.size >= MAX_COLLECTIONS)
      throw sourceError(file, null, `contains more than ${MAX_COLLECTIONS} collections`);
    collection = new Collection(names[1], join(folder, names[0]));
    collections.set(key, collection);
  }
  if (flagOf(header, 'EOF')) collection.isComplete = true;
  return collection;
}

const isSafeName = (name: string): boolean =>
  name !== '' && name.length <= 200 && !name.startsWith('.') && !/[/\\\0:]/.test(name);

/** Collection that is written to a file. */
class Collection {
  isComplete = false;
  private documents: Buffer[] = [];
  private size = 0;

  constructor(
    readonly name: string,
    private readonly folder: string,
  ) {}

  async add(document: Buffer): Promise<void> {
    this.documents.push(document);
    this.size += document.length;
    if (this.size > MAX_BUFFER) await this.flush();
  }

  async flush(): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    await appendFile(join(this.folder, `${this.name}.bson`), Buffer.concat(this.documents));
    this.documents = [];
    this.size = 0;
  }
}

/** Document, or the end of a list of documents. */
interface Part {
  readonly document: Buffer | null;
}

/** @throws DomainError INVALID_IMPORT for a file that is damaged or cut off */
async function* partsOf(path: string, size: number): AsyncGenerator<Part> {
  const name = basename(path);
  const chunks = createReadStream(path) as AsyncIterable<Buffer>;
  let rest: Buffer = Buffer.alloc(0);
  let isStarted = false;
  for await (const chunk of (await isGzip(path)) ? gunzipped(chunks, size, name) : chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= 4) {
      const length = rest.readInt32LE(0);
      if (!isStarted) {
        if (rest.readUInt32LE(0) !== MAGIC) throw sourceError(name, null, 'is not a mongodump archive');
        isStarted = true;
        rest = rest.subarray(4);
        continue;
      }
      if (length === END) {
        yield { document: null };
        rest = rest.subarray(4);
        continue;
      }
      if (length < MIN_DOCUMENT_BYTES || length > MAX_DOCUMENT_BYTES)
        throw sourceError(name, null, `has a document of the impossible length ${length}`);
      if (rest.length < length) break;
      yield { document: rest.subarray(0, length) };
      rest = rest.subarray(length);
    }
  }
  if (rest.length > 0 || !isStarted) throw sourceError(name, null, 'ends within a document');
}

async function isGzip(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer.readUInt16LE(0) === GZIP_MAGIC;
  } finally {
    await file.close();
  }
}
