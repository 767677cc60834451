/** Where realms are reached from outside; pure string work over the server's public address. */
export interface RealmUrls {
  /** Without a slash at the end: `https://chat.example`. */
  urlOf(realm: AddressedRealm): string;
  /** What the realm's dummy addresses end in: its host, `user7@chat.example`; `parley.invalid` where that is no domain name. */
  emailDomainOf(realm: AddressedRealm): string;
}

/** What decides where a realm is reached. */
export interface AddressedRealm {
  /** Its subdomain; `''`: none. */
  readonly stringId: string;
  readonly isAtServerAddress: boolean;
}

/** The address of the server itself, without a realm's name in front. */
export const SERVER_ITSELF: AddressedRealm = { stringId: '', isAtServerAddress: true };
