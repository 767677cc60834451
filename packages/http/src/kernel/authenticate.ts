import { DomainError, type ErrorCode, type RealmId, type SessionId, type UserId } from '@parley/domain/kernel';
import type { BotKind } from '@parley/domain/users';
import { readCookie, SESSION_COOKIE } from './cookies.js';
import { badParameter, HttpRefusal, unauthorized } from './errors.js';
import type { Request } from './request.js';

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
