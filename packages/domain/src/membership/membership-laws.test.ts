import {
  aUser,
  aUserOfEachRole,
  createFixture,
  FakeRenderer,
  fakeRealmUrls,
  type MemoryFixture,
} from '@parley/testkit';
import fc from 'fast-check';
import { GroupClosure } from '../access/group-closure.js';
import { ROLES } from '../access/roles.js';
import { CreateGroup, DeactivateGroup, UpdateGroup } from '../groups/change-group.use-cases.js';
import { ChangeGroupMembers } from '../groups/change-members.use-cases.js';
import { DomainError } from '../kernel/errors.js';
import type { GroupId, UserId } from '../kernel/ids.js';
import { ProfileValues } from '../users/profiles.use-cases.js';
import { MarkdownTextRenderer } from '../writing/render-message.js';
import { DeactivateBot } from './bots.use-cases.js';
import { DeactivateSelf, DeactivateUser, ReactivateUser } from './deactivation.use-cases.js';
import { SetUserActive, SetUserRole } from './operate-accounts.use-cases.js';
import { UpdateUser } from './roles.js';

const KINDS = [
  ...(['role', 'role', 'operatorsRole', 'create', 'members', 'members', 'subgroups', 'subgroups'] as const),
  ...(['update', 'off', 'on', 'leave', 'remove', 'removeBot', 'operatorsRemoval', 'return'] as const),
];

/** One attempted operation; the numbers select among the objects existing at that point. */
interface Step {
  readonly kind: (typeof KINDS)[number];
  readonly choices: readonly number[];
}
const steps = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    choices: fc.array(fc.nat(1000), { minLength: 12, maxLength: 12 }),
  }) satisfies fc.Arbitrary<Step>,
  { minLength: 60, maxLength: 150, size: 'max' },
);

/** Executes the steps through the use cases. */
class RandomPeople {
  refused = 0;
  private created = 0;
  private choices: readonly number[] = [];
  private chosen = 0;
  private readonly useCases;

  constructor(private readonly fixture: MemoryFixture) {
    const { uow, clock } = fixture;
    this.useCases = {
      updateUser: new UpdateUser(
        uow,
        fakeRealmUrls,
        { has: () => false },
        clock,
        new ProfileValues(uow, new MarkdownTextRenderer(uow, new FakeRenderer(), fakeRealmUrls)),
      ),
      setUserRole: new SetUserRole(uow, clock),
      setUserActive: new SetUserActive(uow, clock),
      createGroup: new CreateGroup(uow, clock),
      updateGroup: new UpdateGroup(uow),
      deactivateGroup: new DeactivateGroup(uow),
      deactivateUser: new DeactivateUser(uow, clock),
      deactivateBot: new DeactivateBot(uow),
      deactivateSelf: new DeactivateSelf(uow, clock),
      reactivateUser: new ReactivateUser(uow, clock),
      changeMembers: new ChangeGroupMembers(uow, { send: async () => {} }, clock),
    };
  }

  async act({ kind, choices }: Step): Promise<void> {
    this.choices = choices;
    this.chosen = 0;
    try {
      await this.attempt(kind);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      this.refused++;
    }
  }

  private async attempt(kind: Step['kind']): Promise<unknown> {
    const { fixture, useCases } = this;
    const people = [...fixture.users.values()].map(({ id }) => id);
    const groups = (await fixture.uow.read(fixture.realm.id, (r) => r.groups.listNamed(fixture.realm.id))).map(
      ({ id }) => id,
    );
    const caller = { realmId: fixture.realm.id, userId: this.oneOf(people), clientName: 'test' };
    const group = this.oneOf(groups);
    const groupSetting = () =>
      this.oneOf([this.oneOf(groups), { directMembers: this.some(people), directSubgroups: this.some(groups) }]);
    switch (kind) {
      case 'role':
        return useCases.updateUser.execute(caller, { user: { id: this.oneOf(people) }, role: this.oneOf(ROLES) });
      case 'operatorsRole':
        return useCases.setUserRole.execute({
          realmId: fixture.realm.id,
          userId: this.oneOf(people),
          role: this.oneOf(ROLES),
        });
      case 'operatorsRemoval':
        return useCases.setUserActive.execute({
          realmId: fixture.realm.id,
          userId: this.oneOf(people),
          isActive: false,
        });
      case 'removeBot':
        return useCases.deactivateBot.execute(caller, { botId: this.oneOf(people) });
      case 'create':
        return useCases.createGroup.execute(caller, {
          name: `group ${this.created++}`,
          description: '',
          memberIds: this.some(people),
          subgroupIds: this.some(groups),
          permissions: { canAddMembers: groupSetting(), canManage: groupSetting() },
        });
      case 'members':
        return useCases.changeMembers.execute(caller, this.membership(group, people, []));
      case 'subgroups':
        return useCases.changeMembers.execute(caller, this.membership(group, [], groups));
      case 'update':
        return useCases.updateGroup.execute(caller, {
          groupId: group,
          permissions: { canManage: { new: groupSetting() } },
        });
      case 'leave':
        return useCases.deactivateSelf.execute(caller);
      case 'remove':
        return useCases.deactivateUser.execute(caller, { userId: this.oneOf(people) });
      case 'return':
        return useCases.reactivateUser.execute(caller, this.oneOf(people));
      case 'off':
        return useCases.deactivateGroup.execute(caller, group);
      case 'on':
        return useCases.updateGroup.execute(caller, { groupId: group, isDeactivated: false, permissions: {} });
    }
  }

