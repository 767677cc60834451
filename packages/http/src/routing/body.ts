import type { IncomingMessage } from 'node:http';
import { type Readable, Transform, type TransformCallback } from 'node:stream';
import type { ReceivedBlob } from '@parley/domain/files';
import { parseJson } from '@parley/domain/shared';
import type { Charge } from './byte-budget.js';
import { bodyTooLarge, malformedJson, malformedPayload, requestTooSlow } from './errors.js';
import type { Fields, UploadedFile } from './request.js';

/** What a body may cost. */
export interface BodyRules {
  /** Of everything that is not a file. */
  readonly maxBytes: number;
  readonly charge: Charge;
  /** Until it is there as a whole. */
  readonly timeoutMs: number;
  /** Null: files are dropped, and count like everything else. */
  readonly files: FileRules | null;
}

export interface FileRules {
  /** Of one file; a longer one is cut and marked. All files together may take twice that. */
  readonly maxBytes: number;
  /** Of a body that says beforehand how long it is, beside what is no file: whatever is longer is not read. */
  readonly maxSentBytes: number;
  readonly charge: Charge;
  /** Takes the bytes of the first file as they come, which then are never in memory; null: they are kept in memory. */
  readonly sink: FileSink | null;
}

/** Where bytes go that are not to be in memory. */
export interface FileSink {
  /** Of one file; a longer one is not kept. */
  readonly maxBytes: number;
  /** Resolves once the bytes are safe; keeps nothing when the content breaks off. */
  receive(content: AsyncIterable<Uint8Array>): Promise<ReceivedBlob>;
  discard(blob: ReceivedBlob): Promise<void>;
}

/** Bounds the work and memory a body of nothing but separators can cause. */
const MAX_FIELDS = 1000;
const MAX_FILES = 100;

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
 * @throws HttpRefusal when it is too large, too slow or malformed, or there is no room for it; ClientGone
 */
export async function readBody(message: MaybeParsed, rules: BodyRules): Promise<Body> {
  const type = message.headers['content-type'];
  if (type === undefined) return EMPTY;
  if (message.readableDidRead) return { fields: fieldsOfParsed(message.body, type), files: [] };
  const kind = kindOf(type);
  if (!kind) return EMPTY;
  if (kind === 'multipart' && rules.files) {
    if (declaredLength(message) > rules.maxBytes + rules.files.maxSentBytes) throw bodyTooLarge();
    return readMultipart(message, rules, null);
  }
  const content = readAtOnce(message, rules) ?? (await readAll(message, rules));
  if (kind === 'multipart') return readMultipart(message, rules, content);
  const text = content.toString('utf8');
  return { fields: kind === 'form' ? parseForm(text) : parseJsonBody(text), files: [] };
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

/**
 * Percent signs that introduce nothing stand for themselves; bytes that are no UTF-8 become U+FFFD. Byte by byte: neither
 * `decodeURIComponent`, which throws at the first of either, nor replacing takes time in proportion to the text.
 */
function unescapeField(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  const bytes = Buffer.from(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    const high = byte === PERCENT ? hexDigit(bytes[at + 1]) : -1;
    const low = high === -1 ? -1 : hexDigit(bytes[at + 2]);
    if (low !== -1) {
      bytes[length++] = high * 16 + low;
      at += 2;
    } else bytes[length++] = byte === PLUS ? SPACE : byte;
  }
  return bytes.toString('utf8', 0, length);
}

const PERCENT = 0x25;
const PLUS = 0x2b;
const SPACE = 0x20;

/** Its value; -1: none. */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
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

/** What is received piece by piece, in one buffer: pieces may be as small as a byte, which each cost hundreds to keep. */
class Collector {
  private content: Buffer = Buffer.alloc(0);
  private isOwn = false;
  size = 0;

  /** `expected`: how much will come, if that is known. */
  constructor(
    private readonly charge: Charge,
    private readonly expected = Number.POSITIVE_INFINITY,
  ) {}

  /** @throws HttpRefusal when there is no room. */
  add(chunk: Buffer): void {
    const size = this.size + chunk.length;
    if (this.size === 0) {
      this.charge.add(chunk.length);
      this.content = chunk;
    } else {
      if (!this.isOwn || size > this.content.length) this.grow(size);
      chunk.copy(this.content, this.size);
    }
    this.size = size;
  }

  get bytes(): Buffer {
    return this.content.subarray(0, this.size);
  }

  private grow(needed: number): void {
    const capacity = Math.max(needed, Math.min(2 * needed, this.expected));
    this.charge.add(capacity - this.content.length);
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.content.copy(grown, 0, 0, this.size);
    this.content = grown;
    this.isOwn = true;
  }
}

const declaredLength = (message: IncomingMessage): number => Number(message.headers['content-length'] ?? 0);

/** A body that is there already, as small ones are by the time somebody looks at it; null: wait for it. */
function readAtOnce(message: IncomingMessage, { maxBytes, charge }: BodyRules): Buffer | null {
  const length = declaredLength(message);
  if (length === 0 || length > maxBytes || message.readableLength !== length) return null;
  charge.add(length);
  const content = message.read() as Buffer;
  // So that it ends, which is what frees the connection.
  message.resume();
  return content;
}

function readAll(message: IncomingMessage, { maxBytes, charge, timeoutMs }: BodyRules): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const declared = declaredLength(message);
    if (declared > maxBytes) return reject(bodyTooLarge());
    let collector: Collector | undefined = new Collector(charge, declared || maxBytes);
    // What still comes is dropped, so that the client gets to read the answer.
    const fail = (error: unknown): void => {
      collector = undefined;
      clearTimeout(deadline);
      charge.release();
      reject(error);
    };
    const deadline = setTimeout(() => fail(requestTooSlow()), timeoutMs);
    message.on('data', (chunk: Buffer) => {
      if (!collector) return;
      if (collector.size + chunk.length > maxBytes) return fail(bodyTooLarge());
      try {
        collector.add(chunk);
      } catch (error) {
        fail(error);
      }
    });
    message.on('end', () => {
      clearTimeout(deadline);
      if (collector) resolve(collector.bytes);
    });
    whenGone(message, fail);
  });
}

