import { type Actor, insufficientUnless, mustNotBeGuest } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, ChannelId, UserId } from '../kernel/ids.js';
import type { RequestPlan } from '../kernel/job-parts.js';
import { enforce } from '../kernel/permission.js';
import type { RealmUrls } from '../kernel/ports.js';
import { foldCase, trim } from '../kernel/text.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { getOrThrow, slicesOf } from '../kernel/work.js';
import type { User } from '../users/user.js';
import { byFoldedName, type Channel, parseChannelName } from './channel.js';
import {
  countPrincipals,
  findPrincipals,
  hasMetadataAccess,
  type Principals,
  subscribedAmong,
} from './channel-access.js';
import { canSubscribeSelf, mayAddOthers } from './channel-permissions.js';
import {
  ChannelCreator,
  type ChannelOptions,
  type ChannelPermissionInput,
  DEFAULT_CHANNEL_OPTIONS,
  type ParsedDescriptions,
} from './create-channels.use-cases.js';
import { checkSubscriptionCount } from './subscribing.js';
import {
  ChangeSubscriptionParts,
  isOneUnit,
  type Newcomer,
  NOTIFIED_AT_ONCE,
  type SubscriptionPart,
  type SubscriptionPartResult,
  subscribingParts,
  type WantedChannel,
} from './subscription-parts.js';
import { normalizeColor } from './subscriptions.js';
import {
  ChannelUnsubscriber,
  type UnsubscribeUsersInput,
  type UnsubscribeUsersOutput,
} from './unsubscribe.use-cases.js';

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

type SubscriptionReads = Repositories | Transaction;

/** Subscribes users to channels and creates missing channels, on behalf of one caller (channels §4.5). */
export class ChannelSubscriber {
  static readonly inject = [ChannelCreator, ChangeSubscriptionParts, 'realmUrls'] as const;
  constructor(
    private readonly channelCreator: ChannelCreator,
    private readonly parts: ChangeSubscriptionParts,
    private readonly realmUrls: RealmUrls,
  ) {}

  /**
   * Splits large requests into several units of work (contract decision 10).
   * @throws DomainError INVALID_CHANNEL_NAME, TOO_MANY_SUBSCRIPTIONS, CHANNEL_CONTENT_ACCESS_REQUIRED, UNKNOWN_USER,
   * NAMED_USER_DEACTIVATED, NOT_PERMITTED, and the rejections of `ChannelCreator` as in CreateChannel
   */
  async subscribe(caller: Caller, input: SubscribeUsersInput): Promise<SubscribeUsersOutput> {
    const isSmall = isOneUnit(countPrincipals(input.principals), input.channels.length);
    const parsed = await this.parseDescriptions(caller, input.channels);
    return this.output(caller, input, (plan) => this.parts.change(caller.realmId, isSmall, plan, parsed));
  }

  /** Runs before the transaction. */
  parseDescriptions({ realmId }: Caller, channels: SubscribeUsersInput['channels']): Promise<ParsedDescriptions> {
    const descriptions = channels.map(({ description }) => description);
    return this.channelCreator.parseDescriptions(realmId, descriptions);
  }

  /** Runs as part of a larger transaction. @throws DomainError like `subscribe` */
  subscribeIn(
    tx: Transaction,
    caller: Caller,
    input: SubscribeUsersInput,
    parsed: ParsedDescriptions,
  ): Promise<SubscribeUsersOutput> {
    return this.output(caller, input, (plan) => this.parts.changeIn(tx, caller.realmId, plan, parsed));
  }

  private async output(
    caller: Caller,
    input: SubscribeUsersInput,
    perform: (plan: RequestPlan<SubscriptionPart>) => Promise<SubscriptionPartResult>,
  ): Promise<SubscribeUsersOutput> {
    let inaccessible: readonly string[] = [];
    const { channels, changed, unchanged } = await perform(async (unit) => {
      const request = await this.check(unit, caller, input);
      inaccessible = request.inaccessible;
      const { options, announce } = input;
      const userIds = request.people.map(({ id }) => id);
      const creation = { creator: caller, options, permissions: request.permissions, announce };
      const parts = subscribingParts(request.channels, userIds, creation);
      return [...parts, ...(await this.notices(unit, caller, input, request))];
    });
    return {
      subscribed: namesByUser(channels, changed),
      alreadySubscribed: namesByUser(channels, unchanged),
      inaccessible,
      areNewSubscribersNotified: new Set([...changed.values()].flat()).size <= MAX_NOTIFIED_SUBSCRIBERS,
    };
  }

  /**
   * Returns the parts that notify future subscribers of existing channels, or none if there are too many. A part knows
   * only its own subscriptions, so they are planned in advance.
   */
  private async notices(
    unit: SubscriptionReads,
    caller: Caller,
    { notifyNewSubscribers }: SubscribeUsersInput,
    { channels, people }: CheckedRequest,
  ): Promise<readonly SubscriptionPart[]> {
    const isNotified = people.some(({ id, bot }) => id !== caller.userId && !bot);
    if (!notifyNewSubscribers || !isNotified) return [];
    const ids = channels.flatMap((channel) => ('id' in channel ? [channel.id] : []));
    // All users are new in a channel to be created.
    if (ids.length < channels.length && people.length > MAX_NOTIFIED_SUBSCRIBERS) return [];
    const userIds = people.map(({ id }) => id);
    const subscriptions = await unit.channels.listSubscriptionsOf(caller.realmId, userIds, ids);
    const newcomers = userIds.flatMap((userId): readonly Newcomer[] => {
      const present = new Set(subscriptions.get(userId)?.flatMap((row) => (row.isActive ? [row.channelId] : [])));
      const channelIds = ids.filter((id) => !present.has(id));
      return channelIds.length > 0 ? [{ userId, channelIds }] : [];
    });
    if (newcomers.length > MAX_NOTIFIED_SUBSCRIBERS) return [];
    return [...slicesOf(newcomers, NOTIFIED_AT_ONCE)].map((some) => {
      return { op: 'notify', creator: caller, people: some };
    });
  }

