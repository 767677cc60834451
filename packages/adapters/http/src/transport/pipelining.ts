import type { IncomingMessage, ServerResponse } from 'node:http';
import { getOrThrow } from '@parley/domain/kernel';

/** Maximum number of pipelined requests that wait on one connection. */
const MAX_PIPELINED = 8;

/** Requests without a complete response. */
export class RequestsInFlight {
  private readonly pending = new Set<IncomingMessage>();
  private readonly pipelined = new WeakMap<object, number>();
  /** Connections that end after the response to their first request above the maximum. */
  private readonly ending = new WeakSet<object>();
  private readonly onIdle: (() => void)[] = [];
  private hasEnded = false;

  get count(): number {
    return this.pending.size;
  }

  /** True after `drain` was called. */
  get isDraining(): boolean {
    return this.hasEnded;
  }

  add(raw: IncomingMessage): void {
    this.pending.add(raw);
  }

  delete(raw: IncomingMessage): void {
    this.pending.delete(raw);
    if (this.count > 0 || this.onIdle.length === 0) return;
    for (const resolve of this.onIdle.splice(0)) resolve();
  }

  /** Resolves when no request is pending. Destroys remaining connections after the timeout. */
  async drain(patienceMs: number): Promise<void> {
    this.hasEnded = true;
    if (this.count === 0) return;
    const impatience = setInterval(() => {
      for (const raw of this.pending) raw.socket.destroy();
    }, patienceMs);
    await new Promise<void>((resolve) => this.onIdle.push(resolve));
    clearInterval(impatience);
  }

  /**
   * Resolves to true once earlier responses of the connection are sent, or false if it closed. The first request above
   * the maximum is refused in its turn; later ones are ignored.
   */
  turnOf(raw: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { socket } = raw;
    const waiting = (this.pipelined.get(socket) ?? 0) + 1;
    if (waiting > MAX_PIPELINED || this.ending.has(socket)) {
      if (!this.ending.has(socket)) refusePipelined(response);
      this.ending.add(socket);
      socket.pause();
      return Promise.resolve(false);
    }
    if (socket.destroyed) return Promise.resolve(false);
    this.pipelined.set(socket, waiting);
    return new Promise((resolve) => {
      const settle = () => {
        this.pipelined.set(socket, getOrThrow(this.pipelined, socket) - 1);
        response.off('socket', settle);
        raw.off('close', settle);
        resolve(!socket.destroyed);
      };
      response.once('socket', settle);
      raw.once('close', settle);
    });
  }
}

const TOO_MANY_PIPELINED = JSON.stringify({
  result: 'error',
  msg: 'Too many requests at once on one connection; wait for their responses.',
  code: 'RATE_LIMIT_HIT',
  'retry-after': 1,
});

/** Node sends this response after the earlier ones and then ends the connection. */
function refusePipelined(response: ServerResponse): void {
  const headers = ['Content-Type', 'application/json', 'Retry-After', '1', 'Connection', 'close'];
  response.writeHead(429, [...headers, 'Content-Length', String(TOO_MANY_PIPELINED.length)]);
  response.end(TOO_MANY_PIPELINED);
}
