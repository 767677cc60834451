import {
  DomainError,
  type ErrorCode,
  isParsableUrl,
  type RealmId,
  type SessionId,
  type TokenScope,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import type { BotKind } from '@parley/domain/users';
import { parseCookie } from 'cookie';
import type { ClientKey } from '../limits/budgets.js';
import { ipGroup } from '../limits/rules.js';
import { badParameter, HttpRefusal, unauthorized } from '../wire/reply.js';
import type { Request } from '../wire/request.js';

export const SESSION_COOKIE = 'sessionid';
export const CSRF_COOKIE = 'csrftoken';
/** Cookie that marks a browser with a pending second step or passkey log-in. */
export const LOG_IN_COOKIE = 'parley_log_in';
/** Prefix of the cookies of pending external log-ins, so that one browser can begin several. */
const SERVICE_LOG_IN_COOKIE = `${LOG_IN_COOKIE}_`;
/**
 * Maximum number of pending external log-ins per browser, because browsers limit cookies; a new one replaces the
 * oldest.
 */
const MAX_SERVICE_LOG_INS = 5;

const YEAR_SECONDS = 365 * 86_400;
const TOKEN = /^[\w-]{1,128}$/;
/** Maximum length of a sealed log-in; browsers limit a cookie to 4,096 bytes. */
export const MAX_SEALED_LENGTH = 4000;
const SEALED = new RegExp(`^[\\w-]{1,${MAX_SEALED_LENGTH}}$`);

/** Returns a request cookie; undefined if it is absent or has a format that this server does not issue. */
export function readCookie(request: Request, name: string, form = TOKEN): string | undefined {
  const value = cookiesOf(request)[name];
  return value !== undefined && form.test(value) ? value : undefined;
}

/** Returns undecoded cookies in header order: for equal paths, browsers send older cookies first. */
const cookiesOf = (request: Request) => parseCookie(request.header('cookie') ?? '', { decode: (value) => value });

const serviceLogInCookie = (state: string): string => SERVICE_LOG_IN_COOKIE + state.slice(0, 8);

/** Returns the external log-in that the browser began with this state; null if there is none. */
export const readServiceLogIn = (request: Request, state: string): string | null =>
  readCookie(request, serviceLogInCookie(state), SEALED) ?? null;

/** Writes session cookies as response headers (protocol §7.6). */
export class SessionCookies {
  private readonly path: string;
  private readonly isAlwaysSecure: boolean;

  /** @param publicUrl URL that browsers use, including the mount path */
  constructor(publicUrl: string) {
    const { pathname, protocol } = new URL(publicUrl);
    this.path = pathname.replace(/\/+$/, '');
    this.isAlwaysSecure = protocol === 'https:';
  }

  /** True if the browser uses https, even through proxies that do not report it. */
  isSecure(request: Request): boolean {
    return this.isAlwaysSecure || request.isSecure;
  }

  /** Sets both cookies of a new session. */
  begin(request: Request, { token, csrfToken }: { readonly token: string; readonly csrfToken: string }) {
    return [...this.cookie(request, SESSION_COOKIE, token, YEAR_SECONDS), ...this.csrf(request, csrfToken)];
  }

  /** Deletes both cookies. */
  end(request: Request): readonly string[] {
    return [...this.cookie(request, SESSION_COOKIE, '', 0), ...this.cookie(request, CSRF_COOKIE, '', 0)];
  }

  csrf(request: Request, csrfToken: string): readonly string[] {
    return this.cookie(request, CSRF_COOKIE, csrfToken, YEAR_SECONDS);
  }

  /** Marks the browser for the maximum duration of a log-in. */
  logIn(request: Request, token: string, maxAge: number): readonly string[] {
    return this.cookie(request, LOG_IN_COOKIE, token, maxAge);
  }

  /** Stores a pending external log-in in a cookie. */
  beginServiceLogIn(
    request: Request,
    { state, flow }: { readonly state: string; readonly flow: string },
    maxAge: number,
  ): readonly string[] {
    const former = Object.keys(cookiesOf(request)).filter((name) => name.startsWith(SERVICE_LOG_IN_COOKIE));
    const excess = former.slice(0, Math.max(0, former.length + 1 - MAX_SERVICE_LOG_INS));
    return [
      ...excess.flatMap((name) => this.serviceLogIn(request, name, '', 0)),
      ...this.serviceLogIn(request, serviceLogInCookie(state), flow, maxAge),
    ];
  }

  endServiceLogIn(request: Request, state: string): readonly string[] {
    return this.serviceLogIn(request, serviceLogInCookie(state), '', 0);
  }

  /** Uses SameSite=None over https, because services may return the browser by a cross-site form. */
  private serviceLogIn(request: Request, name: string, value: string, maxAge: number): readonly string[] {
    const sameSite = this.isSecure(request) ? 'None' : 'Lax';
    return this.cookie(request, name, value, maxAge, { sameSite, below: '/accounts/login' });
  }

  /** Returns the address of the log-in page, which redirects back to the requested address. */
  logInAddress(request: Request): string {
    const { path, query } = request;
    const base = this.pathOf(request).replace(/\/$/, '');
    return `${base}/login/?next=${encodeURIComponent(base + path + (query && `?${query}`))}`;
  }

  /** If paths distinguish organizations, a browser may be logged in to several of them. */
  private pathOf({ realmAddress }: Request): string {
    return (realmAddress.startsWith('/') ? this.path + realmAddress : this.path) || '/';
  }

  /** Pages may read only the CSRF cookie. */
  private cookie(
    request: Request,
    name: string,
    value: string,
    maxAge: number,
    { sameSite = 'Lax', below = '' }: { readonly sameSite?: 'Lax' | 'None'; readonly below?: string } = {},
  ): readonly string[] {
    const path = `Path=${below === '' ? this.pathOf(request) : this.pathOf(request).replace(/\/$/, '') + below}`;
    const attributes = [`${name}=${value}`, path, `Max-Age=${maxAge}`, `SameSite=${sameSite}`];
    if (name !== CSRF_COOKIE) attributes.push('HttpOnly');
    if (this.isSecure(request)) attributes.push('Secure');
    return ['Set-Cookie', attributes.join('; ')];
  }
}

/** True for a name or address reachable only from this machine. */
export function isLoopbackName(name: string): boolean {
  const host = name.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** True for a host name of the server itself: loopback, the public host or a subdomain of it. */
function isOwnName(name: string, publicHost: string | null): boolean {
  return isLoopbackName(name) || (publicHost !== null && (name === publicHost || name.endsWith(`.${publicHost}`)));
}

/** Allowed pages: `own` for this origin, `local` for this machine, such as a front end in development. */
export type PagesAllowed = 'own' | 'local';

/**
 * Rejects requests that a web site makes a visitor's browser send here, by DNS rebinding or from its own page.
 * Programs send neither `Origin` nor `Sec-Fetch-Site`.
 * @throws HttpRefusal 403
 */
export function checkLocalAccess(request: Request, publicHost: string | null, pages: PagesAllowed): void {
  if (!isOwnName(request.host, publicHost)) throw notFromThere();
  const origin = request.header('origin');
  if (origin !== undefined && !isAllowedOrigin(origin, request, publicHost, pages)) throw notFromThere();
  if (origin !== undefined && pages === 'local') return;
  const site = request.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw notFromThere();
}

function isAllowedOrigin(origin: string, request: Request, publicHost: string | null, pages: PagesAllowed): boolean {
  if (!isParsableUrl(origin)) return false; // `null`, sent by a page without an origin
  const { host, hostname, protocol } = new URL(origin);
  if (pages === 'local') return isOwnName(hostname, publicHost);
  return withPort(host, protocol) === withPort(request.header('host')?.toLowerCase() ?? '', protocol);
}

/** Adds the default port of the protocol to a host without a port. */
export const withPort = (host: string, protocol: string): string =>
  /:\d+$/.test(host) ? host : `${host}:${protocol === 'https:' ? 443 : 80}`;

const notFromThere = () => new HttpRefusal(403, 'BAD_REQUEST', 'This endpoint answers only to this machine itself.');

/** Authenticated caller. */
export interface Identity {
  readonly realmId: RealmId;
  readonly userId: UserId;
  /** Null for a person; looked up on demand if absent. Incoming webhooks may only send messages. */
  readonly botKind?: BotKind | null;
  /** Quotas that replace the defaults for this user, for example `"60:1000"`. */
  readonly rateLimits?: string;
  /** Present if the caller logged in with a browser cookie. */
  readonly session?: {
    readonly id: SessionId;
    /** Token with which the browser's own pages prove the origin of a request. */
    readonly csrfToken: string;
  };
  /**
   * True if the host application authenticated the caller, possibly by a cookie that browsers also send from foreign
   * pages.
   */
  readonly isHostLogin?: boolean;
  /** Present if the caller has a token for some conversations. */
  readonly scope?: TokenScope;
  /** Time at which the credentials expire; absent for keys, and for log-ins of the host application. */
  readonly expiresAt?: UnixSeconds;
}

/** Duration of a stream for users of the host application, which cannot report the end of a log-in: that of a poll. */
const HOST_LOG_IN_MS = 55_000;

/** Time until the caller has to authenticate again; null if their credentials do not expire. */
export function remainingMs({ isHostLogin, expiresAt }: Identity, nowMs: number): number | null {
  if (isHostLogin) return HOST_LOG_IN_MS;
  return expiresAt === undefined ? null : Math.max(0, expiresAt * 1000 - nowMs);
}

/** Verified identity of a request, or the reason for rejection. */
export type Proof = { readonly identity: Identity } | { readonly refusal: unknown; readonly isNobody?: boolean };

export const isProven = (proof: Proof | undefined): proof is { readonly identity: Identity } =>
  proof !== undefined && 'identity' in proof;

/** Returns the client charged for a request: a user or an address. */
export const clientOf = (request: Request, proof: Proof | undefined): ClientKey =>
  isProven(proof) ? proof.identity.userId : ipGroup(request.ip);

/** Authentication method. Methods are tried in order; the host application's methods precede Basic authentication. */
export interface Authenticator {
  /**
   * Returns null if the request has no such credentials, so that the next method is tried. Runs before the body is
   * read.
   * @throws HttpRefusal, or DomainError UNAUTHENTICATED, if the credentials are invalid
   */
  authenticate(request: Request): Promise<Identity | null>;
}

/**
 * Resolves an address to an organization: a lower-case host name without port, or `/` and a name if paths distinguish
 * organizations.
 */
export interface RealmDirectory {
  findRealm(address: string): Promise<RealmId | null>;
}

/** Verifies an email address and API key. */
export interface Credentials {
  /**
   * Verifies a key. A null address means the key's owner; address comparison ignores case.
   * @throws DomainError UNAUTHENTICATED, REALM_DEACTIVATED, USER_DEACTIVATED or UNKNOWN_REALM, checked in this order,
   * with the contract's texts: `Invalid API key`, `This organization has been deactivated`, `Account is deactivated`,
   * `Account is not associated with this subdomain`.
   */
  verify(claim: {
    readonly realmAddress: string;
    readonly email: string | null;
    readonly apiKey: string;
  }): Promise<Identity>;
}

/** Verifies session tokens of browsers. */
export interface BrowserSessions {
  /**
   * Returns null if the organization at the address has no such session. @throws DomainError REALM_DEACTIVATED,
   * USER_DEACTIVATED
   */
  verify(claim: { readonly realmAddress: string; readonly token: string }): Promise<Identity | null>;
}

/** Errors that Basic authentication reports in the same way. */
const FAILURES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'UNAUTHENTICATED',
  'AUTHENTICATION_FAILED',
  'REALM_DEACTIVATED',
  'USER_DEACTIVATED',
  'UNKNOWN_REALM',
]);

