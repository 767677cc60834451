import type { PasswordHasher } from '../../access/api-keys.js';
import { removeSessions } from '../../access/end-sessions.js';
import type { LoginAttempts } from '../../access/login-attempts.js';
import type { AnonymousCaller, Caller } from '../../kernel/caller.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { LoginLetters } from '../login-letter.js';
import { type OpenedSession, OpenSession } from './open-session.js';
import { type PasswordLogIn, userOfPassword } from './password-log-in.js';

export interface LogInInput extends PasswordLogIn {
  /** What the browser calls itself. */
  readonly userAgent: string;
}

/** A browser session for a password (protocol §7.6). */
export class LogIn {
  static readonly inject = ['unitOfWork', 'passwordHasher', 'loginAttempts', OpenSession, LoginLetters] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly hasher: PasswordHasher,
    private readonly attempts: LoginAttempts,
    private readonly openSession: OpenSession,
    private readonly loginLetters: LoginLetters,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, INVALID_EMAIL, RATE_LIMITED, USER_DEACTIVATED, REALM_DEACTIVATED,
   * PASSWORD_AUTH_DISABLED, SERVER_BUSY, AUTHENTICATION_FAILED
   */
  async execute(caller: AnonymousCaller, { userAgent, ...input }: LogInInput): Promise<OpenedSession> {
    const { uow, hasher, attempts } = this;
    const { user, hash } = await userOfPassword({ uow, hasher, attempts }, caller, input);
    await this.loginLetters.plan(user, caller);
    return this.openSession.execute({ user, userAgent, passwordHash: hash });
  }
}

/** Ends the session that the caller is logged in by; without one nothing happens. */
export class LogOut {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  async execute({ realmId, userId, sessionId }: Caller): Promise<void> {
    if (sessionId === undefined) return;
    await this.uow.write((tx) => removeSessions(tx, { realmId, id: userId }, [sessionId]));
  }
}
