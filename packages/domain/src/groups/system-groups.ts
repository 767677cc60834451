import { directSystemGroups, type SystemGroupName } from '../access/roles.js';
import { changeMembership } from '../channels/channel-notices.js';
import { wholeRealm } from '../kernel/event.js';
import type { GroupId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { type JobPartOutcome, jobPartKind, RequestParts } from '../kernel/job-parts.js';
import type { Job, JobWork } from '../kernel/jobs.js';
import type { Clock } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import { MAX_MEMBERS_AT_ONCE } from './group.js';

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

/** Returns the users who become or cease to be full members, because time passed or the waiting period changed. */
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

/** Returns the users to promote or demote now, and the time of the next promotion. */
async function planFullMembers(
  reads: Pick<Repositories, 'users' | 'groups'>,
  realm: Realm,
  now: UnixSeconds,
): Promise<{ readonly userIds: readonly UserId[]; readonly nextAt: UnixSeconds | null }> {
  const days = realm.settings.waitingPeriodThreshold;
  const ids = (await reads.users.listEntries(realm.id)).filter(({ isActive }) => isActive).map(({ id }) => id);
  const users = await reads.users.list(realm.id, ids);
  const { fullMembers } = await reads.groups.systemGroupIds(realm.id);
  const activeIds = new Set(users.map(({ id }) => id));
  const present = (await reads.groups.listDirectMembers(realm.id, fullMembers)).filter((id) => activeIds.has(id));
  const { joins, leaves } = fullMemberChanges(users, new Set(present), days, now);
  return { userIds: [...leaves, ...joins], nextAt: nextPromotionAt(users, days, now) };
}

/** Promotes or demotes some users if still due; their role or activity may have changed since planning. */
async function updateFullMembers(
  tx: Transaction,
  realmId: RealmId,
  userIds: readonly UserId[],
  now: UnixSeconds,
): Promise<void> {
  const { settings } = await tx.realms.get(realmId);
  const users = (await tx.users.list(realmId, userIds)).filter(({ isActive }) => isActive);
  const ids = users.map(({ id }) => id);
  const { fullMembers } = await tx.groups.systemGroupIds(realmId);
  const present = new Set(await tx.groups.filterDirectMembers(realmId, fullMembers, ids));
  const { joins, leaves } = fullMemberChanges(users, present, settings.waitingPeriodThreshold, now);
  await changeFullMembers(tx, realmId, 'remove', fullMembers, leaves);
  await changeFullMembers(tx, realmId, 'add', fullMembers, joins);
}

/** Changes full members and, like any membership change, publishes the channels gained and lost (channels §6.3). */
async function changeFullMembers(
  tx: Transaction,
  realmId: RealmId,
  op: 'add' | 'remove',
  groupId: GroupId,
  userIds: readonly UserId[],
): Promise<void> {
  if (userIds.length === 0) return;
  const change = op === 'add' ? tx.groups.addMembers : tx.groups.removeMembers;
  await changeMembership(
    tx,
    realmId,
    groupId,
    async () => userIds,
    async () => {
      const changed = await change.call(tx.groups, realmId, groupId, userIds);
      const event = { type: 'group.members_changed', op, groupId, userIds: changed } as const;
      await tx.events.append(realmId, { event, audience: wholeRealm });
    },
  );
}

/** Part of an update of full members; without users, it plans the other parts. */
interface FullMemberPart {
  readonly userIds: readonly UserId[] | null;
}

/** Updates the full members after a change of the waiting period, in bounded units of work (contract decision 10). */
export class FullMemberParts extends RequestParts<FullMemberPart> {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  readonly kind = jobPartKind<FullMemberPart>('groups.full_members');

  async prepare(job: Job<FullMemberPart>): Promise<JobWork<JobPartOutcome<void>>> {
    const { realmId, payload } = job;
    const now = this.clock.now();
    const { userIds } = payload;
    if (userIds !== null) {
      return async (tx) => ({ result: await updateFullMembers(tx, realmId, userIds, now) });
    }
    const due = await this.uow.read(realmId, async (reads) =>
      planFullMembers(reads, await reads.realms.get(realmId), now),
    );
    const parts = [...slicesOf(due.userIds, MAX_MEMBERS_AT_ONCE)].map((some) => ({ userIds: some }));
    return async (tx) => ({
      result: undefined,
      next: await this.schedule(tx, realmId, parts, job),
    });
  }
}

/**
 * Promotes users to full members after the waiting period, in every realm with one. Demotes them if the period was
 * extended (channels §3.1–3.2). Called by a worker, which sleeps until the returned time.
 */
export class PromoteFullMembers {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** Returns the time of the next promotion, or null if no user is waiting. */
  async execute(): Promise<UnixSeconds | null> {
    const realms = await this.uow.readAcross(({ realms }) => realms.list());
    let next: UnixSeconds | null = null;
    const waiting = realms.filter((realm) => !realm.isDeactivated && realm.settings.waitingPeriodThreshold > 0);
    for (const { id } of waiting) {
      const now = this.clock.now();
      const { userIds, nextAt } = await this.uow.read(id, async (reads) =>
        planFullMembers(reads, await reads.realms.get(id), now),
      );
      for (const some of slicesOf(userIds, MAX_MEMBERS_AT_ONCE)) {
        await this.uow.write(id, (tx) => updateFullMembers(tx, id, some, now), { yields: true });
      }
      if (nextAt !== null) next = Math.min(next ?? nextAt, nextAt);
    }
    return next;
  }
}
