import type { Actor } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import { users } from '../kernel/event.js';
import type { ChannelId, RealmId, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { firstOf, getOrThrow } from '../kernel/work.js';
import { type AccessAnnouncer, accessAnnouncer } from '../users/user-events.js';
import type { Channel } from './channel.js';
import { canSeeMetadata } from './channel-access.js';
import { subscribersOf } from './channel-delivery.js';
import { publishSubscriberChanges, publishSubscriptions } from './channel-events.js';
import { INHERITED_NOTIFICATIONS, PALETTE, pickColors, type Subscription } from './subscriptions.js';

export interface SubscribeRequest {
  readonly channels: readonly Channel[];
  /** Without duplicates. */
  readonly userIds: readonly UserId[];
  /** Colors for channels without an existing row of the user. */
  readonly requestedColors: ReadonlyMap<ChannelId, string>;
}

/** Result by channel in request order; user ids ascend. */
export interface SubscribeResult {
  readonly added: ReadonlyMap<ChannelId, readonly UserId[]>;
  readonly alreadySubscribed: ReadonlyMap<ChannelId, readonly UserId[]>;
}

/** Maximum number of subscriptions changed by one request: users times channels. */
export const MAX_SUBSCRIPTIONS_PER_REQUEST = 100_000;

/** @throws DomainError TOO_MANY_SUBSCRIPTIONS if the request exceeds the limit */
export function checkSubscriptionCount(userCount: number, channelCount: number): void {
  if (userCount * channelCount <= MAX_SUBSCRIPTIONS_PER_REQUEST) return;
  throw new DomainError(
    'TOO_MANY_SUBSCRIPTIONS',
    `Too many subscriptions in one request: users times channels may be ${MAX_SUBSCRIPTIONS_PER_REQUEST} at most.`,
  );
}

/**
 * Subscribes all users to all channels and publishes the changes in the order of channels §6.3. Does not check
 * permissions. Idempotent.
 */
export async function subscribeToChannels(tx: Transaction, subscribed: SubscribeRequest): Promise<SubscribeResult> {
  const { channels, userIds } = subscribed;
  const added = new Map<ChannelId, UserId[]>(channels.map(({ id }) => [id, []]));
  const alreadySubscribed = new Map<ChannelId, UserId[]>(channels.map(({ id }) => [id, []]));
  const [first] = channels;
  if (!first) return { added, alreadySubscribed };
  const { realmId } = first;

  const access = await accessAnnouncer(tx, await tx.realms.get(realmId));
  const people = [...userIds].sort(ascending);
  const subscriptions = await newSubscriptions(tx, realmId, people, subscribed, alreadySubscribed);
  await tx.channels.putSubscriptions(subscriptions);
  for (const { channelId, userId } of subscriptions) getOrThrow(added, channelId).push(userId);
  const changed = channels.filter((channel) => getOrThrow(added, channel.id).length > 0);
  if (changed.length === 0) return { added, alreadySubscribed };

  for (const channel of changed) {
    await tx.personal.openSpans(realmId, [channel.recipientId], getOrThrow(added, channel.id));
  }
  await announce(tx, changed, added, subscriptions, access);
  return { added, alreadySubscribed };
}

/** Returns new subscriptions by user and channel order, and records existing subscribers. */
async function newSubscriptions(
  tx: Transaction,
  realmId: RealmId,
  people: readonly UserId[],
  { channels, requestedColors }: SubscribeRequest,
  alreadySubscribed: ReadonlyMap<ChannelId, UserId[]>,
): Promise<Subscription[]> {
  const ids = channels.map(({ id }) => id);
  const present = await tx.channels.listSubscriptionsOf(realmId, people, ids);
  const colorsInUse = await tx.channels.listColors(realmId, people, PALETTE);
  const result: Subscription[] = [];
  for (const userId of people) {
    const rows = new Map(getOrThrow(present, userId).map((row) => [row.channelId, row]));
    const wanted = ids.filter((id) => !rows.get(id)?.isActive);
    const colors = pickColors(
      wanted.filter((id) => !rows.has(id)),
      requestedColors,
      colorsInUse.get(userId) ?? [],
    );
    for (const id of ids) if (rows.get(id)?.isActive) getOrThrow(alreadySubscribed, id).push(userId);
    for (const channelId of wanted) {
      // Resubscribing restores the previous settings.
      const row = rows.get(channelId) ?? {
        realmId,
        channelId,
        userId,
        color: getOrThrow(colors, channelId),
        isMuted: false,
        isPinned: false,
        notifications: INHERITED_NOTIFICATIONS,
      };
      result.push({ ...row, isActive: true });
    }
  }
  return result;
}

async function announce(
  tx: Transaction,
  channels: readonly Channel[],
  added: ReadonlyMap<ChannelId, readonly UserId[]>,
  subscriptions: readonly Subscription[],
  access: AccessAnnouncer | null,
): Promise<void> {
  const { realmId } = firstOf(channels);
  const ids = channels.map(({ id }) => id);
  const views = new Map((await tx.channels.listViews(realmId, ids)).map((view) => [view.id, view]));
  const subscribers = await tx.channels.listSubscribers(realmId, ids);
  const actors = await tx.actors.list(realmId, [...new Set(subscriptions.map(({ userId }) => userId))]);
  for (const channel of channels) {
    const blind = getOrThrow(added, channel.id).filter((id) => couldNotSee(actors.get(id), channel));
    if (blind.length > 0) {
      await tx.events.append(realmId, {
        event: { type: 'channel.created', channels: [getOrThrow(views, channel.id)] },
        audience: users(blind),
      });
    }
  }
  const subscribed = channels.map(({ id }) => ({
    channel: getOrThrow(views, id),
    subscriberIds: subscribers.get(id) ?? [],
  }));
  await publishSubscriptions(tx, realmId, subscribed, subscriptions);
  await access?.announceChannels(
    channels.map(({ id }) => ({
      subscribers: subscribersOf(id),
      changed: getOrThrow(added, id),
      others: async () => subscribers.get(id) ?? [],
    })),
  );
  await publishSubscriberChanges(tx, 'add', channels, added);
}

const ascending = (a: number, b: number): number => a - b;

/** True if the channel was hidden from the user before they subscribed. */
const couldNotSee = (actor: Actor | undefined, channel: Channel): boolean =>
  actor !== undefined && !canSeeMetadata(actor, channel, false).allowed;

/** Former subscribers of a channel with messages to be marked as read. */
export interface Leavers {
  readonly channelId: ChannelId;
  readonly userIds: readonly UserId[];
}

/** Result by channel in request order; user ids ascend. */
export interface UnsubscribeResult {
  readonly removed: ReadonlyMap<ChannelId, readonly UserId[]>;
  readonly notSubscribed: ReadonlyMap<ChannelId, readonly UserId[]>;
  /** Users who may have more messages to mark as read than `limit`. */
  readonly unread: readonly Leavers[];
}

/**
 * Unsubscribes all users from all channels, marks unread messages there as read and publishes the changes in the order
 * of channels §6.3. Does not check permissions. Idempotent. `limit`: as for `markReadForLeavers`.
 */
export async function unsubscribeFromChannels(
  tx: Transaction,
  channels: readonly Channel[],
  userIds: readonly UserId[],
  limit: number = Number.MAX_SAFE_INTEGER,
): Promise<UnsubscribeResult> {
  const removed = new Map<ChannelId, readonly UserId[]>();
  const notSubscribed = new Map<ChannelId, readonly UserId[]>();
  const [first] = channels;
  if (!first) return { removed, notSubscribed, unread: [] };
  const { realmId } = first;

  for (const channel of channels) {
    const subscribed = await tx.channels.filterSubscribed(realmId, channel.id, userIds);
    const already = new Set(subscribed);
    removed.set(channel.id, subscribed);
    notSubscribed.set(
      channel.id,
      userIds.filter((id) => !already.has(id)).sort((a, b) => a - b),
    );
  }
  const changed = channels.filter((channel) => getOrThrow(removed, channel.id).length > 0);
  if (changed.length === 0) return { removed, notSubscribed, unread: [] };

  const access = await accessAnnouncer(tx, await tx.realms.get(realmId));
  const leaving = new Map(changed.map(({ id }) => [id, new Set(removed.get(id))]));
  const leavers = [...new Set(changed.flatMap((channel) => getOrThrow(removed, channel.id)))].sort((a, b) => a - b);
  const ids = changed.map(({ id }) => id);
  const rows = await tx.channels.listSubscriptionsOf(realmId, leavers, ids);
  await tx.channels.putSubscriptions(
    [...rows.values()]
      .flat()
      .filter((row) => row.isActive && getOrThrow(leaving, row.channelId).has(row.userId))
      .map((row) => ({ ...row, isActive: false })),
  );
  for (const channel of changed) {
    await tx.personal.closeSpans(realmId, [channel.recipientId], getOrThrow(removed, channel.id));
  }

  await tx.events.append(realmId, {
    event: {
      type: 'subscription.removed',
      channels: changed.map(({ id, name }) => ({ id, name, userIds: getOrThrow(removed, id) })),
    },
    audience: users(leavers),
  });
  const actors = await tx.actors.list(realmId, leavers);
  for (const channel of changed) {
    const blind = getOrThrow(removed, channel.id).filter((id) => {
      const actor = actors.get(id);
      return actor !== undefined && !canSeeMetadata(actor, channel, false).allowed;
    });
    if (blind.length > 0) {
      await tx.events.append(realmId, {
        event: { type: 'channel.hidden', channelIds: [channel.id] },
        audience: users(blind),
      });
    }
  }
  await publishSubscriberChanges(tx, 'remove', changed, removed);
  await access?.announceChannels(
    changed.map(({ id }) => ({
      subscribers: subscribersOf(id),
      changed: getOrThrow(removed, id),
      others: async () => (await tx.channels.listSubscribers(realmId, [id])).get(id) ?? [],
    })),
  );
  const leaversOf = changed.map((channel) => ({ channel, userIds: getOrThrow(removed, channel.id) }));
  return { removed, notSubscribed, unread: await markReadForLeavers(tx, leaversOf, limit) };
}

/**
 * Marks unread messages of former subscribers as read. Stops when their number reaches `limit`, and returns the users
 * who may have more.
 */
export async function markReadForLeavers(
  tx: Transaction,
  leavers: readonly { readonly channel: Channel; readonly userIds: readonly UserId[] }[],
  limit: number,
): Promise<readonly Leavers[]> {
  const rest: Leavers[] = [];
  let marked = 0;
  for (const { channel, userIds } of leavers) {
    let done = 0;
    while (done < userIds.length && marked < limit) {
      marked += await markRead(tx, channel, userIds[done]!, limit - marked);
      if (marked < limit) done++;
    }
    if (done < userIds.length) rest.push({ channelId: channel.id, userIds: userIds.slice(done) });
  }
  return rest;
}

/** Returns the number of marked messages. */
async function markRead(
  tx: Transaction,
  { realmId, recipientId }: Channel,
  userId: UserId,
  limit: number,
): Promise<number> {
  const messageIds = await tx.personal.markRead(
    { realmId, userId },
    {
      conditions: [{ kind: 'recipient', recipientIds: [recipientId] }],
      scope: 'own',
    },
    limit,
  );
  if (messageIds.length > 0) {
    await tx.events.append(realmId, {
      event: { type: 'message.flag_changed', op: 'add', flag: 'read', messageIds, all: false, details: [] },
      audience: users([userId]),
    });
  }
  return messageIds.length;
}
