import type { DomainEvent } from '../kernel/event.js';
import type { OnlineUser } from '../kernel/feature-types.js';
import type { GroupId, UserId } from '../kernel/ids.js';
import { GroupProjection } from './group-delivery.js';

const group = (number: number) => number as GroupId;

describe('GroupProjection', () => {
  /** Creates a projection without groups, with an online user in no group; user 9 is offline. */
  function aProjection() {
    const user = { userId: 1 as UserId, directGroups: new Set<GroupId>() } as OnlineUser;
    const users = new Map([[user.userId, user]]);
    const projection = new GroupProjection({ edges: [], deactivatedGroupIds: [] }, users);
    projection.add(user);
    return {
      user,
      users,
      projection,
      groupsAfter: (event: object) => {
        projection.fold(event as DomainEvent);
        return [...projection.groupsOf(user.userId)].sort((a, b) => a - b);
      },
    };
  }
  const members = (groupId: number, op: 'add' | 'remove') => ({
    type: 'group.members_changed',
    groupId,
    op,
    userIds: [9, 1],
  });
  const subgroups = (groupId: number, subgroupIds: readonly number[], op: 'add' | 'remove') => ({
    type: 'group.subgroups_changed',
    groupId,
    op,
    subgroupIds,
  });

  it('follows members and subgroups of groups that no online user was in before', () => {
    const { user, groupsAfter } = aProjection();
    expect(groupsAfter({ type: 'group.created', groupId: 2, memberIds: [9, 1], subgroupIds: [] })).toEqual([2]);
    expect(groupsAfter({ type: 'group.created', groupId: 3, memberIds: [], subgroupIds: [2] })).toEqual([2, 3]);
    expect(groupsAfter(subgroups(4, [3], 'add'))).toEqual([2, 3, 4]);
    expect(groupsAfter(members(5, 'add'))).toEqual([2, 3, 4, 5]);
    expect(groupsAfter(subgroups(4, [3], 'remove'))).toEqual([2, 3, 5]);
    expect(groupsAfter(members(2, 'remove'))).toEqual([5]);
    expect([...user.directGroups]).toEqual([5]);
    expect(groupsAfter(subgroups(7, [6], 'add'))).toEqual([5]);
    expect(groupsAfter(members(6, 'add'))).toEqual([5, 6, 7]);
  });

  it('starts with the nested and deactivated groups of the snapshot', () => {
    const users = new Map<UserId, OnlineUser>();
    const edges = [
      [2, 4],
      [3, 4],
      [4, 5],
      [6, 7],
    ].map(([subgroupId, groupId]) => ({ subgroupId: group(subgroupId!), groupId: group(groupId!) }));
    const projection = new GroupProjection({ edges, deactivatedGroupIds: [group(6)] }, users);
    const groupsOf = (id: number, directGroup: number) => {
      const user = { userId: id as UserId, directGroups: new Set([group(directGroup)]) } as OnlineUser;
      users.set(user.userId, user);
      projection.add(user);
      return [...projection.groupsOf(user.userId)].sort((a, b) => a - b);
    };
    expect([groupsOf(1, 2), groupsOf(2, 3), groupsOf(3, 6)]).toEqual([[2, 4, 5], [3, 4, 5], [6]]);
  });

  it('ignores groups that contain a deactivated group', () => {
    const { groupsAfter } = aProjection();
    const activation = (isDeactivated: boolean) => ({
      type: 'group.activation_changed',
      view: { id: 2, isDeactivated },
    });
    expect(groupsAfter(activation(true))).toEqual([]);
    expect(groupsAfter(subgroups(3, [2], 'add'))).toEqual([]);
    expect(groupsAfter(members(2, 'add'))).toEqual([2]);
    expect(groupsAfter(activation(false))).toEqual([2, 3]);
  });

  it('forgets the groups of a user who goes offline', () => {
    const { projection, user, users, groupsAfter } = aProjection();
    expect(groupsAfter(members(2, 'add'))).toEqual([2]);
    projection.remove(user);
    users.delete(user.userId);
    expect(groupsAfter(members(2, 'remove'))).toEqual([]);
    const back = { ...user, directGroups: new Set([group(3)]) };
    users.set(back.userId, back);
    projection.add(back);
    expect([...projection.groupsOf(back.userId)]).toEqual([3]);
  });
});
