import type { IncomingMessage } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import { type BodyChunk, isByteStream, type Reply } from '../wire/reply.js';

export type Encoding = 'br' | 'gzip';

/** In characters or bytes; compressing less costs more than it saves. */
const MIN_LENGTH = 1024;

/** Fastest levels: higher ones take several times longer to save a tenth of the bytes. */
const BROTLI = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
};
const GZIP = { level: 1 };

/**
 * Endings of JSON keys with credentials as values. Quotes in user text are escaped, so it cannot look like them. Pages
 * that control part of a response could infer these values from its compressed size (BREACH).
 */
const SECRETS = ['token":"', 'api_key":"', 'link_url":"'];

/** True if the response can be compressed for clients that accept it, unless it contains credentials. */
export function isCompressible({ status, body, contentType }: Reply): boolean {
  if (status !== 200 || contentType !== undefined || isByteStream(body)) return false;
  const chunks = chunksIn(body);
  return chunks === null || chunks.reduce((sum, { length }) => sum + length, 0) > MIN_LENGTH;
}

/** Searches the whole response, so call it only for clients that accept compression. */
export const hasCredentials = ({ body }: Reply): boolean => chunksIn(body)?.some(hasSecret) ?? false;

/** Null for long lists that are generated during the response; they contain no credentials. */
function chunksIn(body: Reply['body']): readonly BodyChunk[] | null {
  if (Array.isArray(body)) return body;
  return typeof body === 'object' && 'rest' in body ? null : [body as BodyChunk];
}

function hasSecret(chunk: BodyChunk): boolean {
  return SECRETS.some((name) => {
    for (let at = chunk.indexOf(name); at !== -1; at = chunk.indexOf(name, at + 1)) {
      const next = at + name.length;
      // An empty value is not a secret.
      if ((typeof chunk === 'string' ? chunk.charCodeAt(next) : chunk[next]) !== QUOTE) return true;
    }
    return false;
  });
}

const QUOTE = '"'.charCodeAt(0);

/** Returns the encoding that the client accepts, preferably Brotli. */
export function acceptedEncoding({ headers }: IncomingMessage): Encoding | null {
  const accepted = String(headers['accept-encoding'] ?? '')
    .split(',')
    .map((each) => each.trim().toLowerCase())
    .filter((each) => !/;\s*q=0(\.0*)?$/.test(each))
    .map((each) => each.split(';')[0]);
  if (accepted.includes('br')) return 'br';
  return accepted.includes('gzip') ? 'gzip' : null;
}

const brotliText = promisify(brotliCompress);
const gzipText = promisify(gzip);

/** Compresses a short text in the thread pool. */
export const compress = (text: string | Buffer, encoding: Encoding): Promise<Buffer> =>
  encoding === 'br' ? brotliText(text, BROTLI) : gzipText(text, GZIP);

/** Compresses a long text piece by piece in the thread pool, at the client's reading speed. */
export function compressPieces(pieces: AsyncIterable<readonly BodyChunk[]>, encoding: Encoding): AsyncIterable<Buffer> {
  const compressor = encoding === 'br' ? createBrotliCompress(BROTLI) : createGzip(GZIP);
  // Errors reach the reader of the compressor.
  pipeline(Readable.from(chunksOf(pieces)), compressor, () => {});
  return compressor;
}

export const joined = (chunks: readonly BodyChunk[]): Buffer =>
  Buffer.concat(chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk)));

async function* chunksOf(pieces: AsyncIterable<readonly BodyChunk[]>): AsyncGenerator<Buffer> {
  for await (const piece of pieces) yield joined(piece);
}
