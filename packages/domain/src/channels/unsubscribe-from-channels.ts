import { users } from '../kernel/audience.js';
import type { ChannelId, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { accessAnnouncer } from '../users/announce-access.js';
import type { Channel } from './channel.js';
import { canSeeMetadata } from './channel-access.js';
import { subscribersOf } from './channel-delivery.js';
import { publishSubscriberChanges } from './publish-subscriber-changes.js';
import { actorsOf, slicesOfUsers } from './subscribe-to-channels.js';

/** By channel, in the order they were named; users ascending. */
export interface UnsubscribeResult {
  readonly removed: ReadonlyMap<ChannelId, readonly UserId[]>;
  readonly notSubscribed: ReadonlyMap<ChannelId, readonly UserId[]>;
}

/**
 * Makes all users leave all channels, and tells them and the others in the order of channels §6.3; what they had not
 * read there becomes read. Asks for no permission. Leaving twice changes nothing.
 */
export async function unsubscribeFromChannels(
  tx: Transaction,
  channels: readonly Channel[],
  userIds: readonly UserId[],
): Promise<UnsubscribeResult> {
  const removed = new Map<ChannelId, readonly UserId[]>();
  const notSubscribed = new Map<ChannelId, readonly UserId[]>();
  const [first] = channels;
  if (!first) return { removed, notSubscribed };
  const { realmId } = first;

  for (const channel of channels) {
    const subscribed = await tx.channels.filterSubscribed(realmId, channel.id, userIds);
    const known = new Set(subscribed);
    removed.set(channel.id, subscribed);
    notSubscribed.set(
      channel.id,
      userIds.filter((id) => !known.has(id)).sort((a, b) => a - b),
    );
    await tx.yield();
  }
  const changed = channels.filter((channel) => removed.get(channel.id)!.length > 0);
  if (changed.length === 0) return { removed, notSubscribed };

  const access = await accessAnnouncer(tx, await tx.realms.get(realmId));
  const leaving = new Map(changed.map(({ id }) => [id, new Set(removed.get(id))]));
  const leavers = [...new Set(changed.flatMap((channel) => removed.get(channel.id)!))].sort((a, b) => a - b);
  const ids = changed.map(({ id }) => id);
  for (const people of slicesOfUsers(leavers, ids.length)) {
    const rows = await tx.channels.listSubscriptionsOf(realmId, people, ids);
    await tx.channels.putSubscriptions(
      [...rows.values()]
        .flat()
        .filter((row) => row.isActive && leaving.get(row.channelId)!.has(row.userId))
        .map((row) => ({ ...row, isActive: false })),
    );
    await tx.yield();
  }
  for (const channel of changed) {
    await tx.personal.closeSpans(realmId, channel.recipientId, removed.get(channel.id)!);
    await tx.yield();
  }

  await tx.events.append(realmId, {
    event: {
      type: 'subscription.removed',
      channels: changed.map(({ id, name }) => ({ id, name, userIds: removed.get(id)! })),
    },
    audience: users(leavers),
  });
  const actors = await actorsOf(tx, realmId, leavers);
  for (const channel of changed) {
    const blind = removed.get(channel.id)!.filter((id) => {
      const actor = actors.get(id);
      return actor !== undefined && !canSeeMetadata(actor, channel, false).allowed;
    });
    if (blind.length > 0) {
      await tx.events.append(realmId, {
        event: { type: 'channel.hidden', channelIds: [channel.id] },
        audience: users(blind),
      });
    }
    await tx.yield();
  }
  await publishSubscriberChanges(tx, 'remove', changed, removed);
  await access?.announceChannels(
    changed.map(({ id }) => ({
      subscribers: subscribersOf(id),
      changed: removed.get(id)!,
      others: async () => (await tx.channels.listSubscribers(realmId, [id])).get(id) ?? [],
    })),
  );
  for (const userId of leavers) {
    for (const channel of changed) {
      if (leaving.get(channel.id)!.has(userId)) await markUnsubscribedMessagesRead(tx, channel, userId);
      await tx.yield();
    }
  }
  return { removed, notSubscribed };
}

async function markUnsubscribedMessagesRead(
  tx: Transaction,
  { realmId, recipientId }: Channel,
  userId: UserId,
): Promise<void> {
  const messageIds = await tx.personal.markRead(
    { realmId, userId },
    {
      conditions: [{ kind: 'recipient', recipientIds: [recipientId] }],
      scope: 'own',
    },
  );
  if (messageIds.length === 0) return;
  await tx.events.append(realmId, {
    event: { type: 'message.flag_changed', op: 'add', flag: 'read', messageIds, all: false, details: [] },
    audience: users([userId]),
  });
}
