import { connect, type Socket } from 'node:net';

/**
 * Read buffer shared by all connections, since data is consumed before the next read. Allocating one per chunk would
 * dominate the client's cost.
 */
const buffer = Buffer.allocUnsafe(65_536);

/** Connects to a local server. `onData` must not retain the chunk, which is overwritten by the next one. */
export function openConnection(port: number, onData: (chunk: Buffer) => void): Promise<Socket> {
  const onread = {
    buffer,
    callback: (length: number) => {
      onData(buffer.subarray(0, length));
      return true;
    },
  };
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread }, () => {
      socket.off('error', reject);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}
