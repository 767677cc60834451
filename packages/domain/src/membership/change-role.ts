import { type Actor, isGuest } from '../access/actor.js';
import type { Role } from '../access/role.js';
import { SYSTEM_GROUPS, type SystemGroupName } from '../access/system-groups.js';
import { announceVisibilityAfterRole } from '../channels/announce-visibility.js';
import { systemGroupChange } from '../groups/system-group-maintenance.js';
import { users as usersNamed, wholeRealm } from '../kernel/audience.js';
import type { UnixSeconds } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { announceReach } from '../users/announce-access.js';
import { announceAddressesSeen } from '../users/announce-addresses.js';
import type { User } from '../users/user.js';
import { isLimitedGuest } from '../users/user-access.js';
import { accessorsOf } from '../users/user-delivery.js';

/**
 * Gives somebody another role, and with it other groups, channels and people to know (users §3.2). Asks for no permission.
 * Those who are deactivated come into the groups of their role when they come back.
 */
export async function changeRole(
  tx: Transaction,
  realm: Realm,
  user: User,
  role: Role,
  now: UnixSeconds,
): Promise<User> {
  const lastSeq = await tx.events.lastSeq(realm.id);
  const before = (await tx.actors.list(realm.id, [user.id])).get(user.id);
  const changed = await tx.users.update({ ...user, role });
  await tx.events.append(realm.id, {
    event: { type: 'user.role_changed', userId: user.id, role },
    audience: accessorsOf(user.id),
  });
  if (!before) return changed;
  await followRole(tx, realm, changed, now);
  const after = (await tx.actors.list(realm.id, [user.id])).get(user.id)!;
  await announceVisibilityAfterRole(tx, realm.id, { before, after });
  if (isGuest(before) !== isGuest(after)) await announceDefaultChannels(tx, realm, after);
  await announceAddressesSeen(tx, realm.id, user.id, before.role, role);
  const [wasLimited, isLimited] = [isLimitedGuest(before, realm), isLimitedGuest(after, realm)];
  if (wasLimited !== isLimited) {
    const reach = isLimited ? 'narrowed' : 'widened';
    await announceReach(tx, realm, reach, usersNamed([user.id]), lastSeq);
  }
  return changed;
}

/** Guests get none (channels §2.3). */
async function announceDefaultChannels(tx: Transaction, realm: Realm, actor: Actor): Promise<void> {
  const all = isGuest(actor) ? [] : await tx.channels.listAll(realm.id);
  const channels = all.filter((channel) => channel.isDefault && !channel.isArchived);
  await tx.events.append(realm.id, {
    event: { type: 'default_channels.changed', channelIds: channels.map(({ id }) => id) },
    audience: usersNamed([actor.id]),
  });
}

/** Puts somebody who is active into the system groups that they belong in, and tells everybody what changed. */
export async function followRole(tx: Transaction, realm: Realm, user: User, now: UnixSeconds): Promise<void> {
  const system = await tx.groups.systemGroupIds(realm.id);
  const direct = new Set(await tx.groups.listDirectIds(realm.id, user.id));
  const current = SYSTEM_GROUPS.map(({ name }) => name).filter((name) => direct.has(system[name]));
  const { leaves, joins } = systemGroupChange(current, user, realm.settings.waitingPeriodThreshold, now);
  const append = (op: 'add' | 'remove', name: SystemGroupName) =>
    tx.events.append(realm.id, {
      event: { type: 'group.members_changed', op, groupId: system[name], userIds: [user.id] },
      audience: wholeRealm,
    });
  const leave = async (names: readonly SystemGroupName[]) => {
    for (const name of names) {
      await tx.groups.removeMembers(realm.id, system[name], [user.id]);
      await append('remove', name);
    }
  };
  const join = async (names: readonly SystemGroupName[]) => {
    for (const name of names) {
      await tx.groups.addMembers(realm.id, system[name], [user.id]);
      await append('add', name);
    }
  };
  // The group of full members comes after those of roles (users §3.2).
  const [isFull, isRole] = [isFullMembers, (name: SystemGroupName) => !isFullMembers(name)];
  await leave(leaves.filter(isRole));
  await join(joins.filter(isRole));
  await leave(leaves.filter(isFull));
  await join(joins.filter(isFull));
}

const isFullMembers = (name: SystemGroupName): boolean => name === 'fullMembers';
