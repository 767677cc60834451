import type { EventEmitter } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
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
import type { Configuration } from './configuration/configuration.js';
import type { RealmResolverOptions } from './realm-resolver.js';

/** Where the server is reached, as far as a command beside it can know. */
export function addressesOf({
  url,
  port,
  defaultRealm,
  realmAddresses,
}: Pick<Configuration, 'url' | 'port' | 'defaultRealm' | 'realmAddresses'>): RealmResolverOptions {
  return { url: url ?? `http://localhost:${port}`, defaultRealm, realmAddresses };
}

/** By Node's own codes; everything else is malformed. */
const UNREADABLE: Readonly<Record<string, readonly [status: string, msg: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'Request header fields are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Payload Too Large', 'Request body is too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time'],
};
const MALFORMED = ['400 Bad Request', 'Malformed HTTP request'] as const;

/**
 * What Node cannot read is refused as everything else is, since clients expect JSON. Otherwise as Node does it: nothing is
 * written into an answer that has begun, and the connection ends.
 */
export function handleClientError({ code }: NodeJS.ErrnoException, duplex: Duplex): void {
  const socket = duplex as Socket & { readonly _httpMessage?: ServerResponse | null };
  if (socket.writable && !socket._httpMessage?.headersSent) {
    const [status, msg] = UNREADABLE[code ?? ''] ?? MALFORMED;
    const body = JSON.stringify({ result: 'error', msg, code: 'BAD_REQUEST' });
    socket.write(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
  }
  socket.destroySoon();
}

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