function whenGone(message: IncomingMessage, fail: (error: Error) => void): void {
  if (message.destroyed && !message.readableEnded) fail(new ClientGone());
  message.on('error', () => fail(new ClientGone()));
  message.on('close', () => {
    if (!message.readableEnded) fail(new ClientGone());
  });
}

/** `content`: the body, where all of it is in memory; null: it is still to come. */
async function readMultipart(message: IncomingMessage, rules: BodyRules, content: Buffer | null): Promise<Body> {
  const { default: busboy } = await import('busboy');
  const { maxBytes, charge, timeoutMs, files: fileRules } = rules;
  return new Promise((resolve, reject) => {
    const fields = new Map<string, string>();
    const files: UploadedFile[] = [];
    const receptions: Reception[] = [];
    const source = content ? null : message.pipe(new Batches());
    const deadline = content ? undefined : setTimeout(() => fail(requestTooSlow()), timeoutMs);
    const finish = (body: Body): void => {
      clearTimeout(deadline);
      // From here on they are the request's, whatever becomes of its connection.
      receptions.length = 0;
      resolve(body);
    };
    const fail = (error: unknown): void => {
      clearTimeout(deadline);
      for (const reception of receptions) reception.abort();
      source?.unpipe();
      source?.resume();
      charge.release();
      fileRules?.charge.release();
      reject(error);
    };
    const attempt = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        fail(error);
      }
    };
    let parser: ReturnType<typeof busboy>;
    try {
      parser = busboy({
        headers: message.headers,
        defParamCharset: 'utf8',
        limits: {
          fieldSize: maxBytes,
          // A file of exactly this size would count as cut.
          fileSize: fileRules ? fileRules.maxBytes + 1 : undefined,
          parts: MAX_FIELDS,
          files: MAX_FILES,
        },
      });
    } catch {
      return fail(malformedPayload());
    }
    let fieldBytes = 0;
    let fileBytes = 0;
    // The parser's types leave out that a part may have no name, or be in a charset that nobody knows.
    parser.on('field', (name: string | undefined, value: string | undefined, info) => {
      if (name === undefined) return;
      if (value === undefined) return fail(malformedPayload());
      const bytes = name.length + value.length;
      fieldBytes += bytes;
      if (info.valueTruncated || fieldBytes > maxBytes) return fail(bodyTooLarge());
      fields.set(name, value);
      if (!content) attempt(() => charge.add(bytes));
    });
    parser.on('file', (field: string | undefined, stream, { filename, mimeType }) => {
      stream.on('error', () => {}); // the parser reports it
      if (!fileRules || field === undefined) {
        stream.resume();
        return;
      }
      const about = { field, filename: filename ?? '', mimeType };
      if (fileRules.sink) {
        // Operations take one file; that there were others is all they are told of these.
        if (receptions.length > 0) {
          stream.resume();
          files.push({ ...about, content: NO_BYTES, blob: null, isTruncated: false });
          return;
        }
        const reception = new Reception(fileRules.sink, stream);
        receptions.push(reception);
        reception.done.then(
          ({ blob, isTruncated }) => files.unshift({ ...about, content: NO_BYTES, blob, isTruncated }),
          fail,
        );
        return;
      }
      const collector = new Collector(fileRules.charge, fileRules.maxBytes);
      let isTruncated = false;
      stream.on('limit', () => {
        isTruncated = true;
      });
      stream.on('data', (chunk: Buffer) => {
        fileBytes += chunk.length;
        if (fileBytes > 2 * fileRules.maxBytes) return fail(bodyTooLarge());
        attempt(() => collector.add(chunk));
      });
      stream.on('end', () => {
        files.push({ ...about, content: collector.bytes.subarray(0, fileRules.maxBytes), blob: null, isTruncated });
      });
    });
    for (const limit of ['partsLimit', 'filesLimit'] as const) parser.on(limit, () => fail(bodyTooLarge()));
    let isEmpty = content?.length === 0;
    if (!content) {
      isEmpty = true;
      message.once('data', () => {
        isEmpty = false;
      });
    }
    // zulip-js calls every POST multipart, and without parameters sends not even the last boundary.
    parser.on('error', () => (isEmpty ? finish(EMPTY) : fail(malformedPayload())));
    parser.on('close', () => {
      Promise.all(receptions.map(({ done }) => done)).then(() => finish({ fields, files }), fail);
    });
    if (source) {
      whenGone(message, fail);
      source.pipe(parser);
    } else parser.end(content);
  });
}

