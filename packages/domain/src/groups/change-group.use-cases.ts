import { staysAcyclic } from '../access/group-closure.js';
import {
  acceptGroupSettings,
  activeUserIds,
  addAnonymousGroup,
  defaultGroupSettings,
  type GroupSettingUpdate,
  type GroupSettingValue,
  groupForSetting,
  groupsById,
  validateGroupSetting,
} from '../access/group-settings.js';
import { changeMembership } from '../channels/channel-notices.js';
import { DomainError } from '../kernel/errors.js';
import { wholeRealm } from '../kernel/event.js';
import type { Caller, GroupId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import type { User } from '../users/user.js';
import {
  GROUP_PERMISSIONS,
  type Group,
  type GroupEventTypes,
  type GroupNotices,
  type GroupPermission,
  groupNameTaken,
  parseGroupName,
  requireRoomForGroup,
  requireRoomForMembers,
} from './group.js';
import {
  areMembers,
  areSubgroupCandidates,
  areSubgroups,
  areUsers,
  canAddMembers,
  canAddSubgroups,
  canBecomeMembers,
  canBecomeSubgroups,
  canCreateGroup,
  canDeactivateGroup,
  canDeactivateUnused,
  canManageGroup,
  canRemoveMembers,
  canRemoveSubgroups,
  usesOfGroup,
} from './group-permissions.js';

export interface CreateGroupInput {
  readonly name: string;
  /** At most `MAX_GROUP_DESCRIPTION_LENGTH`. */
  readonly description: string;
  readonly memberIds: readonly UserId[];
  readonly subgroupIds: readonly GroupId[];
  /** Omitted permissions get their default values. */
  readonly permissions: { readonly [P in GroupPermission]?: GroupSettingValue };
}

/** Creates a group with its first members, who get no notification message (users §12.3). */
export class CreateGroup {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError MUST_NOT_BE_GUEST, NOT_PERMITTED, UNKNOWN_USER, INVALID_GROUP_NAME, GROUP_NAME_TAKEN,
   * TOO_MANY_GROUPS, TOO_MANY_MEMBERSHIPS, UNKNOWN_GROUP, GROUP_DEACTIVATED, and the codes of `validateGroupSetting`
   */
  execute(caller: Caller, input: CreateGroupInput): Promise<GroupId> {
    const { realmId } = caller;
    return this.uow.write(realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(canCreateGroup(actor, await tx.realms.get(realmId)));
      enforce(areUsers(input.memberIds, await activeUserIds(tx, realmId, input.memberIds)));
      const name = parseGroupName(input.name);
      const chosen = new Map<GroupPermission, GroupId>();
      for (const permission of Object.keys(GROUP_PERMISSIONS) as GroupPermission[]) {
        const wanted = input.permissions[permission];
        if (wanted === undefined) continue;
        const value = await validateGroupSetting(tx, realmId, permission, GROUP_PERMISSIONS[permission], wanted);
        chosen.set(permission, await groupForSetting(tx, realmId, value));
      }
      if (await tx.groups.findByName(realmId, name)) throw groupNameTaken(name);
      requireRoomForGroup(await tx.groups.countNamed(realmId));
      requireRoomForMembers(await tx.groups.countMemberships(realmId), input.memberIds.length);
      enforce(areSubgroupCandidates(input.subgroupIds, await groupsById(tx, realmId, input.subgroupIds)));

      const { id } = await tx.groups.add(
        {
          realmId,
          name,
          description: input.description,
          systemName: null,
          isDeactivated: false,
          creatorId: actor.id,
          createdAt: this.clock.now(),
          permissions: {
            ...(await defaultGroupSettings(GROUP_PERMISSIONS, await tx.groups.systemGroupIds(realmId), () =>
              addAnonymousGroup(tx, realmId, [actor.id], []),
            )),
            ...Object.fromEntries(chosen),
          },
        },
        input.memberIds,
        input.subgroupIds,
      );
      const view = (await tx.groups.findView(realmId, id))!;
      const { memberIds, subgroupIds } = view;
      await tx.events.append(realmId, {
        event: { type: 'group.created', groupId: id, memberIds, subgroupIds, view },
        audience: wholeRealm,
      });
      if (subgroupIds.length > 0) {
        await tx.events.append(realmId, {
          event: { type: 'group.subgroups_changed', op: 'add', groupId: id, subgroupIds },
          audience: wholeRealm,
        });
      }
      return id;
    });
  }
}

export interface UpdateGroupInput {
  readonly groupId: GroupId;
  readonly name?: string;
  /** At most `MAX_GROUP_DESCRIPTION_LENGTH`. */
  readonly description?: string;
  /** Only `false` has an effect; deactivation is a separate operation. */
  readonly isDeactivated?: boolean;
  readonly permissions: { readonly [P in GroupPermission]?: GroupSettingUpdate };
}

type PropertyChange = Pick<GroupEventTypes['group.property_changed'], 'property' | 'value'>;

