import { badValue, type WireErrors } from '../kernel/wire-error.js';
import { WIRE_SUBSCRIPTION_PROPERTIES } from './channel.presenters.js';

const EMPTY_TOPIC_NAME = { emptyTopicDisplayName: 'empty_topic_display_name' };
const TOPIC_CREATION_PARAMETERS = 'history_public_to_subscribers, can_create_topic_group';

export const CHANNEL_WIRE_ERRORS = {
  CHANNEL_NAME_TAKEN: { status: 409, code: 'CHANNEL_ALREADY_EXISTS', fields: { channelName: 'channel_name' } },
  CANNOT_ADMINISTER_CHANNEL: { code: 'CANNOT_ADMINISTER_CHANNEL' },
  CANNOT_MANAGE_DEFAULT_CHANNEL: { code: 'CANNOT_MANAGE_DEFAULT_CHANNEL' },
  CHANNEL_HAS_NAMED_TOPICS: { fields: EMPTY_TOPIC_NAME },
  TOPIC_REQUIRED: { fields: EMPTY_TOPIC_NAME },
  EMPTY_TOPIC_REQUIRED: { fields: EMPTY_TOPIC_NAME },
  INVALID_RETENTION: ({ details }) => badValue('message_retention_days')(details.value),
  NO_SUBSCRIPTION_CHANGE: { text: 'Nothing to do. Specify at least one of "add" or "delete".' },
  DEFAULT_CHANNEL_GROUP_CHANGE_REQUIRED: { text: 'You must pass "new_description" or "new_group_name".' },
  DEFAULT_CHANNEL_GROUP_OPERATION_REQUIRED: {
    text: 'Invalid value for "op". Specify one of "add" or "remove".',
  },
  INVALID_SUBSCRIPTION_VALUE: {
    text: ({ property, expected }) => `${WIRE_SUBSCRIPTION_PROPERTIES[property]} is not ${expected}`,
  },
  TOPIC_CREATION_MUST_BE_OPEN: {
    extra: { parameters: TOPIC_CREATION_PARAMETERS },
    text: `Unsupported parameter combination: ${TOPIC_CREATION_PARAMETERS}`,
  },
} as const satisfies WireErrors;
