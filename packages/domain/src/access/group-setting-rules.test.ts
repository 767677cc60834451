import { formatDecision, groupId, makeGroup, makeSystemGroup, systemGroup, userId } from '@parley/testkit';
import fc from 'fast-check';
import { REALM_PERMISSIONS } from '../realms/realm-settings.js';
import {
  canonicalGroupSetting,
  checkGroupSetting,
  type GroupSettingValue,
  groupSetting,
  groupSettingUpdate,
  isSameGroupSetting,
  namedIn,
} from './group-settings.js';
import { SYSTEM_GROUPS, type SystemGroupName } from './roles.js';

const { nobody } = systemGroup;
const speltOut = (directMembers: number[], directSubgroups: number[] = []): GroupSettingValue => ({
  directMembers: directMembers.map(userId),
  directSubgroups: directSubgroups.map(groupId),
});

describe('canonicalGroupSetting', () => {
  it.each`
    given                             | is
    ${7}                              | ${7}
    ${speltOut([], [7])}              | ${7}
    ${speltOut([], [7, 7])}           | ${7}
    ${speltOut([])}                   | ${nobody}
    ${speltOut([], [nobody])}         | ${nobody}
    ${speltOut([9, 8, 9])}            | ${speltOut([8, 9])}
    ${speltOut([9], [7])}             | ${speltOut([9], [7])}
    ${speltOut([], [10, 9, 10])}      | ${speltOut([], [9, 10])}
    ${speltOut([10, 9], [nobody, 7])} | ${speltOut([9, 10], [nobody, 7])}
  `('normalizes $given to $is', ({ given, is }) => {
    expect(canonicalGroupSetting(given, nobody)).toEqual(is);
  });

  const ids = fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 5 });
  it('returns equal, stable results for equivalent values', () => {
    fc.assert(
      fc.property(ids, ids, (members, subgroups) => {
        const once = canonicalGroupSetting(speltOut(members, subgroups), nobody);
        expect(canonicalGroupSetting(once, nobody)).toEqual(once);
        const shuffled = speltOut([...members, ...members].reverse(), [...subgroups].reverse());
        expect(isSameGroupSetting(canonicalGroupSetting(shuffled, nobody), once)).toBe(true);
      }),
    );
  });

  it.each`
    one                   | other                  | same
    ${7}                  | ${7}                   | ${true}
    ${7}                  | ${8}                   | ${false}
    ${7}                  | ${speltOut([7])}       | ${false}
    ${speltOut([7])}      | ${7}                   | ${false}
    ${speltOut([7])}      | ${speltOut([7])}       | ${true}
    ${speltOut([7])}      | ${speltOut([8])}       | ${false}
    ${speltOut([7])}      | ${speltOut([7, 8])}    | ${false}
    ${speltOut([7, 8])}   | ${speltOut([7])}       | ${false}
    ${speltOut([7], [9])} | ${speltOut([7], [10])} | ${false}
    ${speltOut([7], [9])} | ${speltOut([7])}       | ${false}
  `('compares $one and $other: $same', ({ one, other, same }) => {
    expect(isSameGroupSetting(one, other)).toBe(same);
  });
});

describe('groupSettingUpdate', () => {
  it.each`
    current              | change                                       | becomes
    ${7}                 | ${{ new: 8 }}                                | ${8}
    ${7}                 | ${{ new: 7 }}                                | ${null}
    ${7}                 | ${{ new: speltOut([], [7]) }}                | ${null}
    ${7}                 | ${{ new: 8, old: 7 }}                        | ${8}
    ${7}                 | ${{ new: 8, old: speltOut([], [7]) }}        | ${8}
    ${7}                 | ${{ new: 8, old: 9 }}                        | ${'stale'}
    ${7}                 | ${{ new: 7, old: 9 }}                        | ${'stale'}
    ${nobody}            | ${{ new: speltOut([9]), old: speltOut([]) }} | ${speltOut([9])}
    ${speltOut([9, 10])} | ${{ new: 7, old: speltOut([10, 9]) }}        | ${7}
    ${speltOut([9, 10])} | ${{ new: speltOut([10, 9, 9]) }}             | ${null}
    ${speltOut([9, 10])} | ${{ new: 7, old: speltOut([9]) }}            | ${'stale'}
    ${speltOut([9])}     | ${{ new: speltOut([]) }}                     | ${nobody}
  `('changes $current with $change to $becomes', ({ current, change, becomes }) => {
    const { decision, value } = groupSettingUpdate(current, change, nobody);
    if (becomes === 'stale') {
      expect(formatDecision(decision)).toBe("STALE_VALUE: 'old' value does not match the expected value.");
    } else {
      expect(formatDecision(decision)).toBe('yes');
      expect(value).toEqual(becomes);
    }
  });
});

