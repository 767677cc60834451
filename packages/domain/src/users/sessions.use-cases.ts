import {
  endSessions,
  isRenewalDue,
  type KeyIssue,
  MAX_USER_AGENT_LENGTH,
  removeSessions,
  type Session,
  type SessionTokens,
  sessionExpiry,
  surplusSessions,
} from '../access/credentials.js';
import type { EventListener, FollowedLog, StoredEvent } from '../kernel/event-log.js';
import type { AnonymousCaller, Caller, RealmId, Requester, SessionId, UnixSeconds, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock, ReportProblem } from '../kernel/ports.js';
import { takeCodePoints } from '../kernel/text.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { Removal } from '../kernel/work.js';
import {
  accountDeactivated,
  authenticationFailed,
  CallerCache,
  LoginEmails,
  PasswordCheck,
  type PasswordLogIn,
  realmDeactivated,
  userOfPasswordAlone,
} from './authentication.js';
import type { BotKind, User } from './user.js';
import { canEndSessions } from './user-permissions.js';

export interface OpenedSession {
  readonly user: User;
  readonly id: SessionId;
  /** Session token for the browser; cannot be derived from stored data. */
  readonly token: string;
  readonly csrfToken: string;
}

export interface OpenSessionInput {
  readonly user: User;
  /** User agent sent by the browser. */
  readonly userAgent: string;
  readonly ip: string | undefined;
  /** Login method; see `Session`. */
  readonly method: string;
  /** Session id at the service that authenticated the user. */
  readonly serviceSession?: string | null;
  /**
   * Verified password hash. The session is rejected if the password has changed since verification. Absent if no
   * password was required.
   */
  readonly passwordHash?: string | null;
}

interface SessionPorts {
  readonly uow: UnitOfWork;
  readonly tokens: SessionTokens;
  readonly clock: Clock;
}

/**
 * Opens a session for a user whom the caller has already authenticated. @throws DomainError USER_DEACTIVATED,
 * REALM_DEACTIVATED, AUTHENTICATION_FAILED
 */
export function openSession({ uow, tokens, clock }: SessionPorts, input: OpenSessionInput): Promise<OpenedSession> {
  const { user: known, userAgent, ip = null, method, serviceSession = null, passwordHash } = input;
  const { realmId, id: userId } = known;
  return uow.write(realmId, async (tx) => {
    const now = clock.now();
    const user = await tx.users.find(realmId, userId);
    if (!user?.isActive) throw accountDeactivated();
    if ((await tx.realms.get(realmId)).isDeactivated) throw realmDeactivated();
    if (passwordHash !== undefined && (await tx.users.findPasswordHash(realmId, userId)) !== passwordHash) {
      throw authenticationFailed();
    }
    await removeSessions(tx, user, surplusSessions(await tx.sessions.listOf(realmId, userId), now));
    const token = tokens.make();
    const id = await tx.sessions.add(
      {
        realmId,
        userId,
        userAgent: takeCodePoints(userAgent, MAX_USER_AGENT_LENGTH),
        ip,
        method,
        serviceSession,
        createdAt: now,
        lastUsedAt: now,
        expiresAt: sessionExpiry(now, now),
      },
      tokens.fingerprint(token),
    );
    return { user, id, token, csrfToken: tokens.csrfTokenOf(token) };
  });
}

