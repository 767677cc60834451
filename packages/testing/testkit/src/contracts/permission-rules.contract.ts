import { type Actor, GroupClosure, ROLES } from '@parley/domain/access';
import {
  CHANNEL_PERMISSIONS,
  type Channel,
  type ChannelPrivacy,
  hasContentAccess,
  hasMetadataAccess,
  ListChannels,
  type ListChannelsInput,
} from '@parley/domain/channels';
import type { Caller, ChannelId, GroupId, Transaction, UserId } from '@parley/domain/kernel';
import { aChannel, aGroup, aMessage, aUser, type FixtureStep } from '../builders.js';
import { SeededRandomness } from '../seeded-randomness.js';
import { ascending, type OpenStorage, type Stage, stagesOn } from './storage-under-test.js';

const PRIVACY: readonly ChannelPrivacy[] = ['webPublic', 'public', 'privateSharedHistory', 'privateProtectedHistory'];

/** Expected content of the storage, kept separately. */
interface RandomWorld {
  readonly people: readonly {
    readonly name: string;
    readonly role: (typeof ROLES)[number];
    readonly isActive: boolean;
  }[];
  readonly groups: readonly {
    readonly name: string;
    readonly members: readonly string[];
    readonly subgroups: readonly string[];
    readonly isDeactivated: boolean;
  }[];
  readonly channels: readonly {
    readonly name: string;
    readonly privacy: ChannelPrivacy;
    readonly isArchived: boolean;
    readonly subscribers: readonly string[];
    readonly grants: readonly (readonly [keyof typeof CHANNEL_PERMISSIONS, string])[];
  }[];
  /** Participants of each conversation; the first one sends. */
  readonly conversations: readonly (readonly string[])[];
}

function randomWorld(seed: number): RandomWorld {
  const random = new SeededRandomness(seed);
  const below = (count: number): number => Math.floor(random.fraction() * count);
  const oneOf = <T>(things: readonly T[]): T => things[below(things.length)]!;
  const someOf = <T>(things: readonly T[], share: number): T[] => things.filter(() => random.fraction() < share);

  const people = Array.from({ length: 8 }, (_, index) => ({
    name: `person ${index}`,
    role: ROLES[index % ROLES.length]!,
    isActive: index < 5 || random.fraction() < 0.7,
  }));
  const names = people.map(({ name }) => name);
  const groups = Array.from({ length: 6 }, (_, index) => ({
    name: `group ${index}`,
    members: someOf(names, 0.25),
    subgroups: someOf(
      Array.from({ length: index }, (_other, other) => `group ${other}`),
      0.4,
    ),
    isDeactivated: random.fraction() < 0.2,
  }));
  const permissions = Object.keys(CHANNEL_PERMISSIONS) as (keyof typeof CHANNEL_PERMISSIONS)[];
  const channels = Array.from({ length: 12 }, (_, index) => ({
    name: `channel ${index}`,
    privacy: PRIVACY[index % PRIVACY.length]!,
    isArchived: random.fraction() < 0.2,
    subscribers: someOf(names, 0.2),
    grants: someOf(permissions, 0.5).map((permission) => [permission, oneOf(groups).name] as const),
  }));
  const conversations = [someOf(names, 0.3), someOf(names, 0.3), [oneOf(names), oneOf(names)], [oneOf(names)]].filter(
    (conversation) => conversation.length > 0,
  );
  return { people, groups, channels, conversations };
}

function pieces(world: RandomWorld): readonly FixtureStep[] {
  return [
    ...world.people.map(({ isActive: _, ...person }) => aUser(person)),
    ...world.groups.map((group) => aGroup(group)),
    ...world.channels.map(
      ({ grants, ...channel }): FixtureStep =>
        (fixture, tx) =>
          aChannel({
            ...channel,
            permissionOverrides: Object.fromEntries(
              grants.map(([permission, group]) => [permission, fixture.group(group).id]),
            ),
          })(fixture, tx),
    ),
    ...world.conversations.map(([from = '', ...to]) => aMessage({ from, to })),
    // Deactivates last, so that these users received everything before.
    async (fixture, tx) => {
      for (const { name, isActive } of world.people) {
        if (!isActive) fixture.users.set(name, await tx.users.update({ ...fixture.user(name), isActive }));
      }
    },
  ];
}

/** Expected actors, computed without the storage's own closures. */
function expectedActors(
  world: RandomWorld,
  stage: Stage,
  edges: Awaited<ReturnType<Transaction['groups']['listEdges']>>,
) {
  const named = world.groups.map(({ name, members, isDeactivated }) => ({
    id: stage.group(name).id,
    isDeactivated,
    memberIds: members.map((member) => stage.user(member).id),
    subgroupIds: [] as GroupId[],
  }));
  const ids = new Set([...edges].flatMap(({ subgroupId, groupId }) => [subgroupId, groupId]));
  const others = [...ids]
    .filter((id) => !named.some((group) => group.id === id))
    .map((id) => ({ id, isDeactivated: false, memberIds: [] as UserId[], subgroupIds: [] as GroupId[] }));
  const closure = new GroupClosure([...named, ...others]);
  for (const { subgroupId, groupId } of edges) closure.addSubgroups(groupId, [subgroupId]);
  return closure;
}

