import { randomBytes, timingSafeEqual } from 'node:crypto';
import { isParsableUrl } from '@parley/domain/kernel';
import type { Body } from '../limits/budgets.js';
import { HttpRefusal, type Reply, SESSION_CHALLENGE } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import { CSRF_COOKIE, checkLocalAccess, type Identity, readCookie, SessionCookies, withPort } from './authenticate.js';

/** Form field of the token, used if the header is absent. */
export const CSRF_FIELD = 'csrfmiddlewaretoken';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Maximum length of a quoted header value. */
const MAX_SHOWN = 200;

const isSafeMethod = (method: string): boolean => SAFE_METHODS.has(method);

/** Token for browsers without a log-in. */
export const newCsrfToken = (): string => randomBytes(24).toString('base64url');

/** Origins such as `https://example.com`; `any` leaves the checks to the embedding application. */
export type TrustedOrigins = ReadonlySet<string> | 'any';

/** True for a bearer token. Browsers never send one automatically, nor attach cookies when foreign pages send one. */
const hasBearerToken = (request: Request): boolean => /^bearer /i.test(request.header('authorization') ?? '');

function isSame(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const shown = (text: string): string => text.slice(0, MAX_SHOWN).toWellFormed();

const originRefused = (origin: string) =>
  csrfFailed(`Origin checking failed - ${shown(origin)} does not match any trusted origins.`);

const csrfFailed = (reason: string) => new HttpRefusal(403, 'CSRF_FAILED', `CSRF error: ${reason}`, { reason });

export interface BrowserChecksOptions {
  /** URL that browsers use; defaults to `http://localhost`. */
  readonly publicUrl?: string;
  /** True if users log in through the host application, so browsers must not prompt for a password. */
  readonly isHostAuthenticated?: boolean;
  /** Additional origins with pages that may act for users logged in through the host application; none by default. */
  readonly trustedOrigins?: TrustedOrigins;
  /** True if passwords are publicly known, so other web sites must not try them through a local browser. */
  readonly hasKnownPasswords?: boolean;
}

const NO_ORIGINS: TrustedOrigins = new Set();

/** Call without valid credentials, with the information known so far. */
interface RefusedCall {
  readonly route: { readonly leadsToLogIn?: boolean } | undefined;
  readonly style: string | undefined;
}

/** Properties of a route that decide which pages may call it. */
interface ProtectedRoute {
  readonly isDevelopment?: boolean;
  readonly auth: string;
  readonly method: string;
}

/** Protects against requests that foreign pages send with the user's cookies. */
export class BrowserChecks {
  readonly publicUrl: URL;
  private readonly cookies: SessionCookies;

  constructor(private readonly options: BrowserChecksOptions) {
    this.publicUrl = new URL(options.publicUrl ?? 'http://localhost');
    this.cookies = new SessionCookies(this.publicUrl.href);
  }

  isSecure(request: Request): boolean {
    return this.cookies.isSecure(request);
  }

  /**
   * Completes the response to a caller without valid credentials. Routes for browsers redirect to the log-in page
   * (protocol §7.2).
   */
  challenge(reply: Reply, request: Request, { route, style }: RefusedCall): Reply {
    const { isHostAuthenticated } = this.options;
    if (style === 'browser') return { ...reply, headers: SESSION_CHALLENGE };
    if (isHostAuthenticated || isScript(request)) return { ...reply, headers: [] };
    const isPage = request.header('authorization') === undefined && request.header('accept')?.includes('text/html');
    if (!route?.leadsToLogIn || !isPage) return reply;
    const headers = ['Location', this.cookies.logInAddress(request)];
    return { status: 302, body: '', contentType: 'text/html; charset=utf-8', cacheControl: 'no-store', headers };
  }

  /** Rejects harmful requests from foreign pages. @throws HttpRefusal 403 */
  checkPage(request: Request, { isDevelopment, auth, method }: ProtectedRoute): void {
    const triesPasswords = this.options.hasKnownPasswords && auth !== 'user' && method === 'POST';
    if (isDevelopment) checkLocalAccess(request, this.publicUrl.hostname, 'own');
    else if (triesPasswords) checkLocalAccess(request, this.publicUrl.hostname, 'local');
  }

  /**
   * Allows changes with automatically sent credentials only from our own pages (protocol §7.6). `isPage` marks paths for
   * browsers only.
   * @throws HttpRefusal 403 CSRF_FAILED
   */
  checkSender(
    request: Request,
    { identity, isPage, body }: { identity: Identity | undefined; isPage: boolean; body: Body | undefined },
  ): void {
    if (isSafeMethod(request.method)) return;
    if (isPage || identity?.session) this.checkToken(request, identity?.session, body?.fields.get(CSRF_FIELD));
    else if (identity?.isHostLogin) this.checkSameOrigin(request);
  }

  /** Pages of other origins can neither read the token nor send our `Origin`. */
  private checkToken(request: Request, session: Identity['session'], field: string | undefined): void {
    const origin = request.header('origin');
    if (origin !== undefined) {
      if (!this.isOwnOrigin(origin, request)) throw originRefused(origin);
    } else if (this.isSecure(request)) this.checkReferer(request);

    const cookie = readCookie(request, CSRF_COOKIE);
    if (cookie === undefined) throw csrfFailed('CSRF cookie not set.');
    const sent = field || request.header('x-csrftoken');
    if (!sent) throw csrfFailed('CSRF token missing.');
    if (isSame(sent, session?.csrfToken ?? cookie)) return;
    throw csrfFailed(
      field ? 'CSRF token from POST incorrect.' : "CSRF token from the 'X-Csrftoken' HTTP header incorrect.",
    );
  }

  /**
   * Rejects browser requests from foreign pages if a host application cookie may have authenticated them and there is
   * no token. Programs send neither `Sec-Fetch-Site` nor `Origin`, and pages cannot forge them.
   */
  private checkSameOrigin(request: Request): void {
    const { trustedOrigins = NO_ORIGINS } = this.options;
    if (trustedOrigins === 'any' || hasBearerToken(request)) return;
    const origin = request.header('origin');
    if (origin === undefined || !trustedOrigins.has(origin)) this.checkOwnPage(request);
  }

  /** Rejects reads and changes from pages of other origins. @throws HttpRefusal 403 CSRF_FAILED */
  checkOwnPage(request: Request): void {
    const origin = request.header('origin');
    const site = request.header('sec-fetch-site');
    const isOwn =
      site === undefined
        ? origin === undefined || this.isOwnOrigin(origin, request)
        : site === 'same-origin' || site === 'none';
    if (!isOwn) throw originRefused(origin ?? site!);
  }

  /** Checks the Referer, which some browsers send instead of Origin. Without TLS, third parties could forge it. */
  private checkReferer(request: Request): void {
    const referer = request.header('referer');
    if (referer === undefined) throw csrfFailed('Referer checking failed - no Referer.');
    if (!isParsableUrl(referer)) throw csrfFailed('Referer checking failed - Referer is malformed.');
    const { protocol, origin } = new URL(referer);
    if (protocol !== 'https:') {
      throw csrfFailed('Referer checking failed - Referer is insecure while host is secure.');
    }
    if (!this.isOwnOrigin(origin, request)) {
      throw csrfFailed(`Referer checking failed - ${shown(referer)} does not match any trusted origins.`);
    }
  }

  /** True for the origin of the requested host, which differs per organization. */
  private isOwnOrigin(origin: string, request: Request): boolean {
    if (!isParsableUrl(origin)) return false; // `null`, sent by a page without an origin
    const { publicUrl } = this;
    const { protocol, host } = new URL(origin);
    if (protocol !== 'https:' && (this.isSecure(request) || protocol !== 'http:')) return false;
    if (withPort(host, protocol) === withPort(request.authority, protocol)) return true;
    // A proxy may replace our host name; organizations on subdomains have their own host names.
    return origin === publicUrl.origin && !request.host.endsWith(`.${publicUrl.hostname}`);
  }

  /** Sets a CSRF cookie on safe requests so that pages have a token before their first change. */
  withToken(reply: Reply, request: Request, identity: Identity | undefined): Reply {
    if (!isSafeMethod(request.method) || request.method === 'OPTIONS' || reply.cacheControl !== undefined) return reply;
    const token = request.csrfToken ?? csrfTokenOf(request, identity);
    if (token === readCookie(request, CSRF_COOKIE)) return reply;
    return { ...reply, headers: [...(reply.headers ?? []), ...this.cookies.csrf(request, token)] };
  }
}

/** True for a page's script that declares itself, since browsers prompt for a password on a Basic challenge. */
const isScript = (request: Request): boolean => request.header('x-requested-with') === 'XMLHttpRequest';

/** Returns the expected CSRF token: that of the session, else the value of the browser's cookie or a new token. */
export const csrfTokenOf = (request: Request, identity: Identity | undefined): string =>
  identity?.session?.csrfToken ?? readCookie(request, CSRF_COOKIE) ?? newCsrfToken();

/** Removes the CSRF token, which is not a parameter of any operation. */
export function withoutCsrfToken(fields: Body['fields']): Body['fields'] {
  if (!fields.has(CSRF_FIELD)) return fields;
  const others = new Map(fields);
  others.delete(CSRF_FIELD);
  return others;
}
