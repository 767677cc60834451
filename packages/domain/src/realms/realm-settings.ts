import { groupSetting } from '../groups/group-setting.js';
import { flag, integer, integerOrNull, oneOf, type SettingValues, text, textOrNull } from '../shared/settings.js';

/** What administrators set for the whole organization (events §5.1). */
export const REALM_SETTINGS = {
  allowMessageEditing: flag(true),
  avatarChangesDisabled: flag(false),
  defaultAvatarSource: oneOf('J', ['G', 'J']),
  defaultCodeBlockLanguage: text(''),
  defaultLanguage: text('en'),
  description: text(''),
  digestEmailsEnabled: flag(false),
  /** 0–6 = Monday–Sunday. */
  digestWeekday: oneOf(1, [0, 1, 2, 3, 4, 5, 6]),
  disallowDisposableEmailAddresses: flag(true),
  emailChangesDisabled: flag(false),
  emailsRestrictedToDomains: flag(false),
  enableGuestUserDmWarning: flag(true),
  enableGuestUserIndicator: flag(true),
  enableReadReceipts: flag(false),
  enableSpectatorAccess: flag(false),
  gifRatingPolicy: oneOf(2, [0, 1, 2, 3, 4, 5]),
  inlineImagePreview: flag(true),
  inlineUrlEmbedPreview: flag(false),
  inviteRequired: flag(true),
  jitsiServerUrl: textOrNull(null),
  mediaPreviewSize: oneOf(100, [100, 150, 200]),
  messageContentAllowedInEmailNotifications: flag(true),
  messageContentDeleteLimitSeconds: integerOrNull(600),
  messageContentEditLimitSeconds: integerOrNull(600),
  messageEditHistoryVisibilityPolicy: oneOf('all', ['all', 'moves', 'none']),
  /** -1: forever. */
  messageRetentionDays: integer(-1),
  moveMessagesBetweenChannelsLimitSeconds: integerOrNull(604800),
  moveMessagesWithinChannelLimitSeconds: integerOrNull(604800),
  nameChangesDisabled: flag(false),
  organizationType: integer(0),
  ownerFullContentAccess: flag(false),
  requireE2eePushNotifications: flag(false),
  requireUniqueNames: flag(false),
  sendChannelEventsMessages: flag(true),
  sendWelcomeEmails: flag(true),
  topicsPolicy: oneOf('allow_empty_topic', ['allow_empty_topic', 'disable_empty_topic']),
  videoChatProvider: oneOf(1, [0, 1, 3, 4, 5, 6, 7, 8]),
  /** In days. */
  waitingPeriodThreshold: integer(0),
  wantAdvertiseInCommunitiesDirectory: flag(false),
  welcomeMessageCustomText: text(''),
  /** Channel ids; null: unset. */
  moderationRequestChannelId: integerOrNull(null),
  newChannelAnnouncementsChannelId: integerOrNull(null),
  signupAnnouncementsChannelId: integerOrNull(null),
  updateAnnouncementsChannelId: integerOrNull(null),
} as const;

export type RealmSettings = SettingValues<typeof REALM_SETTINGS>;

/** What the organization lets groups do (channels §3.5). */
export const REALM_PERMISSIONS = {
  canAccessAllUsers: groupSetting('everyone', 'y', {
    requireSystemGroup: true,
    allowedSystemGroups: ['everyone', 'members'],
  }),
  canAddCustomEmoji: groupSetting('members', 'n'),
  canAddSubscribers: groupSetting('members', 'n'),
  canCreateBots: groupSetting('members', 'n'),
  canCreateGroups: groupSetting('members', 'n'),
  canCreatePrivateChannel: groupSetting('members', 'n'),
  canCreatePublicChannel: groupSetting('members', 'n'),
  canCreateWebPublicChannel: groupSetting('owners', 'n', {
    requireSystemGroup: true,
    allowedSystemGroups: ['moderators', 'administrators', 'owners', 'nobody'],
  }),
  canCreateWriteOnlyBots: groupSetting('members', 'n'),
  canDeleteAnyMessage: groupSetting('administrators', 'n'),
  canDeleteOwnMessage: groupSetting('everyone', 'ny'),
  canInviteUsers: groupSetting('members', 'n'),
  canManageAllGroups: groupSetting('owners', ''),
  canManageBilling: groupSetting('administrators', ''),
  canMentionManyUsers: groupSetting('administrators', 'ny'),
  canMoveMessagesBetweenChannels: groupSetting('members', 'n'),
  canMoveMessagesBetweenTopics: groupSetting('everyone', 'ny'),
  canResolveTopics: groupSetting('everyone', 'ny'),
  canSetDeleteMessagePolicy: groupSetting('moderators', 'n'),
  canSetTopicsPolicy: groupSetting('members', 'ny'),
  canSummarizeTopics: groupSetting('everyone', 'ny'),
  createMultiuseInvite: groupSetting('administrators', 'n'),
  directMessageInitiator: groupSetting('everyone', 'ny'),
  directMessagePermission: groupSetting('everyone', 'ny'),
  workplaceUsers: groupSetting('everyone', 'ny'),
} as const;
export type RealmPermission = keyof typeof REALM_PERMISSIONS;
