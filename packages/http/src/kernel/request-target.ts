import type { IncomingMessage } from 'node:http';
import { pieceOf } from '@parley/domain/kernel';

export interface RequestTarget {
  /** Undecoded, without query. */
  readonly path: string;
  /** Without the question mark; empty when there is none. */
  readonly query: string;
  /** Of a target that names a host, as clients send it to proxies: `http://chat.example.com/api/v1/messages`. */
  readonly authority: string | null;
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/** What is asked for, from the mount path on. */
export function targetOf({ url = '/' }: IncomingMessage): RequestTarget {
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
  return { path: path === '' ? '/' : path, query: queryAt === -1 ? '' : pieceOf(url, queryAt + 1), authority };
}

/**
 * Whether it is clear which host a request is for. Of two, others on its way may have looked at the one and we at the
 * other.
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
