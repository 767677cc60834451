import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { DomainError } from '@parley/domain/kernel';
import { FixedClock } from '@parley/testkit';
import { WebLinkPreviewFetcher } from './link-previews.js';
import { OutgoingProxy } from './outgoing-proxy.js';
import { PublicWebClient } from './web-client.js';

let server: Server;
let url: string;
let listener: RequestListener;
let requests: number;
let sentBytes: number;
let clock: FixedClock;
let pages: WebLinkPreviewFetcher;

beforeAll(async () => {
  server = createServer((request, response) => {
    requests++;
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests = 0;
  sentBytes = 0;
  clock = new FixedClock();
  pages = new WebLinkPreviewFetcher(clientOf(), PICTURES, clock);
});

const clientOf = (timeoutMs = 2000) =>
  new PublicWebClient({ allowedNetworks: ['127.0.0.1'], proxy: new OutgoingProxy(), userAgent: 'Test/1', timeoutMs });
const PICTURES = {
  load: async (picture: string) => {
    if (picture.endsWith('busy.png')) throw new DomainError('SERVER_BUSY', 'busy', { retryAfter: 5 });
    return picture.endsWith('forbidden.png') ? null : Uint8Array.of(1);
  },
};
const html =
  (body: string | Buffer, headers: object = {}): RequestListener =>
  (_, response) =>
    response.writeHead(200, { 'Content-Type': 'text/html', ...headers }).end(body);
const TITLE = { title: 'T', description: null, picture: null };

/** Sends a page without end. */
const endless = (response: ServerResponse, piece: Buffer) => {
  const more = () => {
    for (let isOpen = true; isOpen && !response.destroyed; ) {
      sentBytes += piece.length;
      isOpen = response.write(piece);
    }
  };
  response.on('drain', more);
  more();
};

describe('WebLinkPreviewFetcher', () => {
  it('returns the preview of a page, without cookies or credentials', async () => {
    let seen: unknown;
    listener = (request, response) => {
      seen = [request.headers['user-agent'], request.headers.cookie, request.headers['accept-encoding']];
      html('<title>T</title>')(request, response);
    };
    expect(await pages.fetch(`${url}#part`)).toEqual(TITLE);
    expect(seen).toEqual(['Test/1', undefined, 'identity']);
  });

  it('caches pages for an hour, failures for ten minutes, and shares requests', async () => {
    listener = html('<title>T</title>');
    expect(await Promise.all([pages.fetch(url), pages.fetch(`${url}#x`), pages.fetch(url)])).toEqual([
      TITLE,
      TITLE,
      TITLE,
    ]);
    clock.advance(3599);
    await pages.fetch(url);
    expect(requests).toBe(1);
    clock.advance(1);
    listener = (_, response) => response.writeHead(500).end();
    expect(await pages.fetch(url)).toBe(null);
    clock.advance(599);
    expect(await pages.fetch(url)).toBe(null);
    expect(requests).toBe(2);
    clock.advance(1);
    await pages.fetch(url);
    expect(requests).toBe(3);
  });

  it.each([
    ['another type', html('<title>T</title>', { 'Content-Type': 'text/plain' })],
    ['no type', ((_, response) => response.end('<title>T</title>')) as RequestListener],
    ['a picture', html('<title>T</title>', { 'Content-Type': 'image/svg+xml' })],
    ['an unsupported encoding', html(brotliCompressSync('<title>T</title>'), { 'Content-Encoding': 'br' })],
    ['an invalid encoding', html('<title>T</title>', { 'Content-Encoding': 'gzip' })],
    [
      'an error',
      ((_, response) =>
        response.writeHead(404, { 'Content-Type': 'text/html' }).end('<title>T</title>')) as RequestListener,
    ],
    ['a broken connection', (({ socket }) => socket.destroy()) as RequestListener],
    [
      'a redirect to a private address',
      ((_, response) => response.writeHead(302, { Location: 'http://10.0.0.1/' }).end()) as RequestListener,
    ],
    [
      'a redirect to a private name',
      ((_, response) => response.writeHead(307, { Location: 'http://localtest.invalid/' }).end()) as RequestListener,
    ],
    [
      'a redirect to another scheme',
      ((_, response) => response.writeHead(301, { Location: 'file:///etc/passwd' }).end()) as RequestListener,
    ],
    [
      'an invalid redirect',
      ((_, response) => response.writeHead(301, { Location: 'http://[' }).end()) as RequestListener,
    ],
  ])('returns null for %s', async (_what, answer) => {
    listener = answer;
    expect(await pages.fetch(url)).toBe(null);
    expect(requests).toBe(1);
  });

  it('follows up to five redirects and resolves the picture by the last address', async () => {
    listener = (request, response) => {
      const left = Number(request.url!.slice(1));
      if (left > 0) response.writeHead(302, { Location: `/${left - 1}` }).end();
      else html('<meta property="og:image" content="p.png">')(request, response);
    };
    expect(await pages.fetch(`${url}5`)).toMatchObject({ picture: `${url}p.png` });
    expect(await pages.fetch(`${url}6`)).toBe(null);
  });

  it.each([
    ['p.png', 'p.png'],
    ['busy.png', 'busy.png'],
    ['forbidden.png', null],
  ])('returns the picture %s as %s, null only if it cannot be read', async (name, expected) => {
    listener = html(`<title>T</title><meta property="og:image" content="${name}">`);
    expect(await pages.fetch(url)).toEqual({ ...TITLE, picture: expected && `${url}${expected}` });
  });

  it('stops reading an endless page', async () => {
    listener = (_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' }).write('<title>T</title>');
      endless(response, Buffer.alloc(64 * 1024, '<p>'));
    };
    expect(await pages.fetch(url)).toEqual(TITLE);
    expect(sentBytes).toBeLessThan(16 * 1024 * 1024);
  });

  it.each([
    ['gzip', gzipSync('<title>T</title>')],
    ['GZIP', gzipSync('<title>T</title><body>more').subarray(0, -8)],
    ['deflate', deflateSync('<title>T</title>')],
  ])('decodes %s, which it does not request', async (encoding, body) => {
    listener = html(body, { 'Content-Encoding': encoding });
    expect(await pages.fetch(url)).toEqual(TITLE);
  });

  it.each([
    ['expands without end', Buffer.alloc(64 * 1024, '<p>')],
    ['expands to nothing', Buffer.alloc(0)],
  ])('stops reading a compressed page that %s', async (_, piece) => {
    listener = (request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Encoding': 'gzip' });
      if (piece.length === 0) {
        // Empty stored blocks after the header of gzip.
        response.write(gzipSync('').subarray(0, 10));
        return endless(response, Buffer.alloc(64 * 1024 + 1 - ((64 * 1024 + 1) % 5), Buffer.from([0, 0, 0, 255, 255])));
      }
      const gzip = createGzip();
      gzip.pipe(response);
      const more = () => {
        while (!request.destroyed && !response.destroyed && gzip.write(piece)) sentBytes++;
      };
      gzip.on('drain', more);
      response.on('close', () => gzip.destroy());
      gzip.write('<title>T</title>');
      more();
    };
    expect(await pages.fetch(url)).toEqual(piece.length === 0 ? null : TITLE);
    expect(sentBytes).toBeLessThan(64 * 1024 * 1024);
  });

  it('parses one piece of a page per turn of the event loop', async () => {
    listener = html(Buffer.alloc(512 * 1024, ' '));
    let turns = 0;
    let isReading = true;
    const count = () => {
      turns++;
      if (isReading) setImmediate(count);
    };
    count();
    await Promise.all([pages.fetch(url), pages.fetch(`${url}2`)]);
    isReading = false;
    expect(turns).toBeGreaterThan(2 * 32);
  });

  it('returns null for a page that exceeds the time limit, also within its body', async () => {
    pages = new WebLinkPreviewFetcher(clientOf(100), PICTURES, clock);
    listener = (_, response) => void response.writeHead(200, { 'Content-Type': 'text/html' }).write('<title>T</title>');
    expect(await pages.fetch(url)).toBe(null);
    listener = () => {};
    expect(await pages.fetch(`${url}2`)).toBe(null);
  });
});
