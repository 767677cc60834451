import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { firstOf, getOrThrow } from '@parley/domain/kernel';
import { ByteBudget, CLIENT_SHARE, type ClientKey, type TransportLimits } from '../limits/budgets.js';
import { SHAREABLE } from '../wire/caches.js';
import {
  type BodyChunk,
  type ByteStream,
  HttpRefusal,
  isByteStream,
  isOpenBody,
  type OpenBody,
  type Reply,
  type ReplyBody,
  replyToHttpRefusal,
} from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import {
  acceptedEncoding,
  compress,
  compressPieces,
  type Encoding,
  hasCredentials,
  isCompressible,
  joined,
} from './compression.js';

export interface ReplyContext {
  readonly request: Request;
  /** Client charged for unsent bytes. */
  readonly client: ClientKey;
  readonly isAuthenticated: boolean;
  /** Methods of the path if it has a long poll; null for other paths. */
  readonly longPollMethods: string | null;
  /** True if no web page may read the response. */
  readonly isSameOriginOnly: boolean;
  /** True if the response depends on cookies. */
  readonly isForBrowsers: boolean;
  /** True if the client uses https. */
  readonly isSecure: boolean;
  readonly limitHeaders: readonly string[] | undefined;
  /** True if the connection must be closed afterwards. */
  readonly closes: boolean;
}

export interface Written {
  /** Actual status; a long response above the budget becomes an error. */
  readonly status: number;
  /** Resolves when a long response is sent or its client disconnects; null for short responses. */
  readonly done: Promise<void> | null;
}

const CORS = ['Access-Control-Allow-Origin', '*', 'Access-Control-Allow-Headers', 'Authorization'];
const ALWAYS = [
  'Vary',
  'Accept-Language',
  'Content-Language',
  'en',
  'X-Content-Type-Options',
  'nosniff',
  'X-Frame-Options',
  'DENY',
];
const BROWSER_HEADERS = ALWAYS.map((text) => (text === 'Accept-Language' ? 'Accept-Language, Cookie' : text));
const headersWith = (methods: string) => [...CORS, ...ALWAYS, 'Access-Control-Allow-Methods', methods];
const HEADERS = headersWith('GET, POST, DELETE, PUT, PATCH, HEAD');
/** Half a year, as the reference server sends. */
const HSTS = 'max-age=15768000';
const NEVER_CACHED = 'max-age=0, no-cache, no-store, must-revalidate, private';

/** In characters or bytes. Larger responses are written in pieces, each after the client received the previous one. */
const LARGE = 256 * 1024;
/** Length below which the chunks of a response are joined, in characters. */
const SHORT = 8 * 1024;
/** Size of one write in characters. Text is copied for it, buffers are not. */
const PIECE = 64 * 1024;
const BUFFER_PIECE = 256 * 1024;
/** Charge for a response of unknown length, which exceeds any single piece. */
const UNFINISHED = 4 * 1024 * 1024;
/** Charge for streamed bytes: the piece being written plus read-ahead. */
const STREAMED = 512 * 1024;
/** Pause between pieces of a file while other responses are being sent. */
const REST_MS = 1;

/** Writes responses and limits long ones to the client's reading speed. */
export class ResponseWriter {
  private readonly budget: ByteBudget;
  private readonly chunks = new HeldChunks();
  /** Number of responses started. */
  private begun = 0;

  constructor(
    private readonly limits: TransportLimits,
    private readonly rest: () => Promise<unknown> = () => sleep(REST_MS),
  ) {
    const share = Math.max(limits.answersBytes * CLIENT_SHARE, 2 * UNFINISHED);
    this.budget = new ByteBudget(limits.answersBytes, share);
  }

  /** Unsent bytes of all responses. */
  get heldBytes(): number {
    return this.budget.used;
  }

