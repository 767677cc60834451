import type { AddressedRealm, RealmUrls } from '@parley/domain/kernel';
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
