import type { GroupSettingValue } from '../access/group-settings.js';
import { type Audience, type EventOf, except, type FeatureParts, users } from '../kernel/event.js';
import type { ChannelId, GroupId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import { type Channel, type ChannelPermission, type ChannelView, isPrivate, isWebPublic } from './channel.js';
import { firstAudience, metadataUsers, visibilityOfChangedChannel } from './channel-delivery.js';
import type { DefaultChannelGroupView } from './default-channels.js';
import type { Subscription, SubscriptionChange } from './subscriptions.js';
import type { TopicVisibility } from './topic-policies.js';

export interface ChannelEventTypes {
  /** To those who can see them from now on. */
  'channel.created': { readonly channels: readonly ChannelView[] };
  /** To those who can no longer see them. */
  'channel.hidden': { readonly channelIds: readonly ChannelId[] };
  /** To everybody who could see the channel before and still can. */
  'channel.property_changed': {
    readonly channelId: ChannelId;
    /** Where the name itself is what changed: the one before. */
    readonly name: string;
  } & ChannelPropertyChange;
  /** To the same. */
  'channel.permission_changed': {
    readonly channelId: ChannelId;
    readonly name: string;
    readonly permission: ChannelPermission;
    /** What it is stored as, and `value` as clients see it. */
    readonly groupId: GroupId;
    readonly value: GroupSettingValue;
    /** Of `canSendMessage`; null for every other permission. */
    readonly senders: {
      readonly before: ChannelView['sendersSystemGroup'];
      readonly after: ChannelView['sendersSystemGroup'];
    } | null;
  };
  /** To everybody who can see the channel, as it is afterwards: for some clients archived channels do not exist. */
  'channel.archived_changed': { readonly channel: ChannelView };
  /**
   * To each of the new subscribers, of whom each may follow other ones of the channels. `isReturning`: they followed the
   * channels already while these were archived, which is news only to clients for which archived channels do not exist.
   */
  'subscription.added': {
    readonly isReturning?: true;
    readonly channels: readonly SubscribedChannel[];
    readonly subscriptions: readonly Subscription[];
  };
  /** To the subscriber. */
  'subscription.changed': { readonly channelId: ChannelId } & SubscriptionChange;
  /** To each of those who no longer follow. */
  'subscription.removed': {
    readonly channels: readonly {
      readonly id: ChannelId;
      readonly name: string;
      readonly userIds: readonly UserId[];
    }[];
  };
  /** To the others who can see the channels: these users follow them now, or no longer. `isReturning`: as above. */
  'channel.subscribers_changed': {
    readonly isReturning?: true;
    readonly op: 'add' | 'remove';
    readonly channelIds: readonly ChannelId[];
    readonly userIds: readonly UserId[];
  };
  /**
   * To those who have just come to see the channels: who follows them. It is looked up where the event is delivered, since the
   * lists may be long, and only those online need them. Names at most `CHANNELS_PER_LIST_OF_SUBSCRIBERS` channels.
   */
  'channel.subscribers_shown': { readonly channelIds: readonly ChannelId[] };
  /** To everybody but guests. */
  'default_channels.changed': { readonly channelIds: readonly ChannelId[] };
  /** To the same. */
  'default_channel_groups.changed': { readonly groups: readonly DefaultChannelGroupView[] };
  /** To the user whose policy it is. */
  'topic.policy_changed': {
    readonly channelId: ChannelId;
    readonly topic: string;
    readonly visibility: TopicVisibility;
    readonly changedAt: UnixSeconds;
    /** All topics that they have muted, for clients that know no other choice. */
    readonly muted: readonly {
      readonly channelName: string;
      readonly topic: string;
      readonly changedAt: UnixSeconds;
    }[];
  };
}

type ChangeOf<P extends keyof Channel> = { readonly [K in P]: { readonly property: K; readonly value: Channel[K] } }[P];

/** What has an event of its own; `rendered`: as HTML. */
export type ChannelPropertyChange =
  | ChangeOf<
      'name' | 'privacy' | 'messageRetentionDays' | 'topicsPolicy' | 'folderId' | 'isRecentlyActive' | 'firstMessageId'
    >
  | { readonly property: 'description'; readonly value: string; readonly rendered: string };

export interface SubscribedChannel {
  readonly channel: ChannelView;
  /** Everybody who follows it, after the change; ascending. */
  readonly subscriberIds: readonly UserId[];
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends ChannelEventTypes {}
}

export const CHANNEL_FEATURE = {
  eventFormats: {
    'channel.created': 2,
    'channel.hidden': 1,
    'channel.property_changed': 3,
    'channel.permission_changed': 1,
    'channel.archived_changed': 2,
    'subscription.added': 2,
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
 * Announces to everybody what a changed channel is to them: the change itself to those who see it before and after, the whole
 * channel to those who have come to see it, and that it is gone to those who see it no longer (channels §6.3).
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
    const userIds = (await tx.channels.listSubscribers(realmId, [id])).get(id)!;
    if (userIds.length > 0) {
      await append({ type: 'channel.subscribers_changed', op: 'add', channelIds: [id], userIds }, gainers);
    }
  }
  if (losers.kind !== 'nobody') await append({ type: 'channel.hidden', channelIds: [id] }, losers);
}

/** What one row of the log tells of, unless it is all one user's. */
const SUBSCRIPTIONS_PER_EVENT = 10_000;

/** Sends each new subscriber one event of all these channels. `subscriptions`: by user. */
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
        channels: channels.filter(({ channel }) => ofThese.has(channel.id)),
        subscriptions: some,
        ...more,
      },
      audience: users([...new Set(some.map(({ userId }) => userId))]),
    });
    await tx.yield();
  }
}

