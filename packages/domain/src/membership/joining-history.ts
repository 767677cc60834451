import type { Channel } from '../channels/channel.js';
import { hasFullHistoryAccess } from '../channels/channel-access.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { User } from '../users/user.js';

/**
 * Maximum number of existing messages that new users receive, and how many of those are unread (organization §10.3).
 */
const MAX_HISTORY = 1000;
const UNREAD_HISTORY = 20;

/**
 * Adds the newest messages of channels with readable history to the new user's messages, so that their views are not
 * empty.
 */
export async function attachHistory(
  tx: Transaction,
  channels: readonly Channel[],
  { id, realmId }: User,
): Promise<void> {
  const viewer = { realmId, userId: id };
  const actor = await tx.actors.get(viewer);
  const recipientIds = channels
    .filter((channel) => hasFullHistoryAccess(actor, channel, true))
    .map(({ recipientId }) => recipientId);
  if (recipientIds.length === 0) return;
  const filter = { conditions: [{ kind: 'recipient', recipientIds }], scope: 'shared' } as const;
  const entries = await tx.pages.listEntriesUpTo(viewer, filter, null, MAX_HISTORY);
  const ids = entries.map((entry) => entry.id);
  await tx.personal.addHistorical(viewer, ids);
  await tx.personal.setRead(viewer, ids.slice(-UNREAD_HISTORY), false);
}
