import type { Actor } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { RealmUrls } from '../kernel/realm-urls.js';
import { slicesOf } from '../kernel/slices.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { conversationPartnerIds } from '../users/accessible-users.js';
import { findByPublicAddress } from '../users/find-by-address.js';
import type { User } from '../users/user.js';
import { canAccessUser } from '../users/user-permissions.js';

const USERS_AT_A_TIME = 500;

/** Users named by number or by the address others know them by, never both. */
export type Principals = readonly UserId[] | { readonly emails: readonly string[] };

/** Null: the caller alone. */
export function countPrincipals(principals: Principals | null): number {
  if (principals === null) return 1;
  return 'emails' in principals ? principals.emails.length : principals.length;
}

/**
 * Those whom somebody subscribes or unsubscribes, each once. @throws DomainError `No such user` when one of them is unknown,
 * else `User is deactivated` or `Insufficient permission` for the first that is wrong (channels §4.5).
 */
export async function findPrincipals(
  tx: Transaction,
  actor: Actor,
  realm: Realm,
  principals: Principals,
  realmUrls: RealmUrls,
): Promise<readonly User[]> {
  const users = new Map<UserId, User>();
  if ('emails' in principals) {
    const found = await findByPublicAddress(tx, realm.id, principals.emails, realmUrls.emailDomainOf(realm));
    for (const email of principals.emails) {
      const user = found.get(email);
      if (!user) throw new DomainError('UNKNOWN_USER', 'No such user');
      users.set(user.id, user);
    }
  } else {
    for (const ids of slicesOf(principals, USERS_AT_A_TIME)) {
      const found = new Map((await tx.users.list(realm.id, ids)).map((user) => [user.id, user]));
      for (const id of ids) {
        const user = found.get(id);
        if (!user) throw new DomainError('UNKNOWN_USER', 'No such user');
        users.set(id, user);
      }
      await tx.yield();
    }
  }
  const partners = await conversationPartnerIds(tx, actor, realm);
  for (const user of users.values()) {
    enforce(canAccessUser(actor, user, { realm, sharesConversation: partners.has(user.id), allowBots: true }));
  }
  return [...users.values()];
}
