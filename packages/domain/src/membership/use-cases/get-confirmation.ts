import type { Confirmation, ConfirmationPurpose } from '../../access/confirmation.js';
import { loadConfirmation } from '../../access/confirmation-changes.js';
import type { LinkKeys } from '../../access/link-keys.js';
import type { AnonymousCaller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { realmDeactivated } from '../../users/use-cases/password-log-in.js';

export interface GetConfirmationInput {
  readonly purpose: ConfirmationPurpose;
  readonly key: string;
}

/** What a link is about, for whoever has it. Looking at it uses nothing up: mail programs open links by themselves. */
export class GetConfirmation {
  static readonly inject = ['unitOfWork', 'confirmationKeys', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly keys: LinkKeys,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, UNKNOWN_CONFIRMATION, CONFIRMATION_EXPIRED */
  execute(
    { realmId }: AnonymousCaller,
    { purpose, key }: GetConfirmationInput,
  ): Promise<{ readonly realm: Realm; readonly confirmation: Confirmation }> {
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    return this.uow.read(async (repositories) => {
      const realm = await repositories.realms.get(realmId);
      if (realm.isDeactivated) throw realmDeactivated();
      const wanted = { realmId, purpose, key };
      return { realm, confirmation: await loadConfirmation(repositories, this.keys, wanted, this.clock.now()) };
    });
  }
}