/** Opens a session for a user whom the caller of this class has already authenticated. */
export class OpenSession {
  static readonly inject = ['unitOfWork', 'sessionTokens', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly tokens: SessionTokens,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError USER_DEACTIVATED, REALM_DEACTIVATED, AUTHENTICATION_FAILED */
  execute(input: OpenSessionInput): Promise<OpenedSession> {
    const { uow, tokens, clock } = this;
    return openSession({ uow, tokens, clock }, input);
  }
}

export interface LogInInput extends PasswordLogIn {
  /** User agent sent by the browser. */
  readonly userAgent: string;
}

/** Opens a browser session for a password (protocol §7.6). */
export class LogIn {
  static readonly inject = [PasswordCheck, 'sessionTokens', LoginEmails] as const;
  constructor(
    private readonly check: PasswordCheck,
    private readonly tokens: SessionTokens,
    private readonly loginEmails: LoginEmails,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, INVALID_EMAIL, RATE_LIMITED, USER_DEACTIVATED, REALM_DEACTIVATED,
   * PASSWORD_AUTH_DISABLED, SERVER_BUSY, AUTHENTICATION_FAILED
   */
  async execute(caller: AnonymousCaller, { userAgent, ...input }: LogInInput): Promise<OpenedSession> {
    const { user, hash } = await userOfPasswordAlone(this.check, caller, input);
    await this.loginEmails.plan(user, caller);
    const { uow, clock } = this.check;
    const from = { userAgent, ip: caller.ip, method: 'password', passwordHash: hash };
    return openSession({ uow, tokens: this.tokens, clock }, { user, ...from });
  }
}

/** Ends the caller's session and returns its login method; returns null without effect if there is none. */
export class LogOut {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  async execute({ realmId, userId, sessionId }: Caller): Promise<string | null> {
    if (sessionId === undefined) return null;
    return this.uow.write(realmId, async (tx) => {
      const session = (await tx.sessions.listOf(realmId, userId)).find(({ id }) => id === sessionId);
      await removeSessions(tx, { realmId, id: userId }, [sessionId]);
      return session?.method ?? null;
    });
  }
}

async function currentSessions(
  { sessions }: Pick<Repositories, 'sessions'>,
  { realmId, id }: Pick<User, 'realmId' | 'id'>,
  now: UnixSeconds,
): Promise<readonly Session[]> {
  return (await sessions.listOf(realmId, id)).filter(({ expiresAt }) => expiresAt > now);
}

/** Loads the user for a requester who may see and end their sessions. @throws DomainError UNKNOWN_USER, NOT_PERMITTED */
export async function loadSessionOwner(
  tx: Repositories | Transaction,
  { realmId, userId: requesterId }: Requester,
  userId: UserId,
): Promise<User> {
  if (requesterId === null) return tx.users.get(realmId, userId);
  const actor = await tx.actors.get({ realmId, userId: requesterId });
  const user = await tx.users.find(realmId, userId);
  if (user?.id !== requesterId) enforce(canEndSessions(actor, user));
  return user!;
}

/** Browser sessions and API key of a user. */
export interface UserLogIns {
  readonly owner: User;
  /** Most recently used first. */
  readonly sessions: readonly Session[];
  /** Last time a phone or program fetched the API key; null if none has. */
  readonly keyIssue: KeyIssue | null;
}

/** Lists where a user is logged in, for the user, an administrator or the operator. */
export class ListUserSessions {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_USER, NOT_PERMITTED */
  execute(by: Requester, userId: UserId): Promise<UserLogIns> {
    return this.uow.read(by.realmId, async (repositories) => {
      const owner = await loadSessionOwner(repositories, by, userId);
      return {
        owner,
        sessions: await currentSessions(repositories, owner, this.clock.now()),
        keyIssue: await repositories.apiKeys.findIssue(owner.realmId, owner.id),
      };
    });
  }
}

export interface EndUserSessionsInput {
  readonly userId: UserId;
  /** Absent to end all sessions but the caller's own. */
  readonly sessionId?: SessionId;
}

/** Ends browser sessions for the user, an administrator or the operator. Returns the number of ended sessions. */
export class EndUserSessions {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_USER, NOT_PERMITTED */
  execute(by: Requester, { userId, sessionId }: EndUserSessionsInput): Promise<number> {
    return this.uow.write(by.realmId, async (tx) => {
      const user = await loadSessionOwner(tx, by, userId);
      return sessionId === undefined ? endSessions(tx, user, by.sessionId) : removeSessions(tx, user, [sessionId]);
    });
  }
}

/** Removes expired sessions, which are no longer valid. */
export class RemoveExpiredSessions extends Removal {
  protected remove(tx: Transaction, now: UnixSeconds, limit: number): Promise<number> {
    return tx.sessions.removeExpired(now, limit);
  }
}

export interface VerifiedSession {
  readonly realmId: RealmId;
  readonly userId: UserId;
  readonly sessionId: SessionId;
  /** Null for a person. */
  readonly botKind: BotKind | null;
  /** CSRF token sent by the browser's own pages. */
  readonly csrfToken: string;
  readonly expiresAt: UnixSeconds;
}

interface CachedSession {
  readonly userId: UserId;
  readonly botKind: BotKind | null;
  readonly csrfToken: string;
  session: Session;
}

/**
 * Authenticates a caller by session token (protocol §7.6). A cached session costs no read, and at most one write per
 * ten minutes.
 */
export class VerifySession implements EventListener {
  static readonly inject = ['unitOfWork', 'sessionTokens', 'clock', 'report', 'followedLog'] as const;

  /** Keyed by fingerprint. */
  private readonly callers: CallerCache<CachedSession>;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly tokens: SessionTokens,
    private readonly clock: Clock,
    private readonly report: ReportProblem,
    log: FollowedLog,
  ) {
    this.callers = new CallerCache(log);
  }

  /**
   * Returns null if the realm has no such session or it has expired. @throws DomainError REALM_DEACTIVATED,
   * USER_DEACTIVATED
   */
  async execute({ realmId }: AnonymousCaller, token: string): Promise<VerifiedSession | null> {
    if (realmId === null) return null;
    const fingerprint = this.tokens.fingerprint(token);
    const existing =
      this.callers.find(fingerprint) ??
      (await this.callers.lookUp(fingerprint, () => this.lookUp(realmId, fingerprint, this.tokens.csrfTokenOf(token))));
    const now = this.clock.now();
    if (!existing || existing.session.realmId !== realmId || existing.session.expiresAt <= now) return null;
    if (isRenewalDue(existing.session, now)) await this.renew(existing, now);
    const { userId, botKind, csrfToken, session } = existing;
    return { realmId, userId, botKind, sessionId: session.id, csrfToken, expiresAt: session.expiresAt };
  }

  onEvents(events: readonly StoredEvent[]): void {
    this.callers.onEvents(events);
  }

  onUnreadable(): void {
    this.callers.onUnreadable();
  }

  onClosed(): void {
    this.callers.onClosed();
  }

  private lookUp(realmId: RealmId, fingerprint: string, csrfToken: string): Promise<CachedSession | null> {
    return this.uow.readAcross(async ({ sessions, users, realms }) => {
      const session = await sessions.findByFingerprint(fingerprint);
      // Users may be cached only while events of their organization are followed.
      if (session?.realmId !== realmId) return null;
      const user = await users.find(realmId, session.userId);
      if (!user) return null;
      if ((await realms.get(session.realmId)).isDeactivated) throw realmDeactivated();
      if (!user.isActive) throw accountDeactivated();
      return { userId: session.userId, botKind: user.bot?.kind ?? null, csrfToken, session };
    });
  }

  /** A failed renewal does not reject the caller. */
  private async renew(session: CachedSession, now: number): Promise<void> {
    const use = { lastUsedAt: now, expiresAt: sessionExpiry(session.session.createdAt, now) };
    // Updates the cache first, so that only one of several concurrent requests writes.
    session.session = { ...session.session, ...use };
    try {
      await this.uow.write(session.session.realmId, (tx) => tx.sessions.renew(session.session.id, use));
    } catch (err) {
      this.report('recording the use of a session failed', { err });
    }
  }
}
