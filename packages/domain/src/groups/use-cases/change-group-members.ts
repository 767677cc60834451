import { staysAcyclic } from '../../access/group-closure.js';
import { activeUserIds, groupsById } from '../../access/named-in-requests.js';
import { changeMembership } from '../../channels/announce-visibility.js';
import { wholeRealm } from '../../kernel/audience.js';
import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { GroupId, UserId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import { slicesOf } from '../../kernel/slices.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { User } from '../../users/user.js';
import { requireRoomForMembers } from '../group.js';
import type { GroupNotices } from '../group-notices.js';
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
} from '../group-permissions.js';

const USERS_AT_A_TIME = 500;

/** Duplicates count once. */
export interface ChangeGroupMembersInput {
  readonly groupId: GroupId;
  readonly addedUserIds: readonly UserId[];
  readonly removedUserIds: readonly UserId[];
  readonly addedSubgroupIds: readonly GroupId[];
  readonly removedSubgroupIds: readonly GroupId[];
  /** What the request could have asked for, for its refusal when it asks for nothing. */
  readonly of: 'members' | 'subgroups';
}

/** Puts users and groups into a group and takes them out, in this order, in one go (users §12.4). */
export class ChangeGroupMembers {
  static readonly inject = ['unitOfWork', 'groupMembershipNotices'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly notices: GroupNotices,
  ) {}

  /**
   * All or nothing.
   * @throws DomainError NO_GROUP_CHANGE, MUST_NOT_BE_GUEST, UNKNOWN_GROUP, NOT_PERMITTED, UNKNOWN_USER,
   * ALREADY_GROUP_MEMBER, TOO_MANY_MEMBERSHIPS, NOT_GROUP_MEMBER, GROUP_DEACTIVATED, ALREADY_SUBGROUP, GROUP_CYCLE, NOT_SUBGROUP
   */
  execute(caller: Caller, input: ChangeGroupMembersInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const change = new GroupChange(tx, this.notices, caller, input.groupId);
      const parts = [
        [input.addedUserIds, (ids: readonly UserId[]) => change.addMembers(ids)],
        [input.removedUserIds, (ids: readonly UserId[]) => change.removeMembers(ids)],
        [input.addedSubgroupIds, (ids: readonly GroupId[]) => change.addSubgroups(ids)],
        [input.removedSubgroupIds, (ids: readonly GroupId[]) => change.removeSubgroups(ids)],
      ] as const;
      const wanted = parts.filter(([ids]) => ids.length > 0);
      if (wanted.length === 0) throw new DomainError('NO_GROUP_CHANGE', 'Nothing to do.', { of: input.of });
      for (const [ids, run] of wanted) await run([...new Set<UserId & GroupId>(ids as readonly (UserId & GroupId)[])]);
    });
  }
}

/** Each part sees what those before it did, and asks for the caller's rights anew. */
class GroupChange {
  constructor(
    private readonly tx: Transaction,
    private readonly notices: GroupNotices,
    private readonly caller: Caller,
    private readonly groupId: GroupId,
  ) {}

  async addMembers(userIds: readonly UserId[]): Promise<void> {
    const { tx, groupId } = this;
    const { actor, realm, group } = await this.load();
    enforce(canAddMembers(actor, realm, group, userIds));
    const active = await activeUserIds(tx, realm.id, userIds);
    const present = await tx.groups.filterDirectMembers(realm.id, groupId, userIds);
    enforce(canBecomeMembers(userIds, active, new Set(present)));
    requireRoomForMembers(await tx.groups.countMemberships(realm.id), userIds.length);
    await this.changeMembers('add', userIds);
  }

  async removeMembers(userIds: readonly UserId[]): Promise<void> {
    const { tx, groupId } = this;
    // Sic: before it is asked who may change the group.
    enforce(areUsers(userIds, await activeUserIds(tx, this.caller.realmId, userIds)));
    const { actor, realm, group } = await this.load();
    enforce(canRemoveMembers(actor, realm, group, userIds));
    const present = await tx.groups.filterDirectMembers(realm.id, groupId, userIds);
    enforce(areMembers(userIds, new Set(present)));
    await this.changeMembers('remove', userIds);
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
    const { tx, groupId } = this;
    const { actor, realm, group } = await this.load();
    await changeMembership(
      tx,
      realm.id,
      groupId,
      async () => userIds,
      async () => {
        const change = op === 'add' ? tx.groups.addMembers : tx.groups.removeMembers;
        const changed = await change.call(tx.groups, realm.id, groupId, userIds);
        await tx.events.append(realm.id, {
          event: { type: 'group.members_changed', op, groupId, userIds: changed },
          audience: wholeRealm,
        });
      },
    );
    const people: User[] = [];
    for (const some of slicesOf(userIds, USERS_AT_A_TIME)) {
      const users = await tx.users.list(realm.id, some);
      people.push(...users.filter(({ id, bot }) => bot === null && id !== actor.id));
      await tx.yield();
    }
    if (people.length === 0) return;
    const by = (await tx.users.find(realm.id, actor.id))!;
    await this.notices.send(tx, realm, { op, actor, by, group: group!, people });
  }

  private async changeSubgroups(op: 'add' | 'remove', subgroupIds: readonly GroupId[]): Promise<void> {
    const { tx, groupId } = this;
    const { realmId } = this.caller;
    const members = () => tx.groups.listMembersRecursively(realmId, subgroupIds);
    await changeMembership(tx, realmId, groupId, members, async () => {
      const change = op === 'add' ? tx.groups.addSubgroups : tx.groups.removeSubgroups;
      const changed = await change.call(tx.groups, realmId, groupId, subgroupIds);
      await tx.events.append(realmId, {
        event: { type: 'group.subgroups_changed', op, groupId, subgroupIds: changed },
        audience: wholeRealm,
      });
    });
  }
}
