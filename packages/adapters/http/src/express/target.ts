import type { IncomingMessage, ServerResponse } from 'node:http';
import { pieceOf } from '@parley/domain/kernel';

export interface RequestTarget {
  /** URL as received, relative to the mount path. */
  readonly url: string;
  /** Undecoded path without query, relative to the organization's path. */
  readonly path: string;
  /** Query without question mark; may be empty. */
  readonly query: string;
  /** Host of an absolute target, as sent to proxies: `http://chat.example.com/api/v1/messages`. */
  readonly authority: string | null;
  /** `/` and a string id if the path begins with an organization; null if the host determines the organization. */
  readonly realmPath: string | null;
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;
/** Path such as `/shop/api/v1/messages`; string ids of organizations are lower case. */
const REALM_PATH = /^(\/[a-z0-9-]+)(\/.*)$/;
/** Path that Express reads as Parley does. */
const PLAIN = /^\/[\w\-.~!$&'()*+,;=:@/]*$/;

/** Parses the request target, relative to the mount path. */
export function targetOf({ url = '/' }: Pick<IncomingMessage, 'url'>): RequestTarget {
  let authority: string | null = null;
  let start = 0;
  if (url.charCodeAt(0) !== 47) {
    const [prefix, named] = ABSOLUTE.exec(url) ?? [];
    if (prefix !== undefined) {
      authority = named!;
      start = prefix.length;
    }
  }
  const queryAt = url.indexOf('?', start);
  const path = pieceOf(url, start, queryAt === -1 ? url.length : queryAt);
  const query = queryAt === -1 ? '' : pieceOf(url, queryAt + 1);
  return { url, path: path === '' ? '/' : path, query, authority, realmPath: null };
}

/** Returns the target below the path of an organization; null if the path does not begin with one. */
export function belowOrganization(target: RequestTarget): RequestTarget | null {
  const [, realmPath, path] = REALM_PATH.exec(target.path) ?? [];
  return realmPath === undefined ? null : { ...target, path: path!, realmPath };
}

const TARGET = Symbol('target');

type Targeted = IncomingMessage & { [TARGET]?: RequestTarget };

/** Target of a request that has passed `readTarget`. */
export const targetIn = (request: IncomingMessage): RequestTarget => (request as Targeted)[TARGET]!;

/** Gives Express the normalized path of the target, until `endRouting`. */
export function aim(request: IncomingMessage, target: RequestTarget): void {
  (request as Targeted)[TARGET] = target;
  request.url = normalized(target.path);
}

/** Express middleware before all routes. */
export function readTarget(request: IncomingMessage, _response: ServerResponse, next: () => void): void {
  aim(request, targetOf(request));
  next();
}

/** Express middleware after all routes, so that the host application sees the URL as received. */
export function restoreTarget(request: IncomingMessage, _response: ServerResponse, next: () => void): void {
  restoreUrl(request);
  next();
}

/** Ends Express's part: restores the URL and drops the state that a waiting poll would hold. */
export function endRouting(request: IncomingMessage): void {
  restoreUrl(request);
  Object.assign(request, { next: undefined, _parsedUrl: undefined });
}

function restoreUrl(request: IncomingMessage): void {
  request.url = targetIn(request).url;
}

/**
 * Encodes each segment in one way: `%6de` becomes `me`, and an invalid percent sign stays text. Express would reject
 * the latter, and end a path at `#`.
 */
function normalized(path: string): string {
  return PLAIN.test(path) ? path : path.split('/').map(normalizedSegment).join('/');
}

const normalizedSegment = (segment: string): string => encodeURIComponent(unescaped(segment).toWellFormed());

/** Decodes a path segment or header value; returns it unchanged if the escapes are invalid. */
export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * True if the request names exactly one host. With two hosts, a proxy and this server might interpret the request
 * differently.
 */
export function hasOneHost({ rawHeaders, headers }: IncomingMessage, { authority }: RequestTarget): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1) return false;
  return authority === null || withoutDefaultPort(authority) === withoutDefaultPort(headers.host ?? '');
}

const withoutDefaultPort = (authority: string): string => authority.toLowerCase().replace(/:(?:80|443)?$/, '');
