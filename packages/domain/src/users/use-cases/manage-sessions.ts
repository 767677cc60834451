import { endSessions, removeSessions } from '../../access/end-sessions.js';
import type { Session } from '../../access/session.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { RealmId, SessionId } from '../../kernel/ids.js';
import type { Repositories, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { User } from '../user.js';

interface SessionsOf {
  readonly realmId: RealmId;
  /** The address to sign in with. */
  readonly email: string;
}

/** For the operator: where somebody is logged in, most recently used first. */
export class ListSessions {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_USER */
  execute({ realmId, email }: SessionsOf): Promise<readonly Session[]> {
    return this.uow.read(async (repositories) => {
      const { id } = await userWith(repositories, realmId, email);
      const now = this.clock.now();
      return (await repositories.sessions.listOf(realmId, id)).filter(({ expiresAt }) => expiresAt > now);
    });
  }
}

/** For the operator: logs somebody out, everywhere or of one session. Answers how many sessions ended. */
export class EndSessions {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_USER */
  execute({ realmId, email, sessionId }: SessionsOf & { readonly sessionId?: SessionId }): Promise<number> {
    return this.uow.write(async (tx) => {
      const user = await userWith(tx, realmId, email);
      return sessionId === undefined ? endSessions(tx, user) : removeSessions(tx, user, [sessionId]);
    });
  }
}

const SESSIONS_AT_A_TIME = 500;

/** Removes expired sessions, which let nobody in. */
export class RemoveExpiredSessions {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  async execute(): Promise<void> {
    const now = this.clock.now();
    while ((await this.uow.write((tx) => tx.sessions.removeExpired(now, SESSIONS_AT_A_TIME))) === SESSIONS_AT_A_TIME);
  }
}

async function userWith({ users }: Pick<Repositories, 'users'>, realmId: RealmId, email: string): Promise<User> {
  const user = await users.findByEmail(realmId, email);
  if (!user) throw new DomainError('UNKNOWN_USER', 'No such user');
  return user;
}
