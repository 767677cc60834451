import {
  acceptGroupSettings,
  activeUserIds,
  checkHoldersInRequest,
  defaultGroupSettings,
  type GroupSettingUpdate,
  type GroupSettingValue,
  groupForSetting,
  groupOfOne,
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
import type { Realm } from '../realms/realm.js';
import { countMembershipsAhead } from './change-members.use-cases.js';
import {
  GROUP_PERMISSIONS,
  type Group,
  type GroupEventTypes,
  type GroupPermission,
  groupNameTaken,
  parseGroupName,
  requireRoomForGroup,
  requireRoomForMembers,
} from './group.js';
import {
  areSubgroupCandidates,
  areUsers,
  canCreateGroup,
  canDeactivateGroup,
  canDeactivateUnused,
  canManageGroup,
  usesOfGroup,
} from './group-permissions.js';

export interface CreateGroupInput {
  readonly name: string;
  /** At most `MAX_GROUP_DESCRIPTION_LENGTH` code points. */
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
      checkHoldersInRequest(Object.values(input.permissions));
      const chosen = new Map<GroupPermission, GroupId>();
      for (const permission of Object.keys(GROUP_PERMISSIONS) as GroupPermission[]) {
        const wanted = input.permissions[permission];
        if (wanted === undefined) continue;
        const value = await validateGroupSetting(tx, realmId, permission, GROUP_PERMISSIONS[permission], wanted);
        chosen.set(permission, await groupForSetting(tx, realmId, value));
      }
      if (await tx.groups.findByName(realmId, name)) throw groupNameTaken(name);
      requireRoomForGroup(await tx.groups.countNamed(realmId));
      requireRoomForMembers(await countMembershipsAhead(tx, realmId), input.memberIds.length);
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
              groupOfOne(tx, realmId, actor.id),
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
  /** At most `MAX_GROUP_DESCRIPTION_LENGTH` code points. */
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

/** @throws DomainError INVALID_GROUP_NAME, GROUP_NAME_TAKEN */
export async function freeName(tx: Transaction, { realmId, id }: Group, raw: string): Promise<string> {
  const name = parseGroupName(raw);
  const other = await tx.groups.findByName(realmId, name);
  if (other && other.id !== id) throw groupNameTaken(name);
  return name;
}

/** Deactivates a group that nothing in use depends on. The group keeps its name and members (users §12.3). */
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
      enforce(canDeactivateUnused(await loadUses(tx, realm, groupId)));
      await setDeactivated(tx, group!, true);
    });
  }
}

/** Returns everything that depends on the group. */
export const loadUses = async ({ channels, groups }: Transaction, realm: Realm, id: GroupId) =>
  usesOfGroup(id, {
    realm,
    channels: await channels.listAll(realm.id),
    groups: await groups.listNamed(realm.id),
    edges: await groups.listEdges(realm.id),
  });

/** Also updates the closure: members count towards containing groups only while this group is active. */
export async function setDeactivated(tx: Transaction, group: Group, isDeactivated: boolean): Promise<void> {
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
