import { DomainError, type ErrorCode, type RealmId, type SessionId, type UserId } from '@parley/domain/kernel';
import type { BotKind } from '@parley/domain/users';
import { badParameter, HttpRefusal, unauthorized } from './reply.js';
import type { Request } from './request.js';

export const SESSION_COOKIE = 'sessionid';
export const CSRF_COOKIE = 'csrftoken';

const YEAR_SECONDS = 365 * 86_400;
const TOKEN = /^[\w-]{1,128}$/;

/** Of a request; undefined where it is absent, or nothing that we ever gave out. */
export function readCookie(request: Request, name: string): string | undefined {
  const header = request.header('cookie');
  if (header === undefined) return undefined;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals === -1 || pair.slice(0, equals).trim() !== name) continue;
    const value = pair.slice(equals + 1).trim();
    return TOKEN.test(value) ? value : undefined;
  }
  return undefined;
}

/** The cookies of browser sessions (protocol §7.6), as headers of answers. */
export class SessionCookies {
  private readonly path: string;
  private readonly isAlwaysSecure: boolean;

  /** `publicUrl`: where browsers reach us, with the path that we are mounted under. */
  constructor(publicUrl: string) {
    const { pathname, protocol } = new URL(publicUrl);
    this.path = pathname.replace(/\/+$/, '');
    this.isAlwaysSecure = protocol === 'https:';
  }

  /** Whether the browser speaks https to us, be it through proxies that do not say so. */
  isSecure(request: Request): boolean {
    return this.isAlwaysSecure || request.isSecure;
  }

  /** Both cookies of a session that begins. */
  begin(request: Request, { token, csrfToken }: { readonly token: string; readonly csrfToken: string }) {
    return [...this.cookie(request, SESSION_COOKIE, token, YEAR_SECONDS), ...this.csrf(request, csrfToken)];
  }

  /** Has the browser forget both. */
  end(request: Request): readonly string[] {
    return [...this.cookie(request, SESSION_COOKIE, '', 0), ...this.cookie(request, CSRF_COOKIE, '', 0)];
  }

  csrf(request: Request, csrfToken: string): readonly string[] {
    return this.cookie(request, CSRF_COOKIE, csrfToken, YEAR_SECONDS);
  }

  /** Where paths tell organizations apart, somebody may be logged in to several of them at the same time. */
  private pathOf({ realmAddress }: Request): string {
    return (realmAddress.startsWith('/') ? this.path + realmAddress : this.path) || '/';
  }

  /** Pages read the token that they have to send, and nothing else. */
  private cookie(request: Request, name: string, value: string, maxAge: number): readonly string[] {
    const attributes = [`${name}=${value}`, `Path=${this.pathOf(request)}`, `Max-Age=${maxAge}`, 'SameSite=Lax'];
    if (name === SESSION_COOKIE) attributes.push('HttpOnly');
    if (this.isSecure(request)) attributes.push('Secure');
    return ['Set-Cookie', attributes.join('; ')];
  }
}

/** A name or address that only programs on this machine reach. */
export function isLoopbackName(name: string): boolean {
  const host = name.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Whether a host name is the server's own: a loopback one, or that of the public address or of an organization below it. */
function isOwnName(name: string, publicHost: string | null): boolean {
  return isLoopbackName(name) || (publicHost !== null && (name === publicHost || name.endsWith(`.${publicHost}`)));
}

/** `own`: pages of this very origin; `local`: of this machine, such as a front end that is being developed. */
export type PagesAllowed = 'own' | 'local';

/**
 * Refuses what a web site can make a visitor's browser send here: by a name of its own that it lets point to this machine
 * (DNS rebinding), or from a page of its own. Programs send neither `Origin` nor `Sec-Fetch-Site`.
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
  if (!URL.canParse(origin)) return false; // `null`, of a page without an origin
  const { host, hostname } = new URL(origin);
  if (pages === 'local') return isOwnName(hostname, publicHost);
  return withPort(host, origin) === withPort(request.header('host')?.toLowerCase() ?? '', origin);
}

const withPort = (host: string, origin: string): string =>
  /:\d+$/.test(host) ? host : `${host}:${origin.startsWith('https:') ? 443 : 80}`;

const notFromThere = () => new HttpRefusal(403, 'BAD_REQUEST', 'This endpoint answers only to this machine itself.');

/** Somebody who proved who they are. */
export interface Identity {
  readonly realmId: RealmId;
  readonly userId: UserId;
  /** Null: a person; absent: it has to be looked up where it matters. Incoming webhooks may send messages and nothing else. */
  readonly botKind?: BotKind | null;
  /** The user's own quotas instead of the default ones: `"60:1000"`. */
  readonly rateLimits?: string;
  /** Logged in by cookie in a browser. */
  readonly session?: {
    readonly id: SessionId;
    /** What the browser's own pages prove with that a request comes from them. */
    readonly csrfToken: string;
  };
  /** By the host application, maybe by a cookie, which browsers send whoever's page asks. */
  readonly isHostLogin?: boolean;
}

/** One way to prove who one is. Tried in order; the host application's own come before Basic authentication. */
export interface Authenticator {
  /**
   * Null when the request has nothing of this kind, so that the next one is tried. Asked before the body is read.
   * @throws HttpRefusal, or DomainError UNAUTHENTICATED, when it has and that is not good enough.
   */
  authenticate(request: Request): Promise<Identity | null>;
}

/** Which organization is at an address: a host name (lower case, without port), or `/` and a name where paths tell them apart. */
export interface RealmDirectory {
  findRealm(address: string): Promise<RealmId | null>;
}

/** Checks a login address and API key. */
export interface Credentials {
  /**
   * Null for the address: whose the key is. The address is compared whatever its letter case.
   * @throws DomainError UNAUTHENTICATED, REALM_DEACTIVATED, USER_DEACTIVATED or UNKNOWN_REALM, with the contract's text:
   * `Invalid API key`, `This organization has been deactivated`, `Account is deactivated`,
   * `Account is not associated with this subdomain`, in this order.
   */
  verify(claim: {
    readonly realmAddress: string;
    readonly email: string | null;
    readonly apiKey: string;
  }): Promise<Identity>;
}

/** Checks the token of a browser session. */
export interface BrowserSessions {
  /** Null: there is no such session of the organization at the address. @throws DomainError REALM_DEACTIVATED, USER_DEACTIVATED */
  verify(claim: { readonly realmAddress: string; readonly token: string }): Promise<Identity | null>;
}

/** To Basic authentication all of these are the same, whatever they are elsewhere. */
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

/** `Authorization: Basic base64(email:api_key)`. */
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

/** The cookie of a browser in which somebody has logged in (protocol §7.6). */
export class SessionAuthenticator implements Authenticator {
  constructor(private readonly sessions: BrowserSessions) {}

  async authenticate(request: Request): Promise<Identity | null> {
    const token = readCookie(request, SESSION_COOKIE);
    return token === undefined ? null : this.sessions.verify({ realmAddress: request.realmAddress, token });
  }
}

/** `?api_key=…`, for what browsers and players load by themselves (protocol §7.4). */
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
