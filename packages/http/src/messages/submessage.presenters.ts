import type { EventOf } from '@parley/domain/kernel';
import type { Submessage } from '@parley/domain/messages';
import { type EventContext, opened, type Presented } from '../events/event-presenter.js';
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

/** Messages §18.6. */
export function presentSubmessageAdded(
  { submessage }: EventOf<'message.submessage_added'>,
  context: EventContext,
): Presented {
  return context.shared('', () => {
    const { id, ...fields } = presentSubmessage(submessage);
    return opened({ type: 'submessage', ...fields, submessage_id: id });
  });
}
