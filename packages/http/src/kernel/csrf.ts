import { randomBytes, timingSafeEqual } from 'node:crypto';
import { CSRF_COOKIE, checkLocalAccess, type Identity, readCookie, SessionCookies } from './authenticate.js';
import type { Body } from './load.js';
import { HttpRefusal, type Reply } from './reply.js';
import type { ReceivedRequest, Request } from './request.js';
import type { Route } from './route.js';

/** The form field that holds the token where the header does not. */
export const CSRF_FIELD = 'csrfmiddlewaretoken';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Of what a header says, in a refusal. */
const MAX_SHOWN = 200;

export interface CsrfCheck {
  /** Whether the browser speaks https. */
  readonly isSecure: boolean;
  /** Where browsers reach us: protocol and host. */
  readonly publicUrl: URL;
  /** Of the session; undefined: whatever the cookie says, for those who are not logged in. */
  readonly expected: string | undefined;
  /** Of the form. */
  readonly field: string | undefined;
}

export const isSafeMethod = (method: string): boolean => SAFE_METHODS.has(method);

/** For somebody who is not logged in. */
export const newCsrfToken = (): string => randomBytes(24).toString('base64url');

/**
 * Lets only our own pages change something by a browser's cookies: a page of another origin can neither read the token nor
 * send our `Origin` (protocol §7.6).
 * @throws HttpRefusal 403 CSRF_FAILED
 */
export function checkCsrf(request: Request, { isSecure, publicUrl, expected, field }: CsrfCheck): void {
  if (isSafeMethod(request.method)) return;
  const origin = request.header('origin');
  if (origin !== undefined) {
    if (!isOwnOrigin(origin, request, publicUrl, isSecure)) {
      throw originRefused(origin);
    }
  } else if (isSecure) checkReferer(request, publicUrl);

  const cookie = readCookie(request, CSRF_COOKIE);
  if (cookie === undefined) throw csrfFailed('CSRF cookie not set.');
  const header = request.header('x-csrftoken');
  const sent = field || header;
  if (!sent) throw csrfFailed('CSRF token missing.');
  if (isSame(sent, expected ?? cookie)) return;
  throw csrfFailed(
    field ? 'CSRF token from POST incorrect.' : "CSRF token from the 'X-Csrftoken' HTTP header incorrect.",
  );
}

/** Origins such as `https://example.com`; `any`: whoever embeds us checks for themselves. */
export type TrustedOrigins = ReadonlySet<string> | 'any';

/**
 * Refuses what a page of somebody else had a browser send, where a cookie of the host application may have let it in and there is
 * no token to ask for. Programs send neither `Sec-Fetch-Site` nor `Origin`; pages cannot choose what these say (protocol §7.6).
 * @throws HttpRefusal 403 CSRF_FAILED
 */
export function checkSameOrigin(
  request: Request,
  { isSecure, publicUrl, trusted }: Pick<CsrfCheck, 'isSecure' | 'publicUrl'> & { readonly trusted: TrustedOrigins },
): void {
  if (trusted === 'any' || isSafeMethod(request.method) || hasBearerToken(request)) return;
  const origin = request.header('origin');
  if (origin !== undefined && trusted.has(origin)) return;
  checkOwnPage(request, { isSecure, publicUrl });
}

/**
 * Refuses what a page of another origin asks for, be it to read or to change something.
 * @throws HttpRefusal 403 CSRF_FAILED
 */
export function checkOwnPage(
  request: Request,
  { isSecure, publicUrl }: Pick<CsrfCheck, 'isSecure' | 'publicUrl'>,
): void {
  const origin = request.header('origin');
  const site = request.header('sec-fetch-site');
  const isOwn =
    site === undefined
      ? origin === undefined || isOwnOrigin(origin, request, publicUrl, isSecure)
      : site === 'same-origin' || site === 'none';
  if (!isOwn) throw originRefused(origin ?? site!);
}

/** No browser sends one of its own accord, and a page of another origin that does gets no cookies sent along. */
const hasBearerToken = (request: Request): boolean => /^bearer /i.test(request.header('authorization') ?? '');

/** Browsers send one or the other. Without TLS, anybody on the way could have written it. */
function checkReferer(request: Request, publicUrl: URL): void {
  const referer = request.header('referer');
  if (referer === undefined) throw csrfFailed('Referer checking failed - no Referer.');
  if (!URL.canParse(referer)) throw csrfFailed('Referer checking failed - Referer is malformed.');
  const { protocol, origin } = new URL(referer);
  if (protocol !== 'https:') {
    throw csrfFailed('Referer checking failed - Referer is insecure while host is secure.');
  }
  if (!isOwnOrigin(origin, request, publicUrl, true)) {
    throw csrfFailed(`Referer checking failed - ${shown(referer)} does not match any trusted origins.`);
  }
}

