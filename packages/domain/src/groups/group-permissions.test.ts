import {
  channelId,
  formatDecision,
  groupId,
  makeActor,
  makeChannel,
  makeGroup,
  makeRealm,
  makeSystemGroup,
  systemGroup,
  TEAM,
  tableRows,
  userId,
} from '@parley/testkit';
import { isGranted } from '../access/group-settings.js';
import type { Role } from '../access/roles.js';
import { CHANNEL_PERMISSIONS } from '../channels/channel.js';
import { hasRealmPermission } from '../realms/realm-permissions.js';
import { REALM_PERMISSIONS } from '../realms/realm-settings.js';
import { GROUP_PERMISSIONS, type GroupPermission } from './group.js';
import {
  areMembers,
  areSubgroupCandidates,
  areSubgroups,
  areUsers,
  canAccessGroup,
  canAddMembers,
  canAddSubgroups,
  canBecomeMembers,
  canBecomeSubgroups,
  canCreateGroup,
  canDeactivateGroup,
  canDeactivateUnused,
  canInviteIntoGroup,
  canManageGroup,
  canRemoveMembers,
  canRemoveSubgroups,
  hasGroupPermission,
  usesOfGroup,
} from './group-permissions.js';

const UNKNOWN = 'UNKNOWN_GROUP: Invalid user group';
const DEACTIVATED = 'GROUP_DEACTIVATED: User group is deactivated.';
const INSUFFICIENT = 'NOT_PERMITTED: Insufficient permission';
const NO_GUESTS = 'MUST_NOT_BE_GUEST: Not allowed for guest users';

const inTeam = (role: Role, id = 10) => makeActor(role, { id, groups: [TEAM] });

describe('group permission', () => {
  it.each(
    tableRows(`
      given to       | owner | administrator | moderator | full member | new member | guest
      nobody         | no    | no            | no        | no          | no         | no
      owners         | yes   | no            | no        | no          | no         | no
      administrators | yes   | yes           | no        | no          | no         | no
      moderators     | yes   | yes           | yes       | no          | no         | no
      fullMembers    | yes   | yes           | yes       | yes         | no         | no
      members        | yes   | yes           | yes       | yes         | yes        | no
      everyone       | yes   | yes           | yes       | yes         | yes        | yes
      internet       | yes   | yes           | yes       | yes         | yes        | yes
    `),
  )('decides if a permission for %s includes %s: %s', (group, who, expected) => {
    const role = who.split(' ').at(-1) as Role;
    const actor = makeActor(role, { isFullMember: who !== 'new member' });
    const id = systemGroup[group as keyof typeof systemGroup];
    expect(isGranted(actor, id, { allowEveryone: true })).toBe(expected === 'yes');
    expect(isGranted(actor, id, { allowEveryone: false })).toBe(expected === 'yes' && role !== 'guest');
  });

  it('includes guests only if it may be granted to everyone', () => {
    expect(isGranted(inTeam('guest'), TEAM, { allowEveryone: true })).toBe(true);
    expect(isGranted(inTeam('guest'), TEAM, { allowEveryone: false })).toBe(false);
    expect(isGranted(inTeam('member'), TEAM, { allowEveryone: false })).toBe(true);
  });

  it('follows the rules of its kind for the organization and for groups', () => {
    const realm = makeRealm({ permissionOverrides: { canDeleteAnyMessage: TEAM, canDeleteOwnMessage: TEAM } });
    expect(hasRealmPermission(inTeam('member'), realm, 'canDeleteAnyMessage')).toBe(true);
    expect(hasRealmPermission(inTeam('guest'), realm, 'canDeleteAnyMessage')).toBe(false);
    expect(hasRealmPermission(inTeam('guest'), realm, 'canDeleteOwnMessage')).toBe(true);
    const group = makeGroup({ permissionOverrides: { canManage: TEAM, canLeave: TEAM } });
    expect(hasGroupPermission(inTeam('member'), group, 'canManage')).toBe(true);
    expect(hasGroupPermission(inTeam('guest'), group, 'canManage')).toBe(false);
    expect(hasGroupPermission(inTeam('guest'), group, 'canLeave')).toBe(true);
    expect(hasGroupPermission(inTeam('owner'), { permissions: null }, 'canLeave')).toBe(false);
  });
});

