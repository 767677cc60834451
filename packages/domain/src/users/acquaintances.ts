import type { Realm } from '../realms/realm.js';
import type { UserId } from '../shared/ids.js';
import type { Repositories, Transaction } from '../shared/unit-of-work.js';
import type { Actor } from './actor.js';
import { isRestricted, mayAccessUser } from './user-access.js';

/** Whom a restricted guest may know; for everybody else empty, because it is not asked (users §1.4). */
export async function acquaintancesOf(
  { users }: Pick<Repositories | Transaction, 'users'>,
  actor: Actor,
  realm: Realm,
): Promise<ReadonlySet<UserId>> {
  return isRestricted(actor, realm) ? users.listAcquaintances(realm.id, actor.id) : new Set();
}

const NOBODY: ReadonlySet<UserId> = new Set();

/** Which of these users the actor may not know; nobody unless they are a restricted guest (users §1.4). */
export async function strangersAmong(
  reads: Pick<Repositories | Transaction, 'users'>,
  actor: Actor,
  realm: Realm,
  ids: Iterable<UserId>,
): Promise<ReadonlySet<UserId>> {
  if (!isRestricted(actor, realm)) return NOBODY;
  const acquainted = await acquaintancesOf(reads, actor, realm);
  const users = await reads.users.list(realm.id, [...new Set(ids)]);
  return new Set(
    users
      .filter((user) => !mayAccessUser(actor, user, { realm, isAcquainted: acquainted.has(user.id) }))
      .map((user) => user.id),
  );
}
