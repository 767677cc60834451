import { connect, type Socket } from 'node:net';

/**
 * One buffer for all connections: what is read is looked at before the next read. Allocating one for each chunk would
 * cost more than everything else a client does.
 */
const buffer = Buffer.allocUnsafe(65_536);

/** To a server of this machine. `onData` may keep nothing of the chunk, which is overwritten by the next one. */
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
