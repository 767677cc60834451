import { addAnonymousGroup, defaultGroupSettings } from '../../access/default-group-settings.js';
import type { GroupSettingValue } from '../../access/group-setting.js';
import { activeUserIds, groupsById } from '../../access/named-in-requests.js';
import { groupForSetting, validateGroupSetting } from '../../access/validate-group-setting.js';
import { wholeRealm } from '../../kernel/audience.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import type { GroupId, UserId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import {
  GROUP_PERMISSIONS,
  type GroupPermission,
  groupNameTaken,
  parseGroupName,
  requireRoomForGroup,
  requireRoomForMembers,
} from '../group.js';
import { areSubgroupCandidates, areUsers, canCreateGroup } from '../group-permissions.js';

export interface CreateGroupInput {
  readonly name: string;
  /** At most `MAX_GROUP_DESCRIPTION_LENGTH`. */
  readonly description: string;
  readonly memberIds: readonly UserId[];
  readonly subgroupIds: readonly GroupId[];
  /** Others have their defaults. */
  readonly permissions: { readonly [P in GroupPermission]?: GroupSettingValue };
}

/** A new group with its first members, who are not notified by message (users §12.3). */
export class CreateGroup {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError MUST_NOT_BE_GUEST, NOT_PERMITTED, UNKNOWN_USER, INVALID_GROUP_NAME, GROUP_NAME_TAKEN,
   * TOO_MANY_GROUPS, TOO_MANY_MEMBERSHIPS, UNKNOWN_GROUP, GROUP_DEACTIVATED, and values of permissions as `validateGroupSetting` does
   */
  execute(caller: Caller, input: CreateGroupInput): Promise<GroupId> {
    const { realmId } = caller;
    return this.uow.write(async (tx) => {
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
