import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { handleClientError } from './http-server.js';

describe('handleClientError', () => {
  let server: Server;
  let pending: ServerResponse | undefined;
  const clients: Socket[] = [];
  beforeEach(async () => {
    pending = undefined;
    server = createServer(
      { maxHeaderSize: 4096, headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 20 },
      (_request, response) => {
        pending = response;
      },
    );
    server.on('clientError', handleClientError);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });

  /** Client that never closes its connection. */
  const send = (text: string): Socket => {
    const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
    client.on('error', () => {});
    client.write(text);
    clients.push(client);
    return client;
  };
  const responseTo = async (text: string): Promise<string> => {
    let response = '';
    const client = send(text).on('data', (chunk) => {
      response += String(chunk);
    });
    await once(client, 'end');
    return response;
  };
  const connections = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));

  it.each([
    ['malformed', 'GET / HTTP/9.9\r\n\r\n', '400 Bad Request'],
    ['too long', `GET /${'x'.repeat(9000)} HTTP/1.1\r\nHost: x\r\n\r\n`, '431 Request Header Fields Too Large'],
    ['too slow', 'POST / HTTP/1.1\r\nHost: x\r\n', '408 Request Timeout'],
  ])('rejects a request that is %s with a JSON error and closes its connection', async (_why, text, status) => {
    const response = await responseTo(text);
    const [head = '', body = ''] = response.split('\r\n\r\n');
    expect(head.split('\r\n')[0]).toBe(`HTTP/1.1 ${status}`);
    expect(JSON.parse(body)).toEqual({ result: 'error', msg: expect.any(String), code: 'BAD_REQUEST' });
    while ((await connections()) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it('finishes a pending request before a malformed one on the same connection', async () => {
    send('GET /events HTTP/1.1\r\nHost: x\r\n\r\n\u0000garbage\r\n\r\n');
    while (!pending) await new Promise((resolve) => setTimeout(resolve, 5));
    if (!pending.closed) await once(pending, 'close');
    while ((await connections()) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });
});
