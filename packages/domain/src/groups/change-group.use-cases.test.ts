import { aGroup, aUser, createFixture, intercepting, type MemoryFixture } from '@parley/testkit';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { CreateGroup } from './change-group.use-cases.js';
import { ChangeGroupMembers } from './change-members.use-cases.js';
import { MAX_MEMBERSHIPS } from './group.js';

const fixtureWithPeople = () =>
  createFixture(
    aUser({ name: 'owner', role: 'owner' }),
    aUser({ name: 'a' }),
    aUser({ name: 'b' }),
    aGroup({ name: 'team', members: ['owner'] }),
  );

/** Simulates a realm with `count` group memberships. */
function withMembers({ uow }: MemoryFixture, count: number): UnitOfWork {
  const counting = (tx: Transaction): Transaction =>
    Object.assign(Object.create(tx) as Transaction, {
      groups: Object.assign(Object.create(tx.groups), { countMemberships: async () => count }),
    });
  return intercepting(uow, { write: (work, run) => run((tx) => work(counting(tx))) });
}

const FULL = { code: 'TOO_MANY_MEMBERSHIPS', message: 'Too many members of user groups (limit: 250000).' };

describe('membership limit', () => {
  const changed = { removedUserIds: [], addedSubgroupIds: [], removedSubgroupIds: [], of: 'members' } as const;

  it('rejects adding more members to a group than the remaining capacity', async () => {
    const fixture = await fixtureWithPeople();
    const { caller, group, user } = fixture;
    const change = new ChangeGroupMembers(
      withMembers(fixture, MAX_MEMBERSHIPS - 1),
      { send: async () => {} },
      fixture.clock,
    );
    const add = (...names: readonly string[]) =>
      change.execute(caller('owner'), {
        ...changed,
        groupId: group('team').id,
        addedUserIds: names.map((name) => user(name).id),
      });
    await expect(add('a', 'b')).rejects.toMatchObject(FULL);
    await add('a');
  });

  it('rejects a new group with more members than the remaining capacity', async () => {
    const fixture = await fixtureWithPeople();
    const { caller, clock, user } = fixture;
    const create = (name: string, count: number, ...names: readonly string[]) =>
      new CreateGroup(withMembers(fixture, count), clock).execute(caller('owner'), {
        name,
        description: '',
        memberIds: names.map((each) => user(each).id),
        subgroupIds: [],
        permissions: {},
      });
    await expect(create('two', MAX_MEMBERSHIPS - 1, 'a', 'b')).rejects.toMatchObject(FULL);
    await create('one', MAX_MEMBERSHIPS - 1, 'a');
    await create('none', MAX_MEMBERSHIPS + 1);
  });
});
