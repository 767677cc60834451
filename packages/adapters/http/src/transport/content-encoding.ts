import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { BodyRules } from '../limits/budgets.js';
import { HttpRefusal, malformedPayload } from '../wire/reply.js';
import { collect } from './multipart.js';

/** Maximum ratio of decoded to received bytes, for bodies that decode to more than `RATIO_FREE_BYTES`. */
const MAX_RATIO = 100;
const RATIO_FREE_BYTES = 64 * 1024;

/** Low four bits of a zlib header (RFC 1950). Some clients send `deflate` without one. */
const ZLIB_METHOD = 8;

/** Formats with a window of at most 32 KiB. A Brotli decoder reserves up to 16 MiB on the word of a few bytes. */
const DECODERS: Readonly<Record<string, (content: Buffer) => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: (content) => ((content[0] ?? 0) % 16 === ZLIB_METHOD ? createInflate() : createInflateRaw()),
};

/** Returns the encoding of a body; null if it has none. */
export function encodingOf({ headers }: IncomingMessage): string | null {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  return encoding === '' || encoding === 'identity' ? null : encoding;
}

const refused = (message: string, accepted: string) =>
  new HttpRefusal(415, 'BAD_REQUEST', message, {}, ['Accept-Encoding', accepted]);

/** @throws HttpRefusal if the body is encoded, but must not be */
export function requireIdentity(message: IncomingMessage): void {
  if (encodingOf(message) !== null) {
    throw refused('The body of this request must not have a Content-Encoding.', 'identity');
  }
}

/** @throws HttpRefusal if the body of an anonymous caller is encoded */
export function requirePlainFromAnonymous(message: IncomingMessage): void {
  if (encodingOf(message) !== null) throw refused('Compressed bodies require authentication.', 'identity');
}

/** Decodes a received body; its size is checked and charged while it is decoded. @throws HttpRefusal */
export async function decodeBody(content: Buffer, encoding: string, { maxBytes, charge }: BodyRules): Promise<Buffer> {
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]!(content) : null;
  if (decoder === null) {
    throw refused('The Content-Encoding must be gzip, deflate or identity.', 'gzip, deflate');
  }
  const limit = Math.min(maxBytes, Math.max(RATIO_FREE_BYTES, MAX_RATIO * content.length));
  const { content: decoded, fail } = collect(decoder, charge, limit);
  decoder.on('error', () => fail(malformedPayload()));
  decoder.end(content);
  return decoded.finally(() => decoder.destroy());
}
