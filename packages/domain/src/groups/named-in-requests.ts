import type { GroupId, RealmId, UserId } from '../shared/ids.js';
import type { Repositories, Transaction } from '../shared/unit-of-work.js';
import type { User } from '../users/user.js';
import type { Group } from './group.js';

/** Of these users, those who are active and may be members: bots too, but none of the system's. */
export async function activeUsers(
  { users }: Pick<Repositories | Transaction, 'users'>,
  realmId: RealmId,
  ids: readonly UserId[],
): Promise<ReadonlyMap<UserId, User>> {
  const found = ids.length === 0 ? [] : await users.list(realmId, [...new Set(ids)]);
  const active = found.filter((user) => user.isActive && !user.bot?.isSystem);
  return new Map(active.map((user) => [user.id, user]));
}

export async function groupsById(
  { groups }: Pick<Repositories | Transaction, 'groups'>,
  realmId: RealmId,
  ids: readonly GroupId[],
): Promise<ReadonlyMap<GroupId, Group>> {
  const found = ids.length === 0 ? [] : await groups.list(realmId, [...new Set(ids)]);
  return new Map(found.map((group) => [group.id, group]));
}
