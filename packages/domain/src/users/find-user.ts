import type { Actor } from '../access/actor.js';
import type { UserId } from '../kernel/ids.js';
import type { RealmUrls } from '../kernel/realm-urls.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { canFindByEmail } from './email-visibility.js';
import { idInDummyAddress } from './find-by-address.js';
import type { User } from './user.js';

export type UserReference = { readonly id: UserId } | { readonly email: string };

/**
 * Whom somebody names by id or address (users §2); null: nobody. Who hides their address is not found by it, and nobody can
 * tell that from an address that is nobody's.
 */
export async function findReferencedUser(
  { users }: Pick<Repositories | Transaction, 'users'>,
  viewer: Actor,
  realm: Realm,
  realmUrls: RealmUrls,
  by: UserReference,
): Promise<User | null> {
  if ('id' in by) return users.find(realm.id, by.id);
  const id = idInDummyAddress(by.email, realmUrls.emailDomainOf(realm));
  if (id !== null) return users.find(realm.id, id);
  const found = await users.findByEmail(realm.id, by.email.trim());
  return found && canFindByEmail(viewer, found) ? found : null;
}
