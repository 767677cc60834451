import { DomainError, declareErrors } from '../kernel/errors.js';
import { nobody } from '../kernel/event.js';
import type { RealmId, SessionId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Cancellation } from '../kernel/ports.js';
import { foldCase, isLongerThan, isShorterThan } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { endConfirmationOf } from './confirmations.js';

export const AUTHENTICATION_ERRORS = declareErrors({
  UNAUTHENTICATED: 'unauthenticated',
  /** Address or password is wrong. */
  AUTHENTICATION_FAILED: 'unauthenticated',
  PASSWORD_AUTH_DISABLED: 'forbidden',
  WEAK_PASSWORD: 'invalid',
  /** The present password, given to change it. */
  WRONG_PASSWORD: 'forbidden',
  TOO_MANY_PASSWORD_ATTEMPTS: 'tooMany',
  NOT_IN_PRODUCTION: 'forbidden',
  /** The organization lets nobody in without a password, not even in development. */
  DEVELOPMENT_AUTH_DISABLED: 'forbidden',
  /** The operator has named no secret of the organization. */
  JWT_DISABLED: 'forbidden',
  JWT_REQUIRED: 'invalid',
  INVALID_JWT: 'invalid',
  JWT_WITHOUT_EMAIL: 'invalid',
});

type AuthenticationErrors = typeof AUTHENTICATION_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends AuthenticationErrors {}
}

/** Where a key belongs. Keys themselves are never stored: see `ApiKeyMint`. */
export interface ApiKeyRecord {
  readonly realmId: RealmId;
  readonly userId: UserId;
  /** Counts the user's keys; a new generation makes the old key worthless. */
  readonly generation: number;
}

export interface ApiKeyReads {
  /** By what `ApiKeyMint.fingerprint` makes of the key; across realms, because a key may be tried on the wrong one. */
  findByFingerprint(fingerprint: string): Promise<ApiKeyRecord | null>;
  find(realmId: RealmId, userId: UserId): Promise<ApiKeyRecord | null>;
  /** Of all realms, for rehashing after the secret has changed; ascending user. */
  listAll(): Promise<readonly ApiKeyRecord[]>;
  /** The fingerprint of the secret that the stored fingerprints were made with; null on a new database. */
  secretFingerprint(): Promise<string | null>;
}

/** Every implementation passes api-key-repository.contract.ts. */
export interface ApiKeyRepository extends ApiKeyReads {
  /** Replaces the user's record. */
  put(record: ApiKeyRecord, fingerprint: string): Promise<void>;
  setSecretFingerprint(fingerprint: string): Promise<void>;
}

/**
 * Derives a user's key from the server's secret, so that it can be shown again without being kept. Synchronous and
 * quick: it may run inside a unit.
 */
export interface ApiKeyMint {
  /** 32 characters `[A-Za-z0-9]`. */
  derive(record: ApiKeyRecord): string;
  /** What is stored of a key for looking it up: a keyed hash. */
  fingerprint(apiKey: string): string;
  /** Distinguishes one secret from another without revealing it. */
  readonly secretFingerprint: string;
}

/** For whom a password is hashed. */
export interface HashRequest {
  /**
   * A network address, or a user: clients take turns, and one that has many waiting is refused. Absent: the operator, who is
   * never refused.
   */
  readonly client?: string | undefined;
  readonly cancellation?: Cancellation | undefined;
}

/** Slow on purpose; runs outside units. */
export interface PasswordHasher {
  /** @throws DomainError SERVER_BUSY when too many are waiting, or nobody waits for this one any more. */
  hash(password: string, request?: HashRequest): Promise<string>;
  /** Takes as long for a null hash, so that nobody learns who exists. @throws DomainError SERVER_BUSY */
  verify(password: string, hash: string | null, request?: HashRequest): Promise<boolean>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    apiKeys: [reads: ApiKeyReads, repository: ApiKeyRepository];
  }
}

/** Somebody logged in with a browser, until they log out or it expires (protocol §7.6). */
export interface Session {
  readonly id: SessionId;
  readonly realmId: RealmId;
  readonly userId: UserId;
  /** What the browser called itself, at most `MAX_USER_AGENT_LENGTH` characters; empty: nothing. */
  readonly userAgent: string;
  readonly createdAt: UnixSeconds;
  /** Written at most once in `RENEW_AFTER_SECONDS`. */
  readonly lastUsedAt: UnixSeconds;
  readonly expiresAt: UnixSeconds;
}

export type NewSession = Omit<Session, 'id'>;

/** Of one user at the same time; one more ends the session that was used least recently. */
export const MAX_SESSIONS = 50;
export const MAX_USER_AGENT_LENGTH = 200;

const DAY = 86_400;
/** A session that nobody uses for so long expires. */
export const SESSION_IDLE_SECONDS = 14 * DAY;
/** However much it is used. */
export const SESSION_MAX_SECONDS = 365 * DAY;
/** That a session is in use is written down when what is written is so old. */
export const RENEW_AFTER_SECONDS = 600;

/** When a session expires that is used now, and then no more. */
export const sessionExpiry = (createdAt: UnixSeconds, now: UnixSeconds): UnixSeconds =>
  Math.min(now + SESSION_IDLE_SECONDS, createdAt + SESSION_MAX_SECONDS);

