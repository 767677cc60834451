import type { Audience } from '../kernel/audience.js';
import type { EventOf } from '../kernel/event.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Channel } from './channel.js';
import { visibilityOfChangedChannel } from './channel-visibility.js';

type Change = EventOf<'channel.property_changed' | 'channel.permission_changed'>;

/**
 * Announces to everybody what a changed channel is to them: the change itself to those who see it before and after, the whole
 * channel to those who have come to see it, and that it is gone to those who see it no longer (channels §6.3).
 */
export async function publishChannelChange(
  tx: Transaction,
  before: Channel,
  after: Channel,
  change: Change,
): Promise<void> {
  const { realmId, id } = after;
  const { gainers, keepers, losers } = visibilityOfChangedChannel(before, after);
  const append = (event: Parameters<Transaction['events']['append']>[1]['event'], audience: Audience) =>
    tx.events.append(realmId, { event, audience });
  await append(change, keepers);
  if (gainers.kind !== 'nobody') {
    await append({ type: 'channel.created', channels: await tx.channels.listViews(realmId, [id]) }, gainers);
    const userIds = (await tx.channels.listSubscribers(realmId, [id])).get(id)!;
    if (userIds.length > 0) {
      await append({ type: 'channel.subscribers_changed', op: 'add', channelIds: [id], userIds }, gainers);
    }
  }
  if (losers.kind !== 'nobody') await append({ type: 'channel.hidden', channelIds: [id] }, losers);
}
