import type { IncomingMessage, ServerResponse } from 'node:http';

/** Requests on one connection that wait for the answers before theirs. */
const MAX_PIPELINED = 8;

/** Requests that are not answered yet. */
export class RequestsInFlight {
  private readonly pending = new Set<IncomingMessage>();
  private readonly pipelined = new WeakMap<object, number>();
  private readonly onIdle: (() => void)[] = [];
  private hasEnded = false;

  get count(): number {
    return this.pending.size;
  }

  /** Since `drain` was called. */
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

  /** Resolves when there are none. What is not answered after so long loses its connection. */
  async drain(patienceMs: number): Promise<void> {
    this.hasEnded = true;
    if (this.count === 0) return;
    const impatience = setInterval(() => {
      for (const raw of this.pending) raw.socket.destroy();
    }, patienceMs);
    await new Promise<void>((resolve) => this.onIdle.push(resolve));
    clearInterval(impatience);
  }

  /** Resolves to true when the answers before its own are written, to false when the connection has ended. */
  turnOf(raw: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { socket } = raw;
    const waiting = (this.pipelined.get(socket) ?? 0) + 1;
    if (waiting > MAX_PIPELINED) socket.destroy();
    if (socket.destroyed) return Promise.resolve(false);
    this.pipelined.set(socket, waiting);
    return new Promise((resolve) => {
      const settle = () => {
        this.pipelined.set(socket, this.pipelined.get(socket)! - 1);
        response.off('socket', settle);
        raw.off('close', settle);
        resolve(!socket.destroyed);
      };
      response.once('socket', settle);
      raw.once('close', settle);
    });
  }
}
