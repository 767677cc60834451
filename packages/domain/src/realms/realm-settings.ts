import { type GroupSettingDefinition, groupSetting } from '../access/group-settings.js';
import type { SystemGroupName } from '../access/roles.js';
import type { ChannelId } from '../kernel/ids.js';
import type { DevelopmentMode } from '../kernel/ports.js';
import {
  channelOrNull,
  flag,
  integer,
  limitOrNull,
  oneOf,
  type Registry,
  type SettingDefinition,
  type SettingValue,
  type SettingValues,
  text,
  textOrNull,
} from '../kernel/settings.js';
import { recordOf } from '../kernel/work.js';
import { isLanguage } from './user-settings.js';

/** Users who may change the setting (organization §2.1, §2.2). `nobody`: only the operator. */
interface RealmSettingRules {
  readonly changedBy: 'administrators' | 'owners' | 'nobody';
}

export type RealmSettingDefinition<T extends SettingValue = SettingValue> = SettingDefinition<T> & RealmSettingRules;

const byAdministrators = <T extends SettingValue>(definition: SettingDefinition<T>): RealmSettingDefinition<T> => ({
  ...definition,
  changedBy: 'administrators',
});
const byOwners = <T extends SettingValue>(definition: SettingDefinition<T>): RealmSettingDefinition<T> => ({
  ...definition,
  changedBy: 'owners',
});
const byOperator = <T extends SettingValue>(definition: SettingDefinition<T>): RealmSettingDefinition<T> => ({
  ...definition,
  changedBy: 'nobody',
});

const ORGANIZATION_TYPES = [
  'unspecified',
  'business',
  'openSource',
  'educationNonprofit',
  'education',
  'research',
  'event',
  'nonprofit',
  'government',
  'politicalGroup',
  'community',
  'personal',
  'other',
] as const;

/** In code points (organization §2.1). */
export const MAX_REALM_NAME_LENGTH = 40;
const MAX_DESCRIPTION_LENGTH = 1000;
const MAX_WELCOME_LENGTH = 8000;
const MAX_WORD_LENGTH = 100;
const MAX_URL_LENGTH = 200;

/** Languages with word forms for search (extensions §9). */
export const SEARCH_LANGUAGES = 'ar cs da de en es fi fr hu it nl no pl pt ro ru sv tr uk'.split(' ');
/** Limit, because a message in an unclear language has terms for each listed language. */
const MAX_SEARCH_LANGUAGES = 5;

function areSearchLanguages(codes: string): boolean {
  const listed = codes.split(',');
  return (
    codes === '' ||
    (listed.length <= MAX_SEARCH_LANGUAGES &&
      new Set(listed).size === listed.length &&
      listed.every((code) => SEARCH_LANGUAGES.includes(code)))
  );
}

