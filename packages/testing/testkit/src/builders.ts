import { defaultGroupSettings, directSystemGroups, type Role, type SystemGroupName } from '@parley/domain/access';
import {
  CHANNEL_PERMISSIONS,
  type Channel,
  type ChannelPermission,
  type ChannelPermissions,
  INHERITED_NOTIFICATIONS,
  pickColors,
} from '@parley/domain/channels';
import { GROUP_PERMISSIONS, type Group } from '@parley/domain/groups';
import type { Caller, Clock, GroupId, RecipientId, Transaction, UnitOfWork, UserId } from '@parley/domain/kernel';
import { addRealm } from '@parley/domain/log-in';
import type { Message, SentFlags, Viewer } from '@parley/domain/messages';
import type { Realm, RealmPermission, RealmSettings } from '@parley/domain/realms';
import type { User } from '@parley/domain/users';
import { FixedClock } from './fixed-clock.js';
import { makeNewMessage } from './make-values.js';
import { MemoryStorage } from './memory-storage.js';
import { SeededRandomness } from './seeded-randomness.js';

const SECONDS_PER_DAY = 86_400;

/** Step that builds part of a fixture. Later steps may refer to names of earlier ones. */
export type FixtureStep = (fixture: Fixture, tx: Transaction) => Promise<void>;

/** Small organization with parts accessible by name. */
export class Fixture {
  realm!: Realm;
  readonly users = new Map<string, User>();
  readonly channels = new Map<string, Channel>();
  readonly groups = new Map<string, Group>();
  readonly messages: Message[] = [];

  constructor(
    readonly uow: UnitOfWork,
    readonly clock: Clock,
  ) {}

  /** Adds steps to the fixture in a separate transaction. */
  add(...steps: readonly FixtureStep[]): Promise<void> {
    return this.uow.write(this.realm.id, async (tx) => {
      for (const step of steps) await step(this, tx);
    });
  }

  readonly user = (name: string): User => named(this.users, 'user', name);
  readonly channel = (name: string): Channel => named(this.channels, 'channel', name);
  /** Returns a group created by `aGroup`; use `groups.systemGroupIds` for system groups. */
  readonly group = (name: string): Group => named(this.groups, 'group', name);
  readonly caller = (name: string): Caller => ({ ...this.viewer(name), clientName: 'website' });
  readonly viewer = (name: string): Viewer => ({ realmId: this.realm.id, userId: this.user(name).id });
}

export interface MemoryFixture extends Fixture {
  /** Memory storage; its published events exclude those of building the fixture. */
  readonly storage: MemoryStorage;
  readonly clock: FixedClock;
}

/**
 * Creates a fixture on new memory storage: `given(aUser({ name: 'iago', role: 'administrator' }), aChannel({ … }))`.
 */
export async function createFixture(...steps: readonly FixtureStep[]): Promise<MemoryFixture> {
  const clock = new FixedClock();
  const storage = new MemoryStorage(clock);
  const fixture = await createFixtureOn(storage.uow, clock, ...steps);
  storage.announced.length = 0;
  return Object.assign(fixture, { storage, clock });
}

/** Creates a fixture on any storage, in a realm called `zulip` unless the first step is `aRealm`. */
export async function createFixtureOn(
  uow: UnitOfWork,
  clock: Clock,
  ...steps: readonly FixtureStep[]
): Promise<Fixture> {
  const fixture = new Fixture(uow, clock);
  await uow.writeAcross(async (tx) => {
    for (const step of steps) {
      if (fixture.realm === undefined && !realmSteps.has(step)) await aRealm()(fixture, tx);
      await step(fixture, tx);
    }
    if (fixture.realm === undefined) await aRealm()(fixture, tx);
  });
  return fixture;
}

/** Creates a second realm `other` on the fixture's storage, with a user `otherRealmUser` and a channel `theirs`. */
export function anotherRealm({ uow, clock }: Fixture, ...more: readonly FixtureStep[]): Promise<Fixture> {
  const otherRealmPieces = [aUser({ name: 'otherRealmUser' }), aChannel({ name: 'theirs' })];
  return createFixtureOn(uow, clock, aRealm({ stringId: 'other' }), ...otherRealmPieces, ...more);
}

const realmSteps = new WeakSet<FixtureStep>();

/** Creates a realm with system groups, default permissions and its own bots. */
export function aRealm(
  overrides: Partial<Pick<Realm, 'stringId' | 'name' | 'settings' | 'isDeactivated'>> = {},
): FixtureStep {
  const step: FixtureStep = async (fixture, tx) => {
    const stringId = overrides.stringId ?? 'zulip';
    const created = await addRealm(tx, {
      stringId,
      uuid: new SeededRandomness(stringId.length).uuid(),
      name: overrides.name ?? `Organization ${stringId}`,
      isAtServerAddress: (await tx.realms.list()).length === 0,
      createdAt: fixture.clock.now() - 365 * SECONDS_PER_DAY,
    });
    fixture.realm = { ...created, ...overrides, stringId };
    await tx.realms.update(fixture.realm);
  };
  realmSteps.add(step);
  return step;
}

