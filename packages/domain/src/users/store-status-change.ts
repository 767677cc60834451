import type { Transaction } from '../kernel/unit-of-work.js';
import type { StatusChange } from './status-events.js';
import type { User } from './user.js';
import { accessorsOf } from './user-delivery.js';
import { NO_STATUS } from './user-status.js';

/** Stores what changes, and tells it. Asks for no permission. */
export async function storeStatusChange(
  tx: Transaction,
  { id: userId, realmId }: User,
  change: StatusChange,
): Promise<void> {
  const before = (await tx.statuses.find(realmId, userId)) ?? NO_STATUS;
  const { text = before.text, emoji = before.emoji } = change;
  await tx.statuses.put(realmId, userId, { text, emoji });
  await tx.events.append(realmId, {
    event: { type: 'user.status_changed', userId, change },
    audience: accessorsOf(userId),
  });
}
