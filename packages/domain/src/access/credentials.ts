import { DomainError, declareErrors } from '../kernel/errors.js';
import { nobody } from '../kernel/event.js';
import type { RealmId, SessionId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Cancellation, Seed } from '../kernel/ports.js';
import { foldCase, isLongerThan, isShorterThan } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { endConfirmationOf } from './confirmations.js';

export const AUTHENTICATION_ERRORS = declareErrors({
  /** The API key belongs to no user of the organization. */
  UNAUTHENTICATED: 'unauthenticated',
  /** Wrong address or password. */
  AUTHENTICATION_FAILED: 'unauthenticated',
  /** The organization does not allow password logins. */
  PASSWORD_AUTH_DISABLED: 'forbidden',
  /** The new password is too easy to guess. */
  WEAK_PASSWORD: 'invalid',
  /** The current password, required for the change, is wrong. */
  WRONG_PASSWORD: 'forbidden',
  /** The operation requires the password again, or a recent log-in. */
  LOG_IN_REQUIRED: 'forbidden',
  /** The current password was wrong too often. */
  TOO_MANY_PASSWORD_ATTEMPTS: 'tooMany',
  /** Available on development servers only. */
  NOT_IN_PRODUCTION: 'forbidden',
  /** The organization does not allow logins without a password. */
  DEVELOPMENT_AUTH_DISABLED: 'forbidden',
  /** No secret is configured for the organization. */
  JWT_DISABLED: 'forbidden',
  /** The token is missing. */
  JWT_REQUIRED: 'invalid',
  /** Wrong signature or audience (`aud`), expired, or no `exp`. */
  INVALID_JWT: 'invalid',
  /** The token has no `email`. */
  JWT_WITHOUT_EMAIL: 'invalid',
});

type AuthenticationErrors = typeof AUTHENTICATION_ERRORS;

/** Origin of a user's key. Keys themselves are never stored; see `ApiKeyMint`. */
export interface ApiKeyRecord {
  readonly realmId: RealmId;
  readonly userId: UserId;
  /** Counter of the user's keys; a new generation revokes the previous key. */
  readonly generation: number;
  readonly seed: Seed;
}

/** Last time a client obtained the user's key, for example when a phone logs in. */
export interface KeyIssue {
  readonly at: UnixSeconds;
  readonly ip: string | null;
  /** Self-reported client name, at most `MAX_USER_AGENT_LENGTH` characters. */
  readonly clientName: string | null;
}

export interface ApiKeyReads {
  /** Finds a record by `ApiKeyMint.fingerprint` across realms, because a key may be sent to the wrong realm. */
  findByFingerprint(fingerprint: string): Promise<ApiKeyRecord | null>;
  find(realmId: RealmId, userId: UserId): Promise<ApiKeyRecord | null>;
  /** Returns null if no client has obtained the current key yet. */
  findIssue(realmId: RealmId, userId: UserId): Promise<KeyIssue | null>;
  /** Returns records of all realms by ascending user, for rehashing after a change of the secret. */
  listAll(): Promise<readonly ApiKeyRecord[]>;
  /** Returns the fingerprint of the secret used for stored fingerprints; null on a new database. */
  secretFingerprint(): Promise<string | null>;
}

/** Every implementation passes api-key-repository.contract.ts. */
export interface ApiKeyRepository extends ApiKeyReads {
  /** Replaces the user's record and clears its last issue. */
  put(record: ApiKeyRecord, fingerprint: string): Promise<void>;
  /** Replaces the last issue of the user's key. */
  putIssue(realmId: RealmId, userId: UserId, issue: KeyIssue): Promise<void>;
  setSecretFingerprint(fingerprint: string): Promise<void>;
}

/**
 * Derives a user's key from its seed and the server's secret, so that it can be shown again without being stored. Synchronous and
 * fast enough for transactions.
 */
export interface ApiKeyMint {
  /** Returns the seed of a new key. */
  newSeed(): string;
  /** Returns 32 characters `[A-Za-z0-9]`. */
  derive(record: ApiKeyRecord): string;
  /** Returns a keyed hash of the key for look-ups. */
  fingerprint(apiKey: string): string;
  /** Distinguishes secrets without revealing them. */
  readonly secretFingerprint: string;
}

