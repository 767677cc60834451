import type { ServerResponse } from 'node:http';
import type { Reply } from './reply.js';
import type { Request } from './request.js';

export interface ReplyCircumstances {
  readonly request: Request;
  readonly isAuthenticated: boolean;
  readonly isLongPoll: boolean;
  readonly limitHeaders: readonly string[] | undefined;
  /** The connection is not to be used again. */
  readonly closes: boolean;
}

const ALWAYS = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Allow-Headers',
  'Authorization',
  'Vary',
  'Accept-Language',
  'Content-Language',
  'en',
  'X-Content-Type-Options',
  'nosniff',
  'X-Frame-Options',
  'DENY',
];
const HEADERS = [...ALWAYS, 'Access-Control-Allow-Methods', 'GET, POST, DELETE, PUT, PATCH, HEAD'];
const LONG_POLL_HEADERS = [...ALWAYS, 'Access-Control-Allow-Methods', 'OPTIONS, GET, DELETE'];
const NEVER_CACHED = 'max-age=0, no-cache, no-store, must-revalidate, private';

/** Writes the whole answer at once. Does nothing when the client has gone. */
export function writeReply(response: ServerResponse, reply: Reply, circumstances: ReplyCircumstances): void {
  if (response.headersSent || response.destroyed) return;
  const { request, isLongPoll, limitHeaders, closes } = circumstances;
  const body = encoded(reply.body);
  const headers = (isLongPoll ? LONG_POLL_HEADERS : HEADERS).slice();
  headers.push('X-Request-Id', request.id);
  if (reply.status !== 204) {
    headers.push('Content-Type', reply.contentType ?? 'application/json');
    headers.push('Content-Length', String(Buffer.byteLength(body)));
  }
  if (reply.cacheControl !== undefined) headers.push('Cache-Control', reply.cacheControl);
  else if (reply.status === 204 || (reply.status < 300 && circumstances.isAuthenticated)) {
    headers.push('Cache-Control', NEVER_CACHED, 'Expires', httpDate());
  }
  if (limitHeaders) headers.push(...limitHeaders);
  if (reply.headers) headers.push(...reply.headers);
  if (closes) headers.push('Connection', 'close');
  response.writeHead(reply.status, headers);
  if (request.raw.method === 'HEAD' || reply.status === 204) response.end();
  else response.end(body);
}

/** Counting the bytes of a text and then writing it walks it twice; from here on that costs more than a copy. */
const LARGE = 256 * 1024;

const encoded = (body: string | Buffer): string | Buffer =>
  typeof body === 'string' && body.length > LARGE ? Buffer.from(body) : body;

let dateSecond = 0;
let dateText = '';

/** Now, as headers write it; put together once a second. */
function httpDate(): string {
  const now = Date.now();
  const second = Math.floor(now / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(now).toUTCString();
  }
  return dateText;
}
