import { nobody } from './event.js';
import type { EndedQueue, EventQueue } from './event-queue.js';
import type { RealmId, UserId } from './ids.js';
import type { Repositories, Transaction } from './unit-of-work.js';

/** True if a queue with this presentation receives messages. */
export type ReceivesMessages = (presentation: EventQueue['presentation']) => boolean;

/** True if the user has a stored queue that receives messages. */
export async function hasMessageQueue(
  { queues }: Pick<Repositories, 'queues'>,
  realmId: RealmId,
  ownerId: UserId,
  receivesMessages: ReceivesMessages,
): Promise<boolean> {
  for (const { id } of await queues.listOf(realmId, ownerId)) {
    const queue = await queues.find(realmId, id);
    if (queue && 'presentation' in queue && receivesMessages(queue.presentation)) return true;
  }
  return false;
}

/**
 * Publishes which users have no queue left that receives messages, so that missed messages can reach them in another
 * way. Must run after the removal.
 */
export async function publishLastEnded(
  tx: Transaction,
  removed: readonly EndedQueue[],
  receivesMessages: ReceivesMessages,
): Promise<void> {
  const lastPolls = new Map<UserId, EndedQueue>();
  for (const queue of removed) {
    if (queue.presentation === null || !receivesMessages(queue.presentation)) continue;
    const other = lastPolls.get(queue.ownerId);
    if (!other || other.lastPolledAt < queue.lastPolledAt) lastPolls.set(queue.ownerId, queue);
  }
  for (const [userId, { realmId, lastPolledAt }] of lastPolls) {
    if (await hasMessageQueue(tx, realmId, userId, receivesMessages)) continue;
    const event = { type: 'queue.last_expired', userId, since: lastPolledAt } as const;
    await tx.events.append(realmId, { event, audience: nobody });
  }
}
