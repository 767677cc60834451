import { tableRows, userId } from '@parley/testkit';
import type { Role, SystemGroupName } from '../access/roles.js';
import type { UserId } from '../kernel/ids.js';
import {
  fullMemberAt,
  fullMemberChanges,
  isPastWaitingPeriod,
  nextPromotionAt,
  type RoleAndJoinTime,
  systemGroupChange,
  systemGroupsOf,
} from './system-groups.js';

const DAY = 86_400;
const person = (role: Role, joinedAt = 0): RoleAndJoinTime => ({ role, joinedAt });
const numbered = (id: number, role: Role, joinedAt = 0) => ({ id: userId(id), ...person(role, joinedAt) });

describe('waiting period', () => {
  it.each`
    days | age            | past
    ${0} | ${0}           | ${true}
    ${3} | ${3 * DAY - 1} | ${false}
    ${3} | ${3 * DAY}     | ${true}
    ${3} | ${3 * DAY + 1} | ${true}
  `('is over after $days days at age $age seconds: $past', ({ days, age, past }) => {
    expect(isPastWaitingPeriod(1000, days, 1000 + age)).toBe(past);
    expect(fullMemberAt(1000, days)).toBe(1000 + days * DAY);
  });
});

describe('systemGroupsOf and systemGroupChange', () => {
  it.each(
    tableRows(`
      who           | waiting            | waited
      owner         | owners             | owners
      administrator | administrators     | administrators
      moderator     | moderators         | moderators
      member        | members            | members fullMembers
      guest         | everyone           | everyone
    `),
  )('assigns a %s (%s) to the system groups %s', (role, age, expected) => {
    const now = age === 'waiting' ? 3 * DAY - 1 : 3 * DAY;
    expect(systemGroupsOf(person(role as Role), 3, now)).toEqual(expected.split(' '));
  });

  it.each`
    now                           | becomes            | leaves                        | joins
    ${[]}                         | ${'member'}        | ${[]}                         | ${['members', 'fullMembers']}
    ${['members', 'fullMembers']} | ${'moderator'}     | ${['members', 'fullMembers']} | ${['moderators']}
    ${['moderators']}             | ${'member'}        | ${['moderators']}             | ${['members', 'fullMembers']}
    ${['members']}                | ${'guest'}         | ${['members']}                | ${['everyone']}
    ${['members', 'fullMembers']} | ${'member'}        | ${[]}                         | ${[]}
    ${['members']}                | ${'member'}        | ${[]}                         | ${['fullMembers']}
    ${['owners']}                 | ${'administrator'} | ${['owners']}                 | ${['administrators']}
  `('leaves $leaves and joins $joins when a user in $now becomes $becomes', ({ now, becomes, leaves, joins }) => {
    const change = systemGroupChange(now as SystemGroupName[], person(becomes), 0, 0);
    expect(change).toEqual({ leaves, joins });
  });

  it('removes a full member after the waiting period was extended', () => {
    expect(systemGroupChange(['members', 'fullMembers'], person('member'), 5, DAY)).toEqual({
      leaves: ['fullMembers'],
      joins: [],
    });
  });
});

describe('promotion of full members', () => {
  const everybody = [
    numbered(9, 'member', 2 * DAY),
    numbered(3, 'member', 1 * DAY),
    numbered(2, 'member', 4 * DAY),
    numbered(4, 'moderator', 0),
    numbered(5, 'guest', 0),
    numbered(1, 'member', 0),
  ];
  const full = (...ids: number[]): ReadonlySet<UserId> => new Set(ids.map(userId));

  it('adds users after their waiting period', () => {
    expect(fullMemberChanges(everybody, full(1), 3, 5 * DAY)).toEqual({ leaves: [], joins: [3, 9] });
    expect(fullMemberChanges(everybody, full(9, 1, 3), 3, 5 * DAY)).toEqual({ leaves: [], joins: [] });
  });

  it('adds or removes users when the waiting period changes', () => {
    expect(fullMemberChanges(everybody, full(9, 3, 1), 4, 5 * DAY)).toEqual({ leaves: [9], joins: [] });
    expect(fullMemberChanges(everybody, full(9, 3, 1), 100, 5 * DAY)).toEqual({ leaves: [1, 3, 9], joins: [] });
    expect(fullMemberChanges(everybody, full(), 0, 5 * DAY)).toEqual({ leaves: [], joins: [1, 2, 3, 9] });
  });

  it('removes users with a changed role', () => {
    expect(fullMemberChanges(everybody, full(1, 4, 5), 3, 4 * DAY)).toEqual({ leaves: [4, 5], joins: [3] });
  });

  it('returns the time of the next promotion', () => {
    expect(nextPromotionAt(everybody, 3, 0)).toBe(3 * DAY);
    expect(nextPromotionAt(everybody, 3, 3 * DAY)).toBe(4 * DAY);
    expect(nextPromotionAt(everybody, 3, 6 * DAY)).toBe(7 * DAY);
    expect(nextPromotionAt(everybody, 3, 7 * DAY)).toBeNull();
    expect(nextPromotionAt(everybody, 0, 7 * DAY)).toBeNull();
    expect(nextPromotionAt([numbered(4, 'moderator', 10 * DAY), numbered(5, 'guest', 10 * DAY)], 3, 0)).toBeNull();
  });

  it('promotes no users before that time', () => {
    const now = 3 * DAY;
    const next = nextPromotionAt(everybody, 3, now)!;
    const current = full(...fullMemberChanges(everybody, full(), 3, now).joins);
    expect(fullMemberChanges(everybody, current, 3, next - 1)).toEqual({ leaves: [], joins: [] });
    expect(fullMemberChanges(everybody, current, 3, next).joins).not.toEqual([]);
  });
});
