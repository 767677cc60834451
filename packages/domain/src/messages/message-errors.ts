import { declareErrors } from '../kernel/errors.js';
import type { ChannelId, MessageId } from '../kernel/ids.js';

export const MESSAGE_ERRORS = declareErrors({
  UNKNOWN_MESSAGE: 'unknown',
  UNKNOWN_TOPIC: 'unknown',
  INVALID_TOPIC: 'invalid',
  INVALID_MESSAGE_CONTENT: 'invalid',
  /** Within the bounds of work and size. */
  UNRENDERABLE_CONTENT: 'invalid',
  INVALID_WIDGET: 'invalid',
  INVALID_SUBMESSAGE: 'invalid',
  CANNOT_ATTACH_SUBMESSAGE: 'forbidden',
  TOO_MANY_SUBMESSAGES: 'conflict',
  UNKNOWN_DESTINATION: 'unknown',
  CHANNEL_REQUIRED: 'invalid',
  RECIPIENTS_REQUIRED: 'invalid',
  CANNOT_ACCESS_RECIPIENT: 'forbidden',
  DIRECT_MESSAGES_DISABLED: 'forbidden',
  CONVERSATION_NOT_AUTHORIZED: 'forbidden',
  CANNOT_START_CONVERSATION: 'forbidden',
  CHANNEL_WILDCARD_NOT_ALLOWED: 'forbidden',
  TOPIC_WILDCARD_NOT_ALLOWED: 'forbidden',
  INVALID_NARROW: 'invalid',
  INVALID_MESSAGE_RANGE: 'invalid',
  TOO_MANY_MESSAGES: 'invalid',
  UNKNOWN_FLAG: 'invalid',
  FLAG_NOT_EDITABLE: 'invalid',
  INVALID_FLAG_OPERATION: 'invalid',
  CANNOT_VIEW_FILE: 'forbidden',
  EDIT_HISTORY_DISABLED: 'forbidden',
  MESSAGE_EDITING_DISABLED: 'forbidden',
  CANNOT_EDIT_MESSAGE: 'forbidden',
  EDIT_TIME_LIMIT_EXCEEDED: 'forbidden',
  CANNOT_RESOLVE_TOPICS: 'forbidden',
  TOPIC_EDIT_TIME_LIMIT_EXCEEDED: 'forbidden',
  CHANNEL_EDIT_TIME_LIMIT_EXCEEDED: 'forbidden',
  CANNOT_MOVE_MESSAGE: 'forbidden',
  MOVE_TIME_LIMIT_EXCEEDED: 'forbidden',
  TYPING_NOTIFICATIONS_DISABLED: 'forbidden',
  READ_RECEIPTS_DISABLED: 'forbidden',
  REPORT_TOO_LONG: 'invalid',
  REPORT_NEEDS_EXPLANATION: 'invalid',
  /** No channel takes reports. */
  REPORTS_DISABLED: 'forbidden',
  NO_MESSAGE_CHANGE: 'invalid',
  DIRECT_MESSAGE_HAS_NO_PLACE: 'invalid',
  INVALID_MOVE: 'invalid',
  CANNOT_RESOLVE_EMPTY_TOPIC: 'invalid',
  WIDGET_NOT_EDITABLE: 'invalid',
  TOO_MANY_MESSAGES_TO_MOVE: 'invalid',
  CANNOT_DELETE_MESSAGE: 'forbidden',
  DELETE_TIME_LIMIT_EXCEEDED: 'forbidden',
  /** The host application refused it. */
  MESSAGE_REFUSED: 'forbidden',
});

type MessageErrors = typeof MESSAGE_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends MessageErrors {}

  interface ErrorDetails {
    /** One of them: the channel that a message goes to. */
    UNKNOWN_DESTINATION: { readonly channelName?: string; readonly channelId?: ChannelId };
    INVALID_NARROW: { readonly description: string };
    MOVE_TIME_LIMIT_EXCEEDED: {
      /** Null: none. */
      readonly firstMessageIdAllowedToMove: MessageId | null;
      readonly totalMessagesInTopic: number;
      readonly totalMessagesAllowedToMove: number;
    };
  }
}
