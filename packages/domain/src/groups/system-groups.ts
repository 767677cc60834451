import { directSystemGroups, type SystemGroupName } from '../access/roles.js';
import { wholeRealm } from '../kernel/event.js';
import type { GroupId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Clock } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';

const DAY = 86_400;

/** When somebody who is a member becomes a full one (channels §3.1): so many whole days after they joined. */
export const fullMemberAt = (joinedAt: UnixSeconds, waitingPeriodDays: number): UnixSeconds =>
  joinedAt + waitingPeriodDays * DAY;

export const isPastWaitingPeriod = (joinedAt: UnixSeconds, waitingPeriodDays: number, now: UnixSeconds): boolean =>
  now >= fullMemberAt(joinedAt, waitingPeriodDays);

/** What system groups hang on, of people and bots. */
export type RoleAndJoinTime = Pick<User, 'role' | 'joinedAt'>;

/** The system groups somebody belongs in directly (channels §3.2). */
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
 * What has to change for somebody who is in `current`: on joining, when their role changes, when they come back. While they are
 * deactivated they stay where they are; nobody counts them.
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

/** Everybody who becomes a full member, or is one no longer: when the waiting period changes, and as time goes by. */
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

/** When `fullMemberChanges` has to be asked again, so that nobody needs to look meanwhile; null: nobody is waiting. */
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

/**
 * Makes full members of those whose waiting period is over, in every realm that has one, and unmakes them where it became
 * longer (channels §3.1–3.2). For a worker, which sleeps until the time that is answered.
 */
export class PromoteFullMembers {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** When it has something to do again; null: nobody is waiting. */
  async execute(): Promise<UnixSeconds | null> {
    const realms = await this.uow.read(({ realms }) => realms.list());
    let next: UnixSeconds | null = null;
    const waiting = realms.filter((realm) => !realm.isDeactivated && realm.settings.waitingPeriodThreshold > 0);
    for (const { id } of waiting) {
      const due = await this.uow.write(async (tx) => updateFullMembers(tx, await tx.realms.get(id), this.clock.now()));
      if (due !== null) next = Math.min(next ?? due, due);
    }
    return next;
  }
}
