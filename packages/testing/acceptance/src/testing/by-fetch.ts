import type { RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { Parley } from '@parley/server';

/** Methods whose requests have no body in the Fetch standard. */
const WITHOUT_BODY = new Set(['GET', 'HEAD']);

/**
 * Listener that passes requests on in the form of the Fetch standard, as frameworks do; requests without such a form go to
 * the handler.
 */
export const byFetch =
  ({ fetch, handler }: Pick<Parley, 'fetch' | 'handler'>): RequestListener =>
  async (request, response) => {
    const { method = 'GET', headers } = request;
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
    if (hasBody && WITHOUT_BODY.has(method)) return handler(request, response);
    const aborted = new AbortController();
    response.once('close', () => aborted.abort());
    const init = {
      method,
      headers: Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]),
      ...(hasBody && { body: Readable.toWeb(request) as never, duplex: 'half' as const }),
      signal: aborted.signal,
    };
    const result = await fetch(new Request(`http://${headers.host}${request.url}`, init), {
      address: request.socket.remoteAddress,
    });
    // The rest of a body that was not read would delay the next request of the connection.
    if (!request.complete) response.setHeader('Connection', 'close');
    response.writeHead(result.status, [...result.headers].flat());
    if (result.body) await pipeline(Readable.fromWeb(result.body as ReadableStream), response).catch(() => {});
    else response.end();
  };
