import { formatDecision, groupId, userId } from '@parley/testkit';
import fc from 'fast-check';
import { type ClosureGroup, GroupClosure, staysAcyclic } from './group-closure.js';

const users = (...ids: number[]) => ids.map(userId);
const groups = (...ids: number[]) => ids.map(groupId);
const group = (id: number, memberIds: number[], subgroupIds: number[] = [], isDeactivated = false): ClosureGroup => ({
  id: groupId(id),
  isDeactivated,
  memberIds: users(...memberIds),
  subgroupIds: groups(...subgroupIds),
});
const sorted = (ids: ReadonlySet<number>) => [...ids].sort((a, b) => a - b);

describe('GroupClosure', () => {
  it('includes direct groups and all groups that contain them', () => {
    const closure = new GroupClosure([group(1, [10]), group(2, [11], [1]), group(3, [], [2]), group(4, [10, 12])]);
    expect(sorted(closure.groupsOf(userId(10)))).toEqual([1, 2, 3, 4]);
    expect(sorted(closure.groupsOf(userId(11)))).toEqual([2, 3]);
    expect(sorted(closure.groupsOf(userId(12)))).toEqual([4]);
    expect(sorted(closure.groupsOf(userId(99)))).toEqual([]);
    expect(closure.isWithin(groupId(1), groupId(3))).toBe(true);
    expect(closure.isWithin(groupId(1), groupId(1))).toBe(true);
    expect(closure.isWithin(groupId(3), groupId(1))).toBe(false);
    expect(closure.isWithin(groupId(4), groupId(3))).toBe(false);
    expect(closure.isWithin(groupId(9), groupId(9))).toBe(false);
    expect(closure.isWithin(groupId(1), groupId(9))).toBe(false);
  });

  it('excludes members of a deactivated group from the groups that contain it', () => {
    const closure = new GroupClosure([group(1, [10]), group(2, [11], [1], true), group(3, [], [2])]);
    expect(sorted(closure.groupsOf(userId(10)))).toEqual([1, 2]);
    expect(sorted(closure.groupsOf(userId(11)))).toEqual([2]);
    closure.setDeactivated(groupId(2), false);
    expect(sorted(closure.groupsOf(userId(10)))).toEqual([1, 2, 3]);
    closure.setDeactivated(groupId(1), true);
    expect(sorted(closure.groupsOf(userId(10)))).toEqual([1]);
  });

  it('stays correct after every kind of change', () => {
    const closure = new GroupClosure([group(1, [10])]);
    closure.addGroup(groupId(2));
    closure.addSubgroups(groupId(2), groups(1));
    expect(sorted(closure.groupsOf(userId(10)))).toEqual([1, 2]);
    closure.addMembers(groupId(2), users(11));
    expect(sorted(closure.groupsOf(userId(11)))).toEqual([2]);
    closure.removeMembers(groupId(1), users(10, 99));
    expect(sorted(closure.groupsOf(userId(10)))).toEqual([]);
    closure.addMembers(groupId(1), users(10));
    closure.removeSubgroups(groupId(2), groups(1));
    expect(sorted(closure.groupsOf(userId(10)))).toEqual([1]);
    closure.addGroup(groupId(3), true);
    closure.addSubgroups(groupId(3), groups(1));
    closure.addSubgroups(groupId(2), groups(3));
    expect(sorted(closure.groupsOf(userId(10)))).toEqual([1, 3]);
    // Adding again is idempotent.
    closure.addGroup(groupId(3), false);
    closure.addMembers(groupId(1), users(10));
    expect(sorted(closure.groupsOf(userId(10)))).toEqual([1, 3]);
  });

  it('does not modify returned sets', () => {
    const closure = new GroupClosure([group(1, [10]), group(2, [])]);
    const before = closure.groupsOf(userId(10));
    closure.addMembers(groupId(2), users(10));
    expect(sorted(before)).toEqual([1]);
    expect(sorted(closure.groupsOf(userId(10)))).toEqual([1, 2]);
  });

  it('shares one set among users in the same groups', () => {
    const closure = new GroupClosure([group(1, [10, 11]), group(2, [11, 10])]);
    expect(closure.groupsOf(userId(10))).toBe(closure.groupsOf(userId(11)));
    // Sharing is independent of insertion order.
    closure.addMembers(groupId(2), users(12));
    closure.addMembers(groupId(1), users(12));
    expect(closure.groupsOf(userId(12))).toBe(closure.groupsOf(userId(11)));
  });

  it('supports a group contained both directly and indirectly', () => {
    const closure = new GroupClosure([group(1, [10]), group(2, [], [1]), group(4, [], [2]), group(3, [], [1, 2, 4])]);
    expect(sorted(closure.groupsOf(userId(10)))).toEqual([1, 2, 3, 4]);
  });

  it('treats a new group as active', () => {
    const closure = new GroupClosure([group(1, [])]);
    closure.addGroup(groupId(2));
    closure.addMembers(groupId(2), users(10));
    closure.addSubgroups(groupId(1), groups(2));
    expect(sorted(closure.groupsOf(userId(10)))).toEqual([1, 2]);
  });

  it('supports more than 32 groups', () => {
    const chain = Array.from({ length: 100 }, (_, index) =>
      group(index + 1, [index + 1001], index === 0 ? [] : [index]),
    );
    const closure = new GroupClosure(chain);
    expect(closure.groupsOf(userId(1001)).size).toBe(100);
    expect(sorted(closure.groupsOf(userId(1100)))).toEqual([100]);
    expect(sorted(closure.groupsOf(userId(1067)))).toEqual(Array.from({ length: 34 }, (_, index) => index + 67));
  });

  it('throws for unknown groups', () => {
    const closure = new GroupClosure();
    expect(() => closure.addMembers(groupId(1), users(10))).toThrow('There is no group 1.');
    expect(() => closure.addSubgroups(groupId(1), groups(2))).toThrow('There is no group');
    expect(() => new GroupClosure([group(1, [], [2])])).toThrow('There is no group 2.');
  });
});

