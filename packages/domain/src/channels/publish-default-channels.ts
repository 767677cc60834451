import type { ChannelId, RealmId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { atLeast } from '../users/user-delivery.js';

/** Announces to everybody but guests, who have none, which channels newcomers are subscribed to now (channels §6.4). */
export async function publishDefaultChannels(tx: Transaction, realmId: RealmId): Promise<void> {
  const all = await tx.channels.listAll(realmId);
  const channelIds: ChannelId[] = all
    .filter((channel) => channel.isDefault && !channel.isArchived)
    .map((channel) => channel.id);
  await tx.events.append(realmId, {
    event: { type: 'default_channels.changed', channelIds },
    audience: atLeast('member'),
  });
}
