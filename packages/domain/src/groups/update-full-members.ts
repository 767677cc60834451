import { wholeRealm } from '../kernel/audience.js';
import type { GroupId, UnixSeconds, UserId } from '../kernel/ids.js';
import { slicesOf } from '../kernel/slices.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import { fullMemberChanges, nextPromotionAt } from './system-group-maintenance.js';

const USERS_AT_A_TIME = 500;

/** Who is past the waiting period of the realm, and who is not any more. Answers when to ask again; null: nobody waits. */
export async function updateFullMembers(tx: Transaction, realm: Realm, now: UnixSeconds): Promise<UnixSeconds | null> {
  const days = realm.settings.waitingPeriodThreshold;
  const entries = await tx.users.listEntries(realm.id);
  const users: User[] = [];
  for (const some of slicesOf(entries, USERS_AT_A_TIME)) {
    const ids = some.filter((entry) => entry.isActive).map((entry) => entry.id);
    users.push(...(await tx.users.list(realm.id, ids)));
    await tx.yield();
  }
  const { fullMembers } = await tx.groups.systemGroupIds(realm.id);
  const present = new Set(await tx.groups.listDirectMembers(realm.id, fullMembers));
  const known = new Set(users.map((user) => user.id));
  const active = new Set([...present].filter((id) => known.has(id)));
  const { joins, leaves } = fullMemberChanges(users, active, days, now);
  if (leaves.length > 0) {
    await announce(tx, realm, 'remove', fullMembers, await tx.groups.removeMembers(realm.id, fullMembers, leaves));
  }
  if (joins.length > 0) {
    await announce(tx, realm, 'add', fullMembers, await tx.groups.addMembers(realm.id, fullMembers, joins));
  }
  return nextPromotionAt(users, days, now);
}

async function announce(
  tx: Transaction,
  realm: Realm,
  op: 'add' | 'remove',
  groupId: GroupId,
  userIds: readonly UserId[],
): Promise<void> {
  const event = { type: 'group.members_changed', op, groupId, userIds } as const;
  await tx.events.append(realm.id, { event, audience: wholeRealm });
}