/** Gives the user a new API key, which revokes the former one. Returns the key. */
export async function putNewApiKey(
  { apiKeys }: Pick<Transaction, 'apiKeys'>,
  mint: ApiKeyMint,
  owner: Omit<ApiKeyRecord, 'seed'>,
): Promise<string> {
  const record = { ...owner, seed: mint.newSeed() };
  const apiKey = mint.derive(record);
  await apiKeys.put(record, mint.fingerprint(apiKey));
  return apiKey;
}

/** Requester of a password hash. */
export interface HashRequest {
  /**
   * IP address or user. The first request of a client is served before further ones, and a client with too many pending
   * requests is rejected. Absent for the operator, who is never rejected.
   */
  readonly client?: string | undefined;
  /** True for a network that the account has logged in from before; served before other clients that wait. */
  readonly isKnown?: boolean;
  /** False if another service may still accept the password, so that a mismatch is not a failed attempt. Default: true. */
  readonly isFinal?: boolean;
  readonly cancellation?: Cancellation | undefined;
}

/** Password hasher. Slow by design; runs outside transactions. */
export interface PasswordHasher {
  /** @throws DomainError SERVER_BUSY if too many requests are pending or the request was cancelled */
  hash(password: string, request?: HashRequest): Promise<string>;
  /**
   * Takes equally long for a null hash, so that timing does not reveal which users exist. @throws DomainError
   * SERVER_BUSY
   */
  verify(password: string, hash: string | null, request?: HashRequest): Promise<boolean>;
}

/** Browser session, which lasts until logout or expiry (protocol §7.6). */
export interface Session {
  readonly id: SessionId;
  readonly realmId: RealmId;
  readonly userId: UserId;
  /** User agent of the browser, at most `MAX_USER_AGENT_LENGTH` characters; empty if none was sent. */
  readonly userAgent: string;
  /** IP address of the log-in; null if unknown. */
  readonly ip: string | null;
  /** Login method: `password`, `passkey` or the name of a service; null if unknown. */
  readonly method: string | null;
  /** Session id at the service; null if there is none. */
  readonly serviceSession: string | null;
  readonly createdAt: UnixSeconds;
  /** Updated at most once per `RENEW_AFTER_SECONDS`. */
  readonly lastUsedAt: UnixSeconds;
  readonly expiresAt: UnixSeconds;
}

export type NewSession = Omit<Session, 'id'>;

/** Limit on concurrent sessions per user; a new one beyond it ends the least recently used. */
export const MAX_SESSIONS = 50;
export const MAX_USER_AGENT_LENGTH = 200;

const DAY = 86_400;
/** Idle time after which a session expires. */
export const SESSION_IDLE_SECONDS = 14 * DAY;
/** Maximum lifetime regardless of use. */
export const SESSION_MAX_SECONDS = 365 * DAY;
/** Minimum age of the stored last use before it is updated. */
export const RENEW_AFTER_SECONDS = 600;

/** Returns the expiry of a session that is last used at `now`. */
export const sessionExpiry = (createdAt: UnixSeconds, now: UnixSeconds): UnixSeconds =>
  Math.min(now + SESSION_IDLE_SECONDS, createdAt + SESSION_MAX_SECONDS);

/** True if the last use has to be stored again. */
export const isRenewalDue = ({ lastUsedAt }: Pick<Session, 'lastUsedAt'>, now: UnixSeconds): boolean =>
  now - lastUsedAt >= RENEW_AFTER_SECONDS;

/** Returns the sessions that must end before a new one starts: expired ones and the least recently used ones. */
export function surplusSessions(sessions: readonly Session[], now: UnixSeconds): readonly SessionId[] {
  const byUse = [...sessions].sort((a, b) => b.lastUsedAt - a.lastUsedAt || b.id - a.id);
  const kept = byUse.filter(({ expiresAt }) => expiresAt > now).slice(0, MAX_SESSIONS - 1);
  return sessions.filter((session) => !kept.includes(session)).map(({ id }) => id);
}

export interface SessionReads {
  /** Finds a session by `SessionTokens.fingerprint` across realms, because cookies do not name their realm. */
  findByFingerprint(fingerprint: string): Promise<Session | null>;
  /** Most recently used first; includes expired sessions until they are removed. */
  listOf(realmId: RealmId, userId: UserId): Promise<readonly Session[]>;
  /** Most recently used first. */
  listNetworks(realmId: RealmId, userId: UserId): Promise<readonly LoginNetwork[]>;
}