  /** Does nothing if the client disconnected. */
  write(response: ServerResponse, reply: Reply, context: ReplyContext): Written {
    this.begun++;
    const { status, body } = reply;
    if (response.headersSent || response.destroyed) return { status, done: null };
    const { raw } = context.request;
    if (raw.method === 'HEAD' || status === 204) {
      writeHead(response, reply, context, lengthOf(body));
      this.end(response, raw);
      return { status, done: null };
    }
    if (isOpenBody(body)) {
      // The end of the connection marks the end of the body, which spares the framing of chunks.
      response.removeHeader('Transfer-Encoding');
      writeHead(response, reply, { ...context, closes: true }, null);
      return { status, done: this.writeOpen(response, body, context.client) };
    }
    const encoding = encodingOf(reply, raw);
    if (isLong(body)) {
      const content = typeof body === 'string' ? Buffer.from(body) : body;
      const hold = this.hold(content, context.client);
      if (hold instanceof HttpRefusal) return this.write(response, replyToHttpRefusal(hold), context);
      const compression = encoding === 'identity' ? null : encoding;
      writeHead(response, reply, context, compression ? null : lengthOf(content), encoding);
      const done = this.writePieces(response, raw, content, compression);
      return { status, done: done.finally(hold) };
    } else if (encoding !== null && encoding !== 'identity') {
      return { status, done: this.writeCompressed(response, reply, context, encoding) };
    } else {
      const content = contentOf(body as Content);
      const length = lengthOf(content)!;
      writeHead(response, reply, context, length, encoding);
      this.endShort(response, content, length, context);
    }
    return { status, done: null };
  }

  private async writeCompressed(response: ServerResponse, reply: Reply, context: ReplyContext, encoding: Encoding) {
    const { body } = reply;
    const text = isPieces(body) ? joined(body) : (body as BodyChunk);
    const content = await compress(text, encoding);
    if (response.destroyed) return;
    writeHead(response, reply, context, content.length, encoding);
    this.endShort(response, content, content.length, context);
  }

  /** Charges a short response that the client does not read immediately. */
  private endShort(response: ServerResponse, content: Content, bytes: number, { request, client }: ReplyContext): void {
    this.end(response, request.raw, content, async () => {
      // Usually true, because the kernel has accepted everything by now.
      if (response.writableFinished) return;
      this.budget.take(client, bytes);
      await this.until('close', response, bytes);
      this.budget.release(client, bytes);
    });
  }

  /** Charges bytes held until they are sent. Returns a release function, or the reason for rejection. */
  private hold(body: LongBody, client: ClientKey): (() => void) | HttpRefusal {
    const shareable = isPieces(body) ? body.filter((chunk) => chunk.length >= SHAREABLE || Buffer.isBuffer(chunk)) : [];
    const chunks = [...new Set(shareable)];
    const own = isByteStream(body)
      ? Math.min(body.length, STREAMED)
      : Buffer.isBuffer(body)
        ? body.length
        : isPieces(body)
          ? PIECE + sizeOf(body) - sizeOf(shareable)
          : UNFINISHED;
    const refusal = this.budget.tryTake(client, own);
    if (refusal) return refusal;
    const noRoom = this.budget.tryTake(null, this.chunks.newBytes(chunks));
    if (noRoom) {
      this.budget.release(client, own);
      return noRoom;
    }
    this.chunks.add(chunks);
    return () => {
      this.budget.release(client, own);
      this.budget.release(null, this.chunks.remove(chunks));
    };
  }

  private async writePieces(
    response: ServerResponse,
    raw: IncomingMessage,
    body: LongBody,
    encoding: Encoding | null,
  ): Promise<void> {
    if (isByteStream(body)) await this.copyStream(response, body);
    else if (encoding) {
      for await (const piece of compressPieces(piecesOf(body), encoding)) {
        if (response.destroyed) return;
        if (!response.write(piece)) await this.until('drain', response, piece.length);
      }
    } else
      for await (const piece of piecesOf(body)) {
        if (response.destroyed) return;
        if (!writeTogether(response, piece)) await this.until('drain', response, sizeOf(piece));
      }
    if (response.destroyed) return;
    this.end(response, raw);
    if (!response.writableFinished) await this.until('close', response, PIECE);
  }

  /** Resolves when the connection has closed. */
  private writeOpen(response: ServerResponse, body: OpenBody, client: ClientKey): Promise<void> {
    return new Promise((resolve, reject) => {
      response.once('close', resolve);
      body.open({
        write: (chunks) => (writeTogether(response, chunks) ? null : this.drained(response, sizeOf(chunks), client)),
        end: () => response.end(),
        fail: reject,
      });
    });
  }

  /** Resolves when the client has read the bytes. Disconnects clients with too many unread bytes. */
  private async drained(response: ServerResponse, bytes: number, client: ClientKey): Promise<void> {
    if (this.budget.tryTake(client, bytes)) {
      response.destroy();
      return;
    }
    await this.until('drain', response, bytes);
    this.budget.release(client, bytes);
  }

