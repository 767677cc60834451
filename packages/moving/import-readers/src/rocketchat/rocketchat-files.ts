import type { FileRecord } from '@parley/transfer/records';
import type { Archive } from '../archive.js';
import type { ExportFiles } from '../archive-reader.js';
import { bsonDocuments, parseBson } from '../bson-documents.js';
import { field, numberOf, present, textOf } from '../fields.js';
import { sourceError } from '../source-error.js';
import { dateOf, idOf } from './rocketchat-messages.js';

/** Prefix of paths of files in GridFS, followed by the bucket and the id. */
const GRID = 'gridfs:';

/** Chunk of a file in GridFS. */
interface Chunk {
  readonly number: number;
  readonly offset: number;
  readonly length: number;
  /** Size of its data. */
  readonly size: number;
}

/** Bytes of uploads: chunks in GridFS, or files in a folder `uploads` that the operator added. */
export class RocketChatFiles implements ExportFiles {
  /** Chunks by path. */
  private readonly chunks = new Map<string, Chunk[]>();
  private readonly buckets = new Set<string>();

  constructor(
    private readonly archive: Archive,
    private readonly prefix: string,
  ) {}

  /** Notes where the chunks of a bucket are. */
  async index(bucket: string): Promise<void> {
    if (this.buckets.has(bucket)) return;
    this.buckets.add(bucket);
    for await (const { value, offset, length } of bsonDocuments(this.archive, `${this.prefix}${bucket}.chunks`)) {
      const path = `${GRID}${bucket}/${idOf(value, 'files_id')}`;
      const chunk = { number: numberOf(value, 'n') ?? 0, offset, length, size: dataOf(value)?.length ?? 0 };
      const found = this.chunks.get(path);
      if (found) found.push(chunk);
      else this.chunks.set(path, [chunk]);
    }
  }

  async sizeOf(path: string): Promise<number | null> {
    const bucket = bucketOf(path);
    if (bucket !== null) await this.index(bucket);
    const chunks = this.chunks.get(path);
    if (chunks) return chunks.reduce((sum, { size }) => sum + size, 0);
    return this.archive.has(path) ? this.archive.sizeOf(path) : null;
  }

  /** Returns the location of a file by its id, or the reason for its absence. */
  locate(bucket: string, id: string, store: string): Pick<FileRecord, 'path' | 'missing'> {
    const inGrid = `${GRID}${bucket}/${id}`;
    if (this.chunks.has(inGrid)) {
      return this.archive.hasRanges && this.archive.has(this.chunksFile(bucket))
        ? { path: inGrid }
        : { missing: 'in a packed dump; unpack it and import the folder' };
    }
    const inFolder = [`uploads/${id}`, `${this.prefix}uploads/${id}`].find((name) => this.archive.has(name));
    if (inFolder !== undefined) return { path: inFolder };
    return {
      missing:
        store.startsWith('GridFS') || store === ''
          ? 'missing in the dump'
          : `stored outside of the database (${store})`,
    };
  }

  async *read(path: string): AsyncGenerator<Uint8Array> {
    const chunks = this.chunks.get(path);
    if (!chunks) {
      yield* this.archive.read(path);
      return;
    }
    const file = this.chunksFile(bucketOf(path)!);
    for (const { offset, length } of [...chunks].sort((a, b) => a.number - b.number)) {
      const data = await this.chunkAt(file, offset, length);
      if (data === null) throw sourceError(file, null, 'a chunk of a file is damaged');
      yield data;
    }
  }

  private async chunkAt(file: string, offset: number, length: number): Promise<Uint8Array | null> {
    const bytes: Buffer[] = [];
    for await (const part of this.archive.read(file, { start: offset, end: offset + length })) bytes.push(part);
    return dataOf(parseBson(Buffer.concat(bytes)));
  }

  private chunksFile(bucket: string): string {
    return `${this.prefix}${bucket}.chunks.bson`;
  }
}

const bucketOf = (path: string): string | null => /^gridfs:([^/]+)\//.exec(path)?.[1] ?? null;

const dataOf = (chunk: unknown): Uint8Array | null => {
  const data = field(chunk, 'data');
  return data instanceof Uint8Array ? data : null;
};

/** Record of an entry of `rocketchat_uploads`. */
export const uploadRecord = (source: string, upload: unknown, files: RocketChatFiles): FileRecord => {
  const id = idOf(upload);
  return {
    source,
    kind: 'file',
    id,
    name: textOf(upload, 'name') || 'file',
    ...present({
      contentType: textOf(upload, 'type'),
      size: numberOf(upload, 'size'),
      createdAt: dateOf(upload, 'uploadedAt'),
      owner: textOf(upload, 'userId'),
    }),
    ...files.locate('rocketchat_uploads', id, textOf(upload, 'store')),
  };
};
