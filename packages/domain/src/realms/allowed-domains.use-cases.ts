import { DomainError } from '../kernel/errors.js';
import { wholeRealm } from '../kernel/event.js';
import type { Caller, RealmId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { type AllowedDomain, type ListedDomain, parseDomain, requireRoomForDomain } from './allowed-domains.js';
import { canManageDomains } from './realm-permissions.js';

/** Lists allowed domains for any user (organization §5). */
export class ListAllowedDomains {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute(caller: Caller): Promise<readonly AllowedDomain[]> {
    return this.uow.read(caller.realmId, ({ allowedDomains }) => allowedDomains.list(caller.realmId));
  }
}

export interface AddAllowedDomainInput {
  readonly domain: string;
  readonly allowsSubdomains: boolean;
}

/** Allows emails of a domain in a realm that restricts domains (organization §5). */
export class AddAllowedDomain {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_OWNER, INVALID_DOMAIN, ALLOWED_DOMAIN_EXISTS, TOO_MANY_ALLOWED_DOMAINS */
  execute(caller: Caller, { domain: raw, allowsSubdomains }: AddAllowedDomainInput): Promise<ListedDomain> {
    return this.uow.write(caller.realmId, async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManageDomains(actor));
      const domain = { domain: parseDomain(raw), allowsSubdomains };
      requireRoomForDomain((await tx.allowedDomains.list(realmId)).length);
      const added = await tx.allowedDomains.add({ ...domain, realmId });
      await tx.events.append(realmId, { event: { type: 'allowed_domain.added', ...domain }, audience: wholeRealm });
      return added;
    });
  }
}

/** Changes whether subdomains are allowed; publishes the event even if unchanged (organization §5). */
export class ChangeAllowedDomain {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** The domain is matched exactly as given. @throws DomainError MUST_BE_OWNER, UNKNOWN_ALLOWED_DOMAIN */
  execute(caller: Caller, domain: AllowedDomain): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManageDomains(actor));
      const listed = await loadDomain(tx, realmId, domain.domain);
      await tx.allowedDomains.update({ ...listed, allowsSubdomains: domain.allowsSubdomains });
      await tx.events.append(realmId, { event: { type: 'allowed_domain.changed', ...domain }, audience: wholeRealm });
    });
  }
}

/** The domain is matched exactly as given. @throws DomainError UNKNOWN_ALLOWED_DOMAIN */
async function loadDomain(tx: Transaction, realmId: RealmId, domain: string): Promise<ListedDomain> {
  const listed = await tx.allowedDomains.findByKey(realmId, domain);
  if (listed) return listed;
  throw new DomainError('UNKNOWN_ALLOWED_DOMAIN', `No entry found for domain ${domain}.`);
}

export interface RemoveAllowedDomainInput {
  readonly domain: string;
}

/**
 * Removes a domain. Removing the last domain lifts the restriction, because otherwise nobody could join (organization
 * §5).
 */
export class RemoveAllowedDomain {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** The domain is matched exactly as given. @throws DomainError MUST_BE_OWNER, UNKNOWN_ALLOWED_DOMAIN */
  execute(caller: Caller, { domain }: RemoveAllowedDomainInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManageDomains(actor));
      const { id } = await loadDomain(tx, realmId, domain);
      await tx.allowedDomains.remove(realmId, id);
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