/** Whether its use has to be written down. */
export const isRenewalDue = ({ lastUsedAt }: Pick<Session, 'lastUsedAt'>, now: UnixSeconds): boolean =>
  now - lastUsedAt >= RENEW_AFTER_SECONDS;

/** Those that have to end before a user may have one more: expired ones, and the least recently used. */
export function surplusSessions(sessions: readonly Session[], now: UnixSeconds): readonly SessionId[] {
  const byUse = [...sessions].sort((a, b) => b.lastUsedAt - a.lastUsedAt || b.id - a.id);
  const kept = byUse.filter(({ expiresAt }) => expiresAt > now).slice(0, MAX_SESSIONS - 1);
  return sessions.filter((session) => !kept.includes(session)).map(({ id }) => id);
}

export interface SessionReads {
  /** By what `SessionTokens.fingerprint` makes of the token; across realms, as cookies do not say theirs. */
  findByFingerprint(fingerprint: string): Promise<Session | null>;
  /** Most recently used first; expired ones too, until they are removed. */
  listOf(realmId: RealmId, userId: UserId): Promise<readonly Session[]>;
}

/** Every implementation passes session-repository.contract.ts. */
export interface SessionRepository extends SessionReads {
  add(session: NewSession, fingerprint: string): Promise<SessionId>;
  /** Nothing happens to a session that is no more. */
  renew(id: SessionId, use: Pick<Session, 'lastUsedAt' | 'expiresAt'>): Promise<void>;
  /** Those of the user alone, whatever is named. Answers how many there were. */
  remove(realmId: RealmId, userId: UserId, ids: readonly SessionId[]): Promise<number>;
  /** At most `limit`. Answers how many there were. */
  removeOfRealm(realmId: RealmId, limit: number): Promise<number>;
  /** The same with those that expire at `now` or earlier, of all realms. */
  removeExpired(now: UnixSeconds, limit: number): Promise<number>;
}

/**
 * What a browser keeps of a session, and what is stored of that. Synchronous and quick: it may run inside a unit.
 */
export interface SessionTokens {
  /** A new one, which nobody can guess. */
  make(): string;
  /** What is stored of a token for looking it up: a keyed hash. */
  fingerprint(token: string): string;
  /** What the browser's own pages prove with that a request comes from them (protocol §7.6). */
  csrfTokenOf(token: string): string;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    sessions: [reads: SessionReads, repository: SessionRepository];
  }
}

export const CREDENTIAL_FEATURE = {
  notExported: {
    apiKeys: 'They are secrets.',
    sessions: 'They are secrets.',
  },
};

/** As sent to clients (protocol §8.3). */
export const PASSWORD_MIN_LENGTH = 8;
export const PASSWORD_MAX_LENGTH = 100;
export const PASSWORD_MIN_GUESSES = 10_000;

/** How many guesses somebody needs who knows these words of the person: their name, their address. */
export interface PasswordStrength {
  leastGuesses(password: string, known: readonly string[]): number;
}

/** @throws DomainError WEAK_PASSWORD */
export function checkPassword(strength: PasswordStrength, password: string, known: readonly string[]): void {
  if (!isPasswordStrong(strength, password, known)) throw new DomainError('WEAK_PASSWORD', 'The password is too weak.');
}

/** `known`: words of the person, which others try first. */
export function isPasswordStrong(strength: PasswordStrength, password: string, known: readonly string[]): boolean {
  const fits = !isShorterThan(password, PASSWORD_MIN_LENGTH) && !isLongerThan(password, PASSWORD_MAX_LENGTH);
  return fits && strength.leastGuesses(password, known) >= PASSWORD_MIN_GUESSES;
}

/**
 * Keeps passwords from being guessed: a few attempts for each address, then a pause (protocol §11). `ip`: of whoever tries,
 * so that nobody makes it forget by trying invented addresses.
 */
export interface LoginAttempts {
  /** Counts one. @throws DomainError RATE_LIMITED; such an attempt does not count. */
  attempt(realmAndAddress: string, ip?: string): void;
  /** As if the last attempt had not been: no password was looked at. */
  withdraw(realmAndAddress: string, ip?: string): void;
  /** As if there had been none. */
  forget(realmAndAddress: string, ip?: string): void;
}

/** What attempts for an address are counted under; null: on a host of no realm, where none ever counts. */
export const loginAttemptKey = (realmId: RealmId | null, address: string): string => `${realmId}:${foldCase(address)}`;

interface SessionOwner {
  readonly realmId: RealmId;
  readonly id: UserId;
}

/** Logs somebody out of every browser, but for the session `except`. Answers how many sessions ended. */
export async function endSessions(tx: Transaction, user: SessionOwner, except?: SessionId): Promise<number> {
  const sessions = await tx.sessions.listOf(user.realmId, user.id);
  return removeSessions(
    tx,
    user,
    sessions.map(({ id }) => id).filter((id) => id !== except),
  );
}

/** Ends these sessions of the user; others of the list are left alone. Answers how many there were. */
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
 * Gives a user another password, or none: all browsers in which they have logged in are logged out, but for the session `except`,
 * and links for setting one or taking another address end. API keys stay as they are (protocol §8.3).
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
  // Whoever had the password before could ask for an address of theirs.
  await endConfirmationOf(tx, user, 'emailChange', now);
  await tx.events.append(realmId, { event: { type: 'user.credentials_changed', userId }, audience: nobody });
}
