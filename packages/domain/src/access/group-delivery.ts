import type { AudienceRules, LiveCandidate, LiveProjection, ReplayedCandidate } from '../kernel/delivery.js';
import type { Audience, DomainEvent } from '../kernel/event.js';
import type { Membership, OnlineUser, QueueOwnerRights, RealmSnapshot } from '../kernel/feature-types.js';
import { type GroupId, isId, type RealmId, type UserId } from '../kernel/ids.js';
import type { Repositories } from '../kernel/unit-of-work.js';
import { type ClosureGroup, GroupClosure, type GroupEdge } from './group-closure.js';

declare module '../kernel/feature-types.js' {
  interface AudienceTypes {
    /** Members of the group, directly or through subgroups. */
    group: { readonly id: GroupId };
  }
  interface Membership {
    isInGroup(id: GroupId): boolean;
  }
  interface QueueOwnerRights {
    readonly groups: ReadonlySet<GroupId>;
    readonly directGroupIds: readonly GroupId[];
  }
  interface OnlineUser {
    readonly directGroups: Set<GroupId>;
  }
  interface RealmSnapshot {
    readonly edges: readonly GroupEdge[];
    readonly deactivatedGroupIds: readonly GroupId[];
  }
}

export const groupMembers = (id: GroupId): Audience => ({ kind: 'group', id });

export const GROUP_AUDIENCES: AudienceRules<'group'> = {
  group: { isValid: ({ id }) => isId(id), includes: ({ id }, member) => member.isInGroup(id) },
};

type GroupMembership = Pick<Membership, 'isInGroup'>;

export const replayedGroups = ({ user }: ReplayedCandidate): GroupMembership => ({
  isInGroup: (id) => user.groups.has(id),
});

/** True if the event added the user to a group or removed them from it. Each role has a group. */
export function isGroupChangeOf(event: DomainEvent, { userId, groups }: QueueOwnerRights): boolean {
  if (event.type === 'group.members_changed') return event.userIds.includes(userId);
  return event.type === 'group.subgroups_changed' && event.subgroupIds.some((id) => groups.has(id));
}

export async function loadGroupRights(
  { actors, groups }: Repositories,
  realmId: RealmId,
  userId: UserId,
): Promise<Pick<QueueOwnerRights, 'groups' | 'directGroupIds'>> {
  return {
    groups: (await actors.get({ realmId, userId })).groups,
    directGroupIds: await groups.listDirectIds(realmId, userId),
  };
}

export const loadGroupSnapshot = async (
  { groups }: Repositories,
  realmId: RealmId,
): Promise<Pick<RealmSnapshot, 'edges' | 'deactivatedGroupIds'>> => ({
  edges: await groups.listEdges(realmId),
  deactivatedGroupIds: await groups.listDeactivatedIds(realmId),
});

export const onlineInGroups = ({ directGroupIds }: QueueOwnerRights): Pick<OnlineUser, 'directGroups'> => ({
  directGroups: new Set(directGroupIds),
});

/** All groups with their online members. */
export class GroupProjection implements LiveProjection {
  private readonly closure: GroupClosure;

  constructor(
    snapshot: Pick<RealmSnapshot, 'edges' | 'deactivatedGroupIds'>,
    private readonly users: ReadonlyMap<UserId, OnlineUser>,
  ) {
    this.closure = new GroupClosure(groupsIn(snapshot));
  }

  /** Returns the online user's groups, direct or through subgroups. */
  groupsOf(userId: UserId): ReadonlySet<GroupId> {
    return this.closure.groupsOf(userId);
  }

  add(user: OnlineUser): void {
    for (const groupId of user.directGroups) this.join(groupId, [user.userId]);
  }

  remove(user: OnlineUser): void {
    for (const groupId of user.directGroups) this.closure.removeMembers(groupId, [user.userId]);
  }

  fold(event: DomainEvent): void {
    switch (event.type) {
      case 'group.created':
        this.nest(event.groupId, event.subgroupIds);
        this.join(event.groupId, event.memberIds);
        return;
      case 'group.members_changed':
        if (event.op === 'add') this.join(event.groupId, event.userIds);
        else this.leave(event.groupId, event.userIds);
        return;
      case 'group.subgroups_changed':
        if (event.op === 'add') this.nest(event.groupId, event.subgroupIds);
        else this.closure.removeSubgroups(event.groupId, event.subgroupIds);
        return;
      case 'group.activation_changed':
        this.closure.addGroup(event.view.id);
        this.closure.setDeactivated(event.view.id, event.view.isDeactivated);
        return;
    }
  }

  membershipOf(candidate: LiveCandidate): GroupMembership {
    return { isInGroup: (id) => this.groupsOf(candidate.user.userId).has(id) };
  }

  private nest(groupId: GroupId, subgroupIds: readonly GroupId[]): void {
    for (const id of [groupId, ...subgroupIds]) this.closure.addGroup(id);
    this.closure.addSubgroups(groupId, subgroupIds);
  }

  private join(groupId: GroupId, userIds: readonly UserId[]): void {
    this.closure.addGroup(groupId);
    for (const userId of userIds) {
      const user = this.users.get(userId);
      if (!user) continue;
      user.directGroups.add(groupId);
      this.closure.addMembers(groupId, [userId]);
    }
  }

  private leave(groupId: GroupId, userIds: readonly UserId[]): void {
    for (const userId of userIds) {
      if (this.users.get(userId)?.directGroups.delete(groupId)) this.closure.removeMembers(groupId, [userId]);
    }
  }
}

function groupsIn({
  edges,
  deactivatedGroupIds,
}: Pick<RealmSnapshot, 'edges' | 'deactivatedGroupIds'>): Iterable<ClosureGroup> {
  const subgroups = new Map<GroupId, GroupId[]>();
  const subgroupsOf = (id: GroupId): GroupId[] => {
    const existing = subgroups.get(id) ?? [];
    subgroups.set(id, existing);
    return existing;
  };
  for (const { subgroupId, groupId } of edges) {
    subgroupsOf(subgroupId);
    subgroupsOf(groupId).push(subgroupId);
  }
  const deactivated = new Set(deactivatedGroupIds);
  for (const id of deactivated) subgroupsOf(id);
  return [...subgroups].map(([id, subgroupIds]) => ({
    id,
    isDeactivated: deactivated.has(id),
    memberIds: [],
    subgroupIds,
  }));
}
