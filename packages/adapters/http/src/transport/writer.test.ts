import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TRANSPORT_LIMITS } from '../limits/budgets.js';
import type { Request } from '../wire/request.js';
import { type ReplyContext, ResponseWriter } from './writer.js';

const PIECES = 8;

/**
 * Serves a file in several pieces and starts the given number of other responses before each piece. Returns the file
 * length and the number of pauses.
 */
async function download(othersPerPiece: number): Promise<{ bytes: number; rests: number }> {
  let rests = 0;
  const writer = new ResponseWriter(TRANSPORT_LIMITS, async () => {
    rests++;
  });
  const server = createServer((raw, response) => {
    const context: ReplyContext = {
      request: { raw, id: 'r' } as Request,
      client: 'somebody' as never,
      isAuthenticated: true,
      longPollMethods: null,
      isSameOriginOnly: false,
      isForBrowsers: false,
      isSecure: false,
      limitHeaders: undefined,
      closes: false,
    };
    if (raw.url === '/other') return void writer.write(response, { status: 200, body: '{}' } as never, context);
    const piece = Buffer.alloc(64 * 1024);
    async function* bytes() {
      for (let n = 0; n < PIECES; n++) {
        for (let m = 0; m < othersPerPiece; m++) await (await fetch(`${url}/other`)).text();
        yield piece;
      }
    }
    writer.write(response, { status: 200, body: { length: PIECES * piece.length, bytes: bytes() } } as never, context);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const { byteLength } = await (await fetch(url)).arrayBuffer();
    return { bytes: byteLength, rests };
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

describe('streamed file', () => {
  it('pauses after each piece while other responses are sent', async () => {
    expect(await download(2)).toEqual({ bytes: PIECES * 64 * 1024, rests: PIECES });
  });

  it('does not pause while the server is idle', async () => {
    expect(await download(0)).toEqual({ bytes: PIECES * 64 * 1024, rests: 0 });
  });
});
