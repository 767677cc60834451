import { directSystemGroups, type SystemGroupName } from '../access/roles.js';
import { changeMembership } from '../channels/channel-notices.js';
import { wholeRealm } from '../kernel/event.js';
import type { GroupId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Clock } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';

const DAY = 86_400;

/** Time at which a member becomes a full member (channels §3.1): whole days after joining. */
export const fullMemberAt = (joinedAt: UnixSeconds, waitingPeriodDays: number): UnixSeconds =>
  joinedAt + waitingPeriodDays * DAY;

export const isPastWaitingPeriod = (joinedAt: UnixSeconds, waitingPeriodDays: number, now: UnixSeconds): boolean =>
  now >= fullMemberAt(joinedAt, waitingPeriodDays);

/** Properties of a user or bot that determine its system groups. */
export type RoleAndJoinTime = Pick<User, 'role' | 'joinedAt'>;

/** Returns the direct system groups of a user (channels §3.2). */
export function systemGroupsOf(
  user: RoleAndJoinTime,
  waitingPeriodDays: number,
  now: UnixSeconds,
): readonly SystemGroupName[] {
  return directSystemGroups(user.role, isPastWaitingPeriod(user.joinedAt, waitingPeriodDays, now));
}

export interface SystemGroupChange {
  readonly leaves: readonly SystemGroupName[];
  readonly joins: readonly SystemGroupName[];
}

/**
 * Returns the changes for a user in the groups `current` when they join, change roles or are reactivated. Deactivated
 * users keep their groups but do not count.
 */
export function systemGroupChange(
  current: readonly SystemGroupName[],
  user: RoleAndJoinTime,
  waitingPeriodDays: number,
  now: UnixSeconds,
): SystemGroupChange {
  const due = systemGroupsOf(user, waitingPeriodDays, now);
  return {
    leaves: current.filter((name) => !due.includes(name)),
    joins: due.filter((name) => !current.includes(name)),
  };
}

/** Returns the users who become full members or stop being so, after a change of the waiting period or with time. */
export function fullMemberChanges(
  users: readonly (RoleAndJoinTime & Pick<User, 'id'>)[],
  fullMemberIds: ReadonlySet<UserId>,
  waitingPeriodDays: number,
  now: UnixSeconds,
): { readonly leaves: readonly UserId[]; readonly joins: readonly UserId[] } {
  const due = new Set(
    users.filter((user) => systemGroupsOf(user, waitingPeriodDays, now).includes('fullMembers')).map((user) => user.id),
  );
  return {
    leaves: [...fullMemberIds].filter((id) => !due.has(id)).sort((a, b) => a - b),
    joins: [...due].filter((id) => !fullMemberIds.has(id)).sort((a, b) => a - b),
  };
}

/** Time at which `fullMemberChanges` must run again; null if no member is waiting. */
export function nextPromotionAt(
  users: readonly RoleAndJoinTime[],
  waitingPeriodDays: number,
  now: UnixSeconds,
): UnixSeconds | null {
  const due = users
    .filter((user) => user.role === 'member')
    .map((user) => fullMemberAt(user.joinedAt, waitingPeriodDays))
    .filter((at) => at > now);
  return due.length === 0 ? null : due.reduce((earliest, at) => Math.min(earliest, at));
}

const USERS_AT_A_TIME = 500;

/** Updates the full members of the realm. Returns the time of the next run; null if no member is waiting. */
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
  const userIds = new Set(users.map((user) => user.id));
  const active = new Set([...present].filter((id) => userIds.has(id)));
  const { joins, leaves } = fullMemberChanges(users, active, days, now);
  await changeFullMembers(tx, realm, 'remove', fullMembers, leaves);
  await changeFullMembers(tx, realm, 'add', fullMembers, joins);
  return nextPromotionAt(users, days, now);
}

/** Publishes the channels gained and lost too, like any change of membership (channels §6.3). */
async function changeFullMembers(
  tx: Transaction,
  realm: Realm,
  op: 'add' | 'remove',
  groupId: GroupId,
  userIds: readonly UserId[],
): Promise<void> {
  if (userIds.length === 0) return;
  const change = op === 'add' ? tx.groups.addMembers : tx.groups.removeMembers;
  await changeMembership(
    tx,
    realm.id,
    groupId,
    async () => userIds,
    async () => {
      const changed = await change.call(tx.groups, realm.id, groupId, userIds);
      const event = { type: 'group.members_changed', op, groupId, userIds: changed } as const;
      await tx.events.append(realm.id, { event, audience: wholeRealm });
    },
  );
}

/**
 * Promotes users to full members after the waiting period, in every realm that has one. Demotes them if the period
 * was extended (channels §3.1–3.2). A worker calls it and sleeps until the returned time.
 */
export class PromoteFullMembers {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** Returns the time of the next promotion; null if no user is waiting. */
  async execute(): Promise<UnixSeconds | null> {
    const realms = await this.uow.readAcross(({ realms }) => realms.list());
    let next: UnixSeconds | null = null;
    const waiting = realms.filter((realm) => !realm.isDeactivated && realm.settings.waitingPeriodThreshold > 0);
    for (const { id } of waiting) {
      const due = await this.uow.write(id, async (tx) =>
        updateFullMembers(tx, await tx.realms.get(id), this.clock.now()),
      );
      if (due !== null) next = Math.min(next ?? due, due);
    }
    return next;
  }
}
