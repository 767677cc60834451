import { publishSubscriberChanges } from '../channels/publish-subscriber-changes.js';
import type { Transaction } from '../shared/unit-of-work.js';
import type { User } from './user.js';
import { accessorsOf } from './user-delivery.js';

/**
 * Somebody who is active cannot sign in any more, and counts among nobody's subscribers; what they have stays. Asks for no
 * permission.
 */
export async function deactivate(tx: Transaction, user: User): Promise<void> {
  const { realmId, id } = user;
  const channels = await tx.channels.list(realmId, await tx.channels.listSubscribedIds(realmId, id));
  await tx.users.update({ ...user, isActive: false });
  await tx.events.append(realmId, {
    event: { type: 'user.activation_changed', userId: id, isActive: false },
    audience: accessorsOf(id),
  });
  if (channels.length === 0) return;
  await publishSubscriberChanges(tx, 'remove', channels, new Map(channels.map((channel) => [channel.id, [id]])));
}
