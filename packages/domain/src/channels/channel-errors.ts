import { declareErrors } from '../kernel/errors.js';
import type { ChannelId } from '../kernel/ids.js';
import type { SubscriptionProperty } from './subscription-properties.js';

export const CHANNEL_ERRORS = declareErrors({
  UNKNOWN_CHANNEL: 'unknown',
  UNKNOWN_CHANNEL_FOLDER: 'unknown',
  INVALID_CHANNEL_FOLDER_NAME: 'invalid',
  CHANNEL_FOLDER_NAME_TAKEN: 'conflict',
  CHANNEL_FOLDER_IN_USE: 'conflict',
  /** Some folder is missing. */
  INVALID_FOLDER_ORDER: 'invalid',
  TOO_MANY_CHANNEL_FOLDERS: 'conflict',
  UNKNOWN_DEFAULT_CHANNEL_GROUP: 'unknown',
  INVALID_DEFAULT_CHANNEL_GROUP_NAME: 'invalid',
  DEFAULT_CHANNEL_GROUP_NAME_TAKEN: 'conflict',
  DEFAULT_CHANNEL_GROUP_NAME_UNCHANGED: 'conflict',
  /** Neither a name nor a description. */
  DEFAULT_CHANNEL_GROUP_CHANGE_REQUIRED: 'invalid',
  /** Neither adding nor removing. */
  DEFAULT_CHANNEL_GROUP_OPERATION_REQUIRED: 'invalid',
  /** Newcomers get it anyway. */
  IS_DEFAULT_CHANNEL: 'conflict',
  CHANNEL_IN_DEFAULT_GROUP: 'conflict',
  CHANNEL_NOT_IN_DEFAULT_GROUP: 'conflict',
  TOO_MANY_DEFAULT_CHANNEL_GROUPS: 'conflict',
  TOO_MANY_CHANNELS_IN_DEFAULT_GROUP: 'conflict',
  INVALID_CHANNEL_NAME: 'invalid',
  CHANNEL_NAME_TAKEN: 'conflict',
  CHANNEL_NAME_UNCHANGED: 'conflict',
  INVALID_CHANNEL_PRIVACY: 'invalid',
  INVALID_RETENTION: 'invalid',
  DEFAULT_CHANNEL_MUST_BE_PUBLIC: 'conflict',
  MODERATION_CHANNEL_MUST_BE_PRIVATE: 'conflict',
  WEB_PUBLIC_CHANNELS_DISABLED: 'forbidden',
  /** The caller sees the channel, but not its messages. */
  CHANNEL_CONTENT_ACCESS_REQUIRED: 'forbidden',
  CANNOT_ADMINISTER_CHANNEL: 'forbidden',
  CANNOT_MANAGE_DEFAULT_CHANNEL: 'forbidden',
  CHANNEL_ARCHIVED: 'conflict',
  CHANNEL_NOT_ARCHIVED: 'conflict',
  CHANNEL_WITHOUT_SUBSCRIBERS: 'conflict',
  CHANNEL_HAS_NAMED_TOPICS: 'conflict',
  /** Where newcomers do not see what was said before. */
  TOPIC_CREATION_MUST_BE_OPEN: 'conflict',
  TOO_MANY_HOLDERS_IN_REQUEST: 'invalid',
  TOO_MANY_SUBSCRIPTIONS: 'invalid',
  /** Neither a channel to subscribe to nor one to leave. */
  NO_SUBSCRIPTION_CHANGE: 'invalid',
  NOT_SUBSCRIBED: 'conflict',
  UNKNOWN_SUBSCRIPTION_PROPERTY: 'invalid',
  INVALID_COLOR: 'invalid',
  INVALID_SUBSCRIPTION_VALUE: 'invalid',
  TOO_MANY_TOPIC_POLICIES: 'conflict',
  CANNOT_POST_IN_CHANNEL: 'forbidden',
  CANNOT_CREATE_TOPIC: 'forbidden',
  TOPIC_REQUIRED: 'invalid',
  EMPTY_TOPIC_REQUIRED: 'conflict',
});

interface EmptyTopicName {
  readonly emptyTopicDisplayName: string;
}

type ChannelErrors = typeof CHANNEL_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends ChannelErrors {}

  interface ErrorDetails {
    /** `channelId`: of the other channel, where it is known. */
    CHANNEL_NAME_TAKEN: { readonly channelName: string; readonly channelId?: ChannelId | undefined };
    /** As it was given. */
    INVALID_RETENTION: { readonly value: number | string };
    /** `expected`: what its value has to be. */
    INVALID_SUBSCRIPTION_VALUE: { readonly property: SubscriptionProperty; readonly expected: string };
    CHANNEL_HAS_NAMED_TOPICS: EmptyTopicName;
    TOPIC_REQUIRED: Partial<EmptyTopicName>;
    EMPTY_TOPIC_REQUIRED: EmptyTopicName;
  }
}