describe('GroupClosure with cycles', () => {
  const edges = [
    { subgroupId: groupId(1), groupId: groupId(2) },
    { subgroupId: groupId(2), groupId: groupId(3) },
    { subgroupId: groupId(2), groupId: groupId(4) },
  ];

  it.each`
    into | what      | expected
    ${1} | ${[2]}    | ${'refused'}
    ${1} | ${[3]}    | ${'refused'}
    ${1} | ${[1]}    | ${'refused'}
    ${1} | ${[5, 4]} | ${'refused'}
    ${1} | ${[5]}    | ${'yes'}
    ${3} | ${[1]}    | ${'yes'}
    ${3} | ${[4]}    | ${'yes'}
    ${4} | ${[3]}    | ${'yes'}
    ${5} | ${[1, 2]} | ${'yes'}
    ${5} | ${[]}     | ${'yes'}
  `('decides if adding $what to $into is allowed: $expected', ({ into, what, expected }) => {
    expect(formatDecision(staysAcyclic(edges, groupId(into), groups(...what)))).toBe(
      expected === 'yes'
        ? 'yes'
        : `GROUP_CYCLE: User group ${into} is already a subgroup of one of the passed subgroups.`,
    );
  });

  it('rejects a cycle without changing anything', () => {
    const closure = new GroupClosure([group(1, [10]), group(2, [11], [1]), group(3, [])]);
    expect(() => closure.addSubgroups(groupId(1), groups(3, 2))).toThrow('Group 1 would contain itself.');
    expect(sorted(closure.groupsOf(userId(11)))).toEqual([2]);
    expect(closure.isWithin(groupId(3), groupId(1))).toBe(false);
    // Deactivated groups are included, because they may be reactivated.
    closure.setDeactivated(groupId(1), true);
    expect(() => closure.addSubgroups(groupId(1), groups(2))).toThrow('Group 1 would contain itself.');
  });

  it('throws if the initial groups contain a cycle', () => {
    expect(() => new GroupClosure([group(1, [], [2]), group(2, [], [1])])).toThrow('in a cycle');
    expect(() => new GroupClosure([group(1, [], [1])])).toThrow('in a cycle');
  });
});

