import type { ChannelFolderId, ChannelId, EventSeq, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Channel, ChannelView } from './channel.js';
import type { Subscription } from './subscription.js';

export interface ChannelReads {
  find(realmId: RealmId, id: ChannelId): Promise<Channel | null>;
  /** Whatever the letter case; archived channels too. */
  findByName(realmId: RealmId, name: string): Promise<Channel | null>;
  /** Whatever the letter case; names nobody has are absent; ascending id. */
  listByName(realmId: RealmId, names: readonly string[]): Promise<readonly Channel[]>;
  /** Unknown ids are absent; ascending id. */
  list(realmId: RealmId, ids: readonly ChannelId[]): Promise<readonly Channel[]>;
  /** Every channel, archived ones included; ascending id. */
  listAll(realmId: RealmId): Promise<readonly Channel[]>;
  /** Archived ones too. */
  hasChannelsInFolder(realmId: RealmId, folderId: ChannelFolderId): Promise<boolean>;
  /** Whether there is a web-public channel in use. */
  hasWebPublic(realmId: RealmId): Promise<boolean>;
  /** Of those that count as recently active the first ones with higher ids, from the beginning with null; ascending. */
  listRecentlyActiveIds(realmId: RealmId, after: ChannelId | null, limit: number): Promise<readonly ChannelId[]>;
  /** Which of these were made before that time, and have no message sent since then; ascending. */
  filterIdle(realmId: RealmId, ids: readonly ChannelId[], since: UnixSeconds): Promise<readonly ChannelId[]>;
  /** Unknown ids are absent; by name in code-point order. No statement per id. */
  listViews(realmId: RealmId, ids: readonly ChannelId[]): Promise<readonly ChannelView[]>;
  /** Of all channels those that are wanted, in the same order. The event loop may turn in between. */
  listViewsWhere(realmId: RealmId, isWanted: (channel: Channel) => boolean): Promise<readonly ChannelView[]>;
  /** Whether the user subscribes to the channel now. */
  isSubscribed(realmId: RealmId, channelId: ChannelId, userId: UserId): Promise<boolean>;
  /** The user's row, active or not; null when they never subscribed to the channel. */
  findSubscription(realmId: RealmId, channelId: ChannelId, userId: UserId): Promise<Subscription | null>;
  /** Channels the user follows now; ascending id. */
  listSubscribedIds(realmId: RealmId, userId: UserId): Promise<readonly ChannelId[]>;
  /** All the user's rows, those of channels they have left included; ascending channel. */
  listSubscriptions(realmId: RealmId, userId: UserId): Promise<readonly Subscription[]>;
  /** Rows of several users in several channels; each of the users has an entry; ascending user, then channel. */
  listSubscriptionsOf(
    realmId: RealmId,
    userIds: readonly UserId[],
    channelIds: readonly ChannelId[],
  ): Promise<ReadonlyMap<UserId, readonly Subscription[]>>;
  /** The colors that these users' rows have, each once; users without rows are absent. */
  listColors(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, readonly string[]>>;
  /** Active users who follow it now; ascending. Channels without any map to an empty list. */
  listSubscribers(
    realmId: RealmId,
    channelIds: readonly ChannelId[],
  ): Promise<ReadonlyMap<ChannelId, readonly UserId[]>>;
  /** Which of these users follow it now; ascending. */
  filterSubscribed(realmId: RealmId, channelId: ChannelId, userIds: readonly UserId[]): Promise<readonly UserId[]>;
  /** Which of these channels an active guest follows now; ascending. */
  filterWithGuestSubscribers(realmId: RealmId, channelIds: readonly ChannelId[]): Promise<readonly ChannelId[]>;
  countSubscribers(realmId: RealmId, channelId: ChannelId): Promise<number>;
}

/** Every implementation passes channel-repository.contract.ts. */
export interface ChannelRepository extends ChannelReads {
  /** Adds the channel and its recipient. @throws DomainError CHANNEL_NAME_TAKEN, archived channels included. */
  add(channel: Omit<Channel, 'id' | 'recipientId' | 'version'>): Promise<Channel>;
  /** Stores it under a higher version. @throws DomainError CHANNEL_NAME_TAKEN */
  update(channel: Channel): Promise<Channel>;
  /** Adds or replaces rows, active or not. Says nothing about who receives: that is `PersonalMessages.openSpans`. */
  putSubscriptions(subscriptions: readonly Subscription[]): Promise<void>;
}

/** A user's time in a channel, for judging old events: from the first seq on, up to but not including the last. */
export interface SubscribedSpan {
  readonly channelId: ChannelId;
  readonly fromSeq: EventSeq;
  /** Null: still subscribed. */
  readonly toSeq: EventSeq | null;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    channels: [reads: ChannelReads, repository: ChannelRepository];
  }
}
