import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { DomainError } from '@parley/domain/kernel';
import { expansionProblem } from '@parley/export-files';
import { deserialize } from 'bson';
import type { Archive } from './archive.js';
import { messageOf, sourceError } from './source-error.js';

/** MongoDB's limit is 16 MiB. */
export const MAX_DOCUMENT_BYTES = 17 * 1024 ** 2;
export const MIN_DOCUMENT_BYTES = 5;

export interface BsonDocument {
  /** Number in the file, from 1. */
  readonly number: number;
  readonly offset: number;
  readonly length: number;
  /** Null if the document is damaged. */
  readonly value: Readonly<Record<string, unknown>> | null;
}

export const hasCollection = (archive: Archive, name: string): boolean =>
  archive.has(`${name}.bson`) || archive.has(`${name}.bson.gz`);

/** Streams the documents of a collection, `name.bson` or `name.bson.gz`; none if it is missing. */
export async function* bsonDocuments(archive: Archive, name: string): AsyncGenerator<BsonDocument> {
  if (archive.has(`${name}.bson`)) yield* split(archive.read(`${name}.bson`), `${name}.bson`);
  else if (archive.has(`${name}.bson.gz`)) yield* gunzippedFile(archive, `${name}.bson.gz`);
}

async function* gunzippedFile(archive: Archive, file: string): AsyncGenerator<BsonDocument> {
  yield* split(gunzipped(archive.read(file), archive.sizeOf(file), file), file);
}

/** `size`: number of compressed bytes. @throws DomainError INVALID_IMPORT if it is damaged or expands too much */
export async function* gunzipped(chunks: AsyncIterable<Buffer>, size: number, file: string): AsyncGenerator<Buffer> {
  let bytes = 0;
  // Errors of both streams reach the loop.
  const stream = pipeline(Readable.from(chunks), createGunzip(), () => undefined);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      const problem = expansionProblem(bytes, size);
      if (problem !== null) throw sourceError(file, null, problem);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof DomainError ? error : sourceError(file, null, `cannot be read: ${messageOf(error)}`);
  }
}

/** @throws DomainError INVALID_IMPORT for a file that is cut off, since all later documents are lost */
async function* split(chunks: AsyncIterable<Buffer>, file: string): AsyncGenerator<BsonDocument> {
  let rest: Buffer = Buffer.alloc(0);
  let number = 0;
  let offset = 0;
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= 4) {
      const length = rest.readInt32LE(0);
      if (length < MIN_DOCUMENT_BYTES || length > MAX_DOCUMENT_BYTES)
        throw sourceError(file, null, `document ${number + 1} has the impossible length ${length}`);
      if (rest.length < length) break;
      number++;
      yield { number, offset, length, value: parseBson(rest.subarray(0, length)) };
      rest = rest.subarray(length);
      offset += length;
    }
  }
  if (rest.length > 0) throw sourceError(file, null, `ends within document ${number + 1}`);
}

/** Returns null for a damaged document. Nested ones are read by recursion, so a stack overflow is one kind of damage. */
export function parseBson(bytes: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    return deserialize(bytes, { promoteBuffers: true, validation: { utf8: false } });
  } catch {
    return null;
  }
}

/** Copy of a document as JSON; null if that is impossible. */
export function plainJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return null;
  }
}
