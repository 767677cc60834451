import { directSystemGroups, type SystemGroupName } from '../access/system-groups.js';
import type { UnixSeconds, UserId } from '../kernel/ids.js';
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