  private membership(groupId: GroupId, people: readonly UserId[], groups: readonly GroupId[]) {
    const isAdding = this.isOftenTrue();
    return {
      groupId,
      addedUserIds: isAdding ? this.some(people) : [],
      removedUserIds: isAdding ? [] : this.some(people),
      addedSubgroupIds: isAdding ? this.some(groups) : [],
      removedSubgroupIds: isAdding ? [] : this.some(groups),
      of: 'members' as const,
    };
  }

  private next(): number {
    return this.choices[this.chosen++ % this.choices.length]!;
  }

  private isOftenTrue(): boolean {
    return this.next() % 10 < 7;
  }

  private oneOf<T>(things: readonly T[]): T {
    return things[this.next() % things.length]!;
  }

  /** Returns one element most of the time, otherwise two. */
  private some<T>(things: readonly T[]): T[] {
    if (things.length === 0) return [];
    return this.isOftenTrue() ? [this.oneOf(things)] : [this.oneOf(things), this.oneOf(things)];
  }
}

/** Follows every path of active groups, one edge at a time. */
async function naiveGroupsOf({ uow, realm }: MemoryFixture, userId: UserId): Promise<ReadonlySet<GroupId>> {
  return uow.read(realm.id, async ({ groups }) => {
    const edges = await groups.listEdges(realm.id);
    const deactivated = new Set(await groups.listDeactivatedIds(realm.id));
    const found = new Set<GroupId>();
    const visit = (id: GroupId): void => {
      found.add(id);
      if (deactivated.has(id)) return;
      for (const edge of edges) if (edge.subgroupId === id && !found.has(edge.groupId)) visit(edge.groupId);
    };
    for (const id of await groups.listDirectIds(realm.id, userId)) visit(id);
    return found;
  });
}

async function expectLaws(fixture: MemoryFixture): Promise<void> {
  const { uow, realm } = fixture;
  const users = await uow.read(realm.id, (r) =>
    r.users.list(
      realm.id,
      [...fixture.users.values()].map(({ id }) => id),
    ),
  );
  expect(users.some(({ role, isActive, bot }) => role === 'owner' && isActive && !bot)).toBe(true);

  const groups = await uow.read(realm.id, async (r) => {
    const edges = await r.groups.listEdges(realm.id);
    return (await r.groups.listViews(realm.id)).map(({ id, isDeactivated, memberIds }) => ({
      id,
      isDeactivated,
      memberIds,
      subgroupIds: edges.filter(({ groupId }) => groupId === id).map(({ subgroupId }) => subgroupId),
    }));
  });
  expect(() => new GroupClosure(groups)).not.toThrow();

  const system = await uow.read(realm.id, (r) => r.groups.systemGroupIds(realm.id));
  for (const { id, role, isActive } of users) {
    if (!isActive) continue;
    const actor = await uow.read(realm.id, (r) => r.actors.get({ realmId: realm.id, userId: id }));
    expect([...actor.groups].sort()).toEqual([...(await naiveGroupsOf(fixture, id))].sort());
    // Only roles determine membership in the role groups.
    expect(actor.groups.has(system.owners)).toBe(role === 'owner');
    expect(actor.groups.has(system.members)).toBe(role !== 'guest');
    expect(actor.groups.has(system.nobody)).toBe(false);
  }
}

it('keeps an owner, acyclic groups and exact group membership under random operations', async () => {
  let [tried, refused] = [0, 0];
  const holds = fc.asyncProperty(steps, async (tries) => {
    const fixture = await createFixture(
      aUserOfEachRole(),
      aUser({ name: 'owning bot', role: 'owner', botOf: 'owner' }),
      aUser({ name: 'bot', botOf: 'member' }),
    );
    const people = new RandomPeople(fixture);
    for (const [index, step] of tries.entries()) {
      await people.act(step);
      if (index % 10 === 9) await expectLaws(fixture);
    }
    await expectLaws(fixture);
    tried += tries.length;
    refused += people.refused;
  });
  await fc.assert(holds, { numRuns: 8 });
  expect(refused).toBeLessThan(tried * 0.9);
});