/** Changes the name, description and permissions of a group, or reactivates it (users §12.3). */
export class UpdateGroup {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * Applies all changes or none.
   * @throws DomainError NO_GROUP_CHANGE, MUST_NOT_BE_GUEST, UNKNOWN_GROUP, NOT_PERMITTED, INVALID_GROUP_NAME,
   * GROUP_NAME_TAKEN, STALE_VALUE, and the codes of `validateGroupSetting`
   */
  execute(caller: Caller, input: UpdateGroupInput): Promise<void> {
    const { groupId, name, description, isDeactivated, permissions } = input;
    return this.uow.write(caller.realmId, async (tx) => {
      const asked = [name, description, isDeactivated, ...Object.values(permissions)];
      if (asked.every((value) => value === undefined)) {
        throw new DomainError('NO_GROUP_CHANGE', 'No new data supplied', { of: 'group' });
      }
      const { realmId } = caller;
      const actor = await tx.actors.get(caller);
      const group = await tx.groups.find(realmId, groupId);
      enforce(canManageGroup(actor, await tx.realms.get(realmId), group));
      const before = group!;
      const isBack = isDeactivated === false && before.isDeactivated;
      const changes: PropertyChange[] = [];
      const newName = name === undefined || name === before.name ? before.name : await freeName(tx, before, name);
      if (newName !== before.name) changes.push({ property: 'name', value: newName! });
      if (description !== undefined && description !== before.description) {
        changes.push({ property: 'description', value: description });
      }
      const accepted = await acceptGroupSettings(tx, realmId, GROUP_PERMISSIONS, before.permissions!, permissions);
      changes.push(...accepted.map(({ name: property, value }) => ({ property, value })));

      if (isBack) await setDeactivated(tx, before, false);
      if (changes.length === 0) return;
      const after: Group = {
        ...before,
        isDeactivated: before.isDeactivated && !isBack,
        name: newName,
        description: description ?? before.description,
        permissions: {
          ...before.permissions!,
          ...Object.fromEntries(accepted.map((each) => [each.name, each.groupId])),
        },
      };
      await tx.groups.update(after);
      for (const change of changes) {
        await tx.events.append(realmId, {
          event: { type: 'group.property_changed', groupId, isDeactivated: after.isDeactivated, ...change },
          audience: wholeRealm,
        });
      }
    });
  }
}

async function freeName(tx: Transaction, { realmId, id }: Group, raw: string): Promise<string> {
  const name = parseGroupName(raw);
  const other = await tx.groups.findByName(realmId, name);
  if (other && other.id !== id) throw groupNameTaken(name);
  return name;
}

/** Deactivates a group on which nothing in use depends. The group keeps its name and members (users §12.3). */
export class DeactivateGroup {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * @throws DomainError MUST_NOT_BE_GUEST, UNKNOWN_GROUP, GROUP_DEACTIVATED, NOT_PERMITTED,
   * CANNOT_DEACTIVATE_GROUP_IN_USE
   */
  execute(caller: Caller, groupId: GroupId): Promise<void> {
    const { realmId } = caller;
    return this.uow.write(realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const realm = await tx.realms.get(realmId);
      const group = await tx.groups.find(realmId, groupId);
      enforce(canDeactivateGroup(actor, realm, group));
      const uses = usesOfGroup(groupId, {
        realm,
        channels: await tx.channels.listAll(realmId),
        groups: await tx.groups.listNamed(realmId),
        edges: await tx.groups.listEdges(realmId),
      });
      enforce(canDeactivateUnused(uses));
      await setDeactivated(tx, group!, true);
    });
  }
}

/** Updates the closure too: members count towards containing groups only while this group is active. */
async function setDeactivated(tx: Transaction, group: Group, isDeactivated: boolean): Promise<void> {
  const { realmId, id } = group;
  await changeMembership(
    tx,
    realmId,
    id,
    () => tx.groups.listMembersRecursively(realmId, [id]),
    async () => {
      await tx.groups.update({ ...group, isDeactivated });
      const view = (await tx.groups.findView(realmId, id))!;
      await tx.events.append(realmId, {
        event: { type: 'group.activation_changed', view },
        audience: wholeRealm,
      });
    },
  );
}

const USERS_AT_A_TIME = 500;

/** Duplicates count once. */
export interface ChangeGroupMembersInput {
  readonly groupId: GroupId;
  readonly addedUserIds: readonly UserId[];
  readonly removedUserIds: readonly UserId[];
  readonly addedSubgroupIds: readonly GroupId[];
  readonly removedSubgroupIds: readonly GroupId[];
  /** Kind of change the request is about, reported when it changes nothing. */
  readonly of: 'members' | 'subgroups';
}

/** Adds and removes users and subgroups, in this order and in one unit of work (users §12.4). */
export class ChangeGroupMembers {
  static readonly inject = ['unitOfWork', 'groupMembershipNotices'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly notices: GroupNotices,
  ) {}

  /**
   * Applies all changes or none.
   * @throws DomainError NO_GROUP_CHANGE, MUST_NOT_BE_GUEST, UNKNOWN_GROUP, NOT_PERMITTED, UNKNOWN_USER,
   * ALREADY_GROUP_MEMBER, TOO_MANY_MEMBERSHIPS, NOT_GROUP_MEMBER, GROUP_DEACTIVATED, ALREADY_SUBGROUP, GROUP_CYCLE,
   * NOT_SUBGROUP
   */
  execute(caller: Caller, input: ChangeGroupMembersInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
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

/** Each step sees the changes of the previous steps and checks the caller's permissions again. */
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
    // Deliberate: the reference server checks the users before the permission to change the group.
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
