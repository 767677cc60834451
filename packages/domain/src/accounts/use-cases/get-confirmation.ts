import { realmDeactivated } from '../../authentication/use-cases/password-log-in.js';
import type { Confirmation, ConfirmationPurpose } from '../../confirmations/confirmation.js';
import { loadConfirmation } from '../../confirmations/confirmation-changes.js';
import type { LinkKeys } from '../../confirmations/link-keys.js';
import type { Realm } from '../../realms/realm.js';
import type { AnonymousCaller } from '../../shared/caller.js';
import type { Clock } from '../../shared/clock.js';
import { DomainError } from '../../shared/errors.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';

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
