import { mustNotBeGuest } from '../access/actor.js';
import { groupsHeldBy } from '../access/group-closure.js';
import { groupNamed } from '../access/group-settings.js';
import type { Caller, EventSeq, GroupId, RealmId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Repositories, UnitOfWork } from '../kernel/unit-of-work.js';
import { ENTITIES_PER_PAGE, slicesOf } from '../kernel/work.js';
import { conversationPartnerIds } from '../users/accessible-users.js';
import { canAccessUser } from '../users/user-permissions.js';
import type { GroupView } from './group.js';
import { canAccessGroup } from './group-permissions.js';

/** Lists named groups, including system groups (users §12.3). */
export class ListGroups {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Returns groups by ascending id. @throws DomainError MUST_NOT_BE_GUEST */
  execute(caller: Caller, { includesDeactivated }: { readonly includesDeactivated: boolean }): Promise<GroupView[]> {
    return this.uow.read(caller.realmId, async ({ actors, groups }) => {
      enforce(mustNotBeGuest(await actors.get(caller)));
      const views = await groups.listViews(caller.realmId);
      return views.filter((group) => includesDeactivated || !group.isDeactivated);
    });
  }
}

/** Finds a group of any kind by its name, for the host application. */
export class FindGroupId {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_GROUP */
  execute({ realmId }: Caller, { name }: { readonly name: string }): Promise<GroupId> {
    return this.uow.read(realmId, (repositories) => groupNamed(repositories, realmId, name));
  }
}

export interface ReadGroupInput {
  readonly groupId: GroupId;
  /** True to consider only direct members or subgroups. */
  readonly directOnly: boolean;
}

/** Lists the active users in a group (users §12.3). */
export class ListGroupMembers {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Returns users by ascending id. @throws DomainError MUST_NOT_BE_GUEST, UNKNOWN_GROUP, GROUP_DEACTIVATED */
  execute(caller: Caller, { groupId, directOnly }: ReadGroupInput): Promise<readonly UserId[]> {
    return this.uow.read(caller.realmId, async (repositories) => {
      const { groups } = repositories;
      await enforceReadable(repositories, caller, groupId);
      if (!directOnly) return groups.listMembersRecursively(caller.realmId, [groupId]);
      return (await groups.findView(caller.realmId, groupId))!.memberIds;
    });
  }
}

/** Checks if a user, possibly a bot, is in a group (users §12.3). */
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
    return this.uow.read(realmId, async (repositories) => {
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

/** Lists the named subgroups of a group (users §12.3). */
export class ListSubgroups {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Returns groups by ascending id. @throws DomainError MUST_NOT_BE_GUEST, UNKNOWN_GROUP, GROUP_DEACTIVATED */
  execute(caller: Caller, { groupId, directOnly }: ReadGroupInput): Promise<readonly GroupId[]> {
    return this.uow.read(caller.realmId, async (repositories) => {
      const { groups } = repositories;
      await enforceReadable(repositories, caller, groupId);
      if (directOnly) return groups.listSubgroupIds(caller.realmId, groupId);
      const held = groupsHeldBy(await groups.listEdges(caller.realmId), [groupId]);
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

/**
 * Removes anonymous groups that are no longer the value of a permission. Old events may still address such a group, so
 * removal waits until all events up to its discovery as unused are pruned. Called by a worker.
 */
export class RemoveUnusedGroups {
  static readonly inject = ['unitOfWork'] as const;

  /** Groups found unused, with the last event seq at that time. */
  private readonly found = new Map<RealmId, ReadonlyMap<GroupId, EventSeq>>();

  constructor(private readonly uow: UnitOfWork) {}

  /** Returns the number of removed groups. */
  async execute(): Promise<number> {
    let count = 0;
    for (const { id } of await this.uow.readAcross(({ realms }) => realms.list())) count += await this.removeIn(id);
    return count;
  }

  private async removeIn(realmId: RealmId): Promise<number> {
    const { unused, lastSeq, prunedUpTo } = await this.uow.read(realmId, async (repositories) => ({
      unused: await unusedGroups(repositories, realmId),
      lastSeq: await repositories.events.lastSeq(realmId),
      prunedUpTo: await repositories.events.prunedUpTo(realmId),
    }));
    const before = this.found.get(realmId);
    // An unreferenced group stays unreferenced, because each new anonymous value gets its own group,
    // except those of `findOfOne`, which are never removed.
    const isDue = (id: GroupId) => (before?.get(id) ?? Number.POSITIVE_INFINITY) <= prunedUpTo;
    this.found.set(realmId, new Map(unused.filter((id) => !isDue(id)).map((id) => [id, before?.get(id) ?? lastSeq])));
    const due = unused.filter(isDue);
    for (const some of slicesOf(due, ENTITIES_PER_PAGE)) {
      await this.uow.write(realmId, (tx) => tx.groups.removeAnonymous(realmId, some));
    }
    return due.length;
  }
}

async function unusedGroups(repositories: Repositories, realmId: RealmId): Promise<readonly GroupId[]> {
  const { realms, channels, groups } = repositories;
  const used = new Set<GroupId>(await groups.listIdsOfOne(realmId));
  for (const id of Object.values((await realms.get(realmId)).permissions)) used.add(id);
  const holders = [...(await channels.listAll(realmId)), ...(await groups.listNamed(realmId))];
  for (const { permissions } of holders) {
    for (const id of Object.values(permissions ?? {})) used.add(id);
  }
  return (await groups.listAnonymousIds(realmId)).filter((id) => !used.has(id));
}
