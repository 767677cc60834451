import { escapeHtml } from '@parley/domain/kernel';
import type { WireErrors } from '../kernel/wire-error.js';

export const MESSAGE_WIRE_ERRORS = {
  UNKNOWN_DESTINATION: {
    code: 'STREAM_DOES_NOT_EXIST',
    fields: { channelName: 'stream', channelId: 'stream_id' },
    present: { channelName: escapeHtml },
    text: ({ channelName }) =>
      channelName === undefined ? undefined : `Channel '${escapeHtml(channelName)}' does not exist`,
  },
  INVALID_NARROW: { code: 'BAD_NARROW', fields: { description: 'desc' } },
  CANNOT_VIEW_FILE: { status: 403 },
  CHANNEL_WILDCARD_NOT_ALLOWED: { code: 'STREAM_WILDCARD_MENTION_NOT_ALLOWED' },
  TOPIC_WILDCARD_NOT_ALLOWED: { code: 'TOPIC_WILDCARD_MENTION_NOT_ALLOWED' },
  MOVE_TIME_LIMIT_EXCEEDED: {
    code: 'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
    fields: {
      firstMessageIdAllowedToMove: 'first_message_id_allowed_to_move',
      totalMessagesInTopic: 'total_messages_in_topic',
      totalMessagesAllowedToMove: 'total_messages_allowed_to_move',
    },
  },
} as const satisfies WireErrors;
