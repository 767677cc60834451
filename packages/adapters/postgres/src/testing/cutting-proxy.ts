import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface CuttingProxy {
  /** URL of the same database through the proxy. */
  readonly url: string;
  /** Cuts the next connection that sends the text, before or after the server has received it. */
  cutAt(text: string, moment: 'before' | 'after'): void;
  /** Number of packets sent by clients. */
  readonly packets: number;
  /** Number of times that clients sent data after a response. */
  readonly roundTrips: number;
  close(): Promise<void>;
}

/** Starts a proxy between clients and a database server's socket, which delays each response. */
export async function startCuttingProxy(url: string, delayMs = 0): Promise<CuttingProxy> {
  const target = new URL(url);
  const path = `${target.searchParams.get('host')}/.s.PGSQL.5432`;
  const sockets = new Set<Socket>();
  let cut: { readonly text: string; readonly moment: 'before' | 'after' } | null = null;
  let packets = 0;
  let roundTrips = 0;
  const server = createServer((client) => {
    const upstream = createConnection(path);
    let isCut = false;
    let hasResponse = true;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => sockets.delete(socket));
    }
    client.on('data', (data) => {
      packets++;
      if (hasResponse) roundTrips++;
      hasResponse = false;
      if (cut !== null && data.includes(cut.text)) {
        isCut = true;
        const { moment } = cut;
        cut = null;
        if (moment === 'before') {
          client.destroy();
          upstream.destroy();
          return;
        }
      }
      upstream.write(data);
    });
    // A cut statement gets the end of the connection instead of a response.
    upstream.on('data', async (data) => {
      if (delayMs > 0) await sleep(delayMs);
      hasResponse = true;
      if (isCut) client.destroy();
      else client.write(data);
    });
    client.once('close', () => upstream.end());
    upstream.once('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const through = new URL(url);
  through.searchParams.delete('host');
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: through.href,
    cutAt(text, moment) {
      cut = { text, moment };
    },
    get packets() {
      return packets;
    },
    get roundTrips() {
      return roundTrips;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
