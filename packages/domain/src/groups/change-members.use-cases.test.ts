import {
  aChannel,
  aGroup,
  aUser,
  createFixture,
  eventsWithReceivers,
  expectInSync,
  expectRefused,
  intercepting,
  type MemoryFixture,
} from '@parley/testkit';
import type { RealmId, UserId } from '../kernel/ids.js';
import { JobRunner } from '../kernel/jobs.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { ChangeGroupMembers, ChangeMemberParts } from './change-members.use-cases.js';
import type { MembershipNotice } from './group.js';
import { MAX_MEMBERS_AT_ONCE, MAX_MEMBERSHIPS } from './group.js';

const PEOPLE = Array.from({ length: MAX_MEMBERS_AT_ONCE + 100 }, (_, n) => `person ${n}`);

async function large() {
  const fixture = await createFixture(
    aUser({ name: 'owner', role: 'owner' }),
    ...PEOPLE.map((name) => aUser({ name })),
    aGroup({ name: 'team', members: [] }),
    aGroup({ name: 'crowd', members: PEOPLE }),
    aGroup({ name: 'plain', members: [] }),
    aChannel({ name: 'secret', privacy: 'privateSharedHistory', grantedTo: { canSubscribe: 'team' } }),
  );
  const counter = { count: 0, failsAfter: Number.POSITIVE_INFINITY };
  const uow = intercepting(fixture.uow, {
    write: async (work, run) => {
      if (counter.count >= counter.failsAfter) throw new Error('Stopped');
      counter.count++;
      return run((tx) => work(fuller(tx)));
    },
  });
  let others = 0;
  /** Simulates memberships of other groups. */
  const fuller = (tx: Transaction): Transaction =>
    Object.assign(Object.create(tx) as Transaction, {
      groups: Object.assign(Object.create(tx.groups), {
        countMemberships: async (realmId: RealmId) => others + (await tx.groups.countMemberships(realmId)),
      }),
    });
  const noticed: [string, number][] = [];
  const notices = {
    send: async (_tx: unknown, _realm: unknown, { op, people }: MembershipNotice) =>
      void noticed.push([op, people.length]),
  };
  const groupId = fixture.group('team').id;
  const change = (addedUserIds: readonly UserId[], removedUserIds: readonly UserId[] = []) =>
    new ChangeGroupMembers(uow, notices, fixture.clock).execute(fixture.caller('owner'), {
      ...{ groupId, addedUserIds, removedUserIds, addedSubgroupIds: [], removedSubgroupIds: [], of: 'members' },
    });
  const changeSubgroups = (op: 'add' | 'remove', name = 'team') => {
    const subgroupIds = [fixture.group('crowd').id];
    const [addedSubgroupIds, removedSubgroupIds] = op === 'add' ? [subgroupIds, []] : [[], subgroupIds];
    return new ChangeGroupMembers(uow, notices, fixture.clock).execute(fixture.caller('owner'), {
      ...{ groupId: fixture.group(name).id, addedUserIds: [], removedUserIds: [], of: 'subgroups' },
      ...{ addedSubgroupIds, removedSubgroupIds },
    });
  };
  return {
    ...{ fixture, counter, noticed, change, changeSubgroups },
    leaveRoomFor: (members: number) => {
      others = MAX_MEMBERSHIPS - PEOPLE.length - members;
    },
    people: PEOPLE.map((name) => fixture.user(name).id),
    memberCount: () =>
      fixture.uow.read(
        fixture.realm.id,
        async ({ groups }) => (await groups.listMembersRecursively(fixture.realm.id, [groupId])).length,
      ),
    /** Runs the jobs left by a crash, of which the first ones fail once. */
    recover: async (failures = 0) => {
      const problems: unknown[] = [];
      const report = (...problem: unknown[]) => void problems.push(problem);
      let left = failures;
      const send = async (...notice: Parameters<typeof notices.send>) => {
        if (left-- > 0) throw new Error('broken');
        return notices.send(...notice);
      };
      const parts = new ChangeMemberParts(fixture.uow, { send }, fixture.clock);
      for (let run = 0; run <= failures; run++) {
        fixture.clock.advance(60);
        await new JobRunner(parts, { uow: fixture.uow, clock: fixture.clock, report }).run();
      }
      expect(problems).toHaveLength(failures);
    },
  };
}

const eventsOf = async (fixture: MemoryFixture) => (await eventsWithReceivers(fixture)).map(([type]) => type);

