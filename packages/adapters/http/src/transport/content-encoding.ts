import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { BodyRules } from '../limits/budgets.js';
import { bodyTooLarge, HttpRefusal, malformedPayload } from '../wire/reply.js';
import { Collector } from './multipart.js';

/** Maximum ratio of decoded to received bytes, for bodies that decode to more than `RATIO_FREE_BYTES`. */
const MAX_RATIO = 100;
const RATIO_FREE_BYTES = 64 * 1024;

/** Low four bits of a zlib header (RFC 1950). Some clients send `deflate` without one. */
const ZLIB_METHOD = 8;

const DECODERS: Readonly<Record<string, (content: Buffer) => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: (content) => ((content[0] ?? 0) % 16 === ZLIB_METHOD ? createInflate() : createInflateRaw()),
  br: () => createBrotliDecompress(),
};

/** Returns the encoding of a body; null if it has none. */
export function encodingOf({ headers }: IncomingMessage): string | null {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  return encoding === '' || encoding === 'identity' ? null : encoding;
}

/** @throws HttpRefusal if the body is encoded, but must not be */
export function requireIdentity(message: IncomingMessage): void {
  if (encodingOf(message) !== null) {
    throw new HttpRefusal(415, 'BAD_REQUEST', 'The body of this request must not have a Content-Encoding.');
  }
}

/** Decodes a received body within the bounds of its size. @throws HttpRefusal */
export async function decodeBody(content: Buffer, encoding: string, { maxBytes, charge }: BodyRules): Promise<Buffer> {
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]!(content) : null;
  if (decoder === null) {
    throw new HttpRefusal(415, 'BAD_REQUEST', 'The Content-Encoding must be gzip, deflate, br or identity.');
  }
  const limit = Math.min(maxBytes, Math.max(RATIO_FREE_BYTES, MAX_RATIO * content.length));
  return new Promise((resolve, reject) => {
    const collector = new Collector(charge, limit);
    const fail = (error: unknown): void => {
      decoder.destroy();
      charge.release();
      reject(error);
    };
    decoder.on('data', (chunk: Buffer) => {
      if (collector.size + chunk.length > limit) return fail(bodyTooLarge());
      try {
        collector.add(chunk);
      } catch (error) {
        fail(error);
      }
    });
    decoder.on('error', () => fail(malformedPayload()));
    decoder.on('end', () => resolve(collector.bytes));
    decoder.end(content);
  });
}
