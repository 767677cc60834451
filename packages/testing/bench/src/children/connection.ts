import { connect, type Socket } from 'node:net';
import { AnswerReader } from './answer-reader.js';

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

/** Connection that sends requests one after the other, because the server rejects many pipelined requests. */
export class RequestLine {
  private readonly waiting: { readonly request: string; readonly onAnswer: () => void }[] = [];
  private socket!: Socket;

  static async open(port: number): Promise<RequestLine> {
    const line = new RequestLine();
    const reader = new AnswerReader(false, ({ status }, body) => {
      if (status !== 200) throw new Error(`A request failed with status ${status}: ${body}`);
      line.waiting.shift()!.onAnswer();
      line.sendFirst();
    });
    line.socket = await openConnection(port, (chunk) => reader.take(chunk));
    return line;
  }

  /** Resolves when the response has arrived. */
  ask(request: string): Promise<void> {
    return new Promise((onAnswer) => {
      if (this.waiting.push({ request, onAnswer }) === 1) this.sendFirst();
    });
  }

  close(): void {
    this.socket.destroy();
  }

  private sendFirst(): void {
    const [first] = this.waiting;
    if (first) this.socket.write(first.request, 'latin1');
  }
}
