import type { Realm } from '../realms/realm.js';
import type { UserId } from '../shared/ids.js';
import type { Repositories, Transaction } from '../shared/unit-of-work.js';
import type { Actor } from './actor.js';
import { isRestricted } from './user-access.js';

/** Whom a restricted guest may know; for everybody else empty, because it is not asked (users §1.4). */
export async function acquaintancesOf(
  { users }: Pick<Repositories | Transaction, 'users'>,
  actor: Actor,
  realm: Realm,
): Promise<ReadonlySet<UserId>> {
  return isRestricted(actor, realm) ? users.listAcquaintances(realm.id, actor.id) : new Set();
}
