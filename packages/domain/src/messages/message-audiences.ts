import { type Channel, hasSharedHistory, isPrivate } from '../channels/channel.js';
import { subscribersOf } from '../channels/channel-delivery.js';
import { type Audience, allOf, anyOf } from '../kernel/audience.js';
import type { MessageId } from '../kernel/ids.js';
import { atLeast } from '../users/user-delivery.js';
import type { Message } from './message.js';
import { holdersOf } from './message-delivery.js';

/** Who gets events of what happens to a message: the "message watchers" of messages §18. `channel`: null for direct messages. */
export const messageWatchers = (
  { id }: Pick<Message, 'id'>,
  channel: Pick<Channel, 'id' | 'privacy'> | null,
): Audience => watchersOfAny([id], channel);

/** Who watches at least one of the messages, of which there is at least one. */
export function watchersOfAny(ids: readonly MessageId[], channel: Pick<Channel, 'id' | 'privacy'> | null): Audience {
  const holders = ids.length === 1 ? holdersOf(ids[0]!) : anyOf(...ids.map(holdersOf));
  if (!channel) return holders;
  const subscribers = subscribersOf(channel.id);
  if (!hasSharedHistory(channel)) return allOf(subscribers, holders);
  return isPrivate(channel) ? subscribers : anyOf(subscribers, allOf(atLeast('member'), holders));
}
