import { type Message, type MessageCondition, type MessageFilter, topicKey, type Viewer } from '@parley/domain';
import { findFlags } from './personal-rows.js';
import type { MemoryUnit } from './tables.js';

/** The viewer's messages that the filter lets through; ascending id. */
export function matching(unit: MemoryUnit, viewer: Viewer, filter: MessageFilter): Message[] {
  return [...unit.read('messages').values()].filter(
    (message) =>
      message.realmId === viewer.realmId &&
      (filter.scope === 'shared' || findFlags(unit, viewer.userId, message.id) !== null) &&
      !filter.withoutRecipients.includes(message.recipientId) &&
      filter.conditions.every((condition) => holds(condition, message) !== condition.negated),
  );
}

function holds(condition: MessageCondition, message: Message): boolean {
  switch (condition.kind) {
    case 'recipient':
      return message.recipientId === condition.recipientId;
    case 'topic':
      return message.channelId !== null && topicKey(message.topic) === condition.topicKey;
    case 'sender':
      return message.senderId === condition.userId;
    case 'message':
      return message.id === condition.messageId;
    case 'nothing':
      return false;
  }
}
