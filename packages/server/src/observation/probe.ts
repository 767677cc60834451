import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProxyTrust, TrustedProxies } from '@parley/http';

/** Request as the server received it. */
export interface ProbeReport {
  /** Address and port of the connection. */
  readonly peer: string;
  readonly port: number;
  /** True if the peer is a trusted proxy. */
  readonly isTrusted: boolean;
  readonly headers: IncomingHttpHeaders;
}

const PATH = '/healthz/probe/';
const VALID_SECONDS = 300;
const MAX_WAIT_MS = 60_000;

/** Returns the path of requests by which `parley doctor` tests the proxies in front of servers with the same secret. */
export const probePathAt = (secret: string, seconds: number): string => pathUntil(secret, seconds + VALID_SECONDS);

function pathUntil(secret: string, end: number): string {
  const key = createHmac('sha256', secret).update('parley: probes of proxies').digest();
  return `${PATH}${end}-${createHmac('sha256', key).update(String(end)).digest('hex')}`;
}

/**
 * Adds responses to probes. Their query delays the response: `bytes` of the body to wait for, `wait` in milliseconds, and
 * `stream` to send the first bytes at once.
 */
export function withProbes(secret: string, trust: ProxyTrust, otherwise: RequestListener): RequestListener {
  const proxies = new TrustedProxies(trust);
  return (request, response) => {
    if (!request.url!.startsWith(PATH)) return otherwise(request, response);
    const [path, query] = request.url!.split('?', 2);
    if (!isValid(secret, path!)) return otherwise(request, response);
    respond(proxies, new URLSearchParams(query), request, response).catch(() => response.destroy());
  };
}

function isValid(secret: string, path: string): boolean {
  const end = Number.parseInt(path.slice(PATH.length), 10);
  const [given, expected] = [Buffer.from(path), Buffer.from(pathUntil(secret, end))];
  const isSigned = given.length === expected.length && timingSafeEqual(given, expected);
  const left = end - Date.now() / 1000;
  // Clocks of nodes differ.
  return isSigned && left > 0 && left <= 2 * VALID_SECONDS;
}

async function respond(
  proxies: TrustedProxies,
  query: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { remoteAddress: peer = '', remotePort: port = 0 } = request.socket;
  const report: ProbeReport = {
    peer: peer.replace(/^::ffff:/, ''),
    port,
    isTrusted: proxies.mayBe(peer),
    headers: request.headers,
  };
  const isStream = query.has('stream');
  response.setHeader('Content-Type', isStream ? 'text/event-stream' : 'application/json');
  response.setHeader('Cache-Control', 'no-store, no-transform');
  response.setHeader('X-Accel-Buffering', 'no');
  if (isStream) response.write('\n');
  let missing = Number(query.get('bytes'));
  for await (const chunk of missing > 0 ? request.iterator({ destroyOnReturn: false }) : []) {
    missing -= (chunk as Buffer).length;
    if (missing <= 0) break;
  }
  await sleep(Math.min(Number(query.get('wait')), MAX_WAIT_MS), undefined, { ref: false });
  response.end(JSON.stringify(report));
}
