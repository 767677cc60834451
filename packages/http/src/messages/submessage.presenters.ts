import type { Submessage } from '@parley/domain/messages';
import type { MessagePart } from './message-parts.js';

export const SUBMESSAGE_PART: MessagePart = {
  present: ({ submessages }) => ({ submessages: submessages.map(presentSubmessage) }),
};

const presentSubmessage = ({ id, messageId, senderId, kind, content }: Submessage) => ({
  id,
  message_id: messageId,
  sender_id: senderId,
  msg_type: kind,
  content,
});
