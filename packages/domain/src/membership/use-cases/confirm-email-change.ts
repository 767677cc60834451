import { confirmationExpired, endConfirmation, loadConfirmation } from '../../access/confirmation-changes.js';
import type { LinkKeys } from '../../access/link-keys.js';
import type { AnonymousCaller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import { encodeJob } from '../../kernel/job.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { changeEmail, newEmailProblem } from '../../users/change-email.js';
import type { DisposableDomains } from '../../users/joining-address.js';
import { realmDeactivated } from '../../users/use-cases/password-log-in.js';
import type { User } from '../../users/user.js';
import { canChangeOwnEmail } from '../../users/user-permissions.js';
import { EMAIL_CHANGED_LETTER } from '../account-letters.js';

export interface ConfirmEmailChangeInput {
  readonly key: string;
}

/** Whoever reads the mail of the new address takes it (users §6.2). What was checked when they asked is checked once more. */
export class ConfirmEmailChange {
  static readonly inject = ['unitOfWork', 'confirmationKeys', 'disposableDomains', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly keys: LinkKeys,
    private readonly disposable: DisposableDomains,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, UNKNOWN_CONFIRMATION, CONFIRMATION_EXPIRED, EMAIL_CHANGES_DISABLED,
   * EMAIL_NOT_ALLOWED, EMAIL_RESERVED, EMAIL_TAKEN, EMAIL_OF_DEACTIVATED_USER
   */
  execute(
    { realmId }: AnonymousCaller,
    { key }: ConfirmEmailChangeInput,
  ): Promise<{ readonly realm: Realm; readonly user: User }> {
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    return this.uow.write(async (tx) => {
      const realm = await tx.realms.get(realmId);
      if (realm.isDeactivated) throw realmDeactivated();
      const now = this.clock.now();
      const confirmation = await loadConfirmation(tx, this.keys, { realmId, purpose: 'emailChange', key }, now);
      const user = await tx.users.find(realmId, confirmation.userId!);
      if (!user?.isActive) throw confirmationExpired();
      const { email } = confirmation;
      enforce(canChangeOwnEmail(user, realm));
      const problem = await newEmailProblem(tx, user, realm, email, this.disposable);
      if (problem) throw problem;
      await endConfirmation(tx, confirmation, now);
      const changed = await changeEmail(tx, user, email);
      const payload = { userId: user.id, before: user.email };
      await tx.jobs.schedule(encodeJob(EMAIL_CHANGED_LETTER, { realmId, dueAt: now, payload }));
      return { realm, user: changed };
    });
  }
}
