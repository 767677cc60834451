import { EventEmitter, once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TransportLimits, TrustedProxies } from '@parley/http';
import { createHttpServer, limitPerAddress } from './http-server.js';

describe('createHttpServer', () => {
  let server: Server;
  const clients: Socket[] = [];
  const said: string[] = [];

  async function start(
    limits: Partial<TransportLimits>,
    listener: RequestListener = (_, response) => response.end('ok'),
  ) {
    said.length = 0;
    const logger = { info: () => {}, error: (_fields: object, message: string) => void said.push(message) };
    server = createHttpServer(listener, { limits, logger });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }

  /** Client that never closes its connection. */
  function open(text = ''): Socket {
    const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
    client.on('error', () => {});
    if (text !== '') client.write(text);
    clients.push(client);
    return client;
  }

  async function answerTo(client: Socket): Promise<string> {
    let answer = '';
    client.on('data', (chunk) => {
      answer += chunk;
    });
    await new Promise<void>((resolve) => client.once('end', resolve).once('close', () => resolve()));
    return answer;
  }

  async function stop() {
    for (const client of clients.splice(0)) client.destroy();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }

  afterEach(stop);

  it('closes silent connections without a response that could be matched to a later request', async () => {
    await start({ headersMs: 60 });
    const since = performance.now();
    expect(await answerTo(open())).toBe('');
    expect(performance.now() - since).toBeGreaterThan(50);
  });

  it('closes requests with slow headers or bodies', async () => {
    await start({ headersMs: 60, bodyMs: 60, filesMs: 60 });
    expect(await answerTo(open('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: '))).toMatch(/^HTTP\/1\.1 408 /);
    await stop();
    await start({ headersMs: 60, bodyMs: 60, filesMs: 60 }, () => {});
    expect(await answerTo(open('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab'))).toMatch(
      /^HTTP\/1\.1 408 /,
    );
  });

  it('keeps idle connections and connections with a pending response', async () => {
    let answer = () => {};
    await start({ headersMs: 600, bodyMs: 600, filesMs: 600 }, (_, response) => {
      answer = () => response.end('at last');
    });
    const client = open('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const pause = () => new Promise((resolve) => setTimeout(resolve, 1200));
    await pause();
    answer();
    expect(String((await once(client, 'data'))[0])).toContain('at last');
    await pause();
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(server, 'request');
    answer();
    expect(String((await once(client, 'data'))[0])).toContain('at last');
  });

  it('limits the number of connections and logs the limit once', async () => {
    await start({ connections: 3 });
    const kept = [open(), open(), open()];
    await Promise.all(kept.map((client) => once(client, 'connect')));
    for (let count = 0; count < 3; count++) expect(await answerTo(open('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))).toBe('');
    expect(said).toEqual(['connections are rejected: too many connections']);
    kept[0]!.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await answerTo(kept[0]!)).toContain('200 OK');
  });
});

describe('limitPerAddress', () => {
  class FakeSocket extends EventEmitter {
    isDestroyed = false;

    constructor(readonly remoteAddress: string) {
      super();
    }

    destroy(): void {
      this.isDestroyed = true;
      this.emit('close');
    }
  }

  it('limits connections per address except from loopback', () => {
    const server = new EventEmitter();
    const said: string[] = [];
    limitPerAddress(server, 2, (message) => said.push(message));
    const connected = (remoteAddress: string) => {
      const socket = new FakeSocket(remoteAddress);
      server.emit('connection', socket);
      return socket;
    };
    const [first, second, third] = ['10.0.0.1', '::ffff:10.0.0.1', '10.0.0.1'].map(connected);
    expect([first, second, third].map((socket) => socket!.isDestroyed)).toEqual([false, false, true]);
    expect(connected('10.0.0.2').isDestroyed).toBe(false);
    // An IPv6 /64 counts as one address, since it belongs to one customer.
    const network = ['2001:db8::1', '2001:db8::2', '2001:db8::3'].map(connected);
    expect(network.map((socket) => socket.isDestroyed)).toEqual([false, false, true]);
    for (let count = 0; count < 5; count++) {
      for (const own of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) expect(connected(own).isDestroyed).toBe(false);
    }
    first!.destroy();
    expect(connected('10.0.0.1').isDestroyed).toBe(false);
    expect(connected('10.0.0.1').isDestroyed).toBe(true);
    expect(said[0]).toBe('connections are rejected: too many from one address');
  });

  it('exempts connections from trusted proxies', () => {
    const server = new EventEmitter();
    limitPerAddress(server, 1, () => {}, new TrustedProxies(['10.0.0.0/8']));
    const refused = ['10.0.0.1', '10.0.0.1', '192.0.2.7', '192.0.2.7'].map((address) => {
      const socket = new FakeSocket(address);
      server.emit('connection', socket);
      return socket.isDestroyed;
    });
    expect(refused).toEqual([false, false, false, true]);
  });
});
