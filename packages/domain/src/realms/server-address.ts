import { DomainError } from '../kernel/errors.js';
import type { Realm } from './realm.js';

/** What the operator has said of the server's own address. */
export interface ServerAddress {
  /** String id of the realm that is to be there; null: the first one. */
  readonly defaultRealm: string | null;
  /** Whether other realms can have hosts below it: not where it is an IP address. */
  readonly hasSubdomains: boolean;
}

/**
 * Whether a new realm is reached at the server's own address: the first one is, unless another one is to be there. An
 * address that was given is never taken away by a realm that comes later.
 * @throws DomainError NO_ADDRESS_LEFT
 */
export function takesServerAddress(stringId: string, others: readonly Realm[], server: ServerAddress): boolean {
  const present = others.find((realm) => realm.isAtServerAddress);
  if (stringId === '' && present) {
    throw new DomainError(
      'NO_ADDRESS_LEFT',
      `The address of this server is that of "${present.name}"; another organization needs a string id, which becomes ` +
        'the name of its own host.',
    );
  }
  const isFirst = others.length === 0 && server.defaultRealm === null;
  if (!present && (stringId === '' || stringId === server.defaultRealm || isFirst)) return true;
  if (!server.hasSubdomains) {
    throw new DomainError(
      'NO_ADDRESS_LEFT',
      'The address of this server is an IP address, which leaves no host for another organization; give the server a ' +
        'domain name first, or tell organizations apart by path.',
    );
  }
  return false;
}
