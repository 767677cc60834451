import type { AddressedRealm, RealmId, RealmUrls, UnitOfWork } from '@parley/domain/kernel';
import type { Realm } from '@parley/domain/realms';

/** What wire forms say of the realm they belong to, and where it is found. */
export interface PublicRealm {
  readonly id: number;
  readonly stringId: string;
  /** Without a slash at the end: `https://chat.example`. */
  readonly url: string;
  /** What dummy addresses end in. */
  readonly emailDomain: string;
}

export function publicRealmOf(realm: AddressedRealm & Pick<Realm, 'id'>, realmUrls: RealmUrls): PublicRealm {
  const { id, stringId } = realm;
  return { id, stringId, url: realmUrls.urlOf(realm), emailDomain: realmUrls.emailDomainOf(realm) };
}

/** Where realms are found. What is kept at hand never changes; where a realm is depends on which others there are. */
export class PublicRealms {
  private readonly realms = new Map<RealmId, AddressedRealm>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
  ) {}

  async of(id: RealmId): Promise<PublicRealm> {
    let realm = this.realms.get(id);
    if (!realm) {
      const { stringId, isAtServerAddress } = await this.uow.read(({ realms }) => realms.get(id));
      realm = { stringId, isAtServerAddress };
      this.realms.set(id, realm);
    }
    return publicRealmOf({ id, ...realm }, this.realmUrls);
  }

  /** All of it, as it is now. */
  load(id: RealmId): Promise<Realm> {
    return this.uow.read(({ realms }) => realms.get(id));
  }
}
