import type { EventEmitter } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getOrThrow } from '@parley/domain/kernel';
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
import type { Configuration } from '../configuration/configuration.js';
import type { RealmResolverOptions } from '../kernel/realm-resolver.js';

/** Returns the server's addresses as far as a separate command can determine them. */
export function addressesOf({
  url,
  port,
  defaultRealm,
  realmAddresses,
}: Pick<Configuration, 'url' | 'port' | 'defaultRealm' | 'realmAddresses'>): RealmResolverOptions {
  return { url: url ?? `http://localhost:${port}`, defaultRealm, realmAddresses };
}

/** Responses by Node error code; other errors count as malformed requests. */
const UNREADABLE: Readonly<Record<string, readonly [status: string, msg: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'Request header fields are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Payload Too Large', 'Request body is too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time'],
};
export const MALFORMED = ['400 Bad Request', 'Malformed HTTP request'] as const;
/** Body of a response to a request that cannot be parsed. */
export const errorOf = (msg: string) => ({ result: 'error', msg, code: 'BAD_REQUEST' });

/**
 * Responds to malformed requests in JSON, as clients expect. Like Node's default handler, it adds nothing to a started
 * response and closes the connection. Silent clients get no response, which could be matched to a request that is just
 * being sent.
 */
export function handleClientError({ code }: NodeJS.ErrnoException, duplex: Duplex): void {
  const socket = duplex as Socket & { readonly _httpMessage?: ServerResponse | null };
  if (socket.writable && socket.bytesRead > 0 && !socket._httpMessage?.headersSent) {
    const [status, msg] = UNREADABLE[code ?? ''] ?? MALFORMED;
    const body = JSON.stringify(errorOf(msg));
    socket.write(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
  }
  socket.destroySoon();
}

/** Longer than the keep-alive of clients and proxies, so that they close first. */
const KEEP_ALIVE_MS = 75_000;
/** Maximum header size; a query string with five thousand message ids fits. */
export const MAX_HEADER_BYTES = 128 * 1024;
/** Maximum interval at which Node checks connection deadlines; each check wakes the process. */
const CHECK_MS = 15_000;
/** Minimum interval between log lines for the same problem. */
const REPEAT_MS = 60_000;

export interface HttpServerOptions {
  readonly limits?: Partial<TransportLimits>;
  /** Proxies trusted by the rest of the server; all proxied connections come from their addresses. */
  readonly trustedProxies?: ProxyTrust;
  readonly logger?: Logger;
}

/**
 * Creates a Node server that closes silent or slow connections and limits their number. Malformed requests are rejected
 * in JSON.
 */
export function createHttpServer(listener: RequestListener, options: HttpServerOptions = {}): Server {
  const limits = { ...TRANSPORT_LIMITS, ...options.limits };
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      // Counted from the connection, so that it also covers silent ones.
      headersTimeout: limits.headersMs,
      requestTimeout: Math.max(limits.filesMs, limits.bodyMs, limits.headersMs),
      connectionsCheckingInterval: Math.min(CHECK_MS, limits.headersMs),
    },
    listener,
  );
  server.on('clientError', handleClientError);
  server.maxConnections = limits.connections;
  const warn = withoutRepeats(options.logger ?? silentLogger);
  server.on('drop', () => warn('connections are rejected: too many connections'));
  limitPerAddress(server, limits.connectionsPerAddress, warn, new TrustedProxies(options.trustedProxies));
  return server;
}

/** Limits connections per address, so that one address cannot exhaust them. */
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
    // Local programs such as proxies forward requests for many clients.
    if (isLoopbackName(socket.remoteAddress.replace(/^::ffff:/i, ''))) return;
    const count = counts.get(address) ?? 0;
    if (count >= limit) {
      warn('connections are rejected: too many from one address');
      socket.destroy();
      return;
    }
    counts.set(address, count + 1);
    socket.once('close', () => {
      const left = getOrThrow(counts, address) - 1;
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