describe('permission registry', () => {
  // Columns of channels §3.4–3.6: `nobody` and `everyone` allowed, default and, for groups, default on system groups.
  it.each`
    permission                        | nobody  | everyone | initial
    ${'canAddSubscribers'}            | ${true} | ${false} | ${'nobody'}
    ${'canAdministerChannel'}         | ${true} | ${false} | ${'creator'}
    ${'canCreateTopic'}               | ${true} | ${true}  | ${'everyone'}
    ${'canDeleteAnyMessage'}          | ${true} | ${true}  | ${'nobody'}
    ${'canDeleteOwnMessage'}          | ${true} | ${true}  | ${'nobody'}
    ${'canMoveMessagesOutOfChannel'}  | ${true} | ${true}  | ${'nobody'}
    ${'canMoveMessagesWithinChannel'} | ${true} | ${true}  | ${'nobody'}
    ${'canRemoveSubscribers'}         | ${true} | ${true}  | ${'administrators'}
    ${'canSendMessage'}               | ${true} | ${true}  | ${'everyone'}
    ${'canSubscribe'}                 | ${true} | ${false} | ${'nobody'}
    ${'canResolveTopics'}             | ${true} | ${true}  | ${'nobody'}
  `('defines the channel permission $permission', ({ permission, nobody, everyone, initial }) => {
    expect(CHANNEL_PERMISSIONS[permission as keyof typeof CHANNEL_PERMISSIONS]).toEqual({
      requireSystemGroup: false,
      allowInternet: false,
      allowNobody: nobody,
      allowEveryone: everyone,
      default: initial,
      allowedSystemGroups: [],
    });
  });

  it.each`
    permission                          | nobody   | everyone | initial             | allowed
    ${'createMultiuseInvite'}           | ${true}  | ${false} | ${'administrators'} | ${[]}
    ${'canAccessAllUsers'}              | ${false} | ${true}  | ${'everyone'}       | ${['everyone', 'members']}
    ${'canAddSubscribers'}              | ${true}  | ${false} | ${'members'}        | ${[]}
    ${'canAddCustomEmoji'}              | ${true}  | ${false} | ${'members'}        | ${[]}
    ${'canCreateBots'}                  | ${true}  | ${false} | ${'members'}        | ${[]}
    ${'canCreateGroups'}                | ${true}  | ${false} | ${'members'}        | ${[]}
    ${'canCreatePublicChannel'}         | ${true}  | ${false} | ${'members'}        | ${[]}
    ${'canCreatePrivateChannel'}        | ${true}  | ${false} | ${'members'}        | ${[]}
    ${'canCreateWebPublicChannel'}      | ${true}  | ${false} | ${'owners'}         | ${['moderators', 'administrators', 'owners', 'nobody']}
    ${'canCreateWriteOnlyBots'}         | ${true}  | ${false} | ${'members'}        | ${[]}
    ${'canDeleteAnyMessage'}            | ${true}  | ${false} | ${'administrators'} | ${[]}
    ${'canDeleteOwnMessage'}            | ${true}  | ${true}  | ${'everyone'}       | ${[]}
    ${'canInviteUsers'}                 | ${true}  | ${false} | ${'members'}        | ${[]}
    ${'canManageAllGroups'}             | ${false} | ${false} | ${'owners'}         | ${[]}
    ${'canManageBilling'}               | ${false} | ${false} | ${'administrators'} | ${[]}
    ${'canMentionManyUsers'}            | ${true}  | ${true}  | ${'administrators'} | ${[]}
    ${'canMoveMessagesBetweenChannels'} | ${true}  | ${false} | ${'members'}        | ${[]}
    ${'canMoveMessagesBetweenTopics'}   | ${true}  | ${true}  | ${'everyone'}       | ${[]}
    ${'canResolveTopics'}               | ${true}  | ${true}  | ${'everyone'}       | ${[]}
    ${'canSetDeleteMessagePolicy'}      | ${true}  | ${false} | ${'moderators'}     | ${[]}
    ${'canSetTopicsPolicy'}             | ${true}  | ${true}  | ${'members'}        | ${[]}
    ${'canSummarizeTopics'}             | ${true}  | ${true}  | ${'everyone'}       | ${[]}
    ${'directMessageInitiator'}         | ${true}  | ${true}  | ${'everyone'}       | ${[]}
    ${'directMessagePermission'}        | ${true}  | ${true}  | ${'everyone'}       | ${[]}
    ${'workplaceUsers'}                 | ${true}  | ${true}  | ${'everyone'}       | ${[]}
  `('defines the organization permission $permission', ({ permission, nobody, everyone, initial, allowed }) => {
    const { changedBy: _, ...definition } = REALM_PERMISSIONS[permission as keyof typeof REALM_PERMISSIONS];
    expect(definition).toEqual({
      requireSystemGroup: allowed.length > 0,
      allowInternet: false,
      allowNobody: nobody,
      allowEveryone: everyone,
      default: initial,
      allowedSystemGroups: allowed,
    });
  });

  it.each`
    permission            | nobody  | everyone | initial
    ${'canAddMembers'}    | ${true} | ${false} | ${'creator'}
    ${'canJoin'}          | ${true} | ${false} | ${'nobody'}
    ${'canLeave'}         | ${true} | ${true}  | ${'everyone'}
    ${'canManage'}        | ${true} | ${false} | ${'creator'}
    ${'canMention'}       | ${true} | ${true}  | ${'everyone'}
    ${'canRemoveMembers'} | ${true} | ${false} | ${'nobody'}
  `('defines the group permission $permission', ({ permission, nobody, everyone, initial }) => {
    expect(GROUP_PERMISSIONS[permission as GroupPermission]).toEqual({
      requireSystemGroup: false,
      allowInternet: false,
      allowNobody: nobody,
      allowEveryone: everyone,
      default: initial,
      defaultOnSystemGroups: 'nobody',
      allowedSystemGroups: [],
    });
  });

  it('contains every permission', () => {
    expect(Object.keys(CHANNEL_PERMISSIONS)).toHaveLength(11);
    expect(Object.keys(REALM_PERMISSIONS)).toHaveLength(25);
    expect(Object.keys(GROUP_PERMISSIONS)).toHaveLength(6);
  });
});