const API_KEY = /^[A-Za-z0-9]{32}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads `Authorization: Basic base64(email:api_key)`. */
export class BasicAuthenticator implements Authenticator {
  constructor(private readonly credentials: Credentials) {}

  async authenticate(request: Request): Promise<Identity | null> {
    const header = request.header('authorization');
    if (header === undefined) return null;
    const { email, apiKey } = parseBasicHeader(header);
    if (!API_KEY.test(apiKey)) throw unauthorized('Malformed API key');
    try {
      return await this.credentials.verify({ realmAddress: request.realmAddress, email, apiKey });
    } catch (error) {
      if (error instanceof DomainError && FAILURES.has(error.code)) throw unauthorized(error.message);
      throw error;
    }
  }
}

/**
 * Basic authentication limited to headers with an API key, which take precedence over the host application's log-in.
 */
export class NamedKeyAuthenticator implements Authenticator {
  constructor(private readonly basic: BasicAuthenticator) {}

  async authenticate(request: Request): Promise<Identity | null> {
    return hasApiKey(request.header('authorization') ?? '') ? this.basic.authenticate(request) : null;
  }
}

function hasApiKey(header: string): boolean {
  try {
    return API_KEY.test(parseBasicHeader(header).apiKey);
  } catch {
    return false;
  }
}