/** Network used by a user to log in. */
export interface LoginNetwork {
  /** Keyed hash; see `LoginAttempts.networkOf`. */
  readonly network: string;
  readonly lastUsedAt: UnixSeconds;
}

/** Every implementation passes session-repository.contract.ts. */
export interface SessionRepository extends SessionReads {
  add(session: NewSession, fingerprint: string): Promise<SessionId>;
  /** Ignores sessions that no longer exist. */
  renew(id: SessionId, use: Pick<Session, 'lastUsedAt' | 'expiresAt'>): Promise<void>;
  /** Adds or updates a network and keeps only the `keep` most recently used ones of the user. */
  putNetwork(realmId: RealmId, userId: UserId, network: LoginNetwork, keep: number): Promise<void>;
  /** Removes only the user's own sessions. Returns the number of removed sessions. */
  remove(realmId: RealmId, userId: UserId, ids: readonly SessionId[]): Promise<number>;
  /** Removes at most `limit` sessions. Returns the number of removed sessions. */
  removeOfRealm(realmId: RealmId, limit: number): Promise<number>;
  /**
   * Removes at most `limit` sessions of all realms that expire at `now` or earlier. Returns the number of removed
   * sessions.
   */
  removeExpired(now: UnixSeconds, limit: number): Promise<number>;
}

/** Creates session tokens for browsers and their stored form. Synchronous and fast enough for transactions. */
export interface SessionTokens {
  /** Returns a new unguessable token. */
  make(): string;
  /** Returns a keyed hash of the token for look-ups. */
  fingerprint(token: string): string;
  /** Returns the CSRF token that the browser's own pages send (protocol §7.6). */
  csrfTokenOf(token: string): string;
}

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends AuthenticationErrors {}
  interface RepositoryMap {
    apiKeys: [reads: ApiKeyReads, repository: ApiKeyRepository];
    sessions: [reads: SessionReads, repository: SessionRepository];
  }
}

export const CREDENTIAL_FEATURE = {
  notExported: {
    apiKeys: 'They are secrets.',
    sessions: 'They are secrets.',
  },
};

/** Password limits sent to clients (protocol §8.3). */
export const PASSWORD_MIN_LENGTH = 8;
export const PASSWORD_MAX_LENGTH = 100;
export const PASSWORD_MIN_GUESSES = 10_000;

/** Estimates the guesses needed by an attacker who knows the user's name and address. */
export interface PasswordStrength {
  leastGuesses(password: string, obviousWords: readonly string[]): number;
}

/** Passwords that people choose. */
export class Passwords {
  static readonly inject = ['passwordHasher', 'passwordStrength'] as const;
  constructor(
    private readonly hasher: PasswordHasher,
    private readonly strength: PasswordStrength,
  ) {}

  /** `obviousWords`: words related to the user, which attackers try first. @throws DomainError WEAK_PASSWORD */
  requireStrong(password: string, obviousWords: readonly string[], problem = 'The password is too weak.'): void {
    const fits = !isShorterThan(password, PASSWORD_MIN_LENGTH) && !isLongerThan(password, PASSWORD_MAX_LENGTH);
    if (fits && this.strength.leastGuesses(password, obviousWords) >= PASSWORD_MIN_GUESSES) return;
    throw new DomainError('WEAK_PASSWORD', problem);
  }

  /** @throws DomainError SERVER_BUSY */
  hash(password: string, request?: HashRequest): Promise<string> {
    return this.hasher.hash(password, request);
  }

  /** @throws DomainError SERVER_BUSY */
  verify(password: string, hash: string | null, request?: HashRequest): Promise<boolean> {
    return this.hasher.verify(password, hash, request);
  }
}

/** Origin of a password guess. */
export interface LoginSource {
  /** Absent for a caller who is already logged in. */
  readonly ip?: string | undefined;
  /** True for a logged-in caller, and for a network that the account has logged in from before. */
  readonly isKnown: boolean;
}

/** Source of guesses by a caller who is already logged in. */
export const SIGNED_IN: LoginSource = { isKnown: true };

/**
 * Throttles password guesses per account and network (protocol §11). Guesses from known networks are counted
 * separately, so that others cannot lock the owner out.
 */