describe('canAccessGroup', () => {
  it('accepts active named groups, and deactivated ones only on request', () => {
    expect(formatDecision(canAccessGroup(null))).toBe(UNKNOWN);
    expect(formatDecision(canAccessGroup(makeGroup({ name: null })))).toBe(UNKNOWN);
    expect(formatDecision(canAccessGroup(makeGroup()))).toBe('yes');
    expect(formatDecision(canAccessGroup(makeSystemGroup('members')))).toBe('yes');
    expect(formatDecision(canAccessGroup(makeGroup({ isDeactivated: true })))).toBe(DEACTIVATED);
    expect(formatDecision(canAccessGroup(makeGroup({ isDeactivated: true }), { allowDeactivated: true }))).toBe('yes');
    expect(formatDecision(canAccessGroup(makeGroup({ isDeactivated: true, name: null })))).toBe(UNKNOWN);
  });
});

/** Actions on a group by a team member or another user, on themselves or on others. */
const ACTIONS = {
  'changes it': canManageGroup,
  'deactivates it': canDeactivateGroup,
  joins: (...[actor, realm, group]: Parameters<typeof canManageGroup>) =>
    canAddMembers({ ...actor, id: userId(10) }, realm, group, [userId(10)]),
  'adds others': (...[actor, realm, group]: Parameters<typeof canManageGroup>) =>
    canAddMembers({ ...actor, id: userId(10) }, realm, group, [userId(11)]),
  'adds themselves and others': (...[actor, realm, group]: Parameters<typeof canManageGroup>) =>
    canAddMembers({ ...actor, id: userId(10) }, realm, group, [userId(10), userId(11)]),
  leaves: (...[actor, realm, group]: Parameters<typeof canManageGroup>) =>
    canRemoveMembers({ ...actor, id: userId(10) }, realm, group, [userId(10), userId(10)]),
  'removes others': (...[actor, realm, group]: Parameters<typeof canManageGroup>) =>
    canRemoveMembers({ ...actor, id: userId(10) }, realm, group, [userId(11)]),
  'removes themselves and others': (...[actor, realm, group]: Parameters<typeof canManageGroup>) =>
    canRemoveMembers({ ...actor, id: userId(10) }, realm, group, [userId(10), userId(11)]),
  'adds a subgroup': canAddSubgroups,
  'removes a subgroup': canRemoveSubgroups,
  'invites into it': canInviteIntoGroup,
} as const;

