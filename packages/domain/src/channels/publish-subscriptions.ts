import { users } from '../kernel/audience.js';
import type { RealmId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { SubscribedChannel } from './channel-events.js';
import type { Subscription } from './subscription.js';

/** What one row of the log tells of, unless it is all one user's. */
const SUBSCRIPTIONS_PER_EVENT = 10_000;

/** Sends each new subscriber one event of all these channels. `subscriptions`: by user. */
export async function publishSubscriptions(
  tx: Transaction,
  realmId: RealmId,
  channels: readonly SubscribedChannel[],
  subscriptions: readonly Subscription[],
  more: { readonly isReturning?: true } = {},
): Promise<void> {
  for (const some of byUsers(subscriptions)) {
    const ofThese = new Set(some.map(({ channelId }) => channelId));
    await tx.events.append(realmId, {
      event: {
        type: 'subscription.added',
        channels: channels.filter(({ channel }) => ofThese.has(channel.id)),
        subscriptions: some,
        ...more,
      },
      audience: users([...new Set(some.map(({ userId }) => userId))]),
    });
    await tx.yield();
  }
}

/** In pieces that an event can carry, none of which parts what is one user's: each gets all their channels at once. */
function* byUsers(subscriptions: readonly Subscription[]): Generator<readonly Subscription[]> {
  let piece: Subscription[] = [];
  for (const subscription of subscriptions) {
    if (piece.length >= SUBSCRIPTIONS_PER_EVENT && piece.at(-1)!.userId !== subscription.userId) {
      yield piece;
      piece = [];
    }
    piece.push(subscription);
  }
  if (piece.length > 0) yield piece;
}
