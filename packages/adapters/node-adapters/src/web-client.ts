import { lookup as resolveName } from 'node:dns';
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestByHttp,
} from 'node:http';
import { request as requestByHttps } from 'node:https';
import { type BlockList, isIP, type LookupFunction } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { constants, createUnzip } from 'node:zlib';
import { WorkQueue } from '@parley/domain/kernel';
import type { PictureDownloads } from '@parley/domain/log-in';
import {
  type WebhookClient,
  WebhookRefused,
  type WebhookRequest,
  type WebhookResponse,
} from '@parley/domain/membership';
import { familyOf, networks } from './networks.js';
import type { OutgoingProxy } from './outgoing-proxy.js';

/** The contract's time limit for a request, including the response. */
const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 1024 * 1024;

/** Special-purpose IPv4 networks in the IANA registry, plus multicast and reserved ones. */
const SPECIAL_IPV4 = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
  192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15
  198.51.100.0/24 203.0.113.0/24 224.0.0.0/3`;
/** Parts of 2000::/3, the public IPv6 range, that are special or embed IPv4 addresses. */
const SPECIAL_IPV6 = '2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20';

const SPECIAL = networks([...SPECIAL_IPV4.split(/\s+/), ...SPECIAL_IPV6.split(' ')]);
const GLOBAL_IPV6 = networks(['2000::/3']);

export interface WebClientOptions {
  /** Non-public networks that may be reached, such as `10.0.0.0/8`. */
  readonly allowedNetworks: readonly string[];
  /** Value of the `User-Agent` header. */
  readonly userAgent: string;
  readonly timeoutMs?: number;
  readonly proxy: OutgoingProxy;
  /** Default: the system's resolver. */
  readonly resolveName?: typeof resolveName;
}

/** Response that was not read yet. */
export interface WebFile {
  readonly status: number;
  /** Value of `Content-Type`; empty if there is none. */
  readonly contentType: string;
  /** Seconds in `Retry-After`; null without it. */
  readonly retryAfter: number | null;
  /** Throws if the connection breaks, or after 30 seconds without data. */
  readonly body: IncomingMessage;
}

/** Response to a request that may have been redirected. */
export interface WebPage {
  /** URL after redirects. */
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Decoded. Throws if the connection breaks, the time limit is exceeded, or the encoding is not supported. */
  readonly body: Readable;
}

/** Maximum number of compressed bytes of a page or picture. */
const MAX_ENCODED_BYTES = 8 * 1024 * 1024;

/**
 * Decodes `gzip` and `deflate`, which some servers send unrequested, while the caller reads. @throws Error for
 * other encodings
 */
function decodedBody(body: IncomingMessage): Readable {
  const encoding = body.headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding === 'identity') return body;
  if (!['gzip', 'x-gzip', 'deflate'].includes(encoding)) {
    body.destroy();
    throw new Error('The response has an unsupported encoding');
  }
  let length = 0;
  body.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > MAX_ENCODED_BYTES) body.destroy(new RangeError('The response is too long'));
  });
  // The caller gets errors of either stream, and destroys both. A page may be cut off.
  return pipeline(body, createUnzip({ finishFlush: constants.Z_SYNC_FLUSH }), () => {});
}

/**
 * Queue of lookups for pages. Node looks up two names at a time and cannot cancel lookups, so slow names of linked pages
 * could delay those of storage, email and log-in.
 */
const pageLookups = new WorkQueue({ concurrency: 1 });

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;

/** Maximum time without data, and in total, for the download of a file. */
const FILE_IDLE_MS = 30_000;
const FILE_TIMEOUT_MS = 3_600_000;

/**
 * Sends requests to user-supplied URLs. Connects to public addresses only: the addresses of a host name are checked at
 * connection time, which prevents DNS rebinding. An outgoing proxy resolves names itself, and has to check their
 * addresses. Follows redirects only in `get`.
 */
export class PublicWebClient implements WebhookClient, PictureDownloads {
  private readonly allowed: BlockList;

  constructor(private readonly options: WebClientOptions) {
    this.allowed = networks(options.allowedNetworks);
  }

  async post(url: string, { contentType, body, headers }: WebhookRequest): Promise<WebhookResponse> {
    const length = Buffer.byteLength(body);
    const all = { ...headers, 'Accept-Encoding': 'identity', 'Content-Type': contentType, 'Content-Length': length };
    const { status, bytes } = await this.send(url, 'POST', all, MAX_RESPONSE_BYTES, body);
    return { status, text: bytes.toString('utf8') };
  }

  async download(url: string, maxBytes: number): Promise<Uint8Array> {
    const { status, bytes } = await this.send(url, 'GET', {}, maxBytes);
    if (status !== 200) throw new Error(`The server returned ${status}`);
    return bytes;
  }

  /** Requests a file of any size. The caller reads or destroys the body. */
  open(url: string, headers: Readonly<Record<string, string>>): Promise<WebFile> {
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(FILE_TIMEOUT_MS);
      const sent = this.request(url, 'GET', { ...headers, 'Accept-Encoding': 'identity' }, signal);
      sent.setTimeout(FILE_IDLE_MS, () => sent.destroy(new Error('No data arrived in time')));
      sent.on('error', reject);
      sent.on('response', (body) => {
        const retryAfter = Number.parseInt(body.headers['retry-after'] ?? '', 10);
        resolve({
          status: body.statusCode!,
          contentType: body.headers['content-type'] ?? '',
          retryAfter: Number.isNaN(retryAfter) ? null : retryAfter,
          body,
        });
      });
      sent.end();
    });
  }

  private send(
    url: string,
    method: string,
    headers: OutgoingHttpHeaders,
    maxBytes: number,
    body?: string | Uint8Array,
  ): Promise<ReadResponse> {
    return new Promise((resolve, reject) => {
      const sent = this.request(url, method, headers, AbortSignal.timeout(this.options.timeoutMs ?? TIMEOUT_MS));
      sent.on('error', reject);
      sent.on('response', (response) => readResponse(sent, response, maxBytes).then(resolve, reject));
      sent.end(body);
    });
  }

  /**
   * Requests a page, and follows redirects to public addresses. The time limit includes reading the body, which the
   * caller reads or destroys.
   */
  async get(url: string, accept: string): Promise<WebPage> {
    const headers = { Accept: accept, 'Accept-Encoding': 'identity' };
    const signal = AbortSignal.timeout(this.options.timeoutMs ?? TIMEOUT_MS);
    const lookup: LookupFunction = (name, options, callback) => {
      const resolved = () =>
        new Promise<void>((resolve) => {
          this.lookup(name, options, (...result) => {
            resolve();
            callback(...result);
          });
        });
      pageLookups.run(name, resolved, { cancellation: signal }).catch((error) => callback(error, []));
    };
    for (let address = url, redirects = 0; ; redirects++) {
      const body = await this.respond(this.request(address, 'GET', headers, signal, lookup));
      const { location } = body.headers;
      const status = body.statusCode!;
      if (!REDIRECTS.has(status) || location === undefined)
        return { url: address, status, headers: body.headers, body: decodedBody(body) };
      body.destroy();
      if (redirects === MAX_REDIRECTS) throw new Error('Too many redirects');
      address = new URL(location, address).href;
    }
  }

  private respond(sent: ClientRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      sent.on('error', reject).on('response', resolve).end();
    });
  }

  /** @throws WebhookRefused if the host is an address that is not public */
  private request(
    url: string,
    method: string,
    headers: OutgoingHttpHeaders,
    signal: AbortSignal,
    lookup = this.lookup,
  ): ClientRequest {
    const { protocol, hostname } = new URL(url);
    const literal = hostname.replace(/^\[(.*)\]$/, '$1');
    if (isIP(literal) !== 0 && !this.isReachable(literal)) throw refused();
    const request = protocol === 'https:' ? requestByHttps : requestByHttp;
    const sent = request(url, {
      method,
      // Uses a new connection, so that every request checks the addresses.
      agent: this.options.proxy.agentFor(url) ?? false,
      lookup,
      signal,
      headers: { ...headers, 'User-Agent': this.options.userAgent },
    });
    // Node closes the connection silently if nothing listens, and the request would never end.
    return sent.on('upgrade', (_, socket) => {
      socket.destroy();
      sent.emit('error', new Error('The server switched protocols'));
    });
  }

  private isReachable(address: string): boolean {
    const family = familyOf(address);
    if (this.allowed.check(address, family)) return true;
    return !SPECIAL.check(address, family) && (family === 'ipv4' || GLOBAL_IPV6.check(address, family));
  }

  /** Resolves a name to its allowed addresses, to which the socket then connects without another lookup. */
  private readonly lookup: LookupFunction = (name, options, callback) => {
    const resolve = this.options.resolveName ?? resolveName;
    resolve(name, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const reachable = addresses.filter(({ address }) => this.isReachable(address));
      const [first] = reachable;
      if (!first) return callback(refused(), []);
      if (options.all) callback(null, reachable);
      else callback(null, first.address, first.family);
    });
  };
}

const refused = (): WebhookRefused =>
  new WebhookRefused('The address is not on the public Internet, and PARLEY_WEBHOOK_NETWORKS does not allow it');

interface ReadResponse {
  readonly status: number;
  readonly bytes: Buffer;
}

function readResponse(request: ClientRequest, response: IncomingMessage, maxBytes: number): Promise<ReadResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    response.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) request.destroy(new RangeError('The response is too long'));
      else chunks.push(chunk);
    });
    response.on('error', reject);
    response.on('end', () => resolve({ status: response.statusCode!, bytes: Buffer.concat(chunks) }));
    request.on('error', reject);
  });
}