  private async copyStream(response: ServerResponse, { bytes }: ByteStream): Promise<void> {
    let begun = this.begun;
    for await (const piece of bytes) {
      if (response.destroyed) return;
      if (!response.write(piece)) {
        await this.until('drain', response, piece.length);
        // A piece not yet passed to the kernel is still in use.
        if (!response.destroyed) bytes.release?.(piece);
      }
      if (this.begun !== begun) await this.rest();
      begun = this.begun;
    }
  }

  /**
   * Discards the unread rest of the request for a limited time before ending the response. Closing a connection with
   * unread input would make the kernel drop the response.
   */
  private end(response: ServerResponse, raw: IncomingMessage, content?: Content, onEnd?: () => void): void {
    if (raw.complete || response.statusCode === 408) {
      if (isPieces(content)) writeTogether(response, content);
      response.end(isPieces(content) ? undefined : content);
      onEnd?.();
      return;
    }
    if (content !== undefined) writeTogether(response, isPieces(content) ? content : [content]);
    let deadline: NodeJS.Timeout | undefined;
    const finish = (): void => {
      clearTimeout(deadline);
      response.end();
      onEnd?.();
    };
    // Only the end of the request may be missing, and it may already have arrived.
    setImmediate(() => {
      if (raw.complete) return finish();
      deadline = setTimeout(() => raw.socket.destroy(), this.limits.lingerMs);
      raw.once('close', finish).resume();
    });
  }

  /** Resolves when the client has received the bytes or disconnected; closes the connection after a timeout. */
  private until(event: 'drain' | 'close', response: ServerResponse, bytes: number): Promise<void> {
    const { answerMs, answerBytesPerSecond } = this.limits;
    // A corked write may return false although no event follows (Node 24).
    const isDrained = event === 'drain' && !response.writableNeedDrain;
    if (response.closed || isDrained) return Promise.resolve();
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(deadline);
        response.off(event, settle).off('close', settle);
        resolve();
      };
      const giveUp = (): void => {
        response.destroy();
        settle();
      };
      const deadline = setTimeout(giveUp, answerMs + (bytes / answerBytesPerSecond) * 1000);
      response.once(event, settle);
      if (event !== 'close') response.once('close', settle);
    });
  }
}

/** Null for a response with the same encoding for all clients. */
function encodingOf(reply: Reply, raw: IncomingMessage): Encoding | 'identity' | null {
  if (!isCompressible(reply)) return null;
  const accepted = acceptedEncoding(raw);
  return accepted === null || hasCredentials(reply) ? 'identity' : accepted;
}

type LongBody = Exclude<ReplyBody, string | OpenBody>;

/** Content of a single write. */
type Content = BodyChunk | readonly BodyChunk[];

const isPieces = (body: ReplyBody | undefined): body is readonly BodyChunk[] => Array.isArray(body);

const sizeOf = (chunks: readonly BodyChunk[]): number => chunks.reduce((sum, { length }) => sum + length, 0);

/** Joins short texts. Longer ones are written together without another copy. */
const contentOf = (body: Content): Content =>
  isPieces(body) && sizeOf(body) < SHORT && !body.some((chunk) => Buffer.isBuffer(chunk)) ? body.join('') : body;

/** Writes several chunks in one system call without joining them. Returns false if the client must read first. */
function writeTogether(response: ServerResponse, parts: readonly BodyChunk[]): boolean {
  if (parts.length === 1) return response.write(firstOf(parts));
  let isTaken = true;
  response.cork();
  for (const part of parts) isTaken = response.write(part);
  response.uncork();
  return isTaken;
}

function isLong(body: Exclude<ReplyBody, OpenBody>): body is LongBody {
  if (isPieces(body)) return sizeOf(body) > LARGE;
  return typeof body === 'string' || Buffer.isBuffer(body) ? body.length > LARGE : true;
}

/** Returns the length in bytes; null if unknown. */
function lengthOf(body: ReplyBody): number | null {
  if (isOpenBody(body)) return null;
  if (isByteStream(body)) return body.length;
  if (isPieces(body)) return body.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return typeof body === 'string' || Buffer.isBuffer(body) ? Buffer.byteLength(body) : null;
}

/** Chunks of one write. */
type Piece = readonly BodyChunk[];

async function* piecesOf(body: Exclude<LongBody, ByteStream>): AsyncGenerator<Piece> {
  if (Buffer.isBuffer(body)) yield* cut([body]);
  else if (isPieces(body)) yield* cut(body);
  else {
    yield* cut(body.start);
    for await (const texts of body.rest) yield* cut(texts);
    yield [body.end];
  }
}

