import type { IncomingMessage } from 'node:http';
import { parseJson } from '@parley/domain';
import { bodyTooLarge, malformedJson, malformedPayload } from './errors.js';
import type { Fields, UploadedFile } from './request.js';

export interface BodyLimits {
  /** Of everything that is not a file. */
  readonly bodyBytes: number;
  /** Of one file; a longer one is cut and marked. All files together may take twice that. */
  readonly fileBytes: number;
}

/** Source: Zulip's limits; the file's is a setting there. */
export const DEFAULT_BODY_LIMITS: BodyLimits = { bodyBytes: 25 * 1024 * 1024, fileBytes: 100 * 1024 * 1024 };

/** Bounds the work and memory a body of nothing but separators can cause. */
const MAX_FIELDS = 10_000;

export interface Body {
  readonly fields: Fields;
  readonly files: readonly UploadedFile[];
}

/** The client went away before its request was complete. Nobody is there to read an answer. */
export class ClientGone extends Error {}

const EMPTY: Body = { fields: new Map(), files: [] };

/** A request whose body something before us may have parsed, as Express's body parsers do. */
type MaybeParsed = IncomingMessage & { readonly body?: unknown };

/**
 * Form fields and files of a body; empty for kinds that hold none.
 * @throws HttpRefusal when it is too large or malformed, ClientGone
 */
export async function readBody(message: MaybeParsed, limits: BodyLimits, keepFiles: boolean): Promise<Body> {
  const type = message.headers['content-type'];
  if (type === undefined) return EMPTY;
  if (message.readableDidRead) return { fields: fieldsOfParsed(message.body, type), files: [] };
  switch (kindOf(type)) {
    case 'form':
      return { fields: parseForm((await readAll(message, limits.bodyBytes)).toString('utf8')), files: [] };
    case 'json':
      return { fields: parseJsonBody((await readAll(message, limits.bodyBytes)).toString('utf8')), files: [] };
    case 'multipart':
      return readMultipart(message, limits, keepFiles);
    default:
      return EMPTY;
  }
}

function kindOf(contentType: string): 'form' | 'json' | 'multipart' | undefined {
  if (contentType.startsWith('application/x-www-form-urlencoded')) return 'form';
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type === 'application/json') return 'json';
  return type === 'multipart/form-data' ? 'multipart' : undefined;
}

/** Of a query string or an urlencoded body. The last value of a repeated name counts. */
export function parseForm(text: string): Fields {
  const fields = new Map<string, string>();
  let start = 0;
  let seen = 0;
  while (start < text.length) {
    let end = text.indexOf('&', start);
    if (end === -1) end = text.length;
    if (end > start) {
      if (++seen > MAX_FIELDS) throw bodyTooLarge();
      let equals = text.indexOf('=', start);
      if (equals === -1 || equals > end) equals = end;
      fields.set(unescapeField(text.slice(start, equals)), unescapeField(text.slice(equals + 1, end)));
    }
    start = end + 1;
  }
  return fields;
}

/** Percent signs that introduce nothing stand for themselves; bytes that are no UTF-8 become U+FFFD. */
function unescapeField(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
      Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'),
    );
  }
}

/** Our extension: a member that is a string is the field of that text, any other the field with its JSON text. */
function parseJsonBody(text: string): Fields {
  if (text.trim() === '') return EMPTY.fields;
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw malformedJson();
  }
  return fieldsOfJson(value);
}

function fieldsOfJson(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformedJson();
  const members = Object.entries(value);
  if (members.length > MAX_FIELDS) throw bodyTooLarge();
  return new Map(members.map(([name, member]) => [name, asField(member)]));
}

const asField = (member: unknown): string => (typeof member === 'string' ? member : JSON.stringify(member));