const isHttpUrl = (address: string): boolean => /^https?:\/\/[^\s/?#]+(?:[/?#]\S*)?$/i.test(address);

/** Settings of a realm (organization §2.1 and §2.3, events §5.1). */
export const REALM_SETTINGS = {
  allowMessageEditing: byAdministrators(flag(true)),
  avatarChangesDisabled: byAdministrators(flag(false)),
  defaultAvatarSource: byAdministrators(oneOf('generated', ['gravatar', 'generated'])),
  defaultCodeBlockLanguage: byAdministrators(text('', { max: MAX_WORD_LENGTH })),
  defaultLanguage: byAdministrators(
    text('en', { max: MAX_WORD_LENGTH, isValid: isLanguage, expected: 'a language code such as de or pt-br' }),
  ),
  description: byAdministrators(text('', { max: MAX_DESCRIPTION_LENGTH })),
  digestEmailsEnabled: byAdministrators(flag(false)),
  /** 0–6 for Monday–Sunday. */
  digestWeekday: byAdministrators(oneOf(1, [0, 1, 2, 3, 4, 5, 6])),
  disallowDisposableEmailAddresses: byOwners(flag(true)),
  emailChangesDisabled: byAdministrators(flag(false)),
  emailsRestrictedToDomains: byOwners(flag(false)),
  enableGuestUserDmWarning: byAdministrators(flag(true)),
  enableGuestUserIndicator: byAdministrators(flag(true)),
  enableReadReceipts: byAdministrators(flag(false)),
  enableSpectatorAccess: byAdministrators(flag(false)),
  gifRatingPolicy: byAdministrators(oneOf('g', ['disabled', 'y', 'g', 'pg', 'pg-13', 'r'])),
  inlineImagePreview: byAdministrators(flag(true)),
  inlineUrlEmbedPreview: byAdministrators(flag(false)),
  inviteRequired: byOwners(flag(true)),
  /** Null for the server default. */
  jitsiServerUrl: byAdministrators(
    textOrNull(null, {
      max: MAX_URL_LENGTH,
      isValid: isHttpUrl,
      expected: 'an address such as https://meet.example.com',
    }),
  ),
  /** True to keep place, camera and other metadata in pictures and videos. */
  keepFileMetadata: byAdministrators(flag(false)),
  /** Percentage. */
  mediaPreviewSize: byAdministrators(oneOf(100, [100, 150, 200])),
  messageContentAllowedInEmailNotifications: byAdministrators(flag(true)),
  messageContentDeleteLimitSeconds: byAdministrators(limitOrNull(600)),
  messageContentEditLimitSeconds: byAdministrators(limitOrNull(600)),
  messageEditHistoryVisibilityPolicy: byAdministrators(oneOf('all', ['all', 'moves', 'none'])),
  /** Null for unlimited. */
  messageRetentionDays: byOwners(limitOrNull(null)),
  moveMessagesBetweenChannelsLimitSeconds: byAdministrators(limitOrNull(604_800)),
  moveMessagesWithinChannelLimitSeconds: byAdministrators(limitOrNull(604_800)),
  nameChangesDisabled: byAdministrators(flag(false)),
  organizationType: byAdministrators(oneOf('unspecified', ORGANIZATION_TYPES)),
  ownerFullContentAccess: byOperator(flag(false)),
  presenceDisabled: byOperator(flag(false)),
  requireE2eePushNotifications: byAdministrators(flag(false)),
  requireUniqueNames: byAdministrators(flag(false)),
  /** Codes separated by commas, in addition to English; empty to detect the languages of each message. */
  searchLanguages: byAdministrators(
    text('', {
      max: MAX_WORD_LENGTH,
      isValid: areSearchLanguages,
      expected: 'up to five language codes such as de,fr',
    }),
  ),
  /** Users with these or higher roles cannot log in with a password alone. */
  secondFactorRequiredFor: byOwners(
    oneOf('nobody', ['nobody', 'owners', 'administrators', 'moderators', 'members', 'everyone']),
  ),
  sendChannelEventsMessages: byAdministrators(flag(true)),
  sendWelcomeEmails: byAdministrators(flag(true)),
  topicsPolicy: byAdministrators(oneOf('emptyTopicAllowed', ['emptyTopicAllowed', 'emptyTopicRefused'])),
  /** Providers without server configuration are rejected when set. */
  videoChatProvider: byAdministrators(oneOf('jitsi', ['none', 'jitsi', 'bigBlueButton'])),
  /** Number of days. */
  waitingPeriodThreshold: byOwners(integer(0, { min: 0 })),
  wantAdvertiseInCommunitiesDirectory: byAdministrators(flag(false)),
  welcomeMessageCustomText: byAdministrators(text('', { max: MAX_WELCOME_LENGTH })),
  moderationRequestChannelId: byAdministrators(channelOrNull()),
  newChannelAnnouncementsChannelId: byAdministrators(channelOrNull()),
  signupAnnouncementsChannelId: byAdministrators(channelOrNull()),
  updateAnnouncementsChannelId: byAdministrators(channelOrNull()),
} as const satisfies Registry;

/** Enabled login methods, changed together as one setting (organization §2.5). */
export const AUTHENTICATION_METHODS = {
  devAuthentication: byOwners(flag(true)),
  emailAuthentication: byOwners(flag(true)),
  ldapAuthentication: byOwners(flag(false)),
  gitHubAuthentication: byOwners(flag(false)),
  gitLabAuthentication: byOwners(flag(false)),
  googleAuthentication: byOwners(flag(false)),
  appleAuthentication: byOwners(flag(false)),
  samlAuthentication: byOwners(flag(false)),
  openIdConnectAuthentication: byOwners(flag(false)),
} as const satisfies Registry;
export type AuthenticationMethod = keyof typeof AUTHENTICATION_METHODS;

/** All stored settings. */
export const STORED_REALM_SETTINGS = { ...REALM_SETTINGS, ...AUTHENTICATION_METHODS };

export type RealmSettings = SettingValues<typeof STORED_REALM_SETTINGS>;
export type RealmSettingName = keyof typeof REALM_SETTINGS;

export type RealmPermissionDefinition = GroupSettingDefinition & RealmSettingRules;

const permission = (
  initial: SystemGroupName,
  allows: '' | 'n' | 'y' | 'ny',
  more: Partial<RealmPermissionDefinition> = {},
): RealmPermissionDefinition => ({ ...groupSetting(initial, allows), changedBy: 'administrators', ...more });
const OWNERS = { changedBy: 'owners' } as const;

/** Permissions of a realm (channels §3.5, organization §2.2). */
export const REALM_PERMISSIONS = {
  canAccessAllUsers: permission('everyone', 'y', {
    requireSystemGroup: true,
    allowedSystemGroups: ['everyone', 'members'],
  }),
  canAddCustomEmoji: permission('members', 'n'),
  canAddSubscribers: permission('members', 'n'),
  canCreateBots: permission('members', 'n'),
  canCreateGroups: permission('members', 'n', OWNERS),
  canCreatePrivateChannel: permission('members', 'n'),
  canCreatePublicChannel: permission('members', 'n'),
  canCreateWebPublicChannel: permission('owners', 'n', {
    requireSystemGroup: true,
    allowedSystemGroups: ['moderators', 'administrators', 'owners', 'nobody'],
  }),
  canCreateWriteOnlyBots: permission('members', 'n'),
  canDeleteAnyMessage: permission('administrators', 'n'),
  canDeleteOwnMessage: permission('everyone', 'ny'),
  canInviteUsers: permission('members', 'n', OWNERS),
  canManageAllGroups: permission('owners', '', OWNERS),
  canManageBilling: permission('administrators', '', OWNERS),
  canMentionManyUsers: permission('administrators', 'ny'),
  canMoveMessagesBetweenChannels: permission('members', 'n'),
  canMoveMessagesBetweenTopics: permission('everyone', 'ny'),
  canResolveTopics: permission('everyone', 'ny'),
  canSetDeleteMessagePolicy: permission('moderators', 'n'),
  canSetTopicsPolicy: permission('members', 'ny'),
  canSummarizeTopics: permission('everyone', 'ny'),
  createMultiuseInvite: permission('administrators', 'n', OWNERS),
  directMessageInitiator: permission('everyone', 'ny'),
  directMessagePermission: permission('everyone', 'ny'),
  workplaceUsers: permission('everyone', 'ny'),
} as const satisfies Readonly<Record<string, RealmPermissionDefinition>>;
export type RealmPermission = keyof typeof REALM_PERMISSIONS;

type ChannelSettingName = Extract<RealmSettingName, `${string}ChannelId`>;

/** Realm settings with a channel as value. */
export const CHANNEL_SETTINGS = (Object.keys(REALM_SETTINGS) as RealmSettingName[]).filter(
  (name): name is ChannelSettingName => REALM_SETTINGS[name].kind === 'channel',
);

/** Returns the settings with each channel replaced by the result of `map`; null clears the setting. */
export const mapChannelSettings = (
  settings: RealmSettings,
  map: (channelId: ChannelId) => ChannelId | null,
): RealmSettings => ({
  ...settings,
  ...recordOf(CHANNEL_SETTINGS, (name) => {
    const channelId = settings[name] as ChannelId | null;
    return channelId === null ? null : map(channelId);
  }),
});

/** Login method with its state in the realm and on the server. */
export interface AuthenticationMethodState {
  readonly method: AuthenticationMethod;
  readonly isEnabled: boolean;
  /** True if the server supports the method. */
  readonly isAvailable: boolean;
}

/**
 * Returns the methods in registry order, with LDAP only if configured (organization §2.5). `configured`: kinds of the
 * services configured by the operator.
 */
export function authenticationMethods(
  settings: RealmSettings,
  { isOn: isDevelopment }: DevelopmentMode,
  configured: ReadonlySet<string>,
): readonly AuthenticationMethodState[] {
  const methods = Object.keys(AUTHENTICATION_METHODS) as AuthenticationMethod[];
  const shown = methods.filter((method) => method !== 'ldapAuthentication' || configured.has(method));
  return shown.map((method) => ({
    method,
    // Login without a password is limited to development servers.
    isEnabled: settings[method] && (method !== 'devAuthentication' || isDevelopment),
    isAvailable:
      method === 'devAuthentication' ? isDevelopment : method === 'emailAuthentication' || configured.has(method),
  }));
}
