import type { Realm } from '../realms/realm.js';

/** Where realms are reached from outside; pure string work over the server's public address. */
export interface RealmAddresses {
  /** Without a slash at the end: `https://chat.example`. */
  urlOf(realm: Pick<Realm, 'stringId'>): string;
  /** What dummy addresses end in: `user7@chat.example`; `parley.invalid` where the public address is no domain name. */
  readonly mailHost: string;
}
