import { wholeRealm } from '../../../kernel/audience.js';
import type { Caller } from '../../../kernel/caller.js';
import { enforce } from '../../../kernel/permission.js';
import type { UnitOfWork } from '../../../kernel/unit-of-work.js';
import { canManageDomains } from '../../realm-permissions.js';
import { type ListedDomain, parseDomain, requireRoomForDomain } from '../allowed-domain.js';

export interface AddAllowedDomainInput {
  readonly domain: string;
  readonly allowsSubdomains: boolean;
}

/** Lets people with addresses there join, where the organization restricts them (organization §5). */
export class AddAllowedDomain {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_OWNER, INVALID_DOMAIN, ALLOWED_DOMAIN_EXISTS, TOO_MANY_ALLOWED_DOMAINS */
  execute(caller: Caller, { domain: raw, allowsSubdomains }: AddAllowedDomainInput): Promise<ListedDomain> {
    return this.uow.write(async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManageDomains(actor));
      const domain = { domain: parseDomain(raw), allowsSubdomains };
      requireRoomForDomain((await tx.allowedDomains.list(realmId)).length);
      const id = await tx.allowedDomains.add(realmId, domain);
      await tx.events.append(realmId, { event: { type: 'allowed_domain.added', ...domain }, audience: wholeRealm });
      return { id, ...domain };
    });
  }
}
