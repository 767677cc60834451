import { staysAcyclic } from '../access/group-closure.js';
import { activeUserIds, groupsById } from '../access/group-settings.js';
import { changeMembership, channelsShownBy } from '../channels/channel-notices.js';
import { DomainError } from '../kernel/errors.js';
import { wholeRealm } from '../kernel/event.js';
import type { Caller, GroupId, RealmId, UserId } from '../kernel/ids.js';
import { type JobPartOutcome, jobPartKind, RequestParts } from '../kernel/job-parts.js';
import type { Job, JobWork } from '../kernel/jobs.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import { type GroupNotices, MAX_MEMBERS_AT_ONCE, requireRoomForMembers } from './group.js';
import {
  areMembers,
  areSubgroupCandidates,
  areSubgroups,
  areUsers,
  canAddMembers,
  canAddSubgroups,
  canBecomeMembers,
  canBecomeSubgroups,
  canRemoveMembers,
  canRemoveSubgroups,
} from './group-permissions.js';

/** Duplicates count once. */
export interface ChangeGroupMembersInput {
  readonly groupId: GroupId;
  readonly addedUserIds: readonly UserId[];
  readonly removedUserIds: readonly UserId[];
  readonly addedSubgroupIds: readonly GroupId[];
  readonly removedSubgroupIds: readonly GroupId[];
  /** Kind of change in the request, reported if it changes nothing. */
  readonly of: 'members' | 'subgroups';
}

/** Adds and removes users and subgroups, in this order (users §12.4). */
export class ChangeGroupMembers {
  static readonly inject = ['unitOfWork', 'groupMembershipNotices', 'clock'] as const;
  private readonly parts: ChangeMemberParts;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly notices: GroupNotices,
    clock: Clock,
  ) {
    this.parts = new ChangeMemberParts(uow, notices, clock);
  }

  /**
   * Applies all changes or none. Splits large requests into several units of work (contract decision 10).
   * @throws DomainError NO_GROUP_CHANGE, MUST_NOT_BE_GUEST, UNKNOWN_GROUP, NOT_PERMITTED, UNKNOWN_USER,
   * ALREADY_GROUP_MEMBER, TOO_MANY_MEMBERSHIPS, NOT_GROUP_MEMBER, GROUP_DEACTIVATED, ALREADY_SUBGROUP, GROUP_CYCLE,
   * NOT_SUBGROUP
   */
  async execute(caller: Caller, input: ChangeGroupMembersInput): Promise<void> {
    const isLarge = input.addedUserIds.length + input.removedUserIds.length > MAX_MEMBERS_AT_ONCE;
    const jobs = await this.uow.write(
      caller.realmId,
      async (tx) => {
        const planned: GroupPart[] = [];
        const common = { caller, groupId: input.groupId };
        const change = new GroupChange(tx, this.notices, common, planned, isLarge);
        const steps = [
          [input.addedUserIds, (ids: readonly UserId[]) => change.addMembers(ids)],
          [input.removedUserIds, (ids: readonly UserId[]) => change.removeMembers(ids)],
          [input.addedSubgroupIds, (ids: readonly GroupId[]) => change.addSubgroups(ids)],
          [input.removedSubgroupIds, (ids: readonly GroupId[]) => change.removeSubgroups(ids)],
        ] as const;
        const wanted = steps.filter(([ids]) => ids.length > 0);
        if (wanted.length === 0) throw new DomainError('NO_GROUP_CHANGE', 'Nothing to do.', { of: input.of });
        for (const [ids, run] of wanted)
          await run([...new Set<UserId & GroupId>(ids as readonly (UserId & GroupId)[])]);
        return this.parts.schedule(tx, caller.realmId, planned);
      },
      { yields: isLarge },
    );
    await this.parts.run(jobs);
  }
}

/** Part of a request that adds or removes many members. */
interface MemberPart {
  readonly caller: Caller;
  readonly groupId: GroupId;
  readonly op: 'add' | 'remove';
  readonly userIds: readonly UserId[];
}

/** Part of a request that added or removed subgroups: shows or hides channels to some of their members. */
interface SubgroupPart extends MemberPart {
  readonly subgroupIds: readonly GroupId[];
}

type GroupPart = MemberPart | SubgroupPart;

const MEMBER_PART_JOB = jobPartKind<GroupPart>('groups.change_members');

/** Returns the number of memberships, with those that waiting parts of accepted requests add at most. */
export async function countMembershipsAhead(tx: Transaction, realmId: RealmId): Promise<number> {
  const [present, waiting] = await Promise.all([
    tx.groups.countMemberships(realmId),
    tx.jobs.countWaiting(realmId, MEMBER_PART_JOB.name),
  ]);
  return present + waiting * MAX_MEMBERS_AT_ONCE;
}