/** Of the host that the request is for, which is another one for each organization. */
function isOwnOrigin(origin: string, request: Request, publicUrl: URL, isSecure: boolean): boolean {
  if (!URL.canParse(origin)) return false; // `null`, of a page without an origin
  const { protocol, host } = new URL(origin);
  if (protocol !== 'https:' && (isSecure || protocol !== 'http:')) return false;
  const withPort = (name: string) => (/:\d+$/.test(name) ? name : `${name}:${protocol === 'https:' ? 443 : 80}`);
  if (withPort(host) === withPort(request.authority)) return true;
  // A proxy may have put its own name for ours; below ours, each organization has a name of its own.
  return origin === publicUrl.origin && !request.host.endsWith(`.${publicUrl.hostname}`);
}

function isSame(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const shown = (text: string): string => text.slice(0, MAX_SHOWN).toWellFormed();

const originRefused = (origin: string) =>
  csrfFailed(`Origin checking failed - ${shown(origin)} does not match any trusted origins.`);

const csrfFailed = (reason: string) => new HttpRefusal(403, 'CSRF_FAILED', `CSRF error: ${reason}`, { reason });

export interface BrowserChecksOptions {
  /** Where browsers reach us. */
  readonly publicUrl: URL;
  /** Beside our own, origins whose pages may act for those whom the host application has logged in. */
  readonly trustedOrigins: TrustedOrigins;
  /** Passwords are as good as published, so that no web site may try them through the browser of whoever runs this. */
  readonly hasKnownPasswords: boolean;
}

/** Browsers send what somebody else's page tells them to, with the cookies of whoever looks at it: what may come of that. */
export class BrowserChecks {
  private readonly cookies: SessionCookies;

  constructor(private readonly options: BrowserChecksOptions) {
    this.cookies = new SessionCookies(options.publicUrl.href);
  }

  /** Refuses what somebody else's page may have sent, where that could do harm. @throws HttpRefusal 403 */
  checkPage(request: ReceivedRequest, { isDevelopment, auth, method }: Route): void {
    const { hasKnownPasswords, publicUrl } = this.options;
    const triesPasswords = hasKnownPasswords && auth === 'anyone' && method === 'POST';
    if (isDevelopment) checkLocalAccess(request, publicUrl.hostname, 'own');
    else if (triesPasswords) checkLocalAccess(request, publicUrl.hostname, 'local');
  }

  /**
   * Lets only our own pages change something by what browsers send of their own accord. `isPage`: the path is for browsers
   * alone.
   * @throws HttpRefusal 403
   */
  checkSender(
    request: ReceivedRequest,
    { identity, isPage, body }: { identity: Identity | undefined; isPage: boolean; body: Body | undefined },
  ): void {
    const isBrowser = isPage || identity?.session !== undefined;
    if (isSafeMethod(request.method) || !(isBrowser || identity?.isHostLogin)) return;
    const { publicUrl, trustedOrigins } = this.options;
    const isSecure = this.cookies.isSecure(request);
    if (isBrowser) {
      const field = body?.fields.get(CSRF_FIELD);
      checkCsrf(request, { isSecure, publicUrl, expected: identity?.session?.csrfToken, field });
    } else checkSameOrigin(request, { isSecure, publicUrl, trusted: trustedOrigins });
  }

  /** @throws HttpRefusal 403, to pages of another origin */
  checkOwnPage(request: ReceivedRequest): void {
    checkOwnPage(request, { isSecure: this.cookies.isSecure(request), publicUrl: this.options.publicUrl });
  }

  /** Sees to it that the browser's pages have a token to send, before they have anything to send. */
  withToken(reply: Reply, request: ReceivedRequest, identity: Identity | undefined): Reply {
    if (!isSafeMethod(request.method) || request.method === 'OPTIONS' || reply.cacheControl !== undefined) return reply;
    const token = request.csrfToken ?? csrfTokenOf(request, identity);
    if (token === readCookie(request, CSRF_COOKIE)) return reply;
    return { ...reply, headers: [...(reply.headers ?? []), ...this.cookies.csrf(request, token)] };
  }
}

/** What pages have to send: the session's, or anything that the browser's cookie says as well. */
export const csrfTokenOf = (request: ReceivedRequest, identity: Identity | undefined): string =>
  identity?.session?.csrfToken ?? readCookie(request, CSRF_COOKIE) ?? newCsrfToken();

/** It is no parameter of any operation. */
export function withoutCsrfToken(fields: Body['fields']): Body['fields'] {
  if (!fields.has(CSRF_FIELD)) return fields;
  const others = new Map(fields);
  others.delete(CSRF_FIELD);
  return others;
}
