import type { AddressedRealm, RealmAddresses, RealmId, UnitOfWork } from '@parley/domain';
import { placeOf, type RealmPlace } from '../realms/realm-place.js';

/** Where realms are found. What is kept at hand never changes; where a realm is depends on which others there are. */
export class RealmPlaces {
  private readonly realms = new Map<RealmId, AddressedRealm>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly addresses: RealmAddresses,
  ) {}

  async of(id: RealmId): Promise<RealmPlace> {
    let realm = this.realms.get(id);
    if (!realm) {
      const { stringId, isAtServerAddress } = await this.uow.read(({ realms }) => realms.get(id));
      realm = { stringId, isAtServerAddress };
      this.realms.set(id, realm);
    }
    return placeOf({ id, ...realm }, this.addresses);
  }
}