/** Creates a realm with settings and permissions, granted by name to system groups or groups of the fixture. */
export function aRealmWith({
  settings = {},
  permissionOverrides = {},
}: {
  readonly settings?: Partial<RealmSettings>;
  readonly permissionOverrides?: Partial<Record<RealmPermission, string>>;
}): FixtureStep {
  return async (fixture, tx) => {
    const { realm } = fixture;
    const permissions = { ...realm.permissions, ...(await groupIds(fixture, tx, permissionOverrides)) };
    fixture.realm = { ...realm, settings: { ...realm.settings, ...settings }, permissions };
    await tx.realms.update(fixture.realm);
  };
}

async function groupIds<P extends string>(
  fixture: Fixture,
  tx: Transaction,
  names: Partial<Record<P, string>>,
): Promise<Partial<Record<P, GroupId>>> {
  const system = await tx.groups.systemGroupIds(fixture.realm.id);
  const ids: Partial<Record<P, GroupId>> = {};
  for (const [permission, name] of Object.entries(names) as [P, string][]) {
    ids[permission] = system[name as SystemGroupName] ?? fixture.group(name).id;
  }
  return ids;
}

export interface UserSpec extends Partial<Omit<User, 'id' | 'realmId' | 'fullName' | 'bot' | 'version'>> {
  /** Name in the fixture; also the default full name. */
  readonly name: string;
  readonly fullName?: string;
  /** Owner; makes the user a bot. */
  readonly botOf?: string;
  readonly passwordHash?: string;
}

/** Creates a user, by default a member who joined long ago, in the system groups of their role. */
export function aUser({ name, botOf, passwordHash, ...more }: UserSpec): FixtureStep {
  return async (fixture, tx) => {
    const { realm, clock } = fixture;
    const user = await tx.users.add(
      {
        realmId: realm.id,
        email: `${name}@example.com`,
        fullName: name,
        role: 'member',
        isActive: true,
        isDeleted: false,
        joinedAt: clock.now() - 100 * SECONDS_PER_DAY,
        bot:
          botOf === undefined
            ? null
            : { kind: 'generic', ownerId: fixture.user(botOf).id, isSystem: false, defaultSendingChannelId: null },
        avatar: { source: 'gravatar', version: 1 },
        specialPermissions: [],
        settings: realm.userDefaults,
        editedSettings: [],
        ...more,
      },
      passwordHash ?? null,
    );
    const waited = clock.now() - user.joinedAt >= realm.settings.waitingPeriodThreshold * SECONDS_PER_DAY;
    const system = await tx.groups.systemGroupIds(realm.id);
    for (const group of directSystemGroups(user.role, waited)) {
      await tx.groups.addMembers(realm.id, system[group], [user.id]);
    }
    fixture.users.set(name, user);
  };
}

/** Creates a user of each role, named after the role. */
export function aUserOfEachRole(): FixtureStep {
  return async (fixture, tx) => {
    const roles: readonly Role[] = ['owner', 'administrator', 'moderator', 'member', 'guest'];
    for (const role of roles) await aUser({ name: role, role })(fixture, tx);
  };
}

export interface GroupSpec {
  readonly name: string;
  readonly members?: readonly string[];
  readonly subgroups?: readonly string[];
  readonly isDeactivated?: boolean;
}

/** Creates a named group without managers. */
export function aGroup({ name, members = [], subgroups = [], isDeactivated = false }: GroupSpec): FixtureStep {
  return async (fixture, tx) => {
    const { realm } = fixture;
    const system = await tx.groups.systemGroupIds(realm.id);
    const group = await tx.groups.add(
      {
        realmId: realm.id,
        name,
        description: `The ${name}`,
        systemName: null,
        isDeactivated,
        creatorId: null,
        createdAt: fixture.clock.now(),
        permissions: await defaultGroupSettings(GROUP_PERMISSIONS, system, async () => system.nobody),
      },
      members.map((member) => fixture.user(member).id),
      subgroups.map((subgroup) => fixture.group(subgroup).id),
    );
    fixture.groups.set(name, group);
  };
}

export interface ChannelSpec
  extends Partial<Omit<Channel, 'id' | 'realmId' | 'recipientId' | 'version' | 'creatorId' | 'permissions'>> {
  readonly name: string;
  /** Subscribers by name. */
  readonly subscribers?: readonly string[];
  readonly creator?: string;
  /** Permissions that differ from their default. */
  readonly permissionOverrides?: Partial<ChannelPermissions>;
  /** Permissions by name of a system group or a group of the fixture. */
  readonly grantedTo?: Partial<Record<ChannelPermission, string>>;
}

