import type { Actor } from '../access/actor.js';
import { groupMembers } from '../access/group-delivery.js';
import type {
  AudienceMembers,
  AudienceRules,
  LiveCandidate,
  LiveProjection,
  ReceiverRequest,
  ReplayedCandidate,
} from '../kernel/delivery.js';
import { type Audience, allOf, anyOf, type DomainEvent, except, nobody, users, wholeRealm } from '../kernel/event.js';
import type {
  AudienceQuestions,
  AudienceResults,
  EventNeeds,
  LookupUsers,
  Membership,
  OnlineUser,
  QueueOwnerRights,
  Receiver,
} from '../kernel/feature-types.js';
import { type ChannelId, type GroupId, isId, type RealmId, type UserId } from '../kernel/ids.js';
import type { Repositories } from '../kernel/unit-of-work.js';
import { getOrThrow } from '../kernel/work.js';
import { atLeast } from '../users/user-delivery.js';
import {
  type Channel,
  type ChannelPermission,
  type ChannelView,
  isPrivate,
  isWebPublic,
  type SubscribedSpan,
} from './channel.js';
import { hasMetadataAccess } from './channel-access.js';

declare module '../kernel/feature-types.js' {
  interface AudienceTypes {
    subscribers: { readonly channelId: ChannelId };
  }
  interface Membership {
    isSubscribed(channelId: ChannelId): boolean;
  }
  interface AudienceQuestions {
    /** Channels with subscribers that must be known. */
    readonly channelIds?: readonly ChannelId[];
  }
  interface LookupUsers {
    /** User with subscription periods to load; absent for online users, whose subscriptions are known. */
    readonly spansOf?: UserId;
  }
  interface AudienceResults {
    /** Subscription periods in the requested channels. */
    readonly spans: ReadonlyMap<ChannelId, readonly SubscribedSpan[]>;
  }
  interface QueueOwnerRights {
    /** Empty if the user is online, so that their subscriptions are known. */
    readonly channelIds: readonly ChannelId[];
  }
  interface OnlineUser {
    readonly channels: Set<ChannelId>;
  }
  interface Receiver {
    /** Current subscribers of the visible channels in `EventNeeds.subscribersOf`, ascending. */
    readonly subscribers: ReadonlyMap<ChannelId, readonly UserId[]>;
    /** Visible channels in `EventNeeds.viewsOf`. */
    readonly channelViews: ReadonlyMap<ChannelId, ChannelView>;
  }
  interface EventNeeds {
    /** Channels with subscribers included in the event. */
    readonly subscribersOf?: readonly ChannelId[];
    /** Channels shown in the event. */
    readonly viewsOf?: readonly ChannelId[];
  }
}

export const subscribersOf = (channelId: ChannelId): Audience => ({ kind: 'subscribers', channelId });

export const CHANNEL_AUDIENCES: AudienceRules<'subscribers'> = {
  subscribers: {
    isValid: ({ channelId }) => isId(channelId),
    includes: ({ channelId }, member) => member.isSubscribed(channelId),
    questions: ({ channelId }) => ({ channelIds: [channelId] }),
  },
};

type ChannelMembership = Pick<Membership, 'isSubscribed'>;

/** Evaluates subscriptions as of the event, because they protect message content. */
export const replayedSubscriptions = (candidate: ReplayedCandidate): ChannelMembership => ({
  isSubscribed: (channelId) => {
    const { seq, results } = candidate;
    for (const { fromSeq, toSeq } of results.spans.get(channelId) ?? []) {
      if (fromSeq <= seq && (toSeq === null || seq < toSeq)) return true;
    }
    return false;
  },
});

/** Loads the periods of a user whose events are replayed. */
export async function findSpans(
  { personal }: Repositories,
  realmId: RealmId,
  { channelIds = [] }: AudienceQuestions,
  { spansOf: userId }: LookupUsers,
): Promise<Pick<AudienceResults, 'spans'>> {
  const lists = new Map<ChannelId, SubscribedSpan[]>();
  if (userId === undefined || channelIds.length === 0) return { spans: lists };
  for (const span of await personal.listSubscribedSpans({ realmId, userId }, channelIds)) {
    const list = lists.get(span.channelId);
    if (list) list.push(span);
    else lists.set(span.channelId, [span]);
  }
  return { spans: lists };
}

export const onlineInChannels = ({ channelIds }: QueueOwnerRights): Pick<OnlineUser, 'channels'> => ({
  channels: new Set(channelIds),
});

/** Number of subscriptions above which each event checks the user, because indexing them all takes longer. */
const MANY_CHANNELS = 10_000;

/** Tracks the channel subscriptions of online users. */
export class ChannelProjection implements LiveProjection {
  /** Users with at most `MANY_CHANNELS` subscriptions when they came online. */
  private readonly subscribers = new Map<ChannelId, Set<OnlineUser>>();
  /** The other users. */
  private readonly unindexed = new Set<OnlineUser>();