describe('GroupClosure with random groups', () => {
  const COUNT = 8;
  const ids = fc.integer({ min: 1, max: COUNT });
  const people = fc.integer({ min: 101, max: 106 });
  const change = fc.oneof(
    fc.record({ kind: fc.constant('join' as const), group: ids, who: people }),
    fc.record({ kind: fc.constant('leave' as const), group: ids, who: people }),
    fc.record({ kind: fc.constant('nest' as const), group: ids, subgroup: ids }),
    fc.record({ kind: fc.constant('unnest' as const), group: ids, subgroup: ids }),
    fc.record({ kind: fc.constant('deactivate' as const), group: ids, on: fc.boolean() }),
  );

  interface Naive {
    members: Set<number>;
    subgroups: Set<number>;
    isDeactivated: boolean;
  }

  /** Checks membership naively by walking down from the group. */
  function isIn(world: Map<number, Naive>, id: number, who: number): boolean {
    const { members, subgroups } = world.get(id)!;
    return members.has(who) || [...subgroups].some((sub) => !world.get(sub)!.isDeactivated && isIn(world, sub, who));
  }

  const holds = (world: Map<number, Naive>, outer: number, inner: number): boolean =>
    outer === inner || [...world.get(outer)!.subgroups].some((sub) => holds(world, sub, inner));

  it('matches a naive walk after every change and after a rebuild', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const all = Array.from({ length: COUNT }, (_, index) => index + 1);
        const world = new Map<number, Naive>(
          all.map((id) => [id, { members: new Set(), subgroups: new Set(), isDeactivated: false }]),
        );
        const closure = new GroupClosure(all.map((id) => group(id, [])));
        for (const step of changes) {
          const naive = world.get(step.group)!;
          const id = groupId(step.group);
          if (step.kind === 'join') {
            naive.members.add(step.who);
            closure.addMembers(id, users(step.who));
          } else if (step.kind === 'leave') {
            naive.members.delete(step.who);
            closure.removeMembers(id, users(step.who));
          } else if (step.kind === 'deactivate') {
            naive.isDeactivated = step.on;
            closure.setDeactivated(id, step.on);
          } else if (step.kind === 'unnest') {
            naive.subgroups.delete(step.subgroup);
            closure.removeSubgroups(id, groups(step.subgroup));
          } else if (holds(world, step.subgroup, step.group)) {
            expect(() => closure.addSubgroups(id, groups(step.subgroup))).toThrow();
          } else {
            naive.subgroups.add(step.subgroup);
            closure.addSubgroups(id, groups(step.subgroup));
          }
        }
        const rebuilt = new GroupClosure(
          all.map((id) => {
            const { members, subgroups, isDeactivated } = world.get(id)!;
            return group(id, [...members], [...subgroups], isDeactivated);
          }),
        );
        for (let who = 101; who <= 106; who++) {
          const expected = all.filter((id) => isIn(world, id, who));
          expect(sorted(closure.groupsOf(userId(who)))).toEqual(expected);
          expect(sorted(rebuilt.groupsOf(userId(who)))).toEqual(expected);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('GroupClosure with 10,000 users and 500 nested groups', () => {
  const NESTED = 500;
  const PEOPLE = 10_000;

  /** Builds a chain, which is the deepest nesting, with every user in a few groups. */
  function build(): GroupClosure {
    const members: number[][] = Array.from({ length: NESTED }, () => []);
    for (let who = 1; who <= PEOPLE; who++) {
      for (let slot = 0; slot < 3; slot++) members[(who * (slot + 1) * 7) % NESTED]!.push(1000 + who);
    }
    return new GroupClosure(members.map((ids, index) => group(index + 1, ids, index === 0 ? [] : [index])));
  }

  it('returns the correct groups for all users', () => {
    const closure = build();
    // User 1 is in groups 7, 14 and 21 from the bottom, counted from zero, and in all groups above.
    expect(closure.groupsOf(userId(1001)).size).toBe(NESTED - 7);
    let total = 0;
    for (let who = 1; who <= PEOPLE; who++) total += closure.groupsOf(userId(1000 + who)).size > 0 ? 1 : 0;
    expect(total).toBe(PEOPLE);
  });
});
