import { nobody } from '../../kernel/audience.js';
import { DomainError } from '../../kernel/errors.js';
import type { RealmId, UserId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';

export interface ForgetLimitsInput {
  readonly realmId: RealmId;
  /** Whose calls and log-ins are forgotten; null: nobody's. */
  readonly userId: UserId | null;
  /** Of whom calls without log-in are forgotten; null: nobody. Both null: everything that is counted, of all organizations. */
  readonly ip: string | null;
}

/**
 * For the operator: rate limits begin anew, in every process that serves the database, as soon as it reads the log; that takes a
 * second.
 */
export class ForgetLimits {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_REALM, UNKNOWN_USER */
  execute({ realmId, userId, ip }: ForgetLimitsInput): Promise<void> {
    return this.uow.write(async (tx) => {
      await tx.realms.get(realmId);
      const user = userId === null ? null : await tx.users.find(realmId, userId);
      if (userId !== null && !user) throw new DomainError('UNKNOWN_USER', 'No such user');
      const event = { type: 'realm.limits_forgotten', userId, email: user?.email ?? null, ip } as const;
      await tx.events.append(realmId, { event, audience: nobody });
    });
  }
}
