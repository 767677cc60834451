import { wholeRealm } from '../../../kernel/audience.js';
import type { Caller } from '../../../kernel/caller.js';
import { enforce } from '../../../kernel/permission.js';
import type { UnitOfWork } from '../../../kernel/unit-of-work.js';
import { canManageDomains } from '../../realm-permissions.js';
import { type AllowedDomain, unknownDomain } from '../allowed-domain.js';

/** Whether its subdomains count as well; announced even where nothing changes (organization §5). */
export class ChangeAllowedDomain {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** The domain is compared as it is given. @throws DomainError MUST_BE_OWNER, UNKNOWN_ALLOWED_DOMAIN */
  execute(caller: Caller, domain: AllowedDomain): Promise<void> {
    return this.uow.write(async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManageDomains(actor));
      if (!(await tx.allowedDomains.update(realmId, domain))) throw unknownDomain(domain.domain);
      await tx.events.append(realmId, { event: { type: 'allowed_domain.changed', ...domain }, audience: wholeRealm });
    });
  }
}