  /** Checks the request in the contract's order. */
  private async check(unit: SubscriptionReads, caller: Caller, input: SubscribeUsersInput): Promise<CheckedRequest> {
    const { options, channels } = input;
    const actor = await unit.actors.get(caller);
    enforce(mustNotBeGuest(actor));
    checkSubscriptionCount(countPrincipals(input.principals), channels.length);
    const realm = await unit.realms.get(caller.realmId);
    const context = { realm, actor };

    await this.channelCreator.checkOptions(unit, context, options, channels.length);
    const wanted = byFoldedName(
      channels.map(({ name, description }) => ({ name: parseChannelName(name), description })),
    );
    const names = [...wanted.values()].map(({ name }) => name);
    const existing = byFoldedName(await unit.channels.listByName(realm.id, names));
    let permissions: ChannelPermissionInput = {};
    if (existing.size < wanted.size) {
      // The order differs from CreateChannel (channels §4.5).
      permissions = await this.channelCreator.validatePermissions(unit, context, options);
      await this.channelCreator.checkTopicCreation(unit, context, options);
      await this.channelCreator.checkDeletePolicy(unit, context, permissions);
      this.channelCreator.checkCreation(context, options);
    }
    const inOrder = [...wanted.keys()].flatMap((key) => existing.get(key) ?? []);
    const { accessible, inaccessible } = await this.sortOut(unit, actor, inOrder, input);
    const others = isAboutOthers(actor, input.principals);
    if (others) enforce(insufficientUnless(accessible.every((channel) => mayAddOthers(actor, realm, channel))));
    const people = await findPrincipals(unit, actor, realm, input.principals ?? [actor.id], this.realmUrls);

    const reached = new Set(accessible);
    const colors = requestedColors(input);
    const subscribed = [...wanted].flatMap(([key, added]): readonly WantedChannel[] => {
      const channel = existing.get(key);
      if (channel && !reached.has(channel)) return [];
      return [{ ...(channel ? { id: channel.id } : added), color: colors.get(key) ?? null }];
    });
    return { channels: subscribed, permissions, inaccessible, people };
  }

  private async sortOut(
    unit: SubscriptionReads,
    actor: Actor,
    existing: readonly Channel[],
    { channels, failsOnInaccessible }: SubscribeUsersInput,
  ): Promise<{ accessible: readonly Channel[]; inaccessible: readonly string[] }> {
    const subscribed = await subscribedAmong(unit, actor, existing);
    const typed = byFoldedName(channels.map(({ name }) => ({ name: trim(name) })));
    const accessible: Channel[] = [];
    const inaccessible: string[] = [];
    for (const channel of existing) {
      const isSubscribed = subscribed.has(channel.id);
      const isVisible = hasMetadataAccess(actor, channel, isSubscribed);
      // The response names a hidden channel only as typed (contract decision 20).
      const name = isVisible ? channel.name : getOrThrow(typed, foldCase(channel.name)).name;
      const decision = canSubscribeSelf(actor, { ...channel, name }, isSubscribed);
      if (failsOnInaccessible) enforce(decision);
      if (decision.allowed) accessible.push(channel);
      else inaccessible.push(name);
    }
    return { accessible, inaccessible };
  }
}

/** Subscribes the caller or other users to channels and creates missing channels (channels §4.5). */
export class SubscribeUsers {
  static readonly inject = [ChannelSubscriber] as const;
  constructor(private readonly subscriber: ChannelSubscriber) {}

  /** @throws DomainError the codes of `ChannelSubscriber.subscribe` */
  execute(caller: Caller, input: SubscribeUsersInput): Promise<SubscribeUsersOutput> {
    return this.subscriber.subscribe(caller, input);
  }
}

/** Request that passed the checks. */
interface CheckedRequest {
  /** Channels to subscribe to, without inaccessible ones, in request order. */
  readonly channels: readonly WantedChannel[];
  /** Canonical permissions of new channels. */
  readonly permissions: ChannelPermissionInput;
  readonly inaccessible: readonly string[];
  readonly people: readonly User[];
}

/** Deliberate: the reference server treats the caller's own address as another user (channels §4.5). */
function isAboutOthers(actor: Actor, principals: Principals | null): boolean {
  if (principals === null) return false;
  if ('emails' in principals) return principals.emails.length > 0;
  return principals.some((id) => id !== actor.id);
}

/** Returns requested colors by folded channel name. */
function requestedColors({ channels }: SubscribeUsersInput): ReadonlyMap<string, string> {
  return new Map(
    channels.flatMap(({ name, color }) => (color === null ? [] : [[foldCase(trim(name)), normalizeColor(color)]])),
  );
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
  static readonly inject = ['unitOfWork', ChannelSubscriber, ChannelUnsubscriber] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly subscriber: ChannelSubscriber,
    private readonly unsubscriber: ChannelUnsubscriber,
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
      await this.uow.read(caller.realmId, (reads) => this.unsubscriber.check(reads, caller, removal));
      const added = await this.subscriber.subscribe(caller, input);
      return { added, removed: await this.unsubscriber.unsubscribe(caller, removal) };
    }
    const parsedDescriptions = await this.subscriber.parseDescriptions(caller, add);
    return this.uow.write(caller.realmId, async (tx) => ({
      added: await this.subscriber.subscribeIn(tx, caller, input, parsedDescriptions),
      removed: await this.unsubscriber.unsubscribeIn(tx, caller, removal),
    }));
  }
}
