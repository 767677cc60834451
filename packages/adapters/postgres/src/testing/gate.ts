import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';

/** Port in front of a server's socket. */
export interface Gate {
  readonly port: number;
  /** Stops delivery in both directions, also on new connections, like a lost machine. */
  freeze(): void;
  /** Ends the connections that were open or were opened while the gate was frozen. */
  thaw(): void;
  close(): Promise<void>;
}

/** Opens a port in front of a server, which tests can make unresponsive. */
export async function openGate(socketPath: string): Promise<Gate> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const server = createServer((client) => {
    const upstream = createConnection(socketPath);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('data', (data) => void (isFrozen || to.write(data)));
      from.once('close', () => {
        sockets.delete(from);
        if (!isFrozen) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    freeze() {
      isFrozen = true;
    },
    thaw() {
      isFrozen = false;
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