describe('action on a group', () => {
  it.each(
    tableRows(`
      action                     | all groups | canManage | canAddMembers | canRemoveMembers | canJoin | canLeave | canMention | nothing
      changes it                 | yes        | yes       | no            | no               | no      | no       | no         | no
      deactivates it             | yes        | yes       | no            | no               | no      | no       | no         | no
      joins                      | yes        | yes       | yes           | no               | yes     | no       | no         | no
      adds others                | yes        | yes       | yes           | no               | no      | no       | no         | no
      adds themselves and others    | yes        | yes       | yes           | no               | no      | no       | no         | no
      leaves                     | yes        | yes       | no            | yes              | no      | yes      | no         | no
      removes others             | yes        | yes       | no            | yes              | no      | no       | no         | no
      removes themselves and others | yes        | yes       | no            | yes              | no      | no       | no         | no
      adds a subgroup            | yes        | yes       | yes           | no               | no      | no       | no         | no
      removes a subgroup         | yes        | yes       | no            | no               | no      | no       | no         | no
      invites into it            | yes        | yes       | yes           | no               | no      | no       | no         | no
    `),
  )('decides if a user %s when granted %s: %s', (action, granted, expected) => {
    const nothing = { canLeave: systemGroup.nobody };
    const isPermission = granted !== 'all groups' && granted !== 'nothing';
    const permissionOverrides = isPermission ? { ...nothing, [granted]: TEAM } : nothing;
    const realm = makeRealm({ permissionOverrides: granted === 'all groups' ? { canManageAllGroups: TEAM } : {} });
    const may = ACTIONS[action as keyof typeof ACTIONS];
    const said = expected === 'yes' ? 'yes' : INSUFFICIENT;

    expect(formatDecision(may(inTeam('member'), realm, makeGroup({ permissionOverrides })))).toBe(said);
    expect(formatDecision(may(makeActor('administrator'), realm, makeGroup({ permissionOverrides })))).toBe(
      INSUFFICIENT,
    );
    expect(formatDecision(may(inTeam('guest'), realm, makeGroup({ permissionOverrides })))).toBe(NO_GUESTS);
    expect(formatDecision(may(inTeam('guest'), realm, null))).toBe(NO_GUESTS);
    // System groups cannot be changed even with every permission.
    expect(formatDecision(may(inTeam('owner'), realm, makeGroup({ permissionOverrides, systemName: 'members' })))).toBe(
      INSUFFICIENT,
    );
    expect(formatDecision(may(inTeam('owner'), realm, null))).toBe(UNKNOWN);
    const isStrict = action === 'deactivates it' || action === 'invites into it';
    expect(formatDecision(may(inTeam('member'), realm, makeGroup({ permissionOverrides, isDeactivated: true })))).toBe(
      isStrict ? DEACTIVATED : said,
    );
  });

  it('lets owners manage all groups and everyone leave by default', () => {
    expect(formatDecision(canManageGroup(makeActor('owner'), makeRealm(), makeGroup()))).toBe('yes');
    expect(formatDecision(canManageGroup(makeActor('administrator'), makeRealm(), makeGroup()))).toBe(INSUFFICIENT);
    const member = makeActor('member', { id: 10 });
    expect(formatDecision(canRemoveMembers(member, makeRealm(), makeGroup(), [userId(10)]))).toBe('yes');
    expect(formatDecision(canRemoveMembers(member, makeRealm(), makeGroup(), []))).toBe(INSUFFICIENT);
    expect(
      formatDecision(
        canAddMembers(member, makeRealm(), makeGroup({ permissionOverrides: { canJoin: systemGroup.members } }), []),
      ),
    ).toBe(INSUFFICIENT);
  });

  it.each`
    who         | expected
    ${'owner'}  | ${'yes'}
    ${'member'} | ${'yes'}
    ${'guest'}  | ${NO_GUESTS}
  `('decides if $who may create groups by default: $expected', ({ who, expected }) => {
    expect(formatDecision(canCreateGroup(makeActor(who), makeRealm()))).toBe(expected);
  });

  it('allows only holders of the permission to create groups', () => {
    const realm = makeRealm({ permissionOverrides: { canCreateGroups: TEAM } });
    expect(formatDecision(canCreateGroup(inTeam('member'), realm))).toBe('yes');
    expect(formatDecision(canCreateGroup(makeActor('owner'), realm))).toBe(INSUFFICIENT);
  });
});

