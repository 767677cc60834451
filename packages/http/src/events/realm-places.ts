import type { RealmAddresses, RealmId, UnitOfWork } from '@parley/domain';
import { placeOf, type RealmPlace } from '../realms/realm-place.js';

/** Where realms are found, kept at hand: what it is made of never changes while the server runs. */
export class RealmPlaces {
  private readonly places = new Map<RealmId, RealmPlace>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly addresses: RealmAddresses,
  ) {}

  async of(id: RealmId): Promise<RealmPlace> {
    let place = this.places.get(id);
    if (!place) {
      place = placeOf(await this.uow.read(({ realms }) => realms.get(id)), this.addresses);
      this.places.set(id, place);
    }
    return place;
  }
}