/** Returns the ids that are not excluded, in their order. */
const withoutIds = (ids: Iterable<UserId>, excluded: ReadonlySet<UserId>): readonly UserId[] =>
  [...ids].filter((id) => !excluded.has(id));

/** Performs the parts of requests that add or remove many members (contract decision 10). */
export class ChangeMemberParts extends RequestParts<GroupPart> {
  static readonly inject = ['unitOfWork', 'groupMembershipNotices', 'clock'] as const;

  readonly kind = MEMBER_PART_JOB;

  constructor(
    uow: UnitOfWork,
    private readonly notices: GroupNotices,
    clock: Clock,
  ) {
    super(uow, clock);
  }

  async prepare({ realmId, payload }: Job<GroupPart>): Promise<JobWork<JobPartOutcome<void>>> {
    return async (tx) => {
      const { op, groupId, userIds } = payload;
      if ('subgroupIds' in payload) {
        await announceSubgroups(tx, payload);
        return { result: undefined };
      }
      // Members or users may have changed since the request was checked.
      const present = new Set(await tx.groups.filterDirectMembers(realmId, groupId, userIds));
      const active = await activeUserIds(tx, realmId, userIds);
      const remaining = userIds.filter((id) => active.has(id) && present.has(id) === (op === 'remove'));
      if (remaining.length > 0) await changeMembers(tx, this.notices, { ...payload, userIds: remaining });
      return { result: undefined };
    };
  }
}

/**
 * Adds or removes users and publishes the change for the active ones. Checks no permission and sends no message. All users
 * are active unless `activeIds` is given.
 */
export async function storeMembers(
  tx: Transaction,
  realmId: RealmId,
  { groupId, op, userIds }: Omit<MemberPart, 'caller'>,
  activeIds: ReadonlySet<UserId> | null = null,
): Promise<void> {
  await changeMembership(
    tx,
    realmId,
    groupId,
    async () => userIds,
    async () => {
      const change = op === 'add' ? tx.groups.addMembers : tx.groups.removeMembers;
      const changed = await change.call(tx.groups, realmId, groupId, userIds);
      const shown = activeIds ? changed.filter((id) => activeIds.has(id)) : changed;
      if (shown.length === 0) return;
      await tx.events.append(realmId, {
        event: { type: 'group.members_changed', op, groupId, userIds: shown },
        audience: wholeRealm,
      });
    },
  );
}

/**
 * Publishes the channels that some members gained or lost when subgroups were added or removed. Undoes and repeats the
 * change within the unit of work to compare both states.
 */
async function announceSubgroups(
  tx: Transaction,
  { caller: { realmId }, groupId, op, subgroupIds, userIds }: SubgroupPart,
): Promise<void> {
  const present = new Set(await tx.groups.listSubgroupIds(realmId, groupId));
  // A later change of the same subgroups publishes its own consequences.
  const changed = subgroupIds.filter((id) => present.has(id) === (op === 'add'));
  const edges = await tx.groups.listEdges(realmId);
  if (changed.length === 0 || (op === 'remove' && !staysAcyclic(edges, groupId, changed).allowed)) return;
  if (op === 'add') await tx.groups.removeSubgroups(realmId, groupId, changed);
  else await tx.groups.addSubgroups(realmId, groupId, changed);
  await changeMembership(
    tx,
    realmId,
    groupId,
    async () => userIds,
    async () => {
      if (op === 'add') await tx.groups.addSubgroups(realmId, groupId, changed);
      else await tx.groups.removeSubgroups(realmId, groupId, changed);
    },
  );
}

async function changeMembers(
  tx: Transaction,
  notices: GroupNotices,
  { caller: { realmId, userId }, groupId, op, userIds }: MemberPart,
): Promise<void> {
  await storeMembers(tx, realmId, { groupId, op, userIds });
  const users = await tx.users.list(realmId, userIds);
  const people = users.filter(({ id, bot }) => bot === null && id !== userId);
  // A part left by a crash may find its author deactivated.
  const actor = (await tx.actors.list(realmId, [userId])).get(userId);
  if (people.length === 0 || !actor) return;
  const by = await tx.users.get(realmId, userId);
  const group = (await tx.groups.find(realmId, groupId))!;
  await notices.send(tx, await tx.realms.get(realmId), { op, actor, by, group, people });
}

/**
 * Each step sees the changes of the previous steps and checks the caller's permissions again. Adds the work of further
 * units to `planned`; `isLarge` requests change all members there.
 */
class GroupChange {
  private readonly caller: Caller;
  private readonly groupId: GroupId;