describe('change of members and subgroups', () => {
  const users = (...ids: number[]) => ids.map(userId);
  const groups = (...ids: number[]) => ids.map(groupId);

  it('adds only active users who are not members yet', () => {
    const [active, members] = [new Set(users(1, 2, 3)), new Set(users(2, 3))];
    expect(formatDecision(canBecomeMembers(users(1), active, members))).toBe('yes');
    expect(formatDecision(canBecomeMembers(users(1, 3, 2), active, members))).toBe(
      'ALREADY_GROUP_MEMBER: User 3 is already a member of this group',
    );
    expect(formatDecision(canBecomeMembers(users(2, 9, 8), active, members))).toBe('UNKNOWN_USER: Invalid user ID: 9');
    expect(formatDecision(areUsers(users(1, 2), active))).toBe('yes');
    expect(formatDecision(areUsers(users(8, 9), active))).toBe('UNKNOWN_USER: Invalid user ID: 8');
  });

  it('removes only members', () => {
    const members = new Set(users(2, 3));
    expect(formatDecision(areMembers(users(3, 2), members))).toBe('yes');
    expect(formatDecision(areMembers(users(3, 5, 4), members))).toBe(
      "NOT_GROUP_MEMBER: There is no member '5' in this user group",
    );
  });

  it('adds only active named groups as subgroups', () => {
    const known = new Map([
      [groupId(1), makeSystemGroup('nobody')],
      [groupId(40), makeGroup()],
      [groupId(41), makeGroup({ id: groupId(41), isDeactivated: true })],
      [groupId(42), makeGroup({ id: groupId(42), name: null, permissions: null } as object)],
    ]);
    expect(formatDecision(areSubgroupCandidates(groups(40, 1), known))).toBe('yes');
    expect(formatDecision(areSubgroupCandidates(groups(41, 40, 99), known))).toBe(
      'UNKNOWN_GROUP: Invalid user group ID: 99',
    );
    expect(formatDecision(areSubgroupCandidates(groups(40, 98), known))).toBe(
      'UNKNOWN_GROUP: Invalid user group ID: 98',
    );
    expect(formatDecision(areSubgroupCandidates(groups(42), known))).toBe('UNKNOWN_GROUP: Invalid user group ID: 42');
    expect(formatDecision(areSubgroupCandidates(groups(40, 41), known))).toBe(DEACTIVATED);
  });

  it('adds a subgroup only once and removes only present ones', () => {
    const subgroups = new Set(groups(40, 41));
    expect(formatDecision(canBecomeSubgroups(groups(42), subgroups))).toBe('yes');
    expect(formatDecision(canBecomeSubgroups(groups(42, 41), subgroups))).toBe(
      'ALREADY_SUBGROUP: User group 41 is already a subgroup of this group.',
    );
    expect(formatDecision(areSubgroups(groups(41, 40), subgroups))).toBe('yes');
    expect(formatDecision(areSubgroups(groups(41, 43), subgroups))).toBe(
      'NOT_SUBGROUP: User group 43 is not a subgroup of this group.',
    );
  });
});

