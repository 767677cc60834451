import type { IncomingMessage } from 'node:http';
import type { Server } from 'node:net';
import type { Waiter } from '@parley/domain/kernel';

/** Interval between checks. Node has no event for the beginning of `server.close()`. */
const CHECK_MS = 1000;

/** Servers that were listening during a request. Others never stop, because another server passes connections to them. */
const listened = new WeakSet<Server>();

function serverOf({ socket }: IncomingMessage): Server | null {
  const { server = null } = socket as { readonly server?: Server | null };
  if (server?.listening) listened.add(server);
  return server && listened.has(server) ? server : null;
}

/** True if the server of the request no longer listens and ends once its connections do. */
export const hasStopped = (raw: IncomingMessage): boolean => serverOf(raw)?.listening === false;

/** Wakes waiting requests when their server stops listening, so that its `close` need not wait for their heartbeats. */
export class LastCalls {
  private readonly waiting = new Map<Waiter, Server>();
  private timer: NodeJS.Timeout | undefined;

  add(raw: IncomingMessage, wake: Waiter): void {
    const server = serverOf(raw);
    if (!server) return;
    this.waiting.set(wake, server);
    this.timer ??= setInterval(() => this.check(), CHECK_MS).unref();
  }

  delete(wake: Waiter): void {
    this.waiting.delete(wake);
    if (this.waiting.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private check(): void {
    for (const [wake, server] of this.waiting) if (!server.listening) wake('closed');
  }
}