describe('request for many group members (contract decision 10)', () => {
  it('splits a large change into bounded units, each publishing the channels that become visible', async () => {
    const { fixture, counter, noticed, people, change, memberCount } = await large();
    await change(people);
    expect([counter.count, await memberCount()]).toEqual([3, people.length]);
    expect(noticed).toEqual([
      ['add', MAX_MEMBERS_AT_ONCE],
      ['add', 100],
    ]);
    const added = ['group.members_changed', 'channel.created', 'channel.subscribers_shown'];
    expect((await eventsOf(fixture)).slice(-6)).toEqual([...added, ...added]);
    await change([], people);
    expect([counter.count, await memberCount()]).toEqual([6, 0]);
    const removed = ['group.members_changed', 'channel.hidden'];
    expect((await eventsOf(fixture)).slice(-4)).toEqual([...removed, ...removed]);
  });

  it('runs as one unit at the limit of a unit', async () => {
    const { counter, people, change } = await large();
    await change(people.slice(0, MAX_MEMBERS_AT_ONCE));
    expect(counter.count).toBe(1);
  });

  it('changes nothing if one user is unknown or already a member', async () => {
    const { fixture, people, change } = await large();
    await change(people.slice(0, 1));
    await expectRefused(fixture, () => change(people), { code: 'ALREADY_GROUP_MEMBER' });
    await expectRefused(fixture, () => change([], people), { code: 'NOT_GROUP_MEMBER' });
    await expectRefused(fixture, () => change([...people.slice(1), 1_000_000 as UserId]), { code: 'UNKNOWN_USER' });
  });

  it('is completed by a job after a crash', async () => {
    const { counter, people, change, memberCount, recover } = await large();
    counter.failsAfter = 2;
    await expect(change(people)).rejects.toThrow('Stopped');
    expect(await memberCount()).toBe(MAX_MEMBERS_AT_ONCE);
    await recover();
    expect(await memberCount()).toBe(people.length);
  });

  it('counts the members that accepted requests will add towards the limit', async () => {
    const { counter, people, change, recover, memberCount, leaveRoomFor } = await large();
    leaveRoomFor(2 * people.length - 100);
    counter.failsAfter = 1;
    await expect(change(people)).rejects.toThrow('Stopped');
    counter.failsAfter = Number.POSITIVE_INFINITY;
    await expect(change(people)).rejects.toMatchObject({ code: 'TOO_MANY_MEMBERSHIPS' });
    await recover();
    expect(await memberCount()).toBe(people.length);
    await change([], people);
    await change(people);
  });

  it('adds nobody whom it also removes, even if a part fails and is repeated after the others', async () => {
    const { fixture, counter, people, change, memberCount, recover } = await large();
    await change(people.slice(0, 1));
    const [, both] = people;
    counter.failsAfter = counter.count + 1;
    await expect(change(people.slice(1), people.slice(0, 2))).rejects.toThrow('Stopped');
    await recover(1);
    expect(await memberCount()).toBe(people.length - 2);
    const isMember = await fixture.uow.read(fixture.realm.id, ({ groups }) =>
      groups.filterDirectMembers(fixture.realm.id, fixture.group('team').id, [both!]),
    );
    expect(isMember).toEqual([]);
  });

  it('skips users who joined or were deactivated since the request was checked', async () => {
    const { fixture, counter, people, change, memberCount, recover } = await large();
    counter.failsAfter = 1;
    await expect(change(people)).rejects.toThrow('Stopped');
    counter.failsAfter = Number.POSITIVE_INFINITY;
    await change(people.slice(0, 2));
    const gone = fixture.user('person 5');
    await fixture.uow.write(fixture.realm.id, (tx) => tx.users.update({ ...gone, isActive: false }));
    await recover();
    expect(await memberCount()).toBe(people.length - 1);
  });
});

describe('request for subgroups with many members (contract decision 10)', () => {
  const receivers = async (fixture: MemoryFixture, type: string) =>
    (await eventsWithReceivers(fixture)).flatMap(([each, names]) => (each === type ? [names.length] : []));

  it('shows and hides channels in bounded units after the change', async () => {
    const { fixture, counter, changeSubgroups } = await large();
    await expectInSync(fixture, () => changeSubgroups('add'));
    const parts = [MAX_MEMBERS_AT_ONCE, 100];
    expect(counter.count).toBe(1 + parts.length);
    expect(await receivers(fixture, 'channel.created')).toEqual(parts);
    await expectInSync(fixture, () => changeSubgroups('remove'));
    expect(counter.count).toBe(2 * (1 + parts.length));
    expect(await receivers(fixture, 'channel.hidden')).toEqual(parts);
    expect(await receivers(fixture, 'group.subgroups_changed')).toHaveLength(2);
  });

  it('runs as one unit if the group shows no channels', async () => {
    const { counter, changeSubgroups } = await large();
    await changeSubgroups('add', 'plain');
    expect(counter.count).toBe(1);
  });

  it.each(['add', 'remove'] as const)('is completed by a job after a crash: %s', async (op) => {
    const { fixture, counter, changeSubgroups, recover } = await large();
    if (op === 'remove') await changeSubgroups('add');
    counter.count = 0;
    counter.failsAfter = 2;
    await expect(changeSubgroups(op)).rejects.toThrow('Stopped');
    const type = op === 'add' ? 'channel.created' : 'channel.hidden';
    expect(await receivers(fixture, type)).toEqual([MAX_MEMBERS_AT_ONCE]);
    await recover();
    expect(await receivers(fixture, type)).toEqual([MAX_MEMBERS_AT_ONCE, 100]);
  });

  it('publishes nothing more if the change was undone before the job ran', async () => {
    const { fixture, counter, changeSubgroups, recover } = await large();
    counter.failsAfter = 1;
    await expect(changeSubgroups('add')).rejects.toThrow('Stopped');
    const [team, crowd] = [fixture.group('team').id, fixture.group('crowd').id];
    await fixture.uow.write(fixture.realm.id, (tx) => tx.groups.removeSubgroups(fixture.realm.id, team, [crowd]));
    await recover();
    expect(await receivers(fixture, 'channel.created')).toEqual([]);
  });
});