describe('usesOfGroup', () => {
  const [actors, anonymous] = [groupId(40), groupId(60)];
  const named = (id: number, given: object = {}) => makeGroup({ id: groupId(id), name: `group ${id}`, ...given });
  const world = (given: Partial<Parameters<typeof usesOfGroup>[1]> = {}) => ({
    realm: makeRealm(),
    channels: [],
    groups: [named(40), named(41), named(42)],
    edges: [],
    ...given,
  });

  it('returns nothing for an unused group', () => {
    const uses = usesOfGroup(actors, world({ edges: [{ subgroupId: groupId(41), groupId: actors }] }));
    expect(uses).toEqual([]);
    expect(formatDecision(canDeactivateUnused(uses))).toBe('yes');
  });

  it('ignores groups without permissions', () => {
    const group = { ...makeGroup({ id: groupId(41) }), permissions: null };
    expect(usesOfGroup(actors, world({ groups: [group] }))).toEqual([]);
  });

  it('returns all uses in contract order', () => {
    const uses = usesOfGroup(
      actors,
      world({
        edges: [
          { subgroupId: actors, groupId: groupId(43) },
          { subgroupId: actors, groupId: groupId(41) },
          { subgroupId: actors, groupId: groupId(42) },
          { subgroupId: actors, groupId: anonymous },
          { subgroupId: groupId(41), groupId: groupId(61) },
        ],
        groups: [
          named(43, { isDeactivated: true, permissionOverrides: { canManage: actors } }),
          named(42, { permissionOverrides: { canManage: anonymous, canJoin: actors } }),
          named(41, { permissionOverrides: { canManage: groupId(61) } }),
          named(40),
        ],
        channels: [
          makeChannel({ id: channelId(33), permissionOverrides: { canSubscribe: actors } }),
          makeChannel({ id: channelId(32), isArchived: true, permissionOverrides: { canSubscribe: actors } }),
          makeChannel({
            id: channelId(31),
            permissionOverrides: { canSendMessage: anonymous, canAddSubscribers: actors },
          }),
          makeChannel({ id: channelId(30), permissionOverrides: { canSubscribe: groupId(41) } }),
        ],
        realm: makeRealm({ permissionOverrides: { canInviteUsers: actors, canManageAllGroups: anonymous } }),
      }),
    );
    expect(uses).toEqual([
      { type: 'subgroup', supergroupIds: [41, 42] },
      { type: 'channel', channelId: 31, permissions: ['canAddSubscribers', 'canSendMessage'] },
      { type: 'channel', channelId: 33, permissions: ['canSubscribe'] },
      { type: 'group', groupId: 42, permissions: ['canJoin', 'canManage'] },
      { type: 'realm', permissions: ['canInviteUsers', 'canManageAllGroups'] },
    ]);
    expect(canDeactivateUnused(uses)).toMatchObject({
      code: 'CANNOT_DEACTIVATE_GROUP_IN_USE',
      message: 'Cannot deactivate user group in use.',
      details: { objections: uses },
    });
  });

  it('ignores permissions of a named group that contains the group', () => {
    const realm = makeRealm({ permissionOverrides: { canInviteUsers: groupId(41) } });
    const uses = usesOfGroup(actors, world({ realm, edges: [{ subgroupId: actors, groupId: groupId(41) }] }));
    expect(uses).toEqual([{ type: 'subgroup', supergroupIds: [41] }]);
  });
});
