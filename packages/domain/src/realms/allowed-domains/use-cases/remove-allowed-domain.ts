import { wholeRealm } from '../../../kernel/audience.js';
import type { Caller } from '../../../kernel/caller.js';
import { enforce } from '../../../kernel/permission.js';
import type { UnitOfWork } from '../../../kernel/unit-of-work.js';
import { canManageDomains } from '../../realm-permissions.js';
import { unknownDomain } from '../allowed-domain.js';

export interface RemoveAllowedDomainInput {
  readonly domain: string;
}

/** With the last domain, the restriction to domains goes: nobody could join otherwise (organization §5). */
export class RemoveAllowedDomain {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** The domain is compared as it is given. @throws DomainError MUST_BE_OWNER, UNKNOWN_ALLOWED_DOMAIN */
  execute(caller: Caller, { domain }: RemoveAllowedDomainInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManageDomains(actor));
      if (!(await tx.allowedDomains.remove(realmId, domain))) throw unknownDomain(domain);
      const realm = await tx.realms.get(realmId);
      const isLast = (await tx.allowedDomains.list(realmId)).length === 0;
      if (isLast && realm.settings.emailsRestrictedToDomains) {
        await tx.realms.update({ ...realm, settings: { ...realm.settings, emailsRestrictedToDomains: false } });
        const setting = { setting: 'emailsRestrictedToDomains', value: false, rendered: null } as const;
        await tx.events.append(realmId, {
          event: { type: 'realm.setting_changed', ...setting },
          audience: wholeRealm,
        });
      }
      await tx.events.append(realmId, { event: { type: 'allowed_domain.removed', domain }, audience: wholeRealm });
    });
  }
}
