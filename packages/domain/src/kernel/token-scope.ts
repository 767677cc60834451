import type { TokenConversation, TokenScope, UserId } from './ids.js';
import { foldCase } from './text.js';

/** Conversation of a message, or all topics of a channel if the topic is null. */
export type Place = TokenConversation;

/** Returns the conversation of the scope that includes the place; undefined if there is none. */
export const conversationAt = (
  { conversations }: Pick<TokenScope, 'conversations'>,
  place: Place,
): TokenConversation | undefined => conversations.find((conversation) => includes(conversation, place));

function includes(conversation: TokenConversation, place: Place): boolean {
  if (conversation.kind === 'direct' || place.kind === 'direct') {
    return (
      conversation.kind === 'direct' &&
      place.kind === 'direct' &&
      conversation.userIds.length === place.userIds.length &&
      conversation.userIds.every((id) => place.userIds.includes(id))
    );
  }
  if (conversation.channelId !== place.channelId) return false;
  return (
    conversation.topic === null || (place.topic !== null && foldCase(conversation.topic) === foldCase(place.topic))
  );
}

/** Returns the place of a direct conversation between the user and these people. */
export const directPlace = (userId: UserId, others: readonly UserId[]): Place => ({
  kind: 'direct',
  userIds: [...new Set([userId, ...others])].sort((a, b) => a - b),
});