export interface LoginAttempts {
  /** Returns a keyed hash of an address's network, for storage. */
  networkOf(ip: string): string;
  /**
   * Counts an attempt in addition to those counted by other servers. Never called inside a unit of work.
   * @throws DomainError RATE_LIMITED; a rejected attempt is not counted
   */
  attempt(account: string, source: LoginSource): Promise<void>;
  /** Withdraws the last attempt, because no password was verified. */
  withdraw(account: string, source: LoginSource): void;
  /** Withdraws the last attempt, which had the correct password, and resets the short-term count of the source. */
  succeed(account: string, source: LoginSource): void;
  /** Resets the attempts from this address, after the user proved ownership of the account by other means. */
  forget(account: string, ip: string | undefined): void;
}

/** Number of known networks per user; a new one replaces the least recently used. */
const MAX_LOGIN_NETWORKS = 8;
/** Minimum age of the stored last use before it is updated. */
const NETWORK_RENEWAL_SECONDS = 86_400;

/** True if the user logged in from this network before. */
export async function isKnownNetwork(
  { sessions }: { readonly sessions: Pick<SessionReads, 'listNetworks'> },
  attempts: Pick<LoginAttempts, 'networkOf'>,
  user: SessionOwner | null,
  ip: string | undefined,
): Promise<boolean> {
  if (!user || ip === undefined) return false;
  const network = attempts.networkOf(ip);
  return (await sessions.listNetworks(user.realmId, user.id)).some((known) => known.network === network);
}

/** Records the network of a login. */
export async function rememberNetwork(
  uow: UnitOfWork,
  attempts: Pick<LoginAttempts, 'networkOf'>,
  { realmId, id }: SessionOwner,
  ip: string | undefined,
  now: UnixSeconds,
): Promise<void> {
  if (ip === undefined) return;
  const network = attempts.networkOf(ip);
  const known = await uow.read(realmId, ({ sessions }) => sessions.listNetworks(realmId, id));
  if (known.some((one) => one.network === network && now - one.lastUsedAt < NETWORK_RENEWAL_SECONDS)) return;
  await uow.write(realmId, (tx) =>
    tx.sessions.putNetwork(realmId, id, { network, lastUsedAt: now }, MAX_LOGIN_NETWORKS),
  );
}

/**
 * Key for counting attempts for an address. A null realm stands for a host without a realm, where attempts are never
 * counted.
 */
export const loginAttemptKey = (realmId: RealmId | null, address: string): string => `${realmId}:${foldCase(address)}`;

/** Key for counting attempts at the second factor of an address. */
export const secondFactorAttemptKey = (realmId: RealmId, address: string): string =>
  `${loginAttemptKey(realmId, address)} second factor`;

interface SessionOwner {
  readonly realmId: RealmId;
  readonly id: UserId;
}

/** Ends all sessions of a user except `except`. Returns the number of ended sessions. */
export async function endSessions(tx: Transaction, user: SessionOwner, except?: SessionId): Promise<number> {
  const sessions = await tx.sessions.listOf(user.realmId, user.id);
  return removeSessions(
    tx,
    user,
    sessions.map(({ id }) => id).filter((id) => id !== except),
  );
}

/**
 * Ends the listed sessions that belong to the user and ignores other sessions. Returns the number of ended sessions.
 */
export async function removeSessions(
  tx: Transaction,
  { realmId, id: userId }: SessionOwner,
  ids: readonly SessionId[],
): Promise<number> {
  const count = ids.length > 0 ? await tx.sessions.remove(realmId, userId, ids) : 0;
  if (count > 0) await tx.events.append(realmId, { event: { type: 'user.sessions_ended', userId }, audience: nobody });
  return count;
}

/**
 * Changes or removes a user's password, ends all sessions except `except`, and ends pending password and email links.
 * API keys stay valid (protocol §8.3).
 */
export async function changePassword(
  tx: Transaction,
  user: { readonly realmId: RealmId; readonly id: UserId },
  passwordHash: string | null,
  { now, except }: { readonly now: UnixSeconds; readonly except?: SessionId | undefined },
): Promise<void> {
  const { realmId, id: userId } = user;
  await tx.users.setPasswordHash(realmId, userId, passwordHash);
  await endSessions(tx, user, except);
  await endConfirmationOf(tx, user, 'passwordReset', now);
  // Someone with the previous password could have requested a change to their own address.
  await endConfirmationOf(tx, user, 'emailChange', now);
  await tx.events.append(realmId, { event: { type: 'user.credentials_changed', userId }, audience: nobody });
}
