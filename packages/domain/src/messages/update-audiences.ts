import { type Channel, hasSharedHistory, isPrivate } from '../channels/channel.js';
import { subscribersOf } from '../channels/channel-delivery.js';
import { type Audience, allOf, anyOf, except, users } from '../kernel/audience.js';
import type { UserId } from '../kernel/ids.js';
import { atLeast } from '../users/user-delivery.js';
import type { Message } from './message.js';
import { messageWatchers } from './message-audiences.js';

type AudienceChannel = Pick<Channel, 'id' | 'privacy'>;

/** Who gets the event of a change that moves nothing out of its channel; null: a direct message (messages §18.2). */
export function watchersOfUpdate(message: Pick<Message, 'id'>, channel: AudienceChannel | null): Audience {
  // In protected history each gets those messages that they have.
  if (channel && !hasSharedHistory(channel)) return subscribersOf(channel.id);
  return messageWatchers(message, channel);
}

/**
 * Who still can see messages that were moved to another channel: its subscribers, and, where it is public, members who could see
 * them before. `outside`: who had any of them without being subscribed.
 */
export function receiversAfterMove(
  source: AudienceChannel,
  target: AudienceChannel,
  outside: readonly UserId[],
): Audience {
  const subscribers = subscribersOf(target.id);
  if (isPrivate(target)) return subscribers;
  const before = anyOf(subscribersOf(source.id), users(outside));
  return anyOf(subscribers, allOf(atLeast('member'), before));
}

/** Who could see them, and no longer can. */
export function receiversLostByMove(
  source: AudienceChannel,
  target: AudienceChannel,
  outside: readonly UserId[],
): Audience {
  const before = anyOf(subscribersOf(source.id), users(outside));
  const kept = isPrivate(target) ? subscribersOf(target.id) : anyOf(subscribersOf(target.id), atLeast('member'));
  return except(before, kept);
}