  constructor(private readonly users: ReadonlyMap<UserId, OnlineUser>) {}

  readonly members: AudienceMembers<'subscribers'> = {
    subscribers: ({ channelId }) => {
      const indexed = this.subscribers.get(channelId) ?? NOBODY;
      const others = [...this.unindexed].filter(({ channels }) => channels.has(channelId));
      return others.length === 0 ? indexed : new Set([...indexed, ...others]);
    },
  };

  add(user: OnlineUser): void {
    if (user.channels.size > MANY_CHANNELS) this.unindexed.add(user);
    else for (const channelId of user.channels) this.subscribe(user, channelId);
  }

  remove(user: OnlineUser): void {
    if (this.unindexed.delete(user)) return;
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
    if (this.unindexed.has(user)) return;
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

type ChannelReceiver = Pick<Receiver, 'subscribers' | 'channelViews'>;

const NO_CHANNELS: ChannelReceiver = { subscribers: new Map(), channelViews: new Map() };

export const channelReceiver = (): ChannelReceiver => NO_CHANNELS;

const neededChannels = ({ subscribersOf, viewsOf }: EventNeeds): readonly ChannelId[] | undefined =>
  subscribersOf ?? viewsOf;

export const needsChannels = (needs: EventNeeds): boolean => neededChannels(needs) !== undefined;

/** Loads receivers in request order. Omits channels that the receiver no longer sees. */
export async function loadChannelReceivers(
  { actors, channels }: Repositories,
  realmId: RealmId,
  requests: readonly ReceiverRequest[],
): Promise<readonly ChannelReceiver[]> {
  const asking = requests.filter(({ needs }) => needsChannels(needs));
  const ids = [...new Set(asking.flatMap(({ needs }) => neededChannels(needs)!))];
  if (ids.length === 0) return requests.map(channelReceiver);
  const userIds = [...new Set(asking.map(({ owner }) => owner.userId))];
  const found = new Map((await channels.list(realmId, ids)).map((channel) => [channel.id, channel]));
  const listed = [...new Set(asking.flatMap(({ needs }) => needs.subscribersOf ?? []))];
  const subscribers = await channels.listSubscribers(realmId, listed);
  const shown = [...new Set(asking.flatMap(({ needs }) => needs.viewsOf ?? []))];
  const views = new Map((await channels.listViews(realmId, shown)).map((view) => [view.id, view]));
  const subscribed = await channels.listSubscriptionsOf(realmId, userIds, ids);
  const viewers = await actors.list(realmId, userIds);
  return requests.map(({ owner, needs }) => {
    const viewer = viewers.get(owner.userId);
    const needed = neededChannels(needs);
    if (!viewer || !needed) return NO_CHANNELS;
    const own = new Set((subscribed.get(owner.userId) ?? []).filter((row) => row.isActive).map((row) => row.channelId));
    const seen = needed.filter((id) => {
      const channel = found.get(id);
      return channel !== undefined && hasMetadataAccess(viewer, channel, own.has(id));
    });
    return needs.viewsOf
      ? { ...NO_CHANNELS, channelViews: new Map(seen.map((id) => [id, getOrThrow(views, id)])) }
      : { ...NO_CHANNELS, subscribers: new Map(seen.map((id) => [id, subscribers.get(id) ?? []])) };
  });
}

/** Users who see a new channel before it has subscribers (channels §6.1, `create`). */
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

/** Users who can read the channel without a subscription (channels §3.7). */
export function readersOutside(channel: Pick<Channel, 'privacy' | 'permissions'>): Audience {
  if (isWebPublic(channel)) return wholeRealm;
  if (!isPrivate(channel)) return atLeast('member');
  const { canAddSubscribers, canSubscribe } = channel.permissions;
  return allOf(atLeast('member'), anyOf(groupMembers(canAddSubscribers), groupMembers(canSubscribe)));
}

/** All users who can see the channel: the "metadata users" of channels §6. */
export function metadataUsers(channel: Channel): Audience {
  return isWebPublic(channel) ? wholeRealm : anyOf(subscribersOf(channel.id), firstAudience(channel));
}

/**
 * Difference in visibility of a channel before and after a change. Audiences are set expressions, so the cost does
 * not depend on the number of subscribers.
 */
export interface ChannelVisibilityChange {
  /** Users who receive the whole channel and its subscribers. */
  readonly gainers: Audience;
  /** Users who receive only the change. */
  readonly keepers: Audience;
  /** Users who receive the removal of the channel. */
  readonly losers: Audience;
}

/** Permissions that make a private channel visible (channels §3.4). */
export const VISIBILITY_PERMISSIONS: readonly ChannelPermission[] = [
  'canAddSubscribers',
  'canAdministerChannel',
  'canSubscribe',
];

/** Returns the audiences for a channel with changed privacy or permissions (channels §6.3). */
export function visibilityOfChangedChannel(before: Channel, after: Channel): ChannelVisibilityChange {
  // Permissions do not affect the visibility of public channels.
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

/** Same active user before and after a change of role or groups. */
export interface ChangedUser {
  readonly before: Actor;
  readonly after: Actor;
}

/** Channels that the same users gained or lost. */
export interface ChannelsWithAudience {
  /** Channels in the given order. */
  readonly channels: readonly Channel[];
  readonly audience: Audience;
}

export interface UserVisibilityChange {
  readonly gained: readonly ChannelsWithAudience[];
  readonly lost: readonly ChannelsWithAudience[];
}

/**
 * Computes channel visibility after changes of users' roles or groups, with one event per distinct audience (channels
 * §6.3). The number of events does not depend on the number of channels. The cost per channel grows with its
 * subscribers among these users and with the number of user kinds.
 */
export class VisibilityForChangedUsers {
  private readonly alike: readonly AlikeUsers[];
  private readonly kindOf = new Map<UserId, number>();
  private readonly gained: ByPeople = new Map();
  private readonly lost: ByPeople = new Map();

  /** `channels`: all channels that will be added. */
  constructor(people: readonly ChangedUser[], channels: readonly Channel[]) {
    const groupIds = new Set<GroupId>();
    for (const { permissions } of channels) for (const name of VISIBILITY_PERMISSIONS) groupIds.add(permissions[name]);
    this.alike = alikeUsers(people, groupIds);
    for (const [kind, { ids }] of this.alike.entries()) for (const id of ids) this.kindOf.set(id, kind);
  }

  /** Adds a channel; `subscriberIds` includes its subscribers among these users, who see it before and after. */
  add(channel: Channel, subscriberIds: Iterable<UserId>): void {
    const subscribed = this.alike.map((): UserId[] => []);
    for (const id of subscriberIds) {
      const kind = this.kindOf.get(id);
      if (kind !== undefined) subscribed[kind]!.push(id);
    }
    const pieces = this.alike
      .map((alike, kind) => ({ kind, subscribed: subscribed[kind]!, change: difference(alike, channel) }))
      .filter((piece) => piece.subscribed.length < this.alike[piece.kind]!.ids.length);
    for (const [change, groups] of [
      [1, this.gained],
      [-1, this.lost],
    ] as const) {
      this.collect(
        groups,
        channel,
        pieces.filter((piece) => piece.change === change),
      );
    }
  }

  get change(): UserVisibilityChange {
    return { gained: this.asAudiences(this.gained), lost: this.asAudiences(this.lost) };
  }

  private collect(groups: ByPeople, channel: Channel, pieces: readonly Piece[]): void {
    if (pieces.length === 0) return;
    const key = pieces.map(({ kind, subscribed }) => [kind, ...[...subscribed].sort((a, b) => a - b)].join()).join(';');
    const group = groups.get(key);
    if (group) group.channels.push(channel);
    else groups.set(key, { channels: [channel], pieces });
  }

  private asAudiences(groups: ByPeople): readonly ChannelsWithAudience[] {
    return [...groups.values()].map(({ channels, pieces }) => {
      const ids = pieces.flatMap(({ kind, subscribed }) => {
        const excluded = new Set(subscribed);
        return this.alike[kind]!.ids.filter((id) => !excluded.has(id));
      });
      return { channels, audience: users(ids.sort((a, b) => a - b)) };
    });
  }
}

/** Returns 1 if users without a subscription gain sight of the channel, -1 if they lose it, otherwise 0. */
function difference({ before, after }: ChangedUser, channel: Channel): number {
  return Number(hasMetadataAccess(after, channel, false)) - Number(hasMetadataAccess(before, channel, false));
}

/** Users of one kind who gain or lose sight of a channel: all except its subscribers. */
interface Piece {
  /** Index into the kinds of users. */
  readonly kind: number;
  readonly subscribed: readonly UserId[];
}

type ByPeople = Map<string, { readonly channels: Channel[]; readonly pieces: readonly Piece[] }>;

/** Users with the same role and the same relevant groups before and after the change. */
interface AlikeUsers extends ChangedUser {
  readonly ids: UserId[];
}

function alikeUsers(people: readonly ChangedUser[], relevant: ReadonlySet<GroupId>): readonly AlikeUsers[] {
  const texts = new Map<ReadonlySet<GroupId>, string>();
  // Users in the same groups usually share the set, so its text is cached.
  const textOf = (groups: ReadonlySet<GroupId>): string => {
    let text = texts.get(groups);
    if (text === undefined) {
      text = [...groups]
        .filter((id) => relevant.has(id))
        .sort((a, b) => a - b)
        .join();
      texts.set(groups, text);
    }
    return text;
  };
  const kinds = new Map<string, AlikeUsers>();
  for (const { before, after } of people) {
    const key = [before.role, after.role, textOf(before.groups), textOf(after.groups)].join(';');
    const alike = kinds.get(key);
    if (alike) alike.ids.push(after.id);
    else kinds.set(key, { before, after, ids: [after.id] });
  }
  return [...kinds.values()];
}
