import type { GroupSettingValue } from '../access/group-settings.js';
import { type Audience, type EventOf, except, type FeatureParts, users } from '../kernel/event.js';
import type { ChannelId, GroupId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { firstOf, getOrThrow, lastOf } from '../kernel/work.js';
import { type Channel, type ChannelPermission, type ChannelView, isPrivate, isWebPublic } from './channel.js';
import { firstAudience, metadataUsers, visibilityOfChangedChannel } from './channel-delivery.js';
import type { DefaultChannelGroupView } from './default-channels.js';
import type { Subscription, SubscriptionChange } from './subscriptions.js';
import type { TopicVisibility } from './topic-policies.js';

export interface ChannelEventTypes {
  /** Sent to users who gain sight of the channels. */
  'channel.created': { readonly channels: readonly ChannelView[] };
  /**
   * Same for many channels, which are looked up on delivery. Names at most `CHANNELS_PER_LIST_OF_SUBSCRIBERS` channels;
   * those no longer visible to the receiver are omitted.
   */
  'channel.shown': { readonly channelIds: readonly ChannelId[] };
  /** Sent to users who lose sight of the channels. */
  'channel.hidden': { readonly channelIds: readonly ChannelId[] };
  /** Sent to users who could see the channel before and still can. */
  'channel.property_changed': {
    readonly channelId: ChannelId;
    /** Current name; for a name change, the previous name. */
    readonly name: string;
  } & ChannelPropertyChange;
  /** Sent to users who could see the channel before and still can. */
  'channel.permission_changed': {
    readonly channelId: ChannelId;
    readonly name: string;
    readonly permission: ChannelPermission;
    /** Stored form of the permission; `value` is the client form. */
    readonly groupId: GroupId;
    readonly value: GroupSettingValue;
    /** Set for `canSendMessage`; null for other permissions. */
    readonly senders: {
      readonly before: ChannelView['sendersSystemGroup'];
      readonly after: ChannelView['sendersSystemGroup'];
    } | null;
  };
  /** Sent to all users who can see the channel, with its new state. Some clients do not show archived channels. */
  'channel.archived_changed': { readonly channel: ChannelView };
  /**
   * Sent to each new subscriber; subscribers may differ in channels. `isReturning`: they were already subscribed while
   * the channels were archived. Only clients that hide archived channels need it.
   */
  'subscription.added': {
    readonly isReturning?: true;
    readonly channels: readonly SubscribedChannel[];
    readonly subscriptions: readonly Subscription[];
  };
  /** Sent to the subscriber. */
  'subscription.changed': { readonly channelId: ChannelId } & SubscriptionChange;
  /** Sent to each user who was unsubscribed. */
  'subscription.removed': {
    readonly channels: readonly {
      readonly id: ChannelId;
      readonly name: string;
      readonly userIds: readonly UserId[];
    }[];
  };
  /**
   * Sent to the other users who can see the channels when these users subscribe or unsubscribe. See above for
   * `isReturning`.
   */
  'channel.subscribers_changed': {
    readonly isReturning?: true;
    readonly op: 'add' | 'remove';
    readonly channelIds: readonly ChannelId[];
    readonly userIds: readonly UserId[];
  };
  /**
   * Sent to users who gained sight of the channels, with their subscribers. The lists may be long and only online users
   * need them, so they are looked up on delivery. Names at most `CHANNELS_PER_LIST_OF_SUBSCRIBERS` channels.
   */
  'channel.subscribers_shown': { readonly channelIds: readonly ChannelId[] };
  /** Sent to all users except guests. */
  'default_channels.changed': { readonly channelIds: readonly ChannelId[] };
  /** Sent to users who could see the channel before and still can. */
  'default_channel_groups.changed': { readonly groups: readonly DefaultChannelGroupView[] };
  /** Sent to the owner of the policy. */
  'topic.policy_changed': {
    readonly channelId: ChannelId;
    readonly topic: string;
    readonly visibility: TopicVisibility;
    readonly changedAt: UnixSeconds;
    /**
     * Complete list of muted topics, for clients that support no other policy; null if it is unchanged and longer than
     * `MAX_REPEATED_MUTES`.
     */
    readonly muted:
      | readonly { readonly channelName: string; readonly topic: string; readonly changedAt: UnixSeconds }[]
      | null;
  };
}

type ChangeOf<P extends keyof Channel> = { readonly [K in P]: { readonly property: K; readonly value: Channel[K] } }[P];

/** Change with its own event; `rendered` is HTML. */
export type ChannelPropertyChange =
  | ChangeOf<
      'name' | 'privacy' | 'messageRetentionDays' | 'topicsPolicy' | 'folderId' | 'isRecentlyActive' | 'firstMessageId'
    >
  | { readonly property: 'description'; readonly value: string; readonly rendered: string };

export interface SubscribedChannel {
  readonly channel: ChannelView;
  /** All subscribers after the change, ascending; null if there are too many, so that delivery looks them up. */
  readonly subscriberIds: readonly UserId[] | null;
}

/**
 * Maximum number of subscribers listed in the event of a new subscription. Longer lists in every such event would fill
 * the log.
 */
export const MAX_LISTED_SUBSCRIBERS = 100;

declare module '../kernel/feature-types.js' {
  interface DomainEventTypes extends ChannelEventTypes {}
}

export const CHANNEL_FEATURE = {
  eventFormats: {
    'channel.created': 2,
    'channel.shown': 1,
    'channel.hidden': 1,
    'channel.property_changed': 3,
    'channel.permission_changed': 1,
    'channel.archived_changed': 2,
    'subscription.added': 3,
    'subscription.changed': 1,
    'subscription.removed': 1,
    'channel.subscribers_changed': 1,
    'channel.subscribers_shown': 1,
    'default_channels.changed': 1,
    'default_channel_groups.changed': 1,
    'topic.policy_changed': 1,
  },
  notExported: {
    channelAddresses: 'They are secrets.',
  },
} satisfies FeatureParts<ChannelEventTypes>;

type Change = EventOf<'channel.property_changed' | 'channel.permission_changed'>;

/**
 * Publishes a changed channel (channels §6.3). Users who still see it receive the change, users who gain it the whole
 * channel, and users who lose it its removal.
 */
export async function publishChannelChange(
  tx: Transaction,
  before: Channel,
  after: Channel,
  change: Change,
): Promise<void> {
  const { realmId, id } = after;
  const { gainers, keepers, losers } = visibilityOfChangedChannel(before, after);
  const append = (event: Parameters<Transaction['events']['append']>[1]['event'], audience: Audience) =>
    tx.events.append(realmId, { event, audience });
  await append(change, keepers);
  if (gainers.kind !== 'nobody') {
    await append({ type: 'channel.created', channels: await tx.channels.listViews(realmId, [id]) }, gainers);
    const userIds = getOrThrow(await tx.channels.listSubscribers(realmId, [id]), id);
    if (userIds.length > 0) {
      await append({ type: 'channel.subscribers_changed', op: 'add', channelIds: [id], userIds }, gainers);
    }
  }
  if (losers.kind !== 'nobody') await append({ type: 'channel.hidden', channelIds: [id] }, losers);
}

/** Maximum number of subscriptions per log row; subscriptions of one user are never split. */
const SUBSCRIPTIONS_PER_EVENT = 10_000;

/** Sends each new subscriber one event with all their channels. `subscriptions` must be sorted by user. */
export async function publishSubscriptions(
  tx: Transaction,
  realmId: RealmId,
  channels: readonly SubscribedChannel[],
  subscriptions: readonly Subscription[],
  more: { readonly isReturning?: true } = {},
): Promise<void> {
  for (const some of byUsers(subscriptions)) {
    const ofThese = new Set(some.map(({ channelId }) => channelId));
    await tx.events.append(realmId, {
      event: {
        type: 'subscription.added',
        channels: channels
          .filter(({ channel }) => ofThese.has(channel.id))
          .map(({ channel, subscriberIds }) => ({
            channel,
            subscriberIds: subscriberIds && subscriberIds.length <= MAX_LISTED_SUBSCRIBERS ? subscriberIds : null,
          })),
        subscriptions: some,
        ...more,
      },
      audience: users([...new Set(some.map(({ userId }) => userId))]),
    });
  }
}

/** Publishes a change by the server itself. */
export async function publishProperty(
  tx: Transaction,
  channel: Channel,
  change: ChannelPropertyChange,
  audience = metadataUsers(channel),
): Promise<void> {
  const { realmId, id: channelId, name } = channel;
  await tx.events.append(realmId, {
    event: { type: 'channel.property_changed', channelId, name, ...change },
    audience,
  });
}

/** Publishes that a channel is archived or no longer, and returns its view. */
export async function publishArchiving(tx: Transaction, channel: Channel): Promise<ChannelView> {
  const view = firstOf(await tx.channels.listViews(channel.realmId, [channel.id]));
  const event = { type: 'channel.archived_changed', channel: view } as const;
  await tx.events.append(channel.realmId, { event, audience: metadataUsers(channel) });
  return view;
}

/** Shows an unarchived channel to some of its subscribers, for clients that hid it. */
export async function publishReturn(tx: Transaction, channel: ChannelView, userIds: readonly UserId[]): Promise<void> {
  const { realmId, id } = channel;
  const subscriberIds = getOrThrow(await tx.channels.listSubscribers(realmId, [id]), id);
  const rows = [...(await tx.channels.listSubscriptionsOf(realmId, userIds, [id])).values()].flat();
  const active = rows.filter(({ isActive }) => isActive);
  await publishSubscriptions(tx, realmId, [{ channel, subscriberIds }], active, { isReturning: true });
}

/** Splits subscriptions into event-sized batches and keeps those of one user together. */
function* byUsers(subscriptions: readonly Subscription[]): Generator<readonly Subscription[]> {
  let piece: Subscription[] = [];
  for (const subscription of subscriptions) {
    if (piece.length >= SUBSCRIPTIONS_PER_EVENT && lastOf(piece).userId !== subscription.userId) {
      yield piece;
      piece = [];
    }
    piece.push(subscription);
  }
  if (piece.length > 0) yield piece;
}

/** Channels with the same joining or leaving users and the same other viewers. */
interface PeerGroup {
  readonly channels: Channel[];
  readonly userIds: readonly UserId[];
}

/**
 * Publishes subscriptions and unsubscriptions to other viewers in the fewest events that channels §6.2 allows. Public
 * channels share an event unless a guest subscribes to one, because guests see only their own channels. New subscribers
 * see each other in their subscriber lists; users who leave together receive the same event as other viewers.
 */
export async function publishSubscriberChanges(
  tx: Transaction,
  op: 'add' | 'remove',
  channels: readonly Channel[],
  userIdsOf: ReadonlyMap<ChannelId, readonly UserId[]>,
): Promise<void> {
  const { realmId } = firstOf(channels);
  const open = channels.filter((channel) => !isPrivate(channel) && !isWebPublic(channel)).map(({ id }) => id);
  // A single channel has no other channel to share an event with.
  const withGuests = open.length > 1 ? await withGuestSubscribers(tx, realmId, open) : NO_CHANNELS;
  const groups = new Map<string, PeerGroup>();
  for (const channel of channels) {
    const userIds = getOrThrow(userIdsOf, channel.id);
    const isAlone = isPrivate(channel) || withGuests.has(channel.id);
    const key = isAlone ? String(channel.id) : `${isWebPublic(channel)}:${userIds.join()}`;
    const group = groups.get(key);
    if (group) group.channels.push(channel);
    else groups.set(key, { channels: [channel], userIds });
  }
  for (const { channels: together, userIds } of groups.values()) {
    const [channel] = together;
    const viewers = together.length === 1 ? metadataUsers(channel!) : firstAudience(channel!);
    const leaveTogether = op === 'remove' && userIds.length > 1;
    await tx.events.append(realmId, {
      event: {
        type: 'channel.subscribers_changed',
        op,
        channelIds: together.map(({ id }) => id),
        userIds,
      },
      audience: leaveTogether ? viewers : except(viewers, users(userIds)),
    });
  }
}

const NO_CHANNELS: ReadonlySet<ChannelId> = new Set();

/** Maximum number of guests to look for in each channel; with more guests, scanning channel subscribers is cheaper. */
const FEW_GUESTS = 1000;

/**
 * Returns the channels with guest subscribers. Looks for the guests in each channel or, if there are many, scans its
 * subscribers until one is found.
 */
async function withGuestSubscribers(
  tx: Transaction,
  realmId: RealmId,
  ids: readonly ChannelId[],
): Promise<ReadonlySet<ChannelId>> {
  // Guests are the direct members of `everyone`.
  const { everyone } = await tx.groups.systemGroupIds(realmId);
  const guestIds = await tx.groups.listDirectMembers(realmId, everyone);
  if (guestIds.length <= FEW_GUESTS) {
    const subscribed = new Set<ChannelId>();
    const activeIds = await tx.users.listActiveIds(realmId, guestIds);
    for (const id of ids) {
      if ((await tx.channels.filterSubscribed(realmId, id, activeIds)).length > 0) subscribed.add(id);
    }
    return subscribed;
  }
  return new Set(await tx.channels.filterWithGuestSubscribers(realmId, ids));
}