function fieldsOfParsed(body: unknown, contentType: string): Fields {
  const isJson = kindOf(contentType) === 'json';
  if (typeof body === 'string' || Buffer.isBuffer(body)) {
    const text = body.toString('utf8');
    return isJson ? parseJsonBody(text) : kindOf(contentType) === 'form' ? parseForm(text) : EMPTY.fields;
  }
  if (isJson) return fieldsOfJson(body);
  if (typeof body !== 'object' || body === null) return EMPTY.fields;
  // A form: an array is a name that was repeated.
  return new Map(
    Object.entries(body).map(([name, value]) => [name, asField(Array.isArray(value) ? value.at(-1) : value)]),
  );
}

function readAll(message: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(message.headers['content-length'] ?? 0) > limit) return reject(bodyTooLarge());
    let first: Buffer | undefined;
    let rest: Buffer[] | undefined;
    let size = 0;
    message.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) {
        // What still comes is dropped, so that the client gets to read the answer.
        first = undefined;
        rest = undefined;
        reject(bodyTooLarge());
      } else if (!first) first = chunk;
      else if (rest) rest.push(chunk);
      else rest = [first, chunk];
    });
    message.on('end', () => resolve(rest ? Buffer.concat(rest) : (first ?? Buffer.alloc(0))));
    rejectWhenGone(message, reject);
  });
}

function rejectWhenGone(message: IncomingMessage, reject: (error: Error) => void): void {
  if (message.destroyed && !message.readableEnded) reject(new ClientGone());
  message.on('error', () => reject(new ClientGone()));
  message.on('close', () => {
    if (!message.readableEnded) reject(new ClientGone());
  });
}

async function readMultipart(message: IncomingMessage, limits: BodyLimits, keepFiles: boolean): Promise<Body> {
  const { default: busboy } = await import('busboy');
  const most = limits.bodyBytes + (keepFiles ? 2 * limits.fileBytes : 0);
  if (Number(message.headers['content-length'] ?? 0) > most) throw bodyTooLarge();
  return new Promise((resolve, reject) => {
    const fields = new Map<string, string>();
    const files: UploadedFile[] = [];
    let parser: ReturnType<typeof busboy>;
    const fail = (error: Error): void => {
      message.unpipe(parser);
      message.resume();
      reject(error);
    };
    try {
      parser = busboy({
        headers: message.headers,
        defParamCharset: 'utf8',
        limits: { fieldSize: limits.bodyBytes, fileSize: limits.fileBytes, parts: MAX_FIELDS },
      });
    } catch {
      return reject(malformedPayload());
    }
    let fieldBytes = 0;
    let fileBytes = 0;
    // The parser's types leave out that a part may have no name, or be in a charset that nobody knows.
    parser.on('field', (name: string | undefined, value: string | undefined, info) => {
      if (name === undefined) return;
      if (value === undefined) return fail(malformedPayload());
      fieldBytes += name.length + value.length;
      if (info.valueTruncated || fieldBytes > limits.bodyBytes) return fail(bodyTooLarge());
      fields.set(name, value);
    });
    parser.on('file', (field: string | undefined, stream, { filename, mimeType }) => {
      stream.on('error', () => {}); // the parser reports it
      if (!keepFiles || field === undefined) {
        stream.resume();
        return;
      }
      const chunks: Buffer[] = [];
      let isTruncated = false;
      stream.on('limit', () => {
        isTruncated = true;
      });
      stream.on('data', (chunk: Buffer) => {
        fileBytes += chunk.length;
        if (fileBytes > 2 * limits.fileBytes) return fail(bodyTooLarge());
        chunks.push(chunk);
      });
      stream.on('end', () => {
        files.push({ field, filename: filename ?? '', mimeType, content: Buffer.concat(chunks), isTruncated });
      });
    });
    parser.on('partsLimit', () => fail(bodyTooLarge()));
    let isEmpty = true;
    message.once('data', () => {
      isEmpty = false;
    });
    // zulip-js calls every POST multipart, and without parameters sends not even the last boundary.
    parser.on('error', () => (isEmpty ? resolve(EMPTY) : fail(malformedPayload())));
    parser.on('close', () => resolve({ fields, files }));
    rejectWhenGone(message, reject);
    message.pipe(parser);
  });
}