/** Splits chunks into pieces of roughly equal length. */
function* cut(chunks: readonly BodyChunk[]): Generator<Piece> {
  let pending: BodyChunk[] = [];
  /** Filled share of the current piece. */
  let filled = 0;
  for (const chunk of chunks) {
    for (const part of Buffer.isBuffer(chunk) ? cutBytes(chunk) : cutText(chunk)) {
      const share = part.length / (Buffer.isBuffer(part) ? BUFFER_PIECE : PIECE);
      if (filled > 0 && filled + share > 1) {
        yield pending;
        pending = [];
        filled = 0;
      }
      pending.push(part);
      filled += share;
    }
  }
  if (filled > 0) yield pending;
}

function* cutBytes(bytes: Buffer): Generator<Buffer> {
  if (bytes.length <= BUFFER_PIECE) yield bytes;
  else for (let at = 0; at < bytes.length; at += BUFFER_PIECE) yield bytes.subarray(at, at + BUFFER_PIECE);
}

function* cutText(text: string): Generator<string> {
  let at = 0;
  while (text.length - at > PIECE) {
    const end = endOfPiece(text, at + PIECE);
    yield text.slice(at, end);
    at = end;
  }
  if (at < text.length) yield at === 0 ? text : text.slice(at);
}

/** Returns an end position that does not split a surrogate pair. */
function endOfPiece(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  return end < text.length && last >= 0xd800 && last < 0xdc00 ? end + 1 : end;
}

/** Chunks held by unsent responses, each counted once. */
class HeldChunks {
  private readonly holders = new Map<BodyChunk, number>();

  /** Returns the size of chunks not held yet. */
  newBytes(chunks: readonly BodyChunk[]): number {
    return sizeOf(chunks.filter((chunk) => !this.holders.has(chunk)));
  }

  add(chunks: readonly BodyChunk[]): void {
    for (const chunk of chunks) this.holders.set(chunk, (this.holders.get(chunk) ?? 0) + 1);
  }

  /** Returns the number of bytes released. */
  remove(chunks: readonly BodyChunk[]): number {
    let bytes = 0;
    for (const chunk of chunks) {
      const left = getOrThrow(this.holders, chunk) - 1;
      if (left > 0) this.holders.set(chunk, left);
      else {
        this.holders.delete(chunk);
        bytes += chunk.length;
      }
    }
    return bytes;
  }
}

function alwaysIn({ isForBrowsers, isSameOriginOnly, longPollMethods }: ReplyContext): readonly string[] {
  if (isForBrowsers) return BROWSER_HEADERS;
  if (isSameOriginOnly) return ALWAYS;
  return longPollMethods === null ? HEADERS : headersWith(longPollMethods);
}

/** `encoding`: null for a response with the same encoding for all clients. */
function writeHead(
  response: ServerResponse,
  reply: Reply,
  context: ReplyContext,
  length: number | null,
  encoding: Encoding | 'identity' | null = null,
): void {
  const { request, limitHeaders, closes } = context;
  const headers = alwaysIn(context).slice();
  if (reply.isFramed) headers.splice(headers.indexOf('X-Frame-Options'), 2);
  if (reply.contentLanguage !== undefined) headers[headers.indexOf('Content-Language') + 1] = reply.contentLanguage;
  if (encoding !== null) headers[headers.indexOf('Vary') + 1] += ', Accept-Encoding';
  if (encoding !== null && encoding !== 'identity') headers.push('Content-Encoding', encoding);
  if (context.isSecure) headers.push('Strict-Transport-Security', HSTS);
  headers.push('X-Request-Id', request.id);
  if (reply.status !== 204) {
    headers.push('Content-Type', reply.contentType ?? 'application/json');
    if (length !== null) headers.push('Content-Length', String(length));
  }
  if (reply.cacheControl !== undefined) headers.push('Cache-Control', reply.cacheControl);
  else if (reply.status === 204 || (reply.status < 300 && (context.isAuthenticated || context.isForBrowsers))) {
    headers.push('Cache-Control', NEVER_CACHED, 'Expires', httpDate());
  }
  if (limitHeaders) headers.push(...limitHeaders);
  if (reply.headers) headers.push(...reply.headers);
  if (closes) headers.push('Connection', 'close');
  response.writeHead(reply.status, headers);
}

let dateSecond = 0;
let dateText = '';

/** Returns the current time as an HTTP date, cached per second. */
function httpDate(): string {
  const now = Date.now();
  const second = Math.floor(now / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(now).toUTCString();
  }
  return dateText;
}
