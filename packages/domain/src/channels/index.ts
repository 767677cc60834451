export { changeTopicPolicy } from './change-topic-policy.js';
export {
  CHANNEL_PERMISSIONS,
  type Channel,
  type ChannelPermission,
  type ChannelPermissions,
  type ChannelPrivacy,
  type ChannelView,
  hasSharedHistory,
  hasWeeklyTraffic,
  isPrivate,
  isWebPublic,
  MAX_CHANNEL_DESCRIPTION_LENGTH,
  MAX_CHANNEL_NAME_LENGTH,
  type RetentionDays,
  type RetentionInput,
  TOPICS_POLICIES,
  type TopicsPolicy,
  weeklyTraffic,
} from './channel.js';
export { type ChannelAddressKey, type ChannelAddressRepository, MAIL_TOKEN_PLACE } from './channel-address.js';
export { subscribersOf } from './channel-delivery.js';

import './channel-errors.js';

export { canSeeMetadata, hasContentAccess, hasMetadataAccess } from './channel-access.js';
export type { ChannelEventTypes, ChannelPropertyChange } from './channel-events.js';
export {
  type ChannelFolder,
  type ChannelFolderRepository,
  folderNameTaken,
  MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH,
  MAX_CHANNEL_FOLDER_NAME_LENGTH,
} from './channel-folder.js';
export type { ChannelFolderChange, ChannelFolderEventTypes } from './channel-folder-events.js';
export {
  loadChannelFolders,
  loadChannels,
  loadDefaultChannelGroups,
  loadDefaultChannelIds,
  loadOwnSubscriptions,
  loadSubscriberIds,
  loadTopicPolicies,
} from './channel-loaders.js';
export { canChangeDefaultChannels, canCreateOfPrivacy } from './channel-permissions.js';
export type { ChannelQuota } from './channel-quota.js';
export type { ChannelRepository, SubscribedSpan } from './channel-repository.js';
export { type ChannelOptions, DEFAULT_CHANNEL_OPTIONS } from './create-channels.js';
export {
  type DefaultChannelGroup,
  type DefaultChannelGroupRepository,
  defaultGroupNameTaken,
} from './default-channel-group.js';
export type { DefaultChannelGroupView } from './default-channel-group-views.js';
export type { NamedTopicPolicy } from './named-topic-policies.js';
export type { Principals } from './principals.js';
export { subscribeToChannels } from './subscribe-to-channels.js';
export { INHERITED_NOTIFICATIONS, isColor, normalizeColor, pickColors, type Subscription } from './subscription.js';
export { canAddSubscribers } from './subscription-permissions.js';
export {
  SUBSCRIPTION_PROPERTIES,
  type SubscriptionProperty,
} from './subscription-properties.js';
export { EMPTY_TOPIC_DISPLAY_NAME, MAX_TOPIC_LENGTH, normalizeTopic, RESOLVED_PREFIX, topicKey } from './topic.js';
export type { TopicPolicy, TopicPolicyRepository, TopicVisibility } from './topic-policy.js';
export { unsubscribeFromChannels } from './unsubscribe-from-channels.js';
export * from './use-cases/archive-channel.js';
export * from './use-cases/change-channel.js';
export * from './use-cases/change-channel-folder.js';
export * from './use-cases/change-default-channel-group.js';
export * from './use-cases/change-default-group-channels.js';
export * from './use-cases/change-subscription-properties.js';
export * from './use-cases/change-subscriptions.js';
export * from './use-cases/create-channel.js';
export * from './use-cases/create-channel-folder.js';
export * from './use-cases/create-default-channel-group.js';
export * from './use-cases/delete-default-channel-group.js';
export * from './use-cases/find-channel-id.js';
export * from './use-cases/get-channel.js';
export * from './use-cases/get-channel-address.js';
export * from './use-cases/get-subscription-status.js';
export * from './use-cases/list-channel-folders.js';
export * from './use-cases/list-channels.js';
export * from './use-cases/list-subscribers.js';
export * from './use-cases/list-subscriptions.js';
export * from './use-cases/list-user-channels.js';
export * from './use-cases/mark-idle-channels.js';
export * from './use-cases/mute-topic.js';
export * from './use-cases/reorder-channel-folders.js';
export * from './use-cases/set-default-channel.js';
export * from './use-cases/set-topic-policy.js';
export * from './use-cases/spectate.js';
export * from './use-cases/subscribe-users.js';
export * from './use-cases/unsubscribe-users.js';
