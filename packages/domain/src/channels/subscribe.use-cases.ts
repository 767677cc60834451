import { type Actor, insufficientUnless, mustNotBeGuest } from '../access/actor.js';
import { DomainError, orThrow } from '../kernel/errors.js';
import type { Caller, ChannelId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import { foldCase, trim } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import type { User } from '../users/user.js';
import { byFoldedName, type Channel, parseChannelName } from './channel.js';
import { countPrincipals, findPrincipals, hasMetadataAccess, type Principals } from './channel-access.js';
import { type NotificationBot, subscribedNotice } from './channel-notices.js';
import { canSubscribeSelf, mayAddOthers } from './channel-permissions.js';
import {
  type ChannelCreationContext,
  ChannelCreator,
  type ChannelOptions,
  type ChannelPermissionInput,
  DEFAULT_CHANNEL_OPTIONS,
  type NewChannel,
  type ParsedDescriptions,
  type ServerChannelConfig,
} from './create-channels.use-cases.js';
import { checkSubscriptionCount, type SubscribeResult, subscribeToChannels } from './subscribing.js';
import {
  ChangeSubscriptionParts,
  inParts,
  isOneUnit,
  loadPrincipals,
  MAX_CHANNELS_AT_ONCE,
  MAX_SUBSCRIPTIONS_AT_ONCE,
  type Newcomer,
  NOTIFIED_AT_ONCE,
  type SubscriptionPart,
} from './subscription-parts.js';
import { normalizeColor } from './subscriptions.js';
import { UnsubscribeUsers, type UnsubscribeUsersInput, type UnsubscribeUsersOutput } from './unsubscribe.use-cases.js';

export interface SubscribeUsersInput {
  /** Channels to subscribe to; missing ones are created. */
  readonly channels: readonly {
    readonly name: string;
    /** `#` plus three or six hexadecimal digits; null selects a free color. */
    readonly color: string | null;
    /** Description for a new channel. */
    readonly description: string;
  }[];
  /** Null for the caller. */
  readonly principals: Principals | null;
  /** Options for new channels. */
  readonly options: ChannelOptions;
  readonly announce: boolean;
  /** True to reject the whole request if the caller cannot subscribe to one of the channels. */
  readonly failsOnInaccessible: boolean;
  readonly notifyNewSubscribers: boolean;
}

/** Channel names by user, in request order. */
export interface SubscribeUsersOutput {
  readonly subscribed: ReadonlyMap<UserId, readonly string[]>;
  readonly alreadySubscribed: ReadonlyMap<UserId, readonly string[]>;
  /** Channels that the caller cannot subscribe to; hidden ones are spelled as in the request. */
  readonly inaccessible: readonly string[];
  /** True if there are few enough new subscribers for individual notifications. */
  readonly areNewSubscribersNotified: boolean;
}

/** Maximum number of new subscribers who receive a notification (protocol §14). */
export const MAX_NOTIFIED_SUBSCRIBERS = 100;

/** Subscribes the caller or other users to channels and creates missing channels (channels §4.5). */
export class SubscribeUsers {
  static readonly inject = [
    'unitOfWork',
    ChannelCreator,
    'systemMessages',
    'clock',
    'realmUrls',
    'serverChannelConfig',
  ] as const;
  private readonly parts: ChangeSubscriptionParts;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly channelCreator: ChannelCreator,
    private readonly notificationBot: NotificationBot,
    private readonly clock: Clock,
    private readonly realmUrls: RealmUrls,
    private readonly options: Pick<ServerChannelConfig, 'webPublicEnabled'>,
  ) {
    this.parts = new ChangeSubscriptionParts(uow, channelCreator, clock, options);
  }

  /**
   * Splits large requests into several units of work (contract decision 10).
   * @throws DomainError INVALID_CHANNEL_NAME, TOO_MANY_SUBSCRIPTIONS, CHANNEL_CONTENT_ACCESS_REQUIRED, UNKNOWN_USER,
   * NAMED_USER_DEACTIVATED, NOT_PERMITTED, and the rejections of `ChannelCreator` as in CreateChannel
   */
  async execute(caller: Caller, input: SubscribeUsersInput): Promise<SubscribeUsersOutput> {
    if (!isOneUnit(countPrincipals(input.principals), input.channels.length))
      return this.subscribeInParts(caller, input);
    const parsedDescriptions = await this.parseDescriptions(caller, input);
    return this.uow.write(caller.realmId, (tx) => this.subscribe(tx, caller, input, parsedDescriptions));
  }

  /** Runs before the transaction. */
  parseDescriptions({ realmId }: Caller, { channels }: SubscribeUsersInput): Promise<ParsedDescriptions> {
    const descriptions = channels.map(({ description }) => description);
    return this.channelCreator.parseDescriptions(realmId, descriptions);
  }

  /** Runs as part of a larger transaction. @throws DomainError like `execute` */
  async subscribe(
    tx: Transaction,
    caller: Caller,
    input: SubscribeUsersInput,
    parsedDescriptions: ParsedDescriptions,
  ): Promise<SubscribeUsersOutput> {
    const create: CreateMissing = (context, wanted, permissions) =>
      this.channelCreator.create(tx, context, wanted, input.options, permissions);
    const checked = await this.check(tx, caller, input, { parsedDescriptions, create });
    const { context, created, accessible, inaccessible, principals } = checked;

    const channels = inOrderOf(input, [...created, ...accessible]);
    const { added, alreadySubscribed } = await subscribeToChannels(tx, {
      channels,
      userIds: principals.map((user) => user.id),
      requestedColors: requestedColors(input, channels),
    });
    await this.channelCreator.announce(tx, context, created, input.announce);
    const areNewSubscribersNotified = countNewcomers(added) <= MAX_NOTIFIED_SUBSCRIBERS;
    if (input.notifyNewSubscribers && areNewSubscribersNotified) {
      await this.notifyNewSubscribers(tx, context, accessible, added, principals);
    }
    return {
      subscribed: namesByUser(channels, added),
      alreadySubscribed: namesByUser(channels, alreadySubscribed),
      inaccessible,
      areNewSubscribersNotified,
    };
  }

  private async subscribeInParts(caller: Caller, input: SubscribeUsersInput): Promise<SubscribeUsersOutput> {
    const { realmId } = caller;
    const people = await loadPrincipals(this.uow, caller, input.principals, this.realmUrls);
    // A part knows only its own subscriptions, so messages to new subscribers are planned in advance.
    const newcomers =
      input.notifyNewSubscribers && !(people instanceof DomainError)
        ? await this.listNewcomers(caller, input, people)
        : [];
    const plan = await this.uow.write(
      realmId,
      async (tx) => {
        const creations: SubscriptionPart[] = [];
        const create: CreateMissing = async (context, wanted, permissions) => {
          this.channelCreator.reserve(tx, context, wanted.length, permissions);
          const colors = byFoldedName(input.channels.map(({ name, color }) => ({ name: trim(name), color })));
          const colored = wanted.map((channel) => {
            const color = colors.get(foldCase(channel.name))?.color ?? null;
            return { ...channel, color: color === null ? null : normalizeColor(color) };
          });
          const userIds = orThrow(people).map(({ id }) => id);
          const { options, announce } = input;
          const channelCount = Math.max(1, Math.floor(MAX_SUBSCRIPTIONS_AT_ONCE / userIds.length));
          for (const channels of slicesOf(colored, Math.min(channelCount, MAX_CHANNELS_AT_ONCE))) {
            creations.push({ op: 'create', creator: caller, channels, options, permissions, announce, userIds });
          }
          return [];
        };
        const checked = await this.check(tx, caller, input, { parsedDescriptions: new Map(), create, people });
        const existing = inOrderOf(input, checked.accessible);
        const colors = requestedColors(input, existing);
        const additions: SubscriptionPart[] = [];
        const userIds = checked.principals.map(({ id }) => id).sort((a, b) => a - b);
        for (const part of inParts(existing, userIds)) {
          const channelIds = part.channels.map(({ id }) => id);
          const ofPart = [...colors].filter(([id]) => channelIds.includes(id));
          additions.push({ op: 'add', channelIds, userIds: part.userIds, colors: ofPart });
        }
        const accessible = new Set(existing.map(({ id }) => id));
        const notified = newcomers.map(({ userId, channelIds }) => ({
          userId,
          channelIds: channelIds.filter((id) => accessible.has(id)),
        }));
        const notices = [...slicesOf(notified, NOTIFIED_AT_ONCE)].map(
          (some): SubscriptionPart => ({ op: 'notify', creator: caller, people: some }),
        );
        return { ...checked, jobs: await this.parts.schedule(tx, realmId, [...creations, ...additions, ...notices]) };
      },
      { yields: true },
    );
    const { changed: added, unchanged: alreadySubscribed, channels: reached } = await this.parts.runTogether(plan.jobs);
    const channels = inOrderOf(input, reached);
    const areNewSubscribersNotified = countNewcomers(added) <= MAX_NOTIFIED_SUBSCRIBERS;
    return {
      subscribed: namesByUser(channels, added),
      alreadySubscribed: namesByUser(channels, alreadySubscribed),
      inaccessible: plan.inaccessible,
      areNewSubscribersNotified,
    };
  }

  /** Finds future subscribers of existing channels. Returns none if there are too many to notify. */
  private listNewcomers(
    caller: Caller,
    { channels }: SubscribeUsersInput,
    people: readonly User[],
  ): Promise<readonly Newcomer[]> {
    return this.uow.read(caller.realmId, async (reads) => {
      const names = byFoldedName(channels.map(({ name }) => ({ name: trim(name) })));
      const existing = await reads.channels.listByName(caller.realmId, [...names.keys()]);
      const ids = existing.map(({ id }) => id);
      // All users are new in a channel to be created.
      if (ids.length < names.size && people.length > MAX_NOTIFIED_SUBSCRIBERS) return [];
      const userIds = people.map(({ id }) => id);
      const newcomers: Newcomer[] = [];
      for (const [userId, rows] of await reads.channels.listSubscriptionsOf(caller.realmId, userIds, ids)) {
        const active = new Set(rows.filter(({ isActive }) => isActive).map(({ channelId }) => channelId));
        const channelIds = ids.filter((id) => !active.has(id));
        if (channelIds.length > 0) newcomers.push({ userId, channelIds });
      }
      return newcomers.length > MAX_NOTIFIED_SUBSCRIBERS ? [] : newcomers;
    });
  }

  /** Checks the request and creates missing channels between the checks, as the contract orders them. */
  private async check(
    tx: Transaction,
    caller: Caller,
    input: SubscribeUsersInput,
    { parsedDescriptions, create, people }: CheckOptions,
  ) {
    const actor = await tx.actors.get(caller);
    enforce(mustNotBeGuest(actor));
    checkSubscriptionCount(countPrincipals(input.principals), input.channels.length);
    const realm = await tx.realms.get(caller.realmId);
    const creator = (await tx.users.find(caller.realmId, caller.userId))!;
    const context = { realm, actor, creator, now: this.clock.now(), parsedDescriptions, ...this.options };

    await this.channelCreator.checkOptions(tx, context, input.options, input.channels.length);
    const { existing, created } = await this.findOrCreate(tx, context, input, create);
    const { accessible, inaccessible } = await this.sortOut(tx, actor, existing, input);
    const others = isAboutOthers(actor, input.principals);
    if (others) enforce(insufficientUnless(accessible.every((channel) => mayAddOthers(actor, realm, channel))));
    const principals =
      people === undefined
        ? await findPrincipals(tx, actor, realm, input.principals ?? [actor.id], this.realmUrls)
        : orThrow(people);
    return { context, created, accessible, inaccessible, principals };
  }

  private async findOrCreate(
    tx: Transaction,
    context: ChannelCreationContext,
    input: SubscribeUsersInput,
    create: CreateMissing,
  ): Promise<{ existing: readonly Channel[]; created: readonly Channel[] }> {
    const { channels, options } = input;
    const wanted = byFoldedName(
      channels.map(({ name, description }) => ({ name: parseChannelName(name), description })),
    );
    const names = [...wanted.values()].map(({ name }) => name);
    const existing = inOrderOf(input, await tx.channels.listByName(context.realm.id, names));
    for (const channel of existing) wanted.delete(foldCase(channel.name));
    if (wanted.size === 0) return { existing, created: [] };
    // The order differs from CreateChannel (channels §4.5).
    const permissions = await this.channelCreator.validatePermissions(tx, context, options);
    await this.channelCreator.checkTopicCreation(tx, context, options);
    await this.channelCreator.checkDeletePolicy(tx, context, permissions);
    this.channelCreator.checkCreation(context, options);
    return {
      existing,
      created: await create(context, [...wanted.values()], permissions),
    };
  }

  private async sortOut(
    tx: Transaction,
    actor: Actor,
    existing: readonly Channel[],
    { channels, failsOnInaccessible }: SubscribeUsersInput,
  ): Promise<{ accessible: readonly Channel[]; inaccessible: readonly string[] }> {
    const subscribed = new Set(await tx.channels.listSubscribedIds(actor.realmId, actor.id));
    const typed = byFoldedName(channels.map(({ name }) => ({ name: trim(name) })));
    const accessible: Channel[] = [];
    const inaccessible: string[] = [];
    for (const channel of existing) {
      const isSubscribed = subscribed.has(channel.id);
      const isVisible = hasMetadataAccess(actor, channel, isSubscribed);
      // The response names a hidden channel only as typed (contract decision 20).
      const name = isVisible ? channel.name : typed.get(foldCase(channel.name))!.name;
      const decision = canSubscribeSelf(actor, { ...channel, name }, isSubscribed);
      if (failsOnInaccessible) enforce(decision);
      if (decision.allowed) accessible.push(channel);
      else inaccessible.push(name);
    }
    return { accessible, inaccessible };
  }

  /** Notifies new subscribers, except those of channels created by this request, bots and the caller. */
  private async notifyNewSubscribers(
    tx: Transaction,
    { realm, actor, creator }: ChannelCreationContext,
    channels: readonly Channel[],
    added: SubscribeResult['added'],
    principals: readonly User[],
  ): Promise<void> {
    const subscribed = namesByUser(channels, added);
    for (const person of principals) {
      const names = subscribed.get(person.id);
      if (person.id === actor.id || person.bot || !names) continue;
      const content = subscribedNotice(creator, names);
      await this.notificationBot.sendDirect(tx, realm, person, content, { actor, about: channels });
    }
  }
}

