import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import type { Channel } from './channel.js';
import { archivingNotice, CHANNEL_EVENTS_TOPIC } from './channel-notices.js';
import type { NotificationBot } from './notification-bot.js';

/** What the notification bot says in a channel that was archived, or is in use again; the former nobody has to read. */
export async function announceArchiving(
  tx: Transaction,
  realm: Realm,
  channel: Channel,
  notificationBot: NotificationBot,
): Promise<void> {
  if (!realm.settings.sendChannelEventsMessages) return;
  await notificationBot.sendToChannel(tx, realm, {
    channel,
    topic: CHANNEL_EVENTS_TOPIC,
    content: archivingNotice(channel, channel.isArchived),
    isReadByDefault: channel.isArchived,
    // Nobody chose to name the channel here who could not.
    author: { actor: null },
  });
}
