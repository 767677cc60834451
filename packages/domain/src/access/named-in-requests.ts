import type { GroupId, RealmId, UserId } from '../kernel/ids.js';
import { slicesOf } from '../kernel/slices.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';

type Group = Awaited<ReturnType<Repositories['groups']['list']>>[number];

const USERS_AT_A_TIME = 2000;
const GROUPS_AT_A_TIME = 200;

/** Of these users, those who are active and may be members: bots too, but none of the system's (contract decision 22). */
export async function activeUserIds(
  repositories: Pick<Repositories | Transaction, 'users' | 'yield'>,
  realmId: RealmId,
  ids: readonly UserId[],
): Promise<ReadonlySet<UserId>> {
  const active = new Set<UserId>();
  for (const some of slicesOf(ids, USERS_AT_A_TIME)) {
    for (const id of await repositories.users.listActiveIds(realmId, some)) active.add(id);
    await repositories.yield();
  }
  return active;
}

export async function groupsById(
  repositories: Pick<Repositories | Transaction, 'groups' | 'yield'>,
  realmId: RealmId,
  ids: readonly GroupId[],
): Promise<ReadonlyMap<GroupId, Group>> {
  const found = new Map<GroupId, Group>();
  for (const some of slicesOf([...new Set(ids)], GROUPS_AT_A_TIME)) {
    for (const group of await repositories.groups.list(realmId, some)) found.set(group.id, group);
    await repositories.yield();
  }
  return found;
}
