import type { Actor } from '../access/actor.js';
import { groupMembers } from '../access/group-delivery.js';
import type {
  AudienceMembers,
  AudienceRules,
  LiveCandidate,
  LiveProjection,
  Membership,
  OnlineUser,
  QueueOwnerRights,
  ReceiverRequest,
  ReplayedCandidate,
} from '../kernel/delivery.js';
import { type Audience, allOf, anyOf, type DomainEvent, except, nobody, users, wholeRealm } from '../kernel/event.js';
import type { EventNeeds, Receiver } from '../kernel/event-log.js';
import { type ChannelId, type GroupId, isId, type RealmId, type UserId } from '../kernel/ids.js';
import type { Repositories } from '../kernel/unit-of-work.js';
import { atLeast } from '../users/user-delivery.js';
import { type Channel, type ChannelPermission, isPrivate, isWebPublic, type SubscribedSpan } from './channel.js';
import { hasMetadataAccess } from './channel-access.js';

declare module '../kernel/event.js' {
  interface AudienceTypes {
    subscribers: { readonly channelId: ChannelId };
  }
}

declare module '../kernel/delivery.js' {
  interface Membership {
    isSubscribed(channelId: ChannelId): boolean;
  }
}

declare module '../kernel/delivery.js' {
  interface QueueOwnerRights {
    readonly spans: ReadonlyMap<ChannelId, readonly SubscribedSpan[]>;
    readonly channelIds: readonly ChannelId[];
  }
  interface OnlineUser {
    readonly channels: Set<ChannelId>;
  }
}

declare module '../kernel/event-log.js' {
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

/** Who sees a channel before anybody has followed it (channels §6.1, `create`). */
export function firstAudience(channel: Channel): Audience {
  if (isWebPublic(channel)) return wholeRealm;
  if (!isPrivate(channel)) return atLeast('member');
  const { canAdministerChannel, canAddSubscribers, canSubscribe } = channel.permissions;
  const granted = anyOf(
    groupMembers(canAdministerChannel),
    groupMembers(canAddSubscribers),
    groupMembers(canSubscribe),
  );
  return anyOf(atLeast('administrator'), allOf(atLeast('member'), granted));
}

/** Everybody who sees that the channel exists: the "metadata users" of channels §6. */
export function metadataUsers(channel: Channel): Audience {
  return isWebPublic(channel) ? wholeRealm : anyOf(subscribersOf(channel.id), firstAudience(channel));
}

/** Who sees a channel now, compared with before it changed. Set expressions: none costs by the number of subscribers. */
export interface ChannelVisibilityChange {
  /** Is sent the whole channel, and who is subscribed to it. */
  readonly gainers: Audience;
  /** Is sent the change itself. */
  readonly keepers: Audience;
  /** Gets the event that the channel is gone. */
  readonly losers: Audience;
}

/** The permissions that let people see a private channel (channels §3.4). */
export const VISIBILITY_PERMISSIONS: readonly ChannelPermission[] = [
  'canAddSubscribers',
  'canAdministerChannel',
  'canSubscribe',
];

/** Of a channel whose privacy or permissions changed (channels §6.3). */
export function visibilityOfChangedChannel(before: Channel, after: Channel): ChannelVisibilityChange {
  // Permissions let nobody see a channel that is open anyway.
  const isSame =
    before.privacy === after.privacy &&
    (!isPrivate(after) ||
      VISIBILITY_PERMISSIONS.every((permission) => before.permissions[permission] === after.permissions[permission]));
  if (isSame) return { gainers: nobody, keepers: metadataUsers(after), losers: nobody };
  return {
    gainers: except(metadataUsers(after), metadataUsers(before)),
    keepers: allOf(metadataUsers(before), metadataUsers(after)),
    losers: except(metadataUsers(before), metadataUsers(after)),
  };
}

/** Somebody whose role or groups changed; the same active user twice. */
export interface ChangedUser {
  readonly before: Actor;
  readonly after: Actor;
}

/** Channels that the same people came to see, or lost sight of. */
export interface ChannelsWithAudience {
  /** In the given order. */
  readonly channels: readonly Channel[];
  readonly audience: Audience;
}

export interface UserVisibilityChange {
  readonly gained: readonly ChannelsWithAudience[];
  readonly lost: readonly ChannelsWithAudience[];
}

/**
 * Of people whose role or groups changed, channel by channel, in as few events as there are different audiences: one for a role,
 * whatever the number of channels (channels §6.3).
 */
export class VisibilityForChangedUsers {
  private readonly alike: readonly AlikeUsers[];
  private readonly gained: ByPeople = new Map();
  private readonly lost: ByPeople = new Map();

  constructor(people: readonly ChangedUser[]) {
    this.alike = alikeUsers([...people].sort((one, other) => one.after.id - other.after.id));
  }

  /** `subscriberIds`: of these people, those who follow it. */
  add(channel: Channel, subscriberIds: ReadonlySet<UserId>): void {
    const gainers: UserId[] = [];
    const losers: UserId[] = [];
    for (const { before, after, ids } of this.alike) {
      for (const isSubscribed of [false, true]) {
        const saw = hasMetadataAccess(before, channel, isSubscribed);
        const sees = hasMetadataAccess(after, channel, isSubscribed);
        if (sees === saw) continue;
        const changed = sees ? gainers : losers;
        for (const id of ids) if (subscriberIds.has(id) === isSubscribed) changed.push(id);
      }
    }
    collect(this.gained, channel, gainers);
    collect(this.lost, channel, losers);
  }

  get change(): UserVisibilityChange {
    return { gained: asAudiences(this.gained), lost: asAudiences(this.lost) };
  }
}

/** Users of the same role and groups, before and after. */
interface AlikeUsers extends ChangedUser {
  readonly ids: UserId[];
}

/** Those who are in the same groups mostly share one set of them, so that few kinds are left of many people. */
function alikeUsers(people: readonly ChangedUser[]): readonly AlikeUsers[] {
  const kinds = new Map<ReadonlySet<GroupId>, AlikeUsers[]>();
  for (const { before, after } of people) {
    const known = kinds.get(after.groups) ?? [];
    kinds.set(after.groups, known);
    const alike = known.find(
      (kind) =>
        kind.before.groups === before.groups && kind.before.role === before.role && kind.after.role === after.role,
    );
    if (alike) alike.ids.push(after.id);
    else known.push({ before, after, ids: [after.id] });
  }
  return [...kinds.values()].flat();
}

type ByPeople = Map<string, { readonly channels: Channel[]; readonly ids: readonly UserId[] }>;

function collect(groups: ByPeople, channel: Channel, unsorted: readonly UserId[]): void {
  if (unsorted.length === 0) return;
  const ids = [...unsorted].sort((a, b) => a - b);
  const key = ids.join();
  const group = groups.get(key);
  if (group) group.channels.push(channel);
  else groups.set(key, { channels: [channel], ids });
}

const asAudiences = (groups: ByPeople): readonly ChannelsWithAudience[] =>
  [...groups.values()].map(({ channels, ids }) => ({ channels, audience: users(ids) }));
