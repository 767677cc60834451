import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { freePort } from './free-port.js';

it('freePort returns a port that can be bound repeatedly', async () => {
  const port = await freePort();
  for (let count = 0; count < 3; count++) {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    expect((server.address() as AddressInfo).port).toBe(port);
    server.close();
    await once(server, 'close');
  }
});