describe('checkGroupSetting', () => {
  const named = {
    groups: new Map([
      ...SYSTEM_GROUPS.map(({ name }) => [systemGroup[name], makeSystemGroup(name)] as const),
      [groupId(40), makeGroup()] as const,
      [groupId(41), makeGroup({ id: groupId(41), isDeactivated: true })] as const,
      [groupId(42), makeGroup({ id: groupId(42), name: null })] as const,
    ]),
    userIds: new Set([userId(9), userId(10)]),
  };
  const check = (value: GroupSettingValue, definition = groupSetting('members', 'ny')) =>
    formatDecision(checkGroupSetting(value, definition, 'canDance', named));
  const cannot = (group: string) => `GROUP_NOT_ALLOWED: 'canDance' cannot be given to the group '${group}'.`;
  const mustBeSystem = "SYSTEM_GROUP_REQUIRED: 'canDance' must be given to a system group.";

  it.each`
    value                      | expected
    ${groupId(40)}             | ${'yes'}
    ${groupId(99)}             | ${'UNKNOWN_GROUP: Invalid user group'}
    ${groupId(42)}             | ${'UNKNOWN_GROUP: Invalid user group'}
    ${groupId(41)}             | ${'GROUP_DEACTIVATED: User group is deactivated.'}
    ${systemGroup.internet}    | ${cannot('role:internet')}
    ${systemGroup.nobody}      | ${'yes'}
    ${systemGroup.everyone}    | ${'yes'}
    ${systemGroup.members}     | ${'yes'}
    ${speltOut([9, 10])}       | ${'yes'}
    ${speltOut([9], [40])}     | ${'yes'}
    ${speltOut([8, 9, 7])}     | ${'UNKNOWN_USER: Invalid user ID: 8'}
    ${speltOut([8], [99])}     | ${'UNKNOWN_USER: Invalid user ID: 8'}
    ${speltOut([9], [40, 99])} | ${'UNKNOWN_GROUP: Invalid user group ID: 99'}
    ${speltOut([9], [42])}     | ${'UNKNOWN_GROUP: Invalid user group ID: 42'}
    ${speltOut([9], [41])}     | ${'GROUP_DEACTIVATED: User group is deactivated.'}
    ${speltOut([9], [41, 99])} | ${'UNKNOWN_GROUP: Invalid user group ID: 99'}
    ${speltOut([9], [1, 7])}   | ${'yes'}
  `('validates $value for a permission open to all: $expected', ({ value, expected }) => {
    expect(check(value)).toBe(expected);
  });

  it.each`
    allows  | nobody                   | everyone                   | internet
    ${''}   | ${cannot('role:nobody')} | ${cannot('role:everyone')} | ${cannot('role:internet')}
    ${'n'}  | ${'yes'}                 | ${cannot('role:everyone')} | ${cannot('role:internet')}
    ${'y'}  | ${cannot('role:nobody')} | ${'yes'}                   | ${cannot('role:internet')}
    ${'ny'} | ${'yes'}                 | ${'yes'}                   | ${cannot('role:internet')}
  `('permits the system groups allowed by "$allows"', (row) => {
    const definition = groupSetting('members', row.allows);
    expect(check(systemGroup.nobody, definition)).toBe(row.nobody);
    expect(check(systemGroup.everyone, definition)).toBe(row.everyone);
    expect(check(systemGroup.internet, definition)).toBe(row.internet);
    expect(check(systemGroup.internet, { ...definition, allowInternet: true })).toBe('yes');
    // Accepted inside anonymous groups; guests are denied when the permission is checked.
    expect(check(speltOut([9], [systemGroup.everyone, systemGroup.nobody]), definition)).toBe('yes');
  });

  it.each`
    permission                     | group               | expected
    ${'canAccessAllUsers'}         | ${'everyone'}       | ${'yes'}
    ${'canAccessAllUsers'}         | ${'members'}        | ${'yes'}
    ${'canAccessAllUsers'}         | ${'administrators'} | ${cannot('role:administrators')}
    ${'canAccessAllUsers'}         | ${'nobody'}         | ${cannot('role:nobody')}
    ${'canAccessAllUsers'}         | ${'fullMembers'}    | ${cannot('role:fullmembers')}
    ${'canCreateWebPublicChannel'} | ${'owners'}         | ${'yes'}
    ${'canCreateWebPublicChannel'} | ${'moderators'}     | ${'yes'}
    ${'canCreateWebPublicChannel'} | ${'nobody'}         | ${'yes'}
    ${'canCreateWebPublicChannel'} | ${'members'}        | ${cannot('role:members')}
    ${'canCreateWebPublicChannel'} | ${'everyone'}       | ${cannot('role:everyone')}
    ${'canManageAllGroups'}        | ${'nobody'}         | ${cannot('role:nobody')}
    ${'canManageAllGroups'}        | ${'members'}        | ${'yes'}
  `('decides if $permission permits $group: $expected', ({ permission, group, expected }) => {
    const definition = REALM_PERMISSIONS[permission as keyof typeof REALM_PERMISSIONS];
    expect(check(systemGroup[group as SystemGroupName], definition)).toBe(expected);
  });

  it('accepts only system groups if the permission requires them', () => {
    const { canAccessAllUsers } = REALM_PERMISSIONS;
    expect(check(groupId(40), canAccessAllUsers)).toBe(mustBeSystem);
    expect(check(speltOut([8], [99]), canAccessAllUsers)).toBe(mustBeSystem);
    expect(check(groupId(41), canAccessAllUsers)).toBe('GROUP_DEACTIVATED: User group is deactivated.');
    expect(checkGroupSetting(groupId(40), canAccessAllUsers, 'canDance', named)).toMatchObject({
      details: { permission: 'canDance' },
    });
  });

  it('accepts only allowed system groups if the permission lists them', () => {
    const definition = groupSetting('members', 'n', { allowedSystemGroups: ['members'] });
    expect(check(systemGroup.members, definition)).toBe('yes');
    expect(check(systemGroup.owners, definition)).toBe(cannot('role:owners'));
    expect(check(groupId(40), definition)).toBe(cannot('actors'));
  });
});

describe('namedIn', () => {
  it('returns all ids to look up before validation', () => {
    expect(namedIn(groupId(7))).toEqual({ groupIds: [7], userIds: [] });
    expect(namedIn(speltOut([9], [7, 8]))).toEqual({ groupIds: [7, 8], userIds: [9] });
  });
});