/** Reads the session cookie of a logged-in browser (protocol §7.6). */
export class SessionAuthenticator implements Authenticator {
  constructor(private readonly sessions: BrowserSessions) {}

  async authenticate(request: Request): Promise<Identity | null> {
    const token = readCookie(request, SESSION_COOKIE);
    return token === undefined ? null : this.sessions.verify({ realmAddress: request.realmAddress, token });
  }
}

/** Reads `?api_key=…`, for resources that browsers and media players load themselves (protocol §7.4). */
export class KeyParameterAuthenticator implements Authenticator {
  constructor(private readonly credentials: Credentials) {}

  async authenticate(request: Request): Promise<Identity | null> {
    const apiKey = new URLSearchParams(request.query).get('api_key');
    if (apiKey === null) return null;
    try {
      if (API_KEY.test(apiKey))
        return await this.credentials.verify({ realmAddress: request.realmAddress, email: null, apiKey });
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'UNAUTHENTICATED')) throw error;
    }
    throw invalidKey();
  }
}

const invalidKey = () => new HttpRefusal(401, 'INVALID_API_KEY', 'Invalid API key');

function parseBasicHeader(header: string): { email: string; apiKey: string } {
  const parts = header.trim().split(/\s+/);
  if (parts.length !== 2) throw invalidHeader();
  const [scheme, encoded] = parts as [string, string];
  if (scheme.toLowerCase() !== 'basic') throw badParameter('This endpoint requires HTTP basic authentication.');
  if (!BASE64.test(encoded)) throw invalidHeader();
  const text = decode(encoded);
  const colon = text.indexOf(':');
  if (colon === -1 || text.includes(':', colon + 1)) throw invalidHeader();
  return { email: text.slice(0, colon).trim(), apiKey: text.slice(colon + 1).trim() };
}

function decode(encoded: string): string {
  try {
    return utf8.decode(Buffer.from(encoded, 'base64'));
  } catch {
    throw invalidHeader();
  }
}

const invalidHeader = () => unauthorized('Invalid authorization header for basic auth');

export const notLoggedIn = () => unauthorized('Not logged in: API authentication or user session required');

export const notForWebhookBots = () => unauthorized('This API is not available to incoming webhook bots.');
