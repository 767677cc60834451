import type { RealmId, SessionId, UnixSeconds, UserId } from '../kernel/ids.js';

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
