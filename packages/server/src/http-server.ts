import type { EventEmitter } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import {
  ipGroup,
  isLoopbackName,
  type Logger,
  type ProxyTrust,
  silentLogger,
  TRANSPORT_LIMITS,
  type TransportLimits,
  TrustedProxies,
  warn,
} from '@parley/http';
import { handleClientError } from './handle-client-error.js';

/** Longer than clients and proxies keep an idle connection, so that it is they who close it. */
const KEEP_ALIVE_MS = 75_000;
/** Five thousand message ids fit into a query. */
const MAX_HEADER_BYTES = 128 * 1024;
/** How soon a deadline that has passed is noticed, at the latest. */
const CHECK_MS = 1000;
/** Between two lines of the log about the same trouble. */
const REPEAT_MS = 60_000;

export interface HttpServerOptions {
  readonly limits?: Partial<TransportLimits>;
  /** As for the rest of the server: behind proxies, all connections have their addresses. */
  readonly trustedProxies?: ProxyTrust;
  readonly logger?: Logger;
}

/**
 * A server of Node's own that ends what would keep connections open for nothing: those that send nothing, or their headers or
 * bodies too slowly, and those that are too many. What cannot be read is refused in JSON.
 */
export function createHttpServer(listener: RequestListener, options: HttpServerOptions = {}): Server {
  const limits = { ...TRANSPORT_LIMITS, ...options.limits };
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      // Counted from connecting, so that it holds for those who send nothing at all.
      headersTimeout: limits.headersMs,
      requestTimeout: Math.max(limits.filesMs, limits.bodyMs, limits.headersMs),
      connectionsCheckingInterval: Math.min(CHECK_MS, Math.ceil(limits.headersMs / 4)),
    },
    listener,
  );
  server.on('clientError', handleClientError);
  server.maxConnections = limits.connections;
  const warn = withoutRepeats(options.logger ?? silentLogger);
  server.on('drop', () => warn('connections are refused: there are too many'));
  limitPerAddress(server, limits.connectionsPerAddress, warn, new TrustedProxies(options.trustedProxies));
  return server;
}

/** One address does not take the places of all others. */
export function limitPerAddress(
  server: Pick<EventEmitter, 'on'>,
  limit: number,
  warn: (message: string) => void,
  proxies: TrustedProxies = new TrustedProxies(),
): void {
  const counts = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    if (socket.remoteAddress === undefined || proxies.mayBe(socket.remoteAddress)) return;
    const address = ipGroup(socket.remoteAddress);
    // Programs of this machine, such as proxies, send requests of many clients.
    if (isLoopbackName(socket.remoteAddress.replace(/^::ffff:/i, ''))) return;
    const count = counts.get(address) ?? 0;
    if (count >= limit) {
      warn('connections are refused: one address has too many');
      socket.destroy();
      return;
    }
    counts.set(address, count + 1);
    socket.once('close', () => {
      const left = counts.get(address)! - 1;
      if (left > 0) counts.set(address, left);
      else counts.delete(address);
    });
  });
}

function withoutRepeats(logger: Logger): (message: string) => void {
  const reportedAt = new Map<string, number>();
  return (message) => {
    const now = performance.now();
    if (now - (reportedAt.get(message) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return;
    reportedAt.set(message, now);
    warn(logger, {}, message);
  };
}
