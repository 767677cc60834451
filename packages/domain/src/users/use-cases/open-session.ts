import { removeSessions } from '../../access/end-sessions.js';
import { MAX_USER_AGENT_LENGTH, type SessionTokens, sessionExpiry, surplusSessions } from '../../access/session.js';
import type { Clock } from '../../kernel/clock.js';
import type { SessionId } from '../../kernel/ids.js';
import { takeCodePoints } from '../../kernel/text.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { User } from '../user.js';
import { accountDeactivated, authenticationFailed, realmDeactivated } from './password-log-in.js';

export interface OpenedSession {
  readonly user: User;
  readonly id: SessionId;
  /** For the browser alone: nobody can learn it from what is stored. */
  readonly token: string;
  readonly csrfToken: string;
}

export interface OpenSessionInput {
  readonly user: User;
  /** What the browser calls itself. */
  readonly userAgent: string;
  /** The password's hash that the user was let in by: whoever changed the password meanwhile ended what it opens. Absent: none was asked. */
  readonly passwordHash?: string | null;
}

/** Logs somebody in who has proved who they are; whoever calls it has made sure of that. */
export class OpenSession {
  static readonly inject = ['unitOfWork', 'sessionTokens', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly tokens: SessionTokens,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError USER_DEACTIVATED, REALM_DEACTIVATED, AUTHENTICATION_FAILED */
  execute({ user: { realmId, id: userId }, userAgent, passwordHash }: OpenSessionInput): Promise<OpenedSession> {
    return this.uow.write(async (tx) => {
      const now = this.clock.now();
      const user = await tx.users.find(realmId, userId);
      if (!user?.isActive) throw accountDeactivated();
      if ((await tx.realms.get(realmId)).isDeactivated) throw realmDeactivated();
      if (passwordHash !== undefined && (await tx.users.findPasswordHash(realmId, userId)) !== passwordHash) {
        throw authenticationFailed();
      }
      await removeSessions(tx, user, surplusSessions(await tx.sessions.listOf(realmId, userId), now));
      const token = this.tokens.make();
      const id = await tx.sessions.add(
        {
          realmId,
          userId,
          userAgent: takeCodePoints(userAgent, MAX_USER_AGENT_LENGTH),
          createdAt: now,
          lastUsedAt: now,
          expiresAt: sessionExpiry(now, now),
        },
        this.tokens.fingerprint(token),
      );
      return { user, id, token, csrfToken: this.tokens.csrfTokenOf(token) };
    });
  }
}