/** In pieces that an event can carry, none of which parts what is one user's: each gets all their channels at once. */
function* byUsers(subscriptions: readonly Subscription[]): Generator<readonly Subscription[]> {
  let piece: Subscription[] = [];
  for (const subscription of subscriptions) {
    if (piece.length >= SUBSCRIPTIONS_PER_EVENT && piece.at(-1)!.userId !== subscription.userId) {
      yield piece;
      piece = [];
    }
    piece.push(subscription);
  }
  if (piece.length > 0) yield piece;
}

/** Channels that the same people have come to, or left, and whose other viewers are the same. */
interface PeerGroup {
  readonly channels: Channel[];
  readonly userIds: readonly UserId[];
}

/**
 * Announces to the others who may see the channels who has come or gone, in as few events as channels §6.2 allows: public channels
 * share one while no guest, who sees none but what they follow, is among their subscribers. Those who come see each
 * other in the lists of subscribers they get; those who leave together, by the same event as the others.
 */
export async function publishSubscriberChanges(
  tx: Transaction,
  op: 'add' | 'remove',
  channels: readonly Channel[],
  userIdsOf: ReadonlyMap<ChannelId, readonly UserId[]>,
): Promise<void> {
  const { realmId } = channels[0]!;
  const open = channels.filter((channel) => !isPrivate(channel) && !isWebPublic(channel)).map(({ id }) => id);
  // One alone shares nothing with anybody.
  const withGuests = open.length > 1 ? await followedByGuests(tx, realmId, open) : NO_CHANNELS;
  const groups = new Map<string, PeerGroup>();
  for (const channel of channels) {
    const userIds = userIdsOf.get(channel.id)!;
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
    await tx.yield();
  }
}

const NO_CHANNELS: ReadonlySet<ChannelId> = new Set();
const CHANNELS_AT_A_TIME = 50;

/** Looks through the subscribers of each, until a guest is among them. */
async function followedByGuests(
  tx: Transaction,
  realmId: RealmId,
  ids: readonly ChannelId[],
): Promise<ReadonlySet<ChannelId>> {
  const followed = new Set<ChannelId>();
  for (const some of slicesOf(ids, CHANNELS_AT_A_TIME)) {
    for (const id of await tx.channels.filterWithGuestSubscribers(realmId, some)) followed.add(id);
    await tx.yield();
  }
  return followed;
}
