import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { FixedClock } from '@parley/testkit';
import { workMsOf } from '@parley/testkit/process-usage';
import { PageHead } from './page-head.js';
import { PublicWebClient } from './web-client.js';
import { WebPages } from './web-pages.js';

let server: Server;
let url: string;
let listener: RequestListener;
let requests: number;
let sentBytes: number;
let clock: FixedClock;
let pages: WebPages;

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
  pages = new WebPages(clientOf(), clock);
});

const clientOf = (timeoutMs = 2000) =>
  new PublicWebClient({ allowedNetworks: ['127.0.0.1'], userAgent: 'Test/1', timeoutMs });
const html =
  (body: string | Buffer, headers: object = {}): RequestListener =>
  (_, response) =>
    response.writeHead(200, { 'Content-Type': 'text/html', ...headers }).end(body);
const titled = (head: string) => {
  const page = new PageHead('https://a.example/b/c', 'text/html; charset=utf-8');
  page.write(Buffer.from(head));
  return page.preview();
};
const MAX_MS = 400;
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

describe('PageHead', () => {
  it.each([
    ['a title', '<title> A\n b </title>', { title: 'A b', description: null, picture: null }],
    ['entities in a title', '<title>&lt;b&gt; &amp;amp; &#x41;&eacute;</title>', { ...TITLE, title: '<b> &amp; Aé' }],
    [
      'tags in a title',
      '<title>a <b onclick=x>b</b><script>c</script></title>',
      { ...TITLE, title: 'a <b onclick=x>b</b><script>c</script>' },
    ],
    ['the first of several titles', '<title>T</title><svg><title>U</title></svg>', TITLE],
    ['a description', '<meta name=Description content="D"><title>T</title>', { ...TITLE, description: 'D' }],
    [
      'Open Graph before other metadata',
      '<title>x</title><meta name="description" content="y"><meta content="T" property="og:title"><meta property="og:description" content="D"><meta property="og:image" content="../i.png?a=1&amp;b=2">',
      { title: 'T', description: 'D', picture: 'https://a.example/i.png?a=1&b=2' },
    ],
    [
      'the first of several pictures',
      '<meta property="og:image" content="/1"><meta property="og:image" content="/2">',
      { title: null, description: null, picture: 'https://a.example/1' },
    ],
    [
      'a script with metadata in a text',
      '<script>"<title>x</title><meta property=og:title content=x>"</script><title>T</title>',
      TITLE,
    ],
    [
      'metadata in comments and styles',
      '<!--<title>x</title>--><style><title>y</title></style><title>T</title>',
      TITLE,
    ],
    ['no metadata after the head', '<title>T</title></head><meta property="og:image" content="/1">', TITLE],
    ['no metadata in the body', '<title>T</title><body><meta property="og:image" content="/1">', TITLE],
    [
      'a picture without a usable scheme',
      '<title>T</title><meta property="og:image" content="javascript:alert(1)">',
      TITLE,
    ],
    ['a data picture', '<title>T</title><meta property="og:image" content="data:image/png;base64,AAAA">', TITLE],
    ['an invalid picture', '<title>T</title><meta property="og:image" content="http://[">', TITLE],
    ['control characters', '<title>a\u0002h0\u0003b</title>', { ...TITLE, title: 'a h0 b' }],
    ['no metadata at all', '<p>text', null],
    ['nothing', '', null],
    ['broken tags', '<title>T</title><meta property="og:title', TITLE],
  ])('reads %s', (_what, head, expected) => {
    expect(titled(head)).toEqual(expected);
  });

  it('reads all tags of a head without white space between them', () => {
    expect(titled(`${'<meta name="viewport" content="width=device-width">'.repeat(2000)}<title>T</title>`)).toEqual(
      TITLE,
    );
  });

  it('shortens long texts and omits long picture addresses', () => {
    const { title, description, picture } = titled(
      `<title>${'😀'.repeat(300)}</title><meta name="description" content="${'d '.repeat(2000)}"><meta property="og:image" content="/${'x'.repeat(2000)}">`,
    )!;
    expect([...title!]).toHaveLength(200);
    expect([...description!]).toHaveLength(500);
    expect(picture).toBe(null);
  });

  it.each([
    ['header', 'text/html; charset=ISO-8859-1', '<title>é</title>', 'latin1'],
    ['page', 'text/html', '<meta charset="windows-1252"><title>é</title>', 'latin1'],
    ['neither', 'text/html', '<title>é</title>', 'utf8'],
    ['unknown encoding', 'text/html; charset=nonsense', '<title>é</title>', 'utf8'],
  ] as const)('decodes the encoding declared by: %s', (_where, type, text, encoding) => {
    const page = new PageHead('https://a.example/', type);
    for (const byte of Buffer.from(text, encoding)) page.write(Uint8Array.of(byte));
    const whole = new PageHead('https://a.example/', type);
    whole.write(Buffer.from(text, encoding));
    expect(whole.preview()).toMatchObject({ title: 'é' });
    if (encoding === 'utf8') expect(page.preview()).toMatchObject({ title: 'é' });
  });

  it.each([
    ['attributes', (n: number) => `<meta ${Array.from({ length: n / 8 }, (_, i) => `a${i}`).join(' ')}`],
    [
      'attributes of an end tag',
      (n: number) => `<script></script ${Array.from({ length: n / 8 }, (_, i) => `a${i}`).join(' ')}`,
    ],
    ['open tags', (n: number) => '<b><i>'.repeat(n / 6)],
    ['open and closed tags', (n: number) => '<x1>'.repeat(n / 9) + '</y>'.repeat(n / 9)],
    ['entities', (n: number) => `<title>${'&amp'.repeat(n / 4)}`],
    ['titles', (n: number) => '<title>a</title>'.repeat(n / 16)],
    ['metadata', (n: number) => '<meta name=description content=a>'.repeat(n / 33)],
    ['comments', (n: number) => '<!--'.repeat(n / 4)],
    ['angle brackets', (n: number) => '<'.repeat(n)],
    ['scripts', (n: number) => '<script><!--'.repeat(n / 12)],
  ])('reads a megabyte of %s in linear time', async (_what, make) => {
    const text = Buffer.from(make(1024 * 1024));
    const ms = await workMsOf(async () => {
      const page = new PageHead('https://a.example/', 'text/html');
      for (let at = 0; at < text.length; at += 65_536) page.write(text.subarray(at, at + 65_536));
      page.preview();
    }, MAX_MS);
    expect(ms).toBeLessThan(MAX_MS);
  });
});

describe('WebPages', () => {
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
    ['compression that was not requested', html(gzipSync('<title>T</title>'), { 'Content-Encoding': 'gzip' })],
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

  it('stops reading a page without end', async () => {
    listener = (_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' }).write('<title>T</title>');
      endless(response, Buffer.alloc(64 * 1024, '<p>'));
    };
    expect(await pages.fetch(url)).toEqual(TITLE);
    expect(sentBytes).toBeLessThan(16 * 1024 * 1024);
  });

  it('parses pages piece by piece, one piece in a turn of the event loop', async () => {
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

  it('gives up a slow page, also within its body', async () => {
    pages = new WebPages(clientOf(100), clock);
    listener = (_, response) => void response.writeHead(200, { 'Content-Type': 'text/html' }).write('<title>T</title>');
    expect(await pages.fetch(url)).toBe(null);
    listener = () => {};
    expect(await pages.fetch(`${url}2`)).toBe(null);
  });
});
