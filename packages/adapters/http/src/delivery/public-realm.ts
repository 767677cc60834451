import type { AddressedRealm, GroupId, RealmId, RealmUrls, UnitOfWork } from '@parley/domain/kernel';
import type { Realm } from '@parley/domain/realms';

/** Realm data used in wire forms, with the realm's URL. */
export interface PublicRealm {
  readonly id: number;
  readonly stringId: string;
  /** Realm URL without a trailing slash, such as `https://chat.example`. */
  readonly url: string;
  /** Domain of dummy addresses. */
  readonly emailDomain: string;
}

/** The same for presenters of events. */
export interface EventRealm extends PublicRealm {
  /** Group `role:everyone`. */
  readonly everyoneId: GroupId;
}

export function publicRealmOf(realm: AddressedRealm & Pick<Realm, 'id'>, realmUrls: RealmUrls): PublicRealm {
  const { id, stringId } = realm;
  return { id, stringId, url: realmUrls.urlOf(realm), emailDomain: realmUrls.emailDomainOf(realm) };
}

/** Resolves realm URLs. Cached data is immutable, but a realm's URL depends on the other realms. */
export class PublicRealms {
  private readonly realms = new Map<RealmId, AddressedRealm & Pick<EventRealm, 'everyoneId'>>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
  ) {}

  async of(id: RealmId): Promise<EventRealm> {
    let realm = this.realms.get(id);
    if (!realm) {
      realm = await this.uow.read(id, async ({ realms, groups }) => {
        const { stringId, isAtServerAddress } = await realms.get(id);
        return { stringId, isAtServerAddress, everyoneId: (await groups.systemGroupIds(id)).everyone };
      });
      this.realms.set(id, realm);
    }
    const { everyoneId, ...address } = realm;
    return { ...publicRealmOf({ id, ...address }, this.realmUrls), everyoneId };
  }

  /** Loads the current realm with all fields. */
  load(id: RealmId): Promise<Realm> {
    return this.uow.read(id, ({ realms }) => realms.get(id));
  }
}