type CreateMissing = (
  context: ChannelCreationContext,
  wanted: readonly NewChannel[],
  permissions: ChannelPermissionInput,
) => Promise<readonly Channel[]>;

interface CheckOptions {
  readonly parsedDescriptions: ParsedDescriptions;
  readonly create: CreateMissing;
  /** Principals loaded before the unit of work, or the error to throw at its place in the validation order. */
  readonly people?: readonly User[] | DomainError;
}

const countNewcomers = (added: SubscribeResult['added']): number => new Set([...added.values()].flat()).size;

/** Deliberate: the reference server treats the caller's own address as another user (channels §4.5). */
function isAboutOthers(actor: Actor, principals: Principals | null): boolean {
  if (principals === null) return false;
  if ('emails' in principals) return principals.emails.length > 0;
  return principals.some((id) => id !== actor.id);
}

function inOrderOf({ channels }: SubscribeUsersInput, found: readonly Channel[]): readonly Channel[] {
  const byName = byFoldedName(found);
  const ordered = channels.flatMap(({ name }) => byName.get(foldCase(trim(name))) ?? []);
  return [...new Set(ordered)];
}

function requestedColors({ channels }: SubscribeUsersInput, found: readonly Channel[]): ReadonlyMap<ChannelId, string> {
  const byName = byFoldedName(found);
  const colors = new Map<ChannelId, string>();
  for (const { name, color } of channels) {
    const channel = byName.get(foldCase(trim(name)));
    if (channel && color !== null) colors.set(channel.id, normalizeColor(color));
  }
  return colors;
}

