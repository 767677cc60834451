import { groupsHeldBy } from '../../access/group-closure.js';
import { mustNotBeGuest } from '../../access/role-rules.js';
import type { Caller } from '../../kernel/caller.js';
import type { GroupId, RealmId, UserId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { Repositories, UnitOfWork } from '../../kernel/unit-of-work.js';
import { conversationPartnerIds } from '../../users/accessible-users.js';
import { canAccessUser } from '../../users/user-permissions.js';
import { canAccessGroup } from '../group-permissions.js';

export interface ReadGroupInput {
  readonly groupId: GroupId;
  /** Direct members or subgroups, not those at any depth. */
  readonly directOnly: boolean;
}

/** Active users in a group (users §12.3). */
export class ListGroupMembers {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Ascending. @throws DomainError MUST_NOT_BE_GUEST, UNKNOWN_GROUP, GROUP_DEACTIVATED */
  execute(caller: Caller, { groupId, directOnly }: ReadGroupInput): Promise<readonly UserId[]> {
    return this.uow.read(async (repositories) => {
      const { groups } = repositories;
      await enforceReadable(repositories, caller, groupId);
      if (!directOnly) return groups.listMembersRecursively(caller.realmId, [groupId]);
      return (await groups.findView(caller.realmId, groupId))!.memberIds;
    });
  }
}

/** Whether a user, bots too, is in a group (users §12.3). */
export class IsGroupMember {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * @throws DomainError MUST_NOT_BE_GUEST, UNKNOWN_GROUP, GROUP_DEACTIVATED, UNKNOWN_USER, NAMED_USER_DEACTIVATED,
   * NOT_PERMITTED
   */
  execute(caller: Caller, input: ReadGroupInput & { readonly userId: UserId }): Promise<boolean> {
    const { groupId, userId, directOnly } = input;
    const { realmId } = caller;
    return this.uow.read(async (repositories) => {
      const { actors, groups, realms, users } = repositories;
      await enforceReadable(repositories, caller, groupId);
      const actor = await actors.get(caller);
      const realm = await realms.get(realmId);
      const user = await users.find(realmId, userId);
      const sharesConversation = (await conversationPartnerIds(repositories, actor, realm)).has(userId);
      enforce(canAccessUser(actor, user, { realm, sharesConversation, allowBots: true }));
      if (directOnly) return (await groups.filterDirectMembers(realmId, groupId, [userId])).length > 0;
      return (await actors.get({ realmId, userId })).groups.has(groupId);
    });
  }
}

/** Named groups in a group (users §12.3). */
export class ListSubgroups {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Ascending. @throws DomainError MUST_NOT_BE_GUEST, UNKNOWN_GROUP, GROUP_DEACTIVATED */
  execute(caller: Caller, { groupId, directOnly }: ReadGroupInput): Promise<readonly GroupId[]> {
    return this.uow.read(async (repositories) => {
      const { groups } = repositories;
      await enforceReadable(repositories, caller, groupId);
      if (directOnly) return groups.listSubgroupIds(caller.realmId, groupId);
      const held = groupsHeldBy(await groups.listEdges(caller.realmId), groupId);
      return [...held].filter((id) => id !== groupId).sort((a, b) => a - b);
    });
  }
}

async function enforceReadable(
  { actors, groups }: Repositories,
  caller: { readonly realmId: RealmId; readonly userId: UserId },
  groupId: GroupId,
): Promise<void> {
  enforce(mustNotBeGuest(await actors.get(caller)));
  enforce(canAccessGroup(await groups.find(caller.realmId, groupId)));
}
