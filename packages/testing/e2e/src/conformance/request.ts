import { randomUUID } from 'node:crypto';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';

/** User agent of the recorded requests; messages contain it as client name. */
const USER_AGENT = 'oracle/1.0';
/** Longer than any poll. */
const TIMEOUT_MS = 70_000;

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  /** Null omits a header, even a default one. */
  readonly headers: Readonly<Record<string, string | null>>;
  readonly body: Uint8Array | string | null;
  readonly timeoutMs?: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/**
 * Sends exact headers in addition to the defaults: `fetch` allows neither a custom `Host` nor omitting `User-Agent`.
 * Does not follow redirects.
 */
export async function send({ method, url, headers, body, timeoutMs = TIMEOUT_MS }: HttpRequest): Promise<HttpAnswer> {
  const usual: Record<string, string | null> = { 'User-Agent': USER_AGENT, Accept: '*/*' };
  if (method !== 'GET' && method !== 'HEAD') usual['Content-Length'] = String(Buffer.byteLength(body ?? ''));
  const all = Object.entries({ ...usual, ...headers }).filter(([, value]) => value !== null) as [string, string][];
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url, { method, headers: Object.fromEntries(all), timeout: timeoutMs }, (incoming) => {
      text(incoming).then(
        (received) => resolve({ status: incoming.statusCode!, headers: incoming.headers, text: received }),
        reject,
      );
    });
    outgoing.once('error', reject);
    outgoing.once('timeout', () => outgoing.destroy(new Error('timeout')));
    outgoing.end(body ?? undefined);
  });
}

/** Encodes form fields for a body or a query. */
export const encodeForm = (fields: Readonly<Record<string, string>>): string => new URLSearchParams(fields).toString();

export interface FilePart {
  readonly field: string;
  readonly name: string;
  readonly content: Buffer;
  readonly type: string;
}

/** Encodes text fields, then files. Implemented manually, since client libraries replace Node's `FormData`. */
export async function encodeMultipart(
  fields: Readonly<Record<string, string>>,
  files: readonly FilePart[],
): Promise<{ readonly body: Uint8Array; readonly contentType: string }> {
  const boundary = `----${randomUUID()}`;
  const parts: Uint8Array[] = [];
  const add = (head: string, content: Uint8Array) =>
    parts.push(Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`), content, LINE_END);
  for (const [name, value] of Object.entries(fields)) add(`name="${escaped(name)}"`, Buffer.from(value));
  for (const { field, name, content, type } of files) {
    add(`name="${escaped(field)}"; filename="${escaped(name)}"\r\nContent-Type: ${type}`, content);
  }
  parts.push(Buffer.from(`--${boundary}--\r\n`));
  return { body: Buffer.concat(parts), contentType: `multipart/form-data; boundary=${boundary}` };
}

const LINE_END = Buffer.from('\r\n');

/** Escapes like browsers. */
const escaped = (name: string): string =>
  name.replace(/[\r\n"]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
