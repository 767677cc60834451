import type { RealmId, UserId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { isOnlyOwner } from './user-permissions.js';

/** As `isOnlyOwner` answers, of those who are owners now: costs by their number. */
export async function isOnlyOwnerOf(
  { groups, users }: Pick<Repositories | Transaction, 'groups' | 'users'>,
  realmId: RealmId,
  id: UserId,
): Promise<boolean> {
  const { owners } = await groups.systemGroupIds(realmId);
  return isOnlyOwner(id, await users.list(realmId, await groups.listDirectMembers(realmId, owners)));
}
