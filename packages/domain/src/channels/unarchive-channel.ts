import { except } from '../kernel/audience.js';
import { slicesOf } from '../kernel/slices.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { announceArchiving } from './announce-archiving.js';
import type { Channel } from './channel.js';
import { metadataUsers } from './channel-audiences.js';
import { subscribersOf } from './channel-delivery.js';
import type { NotificationBot } from './notification-bot.js';
import { publishSubscriptions } from './publish-subscriptions.js';
import type { Subscription } from './subscription.js';

const USERS_AT_A_TIME = 500;

/**
 * Puts an archived channel to use again (channels §4.13). Clients for which archived channels do not exist learn of it as
 * of a new one, and also who follows it (channels §6.3).
 */
export async function unarchiveChannel(
  tx: Transaction,
  realm: Realm,
  archived: Channel,
  notificationBot: NotificationBot,
): Promise<void> {
  const channel = await tx.channels.update({ ...archived, isArchived: false });
  const [view] = await tx.channels.listViews(realm.id, [channel.id]);
  await tx.events.append(realm.id, {
    event: { type: 'channel.archived_changed', channel: view! },
    audience: metadataUsers(channel),
  });
  const subscriberIds = (await tx.channels.listSubscribers(realm.id, [channel.id])).get(channel.id)!;
  if (subscriberIds.length > 0) {
    const subscriptions: Subscription[] = [];
    for (const some of slicesOf(subscriberIds, USERS_AT_A_TIME)) {
      for (const rows of (await tx.channels.listSubscriptionsOf(realm.id, some, [channel.id])).values()) {
        subscriptions.push(...rows);
      }
      await tx.yield();
    }
    await publishSubscriptions(tx, realm.id, [{ channel: view!, subscriberIds }], subscriptions, { isReturning: true });
    await tx.events.append(realm.id, {
      event: {
        type: 'channel.subscribers_changed',
        op: 'add',
        channelIds: [channel.id],
        userIds: subscriberIds,
        isReturning: true,
      },
      audience: except(metadataUsers(channel), subscribersOf(channel.id)),
    });
  }
  await announceArchiving(tx, realm, channel, notificationBot);
}
