import type { Audience } from '../kernel/audience.js';
import type { AudienceRules, Membership } from '../kernel/audience-membership.js';
import type {
  AudienceMembers,
  LiveCandidate,
  LiveProjection,
  OnlineUser,
  QueueOwnerRights,
  ReceiverRequest,
  ReplayedCandidate,
} from '../kernel/delivery-features.js';
import type { DomainEvent } from '../kernel/event.js';
import { type ChannelId, isId, type RealmId, type UserId } from '../kernel/ids.js';
import type { EventNeeds, Receiver } from '../kernel/receiver.js';
import type { Repositories } from '../kernel/unit-of-work.js';
import { hasMetadataAccess } from './channel-access.js';
import type { SubscribedSpan } from './channel-repository.js';

declare module '../kernel/audience.js' {
  interface AudienceTypes {
    subscribers: { readonly channelId: ChannelId };
  }
}

declare module '../kernel/audience-membership.js' {
  interface Membership {
    isSubscribed(channelId: ChannelId): boolean;
  }
}

declare module '../kernel/delivery-features.js' {
  interface QueueOwnerRights {
    readonly spans: ReadonlyMap<ChannelId, readonly SubscribedSpan[]>;
    readonly channelIds: readonly ChannelId[];
  }
  interface OnlineUser {
    readonly channels: Set<ChannelId>;
  }
}

declare module '../kernel/receiver.js' {
  interface Receiver {
    /** Of the channels of `EventNeeds.subscribersOf` that they may see: who follows them now; ascending. */
    readonly subscribers: ReadonlyMap<ChannelId, readonly UserId[]>;
  }
  interface EventNeeds {
    /** Channels of which it tells who follows them. */
    readonly subscribersOf?: readonly ChannelId[];
  }
}

export const subscribersOf = (channelId: ChannelId): Audience => ({ kind: 'subscribers', channelId });

export const CHANNEL_AUDIENCES: AudienceRules<'subscribers'> = {
  subscribers: {
    isValid: ({ channelId }) => isId(channelId),
    includes: ({ channelId }, member) => member.isSubscribed(channelId),
  },
};

type ChannelMembership = Pick<Membership, 'isSubscribed'>;

/** As of the event, because message content hangs on it. */
export const replayedSubscriptions = (candidate: ReplayedCandidate): ChannelMembership => ({
  isSubscribed: (channelId) => {
    const { seq } = candidate;
    for (const { fromSeq, toSeq } of candidate.user.spans.get(channelId) ?? []) {
      if (fromSeq <= seq && (toSeq === null || seq < toSeq)) return true;
    }
    return false;
  },
});

export async function loadChannelRights(
  { channels, personal }: Repositories,
  realmId: RealmId,
  userId: UserId,
): Promise<Pick<QueueOwnerRights, 'spans' | 'channelIds'>> {
  return {
    spans: byChannel(await personal.listSubscribedSpans({ realmId, userId })),
    channelIds: await channels.listSubscribedIds(realmId, userId),
  };
}

function byChannel(spans: readonly SubscribedSpan[]): ReadonlyMap<ChannelId, readonly SubscribedSpan[]> {
  const lists = new Map<ChannelId, SubscribedSpan[]>();
  for (const span of spans) {
    const list = lists.get(span.channelId);
    if (list) list.push(span);
    else lists.set(span.channelId, [span]);
  }
  return lists;
}

export const onlineInChannels = ({ channelIds }: QueueOwnerRights): Pick<OnlineUser, 'channels'> => ({
  channels: new Set(channelIds),
});

/** Which of those online follow which channel. */
export class ChannelProjection implements LiveProjection {
  private readonly subscribers = new Map<ChannelId, Set<OnlineUser>>();

  constructor(private readonly users: ReadonlyMap<UserId, OnlineUser>) {}

  readonly members: AudienceMembers<'subscribers'> = {
    subscribers: ({ channelId }) => this.subscribers.get(channelId) ?? NOBODY,
  };

  add(user: OnlineUser): void {
    for (const channelId of user.channels) this.subscribe(user, channelId);
  }

  remove(user: OnlineUser): void {
    for (const channelId of user.channels) this.unsubscribe(user, channelId);
  }

  fold(event: DomainEvent): void {
    if (event.type === 'subscription.added') {
      for (const { userId, channelId } of event.subscriptions) {
        const user = this.users.get(userId);
        if (!user) continue;
        user.channels.add(channelId);
        this.subscribe(user, channelId);
      }
    }
    if (event.type === 'subscription.removed') {
      for (const { id, userIds } of event.channels) {
        for (const userId of userIds) {
          const user = this.users.get(userId);
          if (!user) continue;
          user.channels.delete(id);
          this.unsubscribe(user, id);
        }
      }
    }
  }

  membershipOf(candidate: LiveCandidate): ChannelMembership {
    return { isSubscribed: (channelId) => candidate.user.channels.has(channelId) };
  }

  private subscribe(user: OnlineUser, channelId: ChannelId): void {
    const subscribers = this.subscribers.get(channelId);
    if (subscribers) subscribers.add(user);
    else this.subscribers.set(channelId, new Set([user]));
  }

  private unsubscribe(user: OnlineUser, channelId: ChannelId): void {
    const subscribers = this.subscribers.get(channelId);
    subscribers?.delete(user);
    if (subscribers?.size === 0) this.subscribers.delete(channelId);
  }
}

const NOBODY: ReadonlySet<OnlineUser> = new Set();

type ChannelReceiver = Pick<Receiver, 'subscribers'>;

const NO_SUBSCRIBERS: ChannelReceiver = { subscribers: new Map() };

export const channelReceiver = (): ChannelReceiver => NO_SUBSCRIBERS;

export const needsChannels = ({ subscribersOf: ids }: EventNeeds): boolean => ids !== undefined;

/** In the order of the requests. Whoever no longer sees a channel gets nobody of it. */
export async function loadChannelReceivers(
  { actors, channels }: Repositories,
  realmId: RealmId,
  requests: readonly ReceiverRequest[],
): Promise<readonly ChannelReceiver[]> {
  const asking = requests.filter(({ needs }) => needs.subscribersOf);
  const ids = [...new Set(asking.flatMap(({ needs }) => needs.subscribersOf!))];
  if (ids.length === 0) return requests.map(channelReceiver);
  const userIds = [...new Set(asking.map(({ owner }) => owner.userId))];
  const found = new Map((await channels.list(realmId, ids)).map((channel) => [channel.id, channel]));
  const subscribers = await channels.listSubscribers(realmId, ids);
  const followed = await channels.listSubscriptionsOf(realmId, userIds, ids);
  const viewers = await actors.list(realmId, userIds);
  return requests.map(({ owner, needs }) => {
    const viewer = viewers.get(owner.userId);
    if (!viewer || !needs.subscribersOf) return NO_SUBSCRIBERS;
    const own = new Set((followed.get(owner.userId) ?? []).filter((row) => row.isActive).map((row) => row.channelId));
    const seen = needs.subscribersOf.filter((id) => {
      const channel = found.get(id);
      return channel !== undefined && hasMetadataAccess(viewer, channel, own.has(id));
    });
    return { subscribers: new Map(seen.map((id) => [id, subscribers.get(id) ?? []])) };
  });
}