/** Verifies on small random organizations that the filters of a storage agree with the permission rules. */
export function permissionRulesContract(open: OpenStorage): void {
  describe('storage permission filter', () => {
    const stage = stagesOn(open);
    const SEEDS = [1, 2, 3, 4, 5];

    it.each(SEEDS)('puts every user into the groups of the closure (world %d)', async (seed) => {
      const world = randomWorld(seed);
      const fixture = await stage(...pieces(world));
      await fixture.uow.read(fixture.realm.id, async (r) => {
        const system = await r.groups.systemGroupIds(fixture.realm.id);
        const closure = expectedActors(world, fixture, await r.groups.listEdges(fixture.realm.id));
        const active = world.people.filter(({ isActive }) => isActive).map(({ name }) => fixture.user(name));
        for (const { id, role } of active) {
          if (role === 'owner') closure.addMembers(system.owners, [id]);
          else if (role === 'administrator') closure.addMembers(system.administrators, [id]);
          else if (role === 'moderator') closure.addMembers(system.moderators, [id]);
          else if (role === 'member') {
            closure.addMembers(system.members, [id]);
            closure.addMembers(system.fullMembers, [id]);
          } else closure.addMembers(system.everyone, [id]);
        }
        const everybody = world.people.map(({ name }) => fixture.user(name).id);
        const actors = await r.actors.list(fixture.realm.id, everybody);
        expect(ascending([...actors.keys()])).toEqual(active.map(({ id }) => id));
        for (const [id, actor] of actors) {
          expect(ascending(actor.groups)).toEqual(ascending(closure.groupsOf(id)));
        }
        for (const { name } of world.groups) {
          const { id } = fixture.group(name);
          const members = active.filter((user) => closure.groupsOf(user.id).has(id)).map((user) => user.id);
          expect(await r.groups.listMembersRecursively(fixture.realm.id, [id])).toEqual(ascending(members));
        }
      });
    });

    it.each(SEEDS)('lists the channels that each user can access or read by the rules (world %d)', async (seed) => {
      const world = randomWorld(seed);
      const fixture = await stage(...pieces(world));
      const list = new ListChannels(fixture.uow);
      for (const { name } of world.people.filter(({ isActive }) => isActive)) {
        const caller = fixture.caller(name);
        const actor = await fixture.uow.read(caller.realmId, (r) => r.actors.get(caller));
        const allowedBy = (rule: (actor: Actor, channel: Channel, isSubscribed: boolean) => boolean) =>
          ascending(
            world.channels
              .filter((given) => rule(actor, fixture.channel(given.name), given.subscribers.includes(name)))
              .map((given) => fixture.channel(given.name).id),
          );
        expect(await listed(list, caller, { includeAll: true })).toEqual(allowedBy(hasMetadataAccess));
        expect(await listed(list, caller, { includeReadable: true })).toEqual(allowedBy(hasContentAccess));
      }
    });

    it.each(SEEDS)('grants guests access to users with a shared conversation (world %d)', async (seed) => {
      const world = randomWorld(seed);
      const fixture = await stage(...pieces(world));
      for (const { name } of world.people) {
        const circles = [...world.channels.map(({ subscribers }) => subscribers), ...world.conversations];
        const met = new Set(circles.filter((circle) => circle.includes(name)).flat());
        const found = await fixture.uow.read(fixture.realm.id, (r) =>
          r.users.listConversationPartners(fixture.realm.id, fixture.user(name).id),
        );
        for (const other of world.people) {
          if (other.name === name || !other.isActive) continue;
          expect([name, other.name, found.has(fixture.user(other.name).id)]).toEqual([
            name,
            other.name,
            met.has(other.name),
          ]);
        }
      }
    });
  });
}

const NOTHING: ListChannelsInput = {
  includePublic: false,
  includeWebPublic: false,
  includeSubscribed: false,
  includeOwnerSubscribed: false,
  includeReadable: false,
  includeAll: false,
  includeAllActive: false,
  excludeArchived: false,
  includeDefault: false,
};

async function listed(
  list: ListChannels,
  caller: Caller,
  what: Partial<ListChannelsInput>,
): Promise<readonly ChannelId[]> {
  const { channels } = await list.execute(caller, { ...NOTHING, ...what });
  return ascending(channels.map((channel) => channel.id));
}