  constructor(
    private readonly tx: Transaction,
    private readonly notices: GroupNotices,
    private readonly common: Pick<MemberPart, 'caller' | 'groupId'>,
    private readonly planned: GroupPart[],
    private readonly isLarge: boolean,
  ) {
    this.caller = common.caller;
    this.groupId = common.groupId;
  }

  async addMembers(userIds: readonly UserId[]): Promise<void> {
    const { tx, groupId } = this;
    const { actor, realm, group } = await this.load();
    enforce(canAddMembers(actor, realm, group, userIds));
    const active = await activeUserIds(tx, realm.id, userIds);
    const present = await tx.groups.filterDirectMembers(realm.id, groupId, userIds);
    enforce(canBecomeMembers(userIds, active, new Set(present)));
    requireRoomForMembers(await countMembershipsAhead(tx, realm.id), userIds.length);
    await this.changeMembers('add', userIds);
  }

  async removeMembers(userIds: readonly UserId[]): Promise<void> {
    const { tx, groupId } = this;
    // Deliberate: like the reference server, checks the users before the permission to change the group.
    enforce(areUsers(userIds, await activeUserIds(tx, this.caller.realmId, userIds)));
    const { actor, realm, group } = await this.load();
    enforce(canRemoveMembers(actor, realm, group, userIds));
    const present = await tx.groups.filterDirectMembers(realm.id, groupId, userIds);
    const added = new Set(this.planned.flatMap((part) => part.userIds));
    enforce(areMembers(userIds, new Set([...present, ...added])));
    // A part that fails is repeated after the others, so no user may be in two. Additions are the only parts so far.
    const toAdd = withoutIds(added, new Set(userIds));
    this.planned.length = 0;
    if (toAdd.length > 0) await this.changeMembers('add', toAdd);
    await this.changeMembers('remove', withoutIds(userIds, added));
  }

  async addSubgroups(subgroupIds: readonly GroupId[]): Promise<void> {
    const { tx, groupId } = this;
    const { actor, realm, group } = await this.load();
    enforce(canAddSubgroups(actor, realm, group));
    enforce(areSubgroupCandidates(subgroupIds, await groupsById(tx, realm.id, subgroupIds)));
    enforce(canBecomeSubgroups(subgroupIds, new Set(await tx.groups.listSubgroupIds(realm.id, groupId))));
    enforce(staysAcyclic(await tx.groups.listEdges(realm.id), groupId, subgroupIds));
    await this.changeSubgroups('add', subgroupIds);
  }

  async removeSubgroups(subgroupIds: readonly GroupId[]): Promise<void> {
    const { tx, groupId } = this;
    const { actor, realm, group } = await this.load();
    enforce(canRemoveSubgroups(actor, realm, group));
    enforce(areSubgroupCandidates(subgroupIds, await groupsById(tx, realm.id, subgroupIds)));
    enforce(areSubgroups(subgroupIds, new Set(await tx.groups.listSubgroupIds(realm.id, groupId))));
    await this.changeSubgroups('remove', subgroupIds);
  }

  private async load() {
    const { tx, caller } = this;
    const actor = await tx.actors.get(caller);
    const realm = await tx.realms.get(caller.realmId);
    return { actor, realm, group: await tx.groups.find(realm.id, this.groupId) };
  }

  private async changeMembers(op: 'add' | 'remove', userIds: readonly UserId[]): Promise<void> {
    if (!this.isLarge) return changeMembers(this.tx, this.notices, { ...this.common, op, userIds });
    for (const some of slicesOf(userIds, MAX_MEMBERS_AT_ONCE)) {
      this.planned.push({ ...this.common, op, userIds: some });
    }
  }

  private async changeSubgroups(op: 'add' | 'remove', subgroupIds: readonly GroupId[]): Promise<void> {
    const { tx, groupId } = this;
    const { realmId } = this.caller;
    const isVisible = (await channelsShownBy(tx, realmId, groupId)).length > 0;
    const members = isVisible ? await tx.groups.listMembersRecursively(realmId, subgroupIds) : [];
    const change = async () => {
      const store = op === 'add' ? tx.groups.addSubgroups : tx.groups.removeSubgroups;
      const changed = await store.call(tx.groups, realmId, groupId, subgroupIds);
      await tx.events.append(realmId, {
        event: { type: 'group.subgroups_changed', op, groupId, subgroupIds: changed },
        audience: wholeRealm,
      });
    };
    if (members.length <= MAX_MEMBERS_AT_ONCE) {
      return changeMembership(tx, realmId, groupId, async () => members, change);
    }
    await change();
    for (const userIds of slicesOf(members, MAX_MEMBERS_AT_ONCE)) {
      this.planned.push({ ...this.common, op, subgroupIds, userIds });
    }
  }
}