function namesByUser(
  channels: readonly Channel[],
  users: ReadonlyMap<ChannelId, readonly UserId[]>,
): ReadonlyMap<UserId, readonly string[]> {
  const names = new Map<UserId, string[]>();
  for (const channel of channels) {
    for (const id of users.get(channel.id) ?? []) {
      const list = names.get(id) ?? [];
      list.push(channel.name);
      names.set(id, list);
    }
  }
  return names;
}

export interface ChangeSubscriptionsInput {
  readonly add: SubscribeUsersInput['channels'];
  /** Channel names. */
  readonly remove: readonly string[];
}

export interface ChangeSubscriptionsOutput {
  readonly added: SubscribeUsersOutput;
  readonly removed: UnsubscribeUsersOutput;
}

/**
 * Subscribes the caller to some channels and unsubscribes them from others (channels §4.7). Atomic unless there are
 * many.
 */
export class ChangeSubscriptions {
  static readonly inject = ['unitOfWork', SubscribeUsers, UnsubscribeUsers] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly subscribeUsers: SubscribeUsers,
    private readonly unsubscribeUsers: UnsubscribeUsers,
  ) {}

  /** @throws DomainError NO_SUBSCRIPTION_CHANGE, and the rejections of SubscribeUsers and UnsubscribeUsers */
  async execute(caller: Caller, { add, remove }: ChangeSubscriptionsInput): Promise<ChangeSubscriptionsOutput> {
    if (add.length + remove.length === 0) throw new DomainError('NO_SUBSCRIPTION_CHANGE', 'No channel is named.');
    const input: SubscribeUsersInput = {
      channels: add,
      principals: null,
      options: DEFAULT_CHANNEL_OPTIONS,
      announce: false,
      failsOnInaccessible: true,
      notifyNewSubscribers: true,
    };
    const removal: UnsubscribeUsersInput = { channelNames: remove, principals: null };
    if (!isOneUnit(1, add.length + remove.length)) {
      await this.uow.read(caller.realmId, (reads) => this.unsubscribeUsers.check(reads, caller, removal));
      const added = await this.subscribeUsers.execute(caller, input);
      return { added, removed: await this.unsubscribeUsers.execute(caller, removal) };
    }
    const parsedDescriptions = await this.subscribeUsers.parseDescriptions(caller, input);
    return this.uow.write(caller.realmId, async (tx) => ({
      added: await this.subscribeUsers.subscribe(tx, caller, input, parsedDescriptions),
      removed: await this.unsubscribeUsers.unsubscribe(tx, caller, removal),
    }));
  }
}
