import type { RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { Parley } from '@parley/server';

/** Listener that passes requests on in the form of the Fetch standard, as frameworks do. */
export const byFetch =
  ({ fetch }: Pick<Parley, 'fetch'>): RequestListener =>
  async (request, response) => {
    const aborted = new AbortController();
    response.once('close', () => aborted.abort());
    const { method = 'GET', headers } = request;
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
    const init = {
      method,
      headers: Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]),
      ...(hasBody && { body: Readable.toWeb(request) as never, duplex: 'half' as const }),
      signal: aborted.signal,
    };
    const result = await fetch(new Request(`http://${headers.host}${request.url}`, init), {
      address: request.socket.remoteAddress,
    });
    response.writeHead(result.status, [...result.headers].flat());
    if (result.body) await pipeline(Readable.fromWeb(result.body as ReadableStream), response).catch(() => {});
    else response.end();
  };
