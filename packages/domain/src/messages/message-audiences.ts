import { type Channel, hasSharedHistory, isPrivate } from '../channels/channel.js';
import { subscribersOf } from '../channels/channel-delivery.js';
import { type Audience, allOf, anyOf } from '../events/audience.js';
import { atLeast } from '../users/user-delivery.js';
import type { Message } from './message.js';
import { holdersOf } from './message-delivery.js';

/** Who is told of what happens to a message: the "message watchers" of messages §18. `channel`: null for direct messages. */
export function messageWatchers(
  { id }: Pick<Message, 'id'>,
  channel: Pick<Channel, 'id' | 'privacy'> | null,
): Audience {
  if (!channel) return holdersOf(id);
  const subscribers = subscribersOf(channel.id);
  if (!hasSharedHistory(channel)) return allOf(subscribers, holdersOf(id));
  return isPrivate(channel) ? subscribers : anyOf(subscribers, allOf(atLeast('member'), holdersOf(id)));
}