/** Creates a channel, by default public without subscribers. */
export function aChannel({
  name,
  subscribers = [],
  creator,
  permissionOverrides = {},
  grantedTo = {},
  ...more
}: ChannelSpec): FixtureStep {
  return async (fixture, tx) => {
    const { realm, clock } = fixture;
    const creatorId = creator === undefined ? null : fixture.user(creator).id;
    const system = await tx.groups.systemGroupIds(realm.id);
    const defaults = await defaultGroupSettings(CHANNEL_PERMISSIONS, system, async () =>
      creatorId === null ? system.nobody : await aloneInAGroup(tx, realm, creatorId),
    );
    const channel = await tx.channels.add({
      realmId: realm.id,
      name,
      description: '',
      renderedDescription: '',
      privacy: 'public',
      isArchived: false,
      creatorId,
      createdAt: clock.now(),
      messageRetentionDays: null,
      topicsPolicy: 'inherit',
      folderId: null,
      isDefault: false,
      isRecentlyActive: true,
      firstMessageId: null,
      permissions: { ...defaults, ...permissionOverrides, ...(await groupIds(fixture, tx, grantedTo)) },
      ...more,
    });
    fixture.channels.set(name, channel);
    await subscribe(
      tx,
      channel,
      subscribers.map((subscriber) => fixture.user(subscriber).id),
    );
  };
}

async function aloneInAGroup(tx: Transaction, realm: Realm, userId: UserId): Promise<GroupId> {
  const group = await tx.groups.add(
    {
      realmId: realm.id,
      name: null,
      description: '',
      systemName: null,
      isDeactivated: false,
      creatorId: null,
      createdAt: null,
      permissions: null,
    },
    [userId],
    [],
  );
  return group.id;
}

/** Subscribes users to a channel without rules and events: adds their row and opens their spans. */
export async function subscribe(tx: Transaction, channel: Channel, userIds: readonly UserId[]): Promise<void> {
  const { realmId, id: channelId, recipientId } = channel;
  for (const userId of userIds) {
    const others = await tx.channels.listSubscriptions(realmId, userId);
    const former = others.find((subscription) => subscription.channelId === channelId);
    const inUse = others.map(({ color }) => color);
    await tx.channels.putSubscriptions([
      {
        realmId,
        channelId,
        userId,
        color: pickColors([channelId], new Map(), inUse).get(channelId)!,
        isMuted: false,
        isPinned: false,
        notifications: INHERITED_NOTIFICATIONS,
        ...former,
        isActive: true,
      },
    ]);
  }
  await tx.personal.openSpans(realmId, [recipientId], userIds);
}

export interface MessageSpec
  extends Partial<
    Pick<
      Message,
      | 'content'
      | 'sentAt'
      | 'clientName'
      | 'mentionsChannel'
      | 'isReadByDefault'
      | 'hasLink'
      | 'hasImage'
      | 'hasAttachment'
    >
  > {
  readonly from: string;
  /** Name of a channel, or participants of a direct conversation; the sender is always included. */
  readonly to: string | readonly string[];
  readonly topic?: string;
  readonly isReadBySender?: boolean;
  /** Names of other users for whom the message is read. */
  readonly readFor?: readonly string[];
  /** Flags by user name. */
  readonly exceptions?: Readonly<Record<string, SentFlags>>;
}

/** Sends a message that is read only for its sender. */
export function aMessage(spec: MessageSpec): FixtureStep {
  const { from, to, topic, isReadBySender = true, readFor = [], exceptions = {}, ...more } = spec;
  return async (fixture, tx) => {
    const { realm, clock } = fixture;
    const sender = fixture.user(from);
    const channel = typeof to === 'string' ? fixture.channel(to) : null;
    const content = more.content ?? 'hello';
    const message = await tx.messages.append(
      makeNewMessage({
        realmId: realm.id,
        senderId: sender.id,
        recipientId: channel?.recipientId ?? (await conversation(fixture, tx, [from, ...to])),
        channelId: channel?.id ?? null,
        topic: topic ?? (channel ? 'greetings' : ''),
        content,
        sentAt: clock.now(),
        readBy: [...(isReadBySender ? [from] : []), ...readFor].map((name) => fixture.user(name).id),
        exceptions: new Map(Object.entries(exceptions).map(([name, flags]) => [fixture.user(name).id, flags])),
        ...more,
      }),
    );
    fixture.messages.push(message);
    if (channel?.firstMessageId === null) {
      fixture.channels.set(channel.name, await tx.channels.update({ ...channel, firstMessageId: message.id }));
    }
  };
}

function conversation(fixture: Fixture, tx: Transaction, names: readonly string[]): Promise<RecipientId> {
  return tx.recipients.openDirect(
    fixture.realm.id,
    names.map((name) => fixture.user(name).id),
  );
}

function named<T>(things: ReadonlyMap<string, T>, kind: string, name: string): T {
  const thing = things.get(name);
  if (thing === undefined) throw new Error(`The fixture has no ${kind} '${name}'`);
  return thing;
}
