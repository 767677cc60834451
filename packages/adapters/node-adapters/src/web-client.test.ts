import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebhookRefused } from '@parley/domain/membership';
import { OutgoingProxy } from './outgoing-proxy.js';
import { PublicWebClient } from './web-client.js';

const REQUEST = { contentType: 'application/json', body: '{"a":"ä"}' };
const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const client = (allowedNetworks: readonly string[] = [], timeoutMs = 5000) =>
  new PublicWebClient({ allowedNetworks, proxy: new OutgoingProxy(), userAgent: 'Test/1', timeoutMs });

describe('PublicWebClient', () => {
  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0/',
    'http://localhost/',
    'http://10.0.0.1/',
    'http://172.31.255.255/',
    'http://192.168.1.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://100.64.0.1/',
    'http://198.18.0.1/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::7f00:1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[fe80::1]/',
    'http://[fec0::1]/',
    'http://[fd00:ec2::254]/',
  ])('rejects %s', async (url) => {
    await expect(client().post(url, REQUEST)).rejects.toBeInstanceOf(WebhookRefused);
  });

  it('sends the request to an allowed network and returns status and text', async () => {
    const seen: unknown[] = [];
    const port = await serve((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        seen.push([request.method, request.url, request.headers['user-agent'], request.headers['content-type'], body]);
        response.writeHead(503).end('später');
      });
    });
    const url = `http://localhost:${port}/hook?x=1`;
    expect(await client(['127.0.0.0/8', '::1']).post(url, REQUEST)).toEqual({ status: 503, text: 'später' });
    expect(seen).toEqual([['POST', '/hook?x=1', 'Test/1', 'application/json', REQUEST.body]]);
  });

  it('returns redirects instead of following them', async () => {
    let calls = 0;
    const port = await serve((_, response) => {
      calls++;
      response.writeHead(302, { Location: '/elsewhere' }).end();
    });
    expect(await client(['127.0.0.1']).post(`http://127.0.0.1:${port}/`, REQUEST)).toMatchObject({ status: 302 });
    expect(calls).toBe(1);
  });

  it('rejects overlong and slow responses and aborted connections', async () => {
    const piece = Buffer.alloc(64 * 1024);
    const port = await serve((request, response) => {
      if (request.url === '/gone') request.socket.destroy();
      if (request.url !== '/long') return;
      const more = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more);
      more();
    });
    const post = (path: string, timeoutMs?: number) =>
      client(['127.0.0.1'], timeoutMs).post(`http://127.0.0.1:${port}${path}`, REQUEST);
    await expect(post('/long')).rejects.toThrow('The response is too long');
    await expect(post('/slow', 30)).rejects.toThrow(/abort/i);
    await expect(post('/gone')).rejects.toThrow(/socket hang up|ECONNRESET/);
  });

  it('rejects responses that switch protocols', async () => {
    const port = await serve(() => {});
    open.at(-1)!.on('connection', (socket) => {
      socket.on('data', () => socket.write('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'));
    });
    const url = `http://127.0.0.1:${port}/`;
    const web = client(['127.0.0.1']);
    for (const request of [web.get(url, '*/*'), web.open(url, {}), web.post(url, REQUEST), web.download(url, 10)]) {
      await expect(request).rejects.toThrow('The server switched protocols');
    }
  });

  it('opens a file with its status, type and retry time, and sends the given headers', async () => {
    const port = await serve((request, response) => {
      response.writeHead(503, { 'Content-Type': 'text/plain', 'Retry-After': '7' });
      response.end(String(request.headers.authorization));
    });
    const file = await client(['127.0.0.0/8']).open(`http://127.0.0.1:${port}/`, { Authorization: 'Bearer x' });
    expect(file).toMatchObject({ status: 503, contentType: 'text/plain', retryAfter: 7 });
    expect((await file.body.toArray()).join('')).toBe('Bearer x');
  });

  it('follows no redirect of a file', async () => {
    const port = await serve((_, response) => response.writeHead(302, { Location: 'http://10.0.0.1/' }).end());
    const file = await client(['127.0.0.0/8']).open(`http://127.0.0.1:${port}/`, {});
    file.body.destroy();
    expect([file.status, file.retryAfter]).toEqual([302, null]);
  });

  it.each(['http://127.0.0.1/', 'http://localhost/', 'http://169.254.169.254/'])('opens no file at %s', async (url) => {
    await expect(client().open(url, {})).rejects.toBeInstanceOf(WebhookRefused);
  });

  it('throws while a file is read if the connection breaks', async () => {
    const port = await serve((_, response) => {
      response.writeHead(200, { 'Content-Length': '100' }).write('x');
      setTimeout(() => response.destroy(), 20);
    });
    const { body } = await client(['127.0.0.0/8']).open(`http://127.0.0.1:${port}/`, {});
    await expect(body.toArray()).rejects.toThrow();
  });

  it('follows redirects of a page, each to an allowed address', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/private') response.writeHead(302, { Location: 'http://10.0.0.1/' }).end();
      else if (request.url === '/first') response.writeHead(301, { Location: '/second' }).end();
      else response.writeHead(200, { 'Content-Type': 'text/html' }).end(String(request.headers.accept));
    });
    const get = (path: string) => client(['127.0.0.0/8']).get(`http://127.0.0.1:${port}${path}`, 'text/html');
    const { url, status, headers, body } = await get('/first');
    expect([url, status, headers['content-type']]).toEqual([`http://127.0.0.1:${port}/second`, 200, 'text/html']);
    expect((await body.toArray()).join('')).toBe('text/html');
    await expect(get('/private')).rejects.toBeInstanceOf(WebhookRefused);
  });

  it('looks up hosts of pages one by one, and drops lookups after the timeout', async () => {
    const ends = new Map<string, () => void>();
    const resolveName = ((name: string, _: unknown, callback: (error: Error | null, all: unknown) => void) => {
      ends.set(name, () => callback(null, [{ address: '10.0.0.1', family: 4 }]));
    }) as never;
    const web = new PublicWebClient({
      allowedNetworks: [],
      proxy: new OutgoingProxy(),
      userAgent: 'Test/1',
      timeoutMs: 300,
      resolveName,
    });
    const get = (name: string) => web.get(`http://${name}/`, '*/*');
    await Promise.all(['a', 'b', 'c'].map((name) => expect(get(name)).rejects.toThrow(/abort/i)));
    expect([...ends.keys()]).toEqual(['a']);
    const next = get('d');
    ends.get('a')!();
    await new Promise(setImmediate);
    ends.get('d')!();
    await expect(next).rejects.toBeInstanceOf(WebhookRefused);
    expect([...ends.keys()]).toEqual(['a', 'd']);
  });
});
