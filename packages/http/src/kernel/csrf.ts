import { randomBytes, timingSafeEqual } from 'node:crypto';
import { CSRF_COOKIE, readCookie } from './cookies.js';
import { HttpRefusal } from './errors.js';
import type { Request } from './request.js';

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
