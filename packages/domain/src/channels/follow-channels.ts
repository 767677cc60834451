import { users } from '../events/audience.js';
import type { ChannelId, UserId } from '../shared/ids.js';
import type { Transaction } from '../shared/unit-of-work.js';
import type { Actor } from '../users/actor.js';
import { type AccessAnnouncer, accessAnnouncer } from '../users/announce-access.js';
import type { Channel } from './channel.js';
import { canSeeMetadata } from './channel-permissions.js';
import { INHERITED_NOTIFICATIONS, pickColors, type Subscription } from './subscription.js';
import { tellPeers } from './tell-peers.js';

export interface Following {
  readonly channels: readonly Channel[];
  readonly userIds: readonly UserId[];
  /** For channels a user has no row of yet. */
  readonly requestedColors: ReadonlyMap<ChannelId, string>;
}

/** By channel, in the order they were named; users ascending. */
export interface FollowingResult {
  readonly added: ReadonlyMap<ChannelId, readonly UserId[]>;
  readonly alreadyFollowing: ReadonlyMap<ChannelId, readonly UserId[]>;
}

/**
 * Makes all users follow all channels, and tells them and the others in the order of channels §6.3. Asks for no
 * permission. Following twice changes nothing.
 */
export async function followChannels(
  tx: Transaction,
  { channels, userIds, requestedColors }: Following,
): Promise<FollowingResult> {
  const added = new Map<ChannelId, readonly UserId[]>();
  const alreadyFollowing = new Map<ChannelId, readonly UserId[]>();
  const [first] = channels;
  if (!first) return { added, alreadyFollowing };
  const { realmId } = first;

  for (const channel of channels) {
    const following = await tx.channels.filterSubscribed(realmId, channel.id, userIds);
    const known = new Set(following);
    alreadyFollowing.set(channel.id, following);
    added.set(
      channel.id,
      userIds.filter((id) => !known.has(id)).sort((a, b) => a - b),
    );
  }
  const changed = channels.filter((channel) => added.get(channel.id)!.length > 0);
  if (changed.length === 0) return { added, alreadyFollowing };

  const access = await accessAnnouncer(tx, await tx.realms.get(realmId));
  const subscriptions = await newSubscriptions(tx, changed, added, requestedColors);
  await tx.channels.putSubscriptions(subscriptions);
  for (const channel of changed) await tx.personal.openSpans(realmId, channel.recipientId, added.get(channel.id)!);

  await announce(tx, changed, added, subscriptions, access);
  return { added, alreadyFollowing };
}

async function newSubscriptions(
  tx: Transaction,
  channels: readonly Channel[],
  added: ReadonlyMap<ChannelId, readonly UserId[]>,
  requestedColors: ReadonlyMap<ChannelId, string>,
): Promise<Subscription[]> {
  const { realmId } = channels[0]!;
  const wantedBy = new Map<UserId, ChannelId[]>();
  for (const { id } of channels) {
    for (const userId of added.get(id)!) {
      const wanted = wantedBy.get(userId);
      if (wanted) wanted.push(id);
      else wantedBy.set(userId, [id]);
    }
  }
  const result: Subscription[] = [];
  for (const [userId, former] of await tx.channels.listSubscriptionsOf(realmId, [...wantedBy.keys()])) {
    const rows = new Map(former.map((row) => [row.channelId, row]));
    const wanted = wantedBy.get(userId)!;
    const colors = pickColors(
      wanted.filter((id) => !rows.has(id)),
      requestedColors,
      former.map((row) => row.color),
    );
    for (const channelId of wanted) {
      // Coming back restores how he had it.
      const row = rows.get(channelId) ?? {
        realmId,
        channelId,
        userId,
        color: colors.get(channelId)!,
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
  const { realmId } = channels[0]!;
  const ids = channels.map((channel) => channel.id);
  const views = new Map((await tx.channels.listViews(realmId, ids)).map((view) => [view.id, view]));
  const subscribers = await tx.channels.listSubscribers(realmId, ids);
  const newcomers = new Set(subscriptions.map((subscription) => subscription.userId));
  const actors = await tx.actors.list(realmId, [...newcomers]);

  for (const channel of channels) {
    const blind = added.get(channel.id)!.filter((id) => couldNotSee(actors.get(id), channel));
    if (blind.length > 0) {
      await tx.events.append(realmId, {
        event: { type: 'channel.created', channels: [views.get(channel.id)!] },
        audience: users(blind),
      });
    }
  }
  await tx.events.append(realmId, {
    event: {
      type: 'subscription.added',
      channels: ids.map((id) => ({ channel: views.get(id)!, subscriberIds: subscribers.get(id) ?? [] })),
      subscriptions,
    },
    audience: users([...newcomers].sort((a, b) => a - b)),
  });
  for (const id of ids) await access?.announceChannel(id, added.get(id)!, async () => subscribers.get(id) ?? []);
  await tellPeers(tx, 'add', channels, added);
}

/** Whether the channel is news to somebody who has just come to follow it. */
const couldNotSee = (actor: Actor | undefined, channel: Channel): boolean =>
  actor !== undefined && !canSeeMetadata(actor, channel, false).allowed;
