import { createServer, type IncomingMessage, type RequestListener, request as send } from 'node:http';
import { duplexPair, Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { WebHandler } from '../facade/facade.js';
import { errorOf, handleClientError, MALFORMED, MAX_HEADER_BYTES } from './http-server.js';

/** Headers of one connection, which end with it. */
const OF_CONNECTION = ['connection', 'expect', 'keep-alive', 'te', 'transfer-encoding', 'upgrade'];
const WITHOUT_BODY = new Set([204, 205, 304]);

/** Serves each request on a connection in memory, so that it passes the same code as requests from the network. */
export function webHandler(handler: RequestListener): WebHandler {
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, handler);
  server.on('clientError', handleClientError);
  return async (request, { address } = {}) => {
    if (request.bodyUsed) throw new TypeError('parley.fetch needs a request whose body nobody has read.');
    const body = request.body && Readable.fromWeb(request.body as ReadableStream);
    const { protocol, host, pathname, search } = new URL(request.url);
    const createConnection = () => {
      const [near, far] = duplexPair();
      near.once('close', () => far.destroy());
      far.once('close', () => far.writableEnded || near.destroy());
      const socket = { remoteAddress: address, bytesRead: 1, destroySoon: far.end };
      server.emit('connection', Object.assign(far, socket, protocol === 'https:' && ENCRYPTED));
      return near;
    };
    const headers = new Headers(request.headers);
    for (const name of OF_CONNECTION) headers.delete(name);
    if (!headers.has('host')) headers.set('host', host);
    const length = headers.get('content-length');
    if (!body) headers.delete('content-length');
    else if (length === null) headers.set('transfer-encoding', 'chunked');
    const { method, signal } = request;
    let sent: ReturnType<typeof send>;
    try {
      sent = send({ createConnection, method, path: pathname + search, headers: Object.fromEntries(headers), signal });
    } catch {
      // Node writes no request that its parser would refuse.
      return Response.json(errorOf(MALFORMED[1]), { status: 400 });
    }
    const received = new Promise<IncomingMessage>((resolve, reject) =>
      sent.once('response', resolve).on('error', reject),
    );
    // A failed body destroys the connection, as a client that goes away.
    if (body) pipeline(checkLength(body, Number(length ?? Number.NaN), sent), sent).catch(() => {});
    else sent.end();
    try {
      return responseOf(await received, method);
    } catch (error) {
      // Nobody reads the response; an error would be logged by the framework.
      if (signal.aborted) return new Response(null, { status: 499 });
      throw error;
    }
  };
}

/** Ends the request if the body has another length, since the server would wait for the rest. NaN: any length. */
async function* checkLength(body: Readable, length: number, sent: Writable): AsyncGenerator<Buffer> {
  let left = length;
  for await (const chunk of body) {
    left -= chunk.length;
    if (left < 0) break;
    yield chunk;
  }
  if (left < 0 || left > 0) sent.destroy(new TypeError('The body is not as long as its Content-Length.'));
}

/** Property of TLS connections. */
const ENCRYPTED = { encrypted: true };

function responseOf(received: IncomingMessage, method: string): Response {
  const headers = new Headers();
  for (let index = 0; index < received.rawHeaders.length; index += 2)
    headers.append(received.rawHeaders[index]!, received.rawHeaders[index + 1]!);
  for (const name of OF_CONNECTION) headers.delete(name);
  const status = received.statusCode!;
  const isEmpty = method === 'HEAD' || WITHOUT_BODY.has(status);
  if (isEmpty) received.resume();
  return new Response(isEmpty ? null : (Readable.toWeb(received) as never), { status, headers });
}
