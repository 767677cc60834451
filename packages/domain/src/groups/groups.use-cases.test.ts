import { aChannel, aGroup, aUserOfEachRole, createFixture, type MemoryFixture } from '@parley/testkit';
import type { EventSeq, GroupId } from '../kernel/ids.js';
import { CreateGroup, UpdateGroup } from './change-group.use-cases.js';
import { RemoveUnusedGroups } from './groups.use-cases.js';

const anonymousIds = ({ uow, realm }: MemoryFixture) => uow.read(realm.id, (r) => r.groups.listAnonymousIds(realm.id));
const spelt = (fixture: MemoryFixture, ...names: readonly string[]) => ({
  directMembers: names.map((name) => fixture.user(name).id),
  directSubgroups: [],
});

/** Prunes all events except the newest. */
async function prune({ uow, realm, clock }: MemoryFixture): Promise<void> {
  clock.advance(1000);
  await uow.write(realm.id, async (tx) => {
    await tx.events.append(realm.id, { event: { type: 'blank' }, audience: { kind: 'nobody' } });
    const upTo = ((await tx.events.lastSeq(realm.id)) - 1) as EventSeq;
    await tx.events.prune(realm.id, upTo, clock.now(), 10_000);
  });
}

it('RemoveUnusedGroups removes replaced permission values once no stored event can address them', async () => {
  const fixture = await createFixture(
    aUserOfEachRole(),
    aGroup({ name: 'other' }),
    aChannel({ name: 'c', creator: 'owner' }),
  );
  const remove = new RemoveUnusedGroups(fixture.uow);
  const id = await new CreateGroup(fixture.uow, fixture.clock).execute(fixture.caller('member'), {
    name: 'cast',
    description: '',
    memberIds: [],
    subgroupIds: [],
    permissions: { canManage: spelt(fixture, 'member', 'moderator') },
  });
  const before = await anonymousIds(fixture);
  expect(await remove.execute()).toBe(0);
  const { canManage } = (await fixture.uow.read(fixture.realm.id, (r) => r.groups.find(fixture.realm.id, id)))!
    .permissions!;
  await new UpdateGroup(fixture.uow).execute(fixture.caller('member'), {
    groupId: id,
    permissions: { canManage: { new: spelt(fixture, 'member', 'owner') } },
  });
  expect(await remove.execute()).toBe(0);
  expect(await remove.execute()).toBe(0);
  expect(await anonymousIds(fixture)).toHaveLength(before.length + 1);
  await prune(fixture);
  expect(await remove.execute()).toBe(1);
  const left = await anonymousIds(fixture);
  expect(left).toHaveLength(before.length);
  expect(left).not.toContain(canManage);
  expect(
    await fixture.uow.read(fixture.realm.id, (r) => r.groups.find(fixture.realm.id, canManage as GroupId)),
  ).toBeNull();
  await prune(fixture);
  expect(await remove.execute()).toBe(0);
});

it('RemoveUnusedGroups keeps the group that the values of one creator share', async () => {
  const fixture = await createFixture(aUserOfEachRole());
  const create = async (name: string) => {
    const input = { name, description: '', memberIds: [], subgroupIds: [], permissions: {} };
    const id = await new CreateGroup(fixture.uow, fixture.clock).execute(fixture.caller('member'), input);
    const group = await fixture.uow.read(fixture.realm.id, (r) => r.groups.find(fixture.realm.id, id));
    return { id, canManage: group!.permissions!.canManage };
  };
  const [first, second] = [await create('cast'), await create('crew')];
  expect(first.canManage).toBe(second.canManage);
  for (const { id } of [first, second]) {
    const permissions = { canManage: { new: spelt(fixture, 'member', 'owner') } };
    await new UpdateGroup(fixture.uow).execute(fixture.caller('member'), { groupId: id, permissions });
  }
  const remove = new RemoveUnusedGroups(fixture.uow);
  await remove.execute();
  await prune(fixture);
  expect(await remove.execute()).toBe(0);
  expect((await create('choir')).canManage).toBe(first.canManage);
});
