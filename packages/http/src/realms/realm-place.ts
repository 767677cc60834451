import type { AddressedRealm, Realm, RealmAddresses } from '@parley/domain';

/** What wire forms say of the realm they belong to, and where it is found. */
export interface RealmPlace {
  readonly id: number;
  readonly stringId: string;
  /** Without a slash at the end: `https://chat.example`. */
  readonly url: string;
  /** What dummy addresses end in. */
  readonly mailHost: string;
}

export function placeOf(realm: AddressedRealm & Pick<Realm, 'id'>, addresses: RealmAddresses): RealmPlace {
  const { id, stringId } = realm;
  return { id, stringId, url: addresses.urlOf(realm), mailHost: addresses.mailHostOf(realm) };
}