const NO_BYTES: Buffer = Buffer.alloc(0);

/** A file part on its way to where bytes are kept. */
class Reception {
  /** Of a part that is too long nothing is kept. */
  readonly done: Promise<{ readonly blob: ReceivedBlob | null; readonly isTruncated: boolean }>;
  private isAborted = false;

  constructor(
    private readonly sink: FileSink,
    private readonly part: Readable & { readonly truncated?: boolean },
  ) {
    this.done = this.receive();
    // Whoever waits for it may have been told something else first.
    this.done.catch(() => undefined);
  }

  /** Nobody is interested in it any more. */
  abort(): void {
    this.isAborted = true;
    this.part.destroy(new ClientGone());
    // It may have been there as a whole already. Where this fails, the sweep finds it.
    this.done.then(({ blob }) => blob && this.sink.discard(blob)).catch(() => undefined);
  }

  private async receive() {
    const blob = await this.sink.receive(this.part);
    const isTruncated = this.part.truncated ?? false;
    if (!isTruncated && !this.isAborted) return { blob, isTruncated };
    await this.sink.discard(blob);
    return { blob: null, isTruncated };
  }
}

const BATCH_BYTES = 16 * 1024;

/** Hands on in larger pieces what comes in tiny ones, each of which would cost the parser hundreds of bytes. */
class Batches extends Transform {
  private batch: Buffer = Buffer.alloc(0);
  private filled = 0;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.filled + chunk.length > BATCH_BYTES) this.hand();
    if (chunk.length >= BATCH_BYTES) this.push(chunk);
    else {
      if (this.filled === 0) this.batch = Buffer.allocUnsafe(BATCH_BYTES);
      this.filled += chunk.copy(this.batch, this.filled);
    }
    done();
  }

  override _flush(done: TransformCallback): void {
    this.hand();
    done();
  }

  private hand(): void {
    if (this.filled > 0) this.push(this.batch.subarray(0, this.filled));
    this.filled = 0;
  }
}
