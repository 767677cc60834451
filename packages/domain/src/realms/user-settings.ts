import {
  checkSettingValues,
  flag,
  flagOrNull,
  integer,
  oneOf,
  type Registry,
  type SettingChanges,
  type SettingDefinition,
  type SettingValue,
  type SettingValues,
  text,
} from '../kernel/settings.js';

/** Available languages by code, with their native names (users §6.1). */
export const LANGUAGES: ReadonlyMap<string, string> = new Map([
  ['ar', 'العربية'],
  ['be', 'беларуская'],
  ['bg', 'български'],
  ['bn', 'বাংলা'],
  ['ca', 'català'],
  ['cs', 'česky'],
  ['cy', 'Cymraeg'],
  ['da', 'dansk'],
  ['de', 'Deutsch'],
  ['el', 'Ελληνικά'],
  ['en', 'English'],
  ['en-gb', 'British English'],
  ['eo', 'Esperanto'],
  ['es', 'español'],
  ['et', 'eesti'],
  ['eu', 'Euskara'],
  ['fa', 'فارسی'],
  ['fi', 'suomi'],
  ['fr', 'français'],
  ['gl', 'galego'],
  ['gu', 'ગુજરાતી'],
  ['he', 'עברית'],
  ['hi', 'हिन्दी'],
  ['hr', 'Hrvatski'],
  ['hu', 'Magyar'],
  ['id', 'Bahasa Indonesia'],
  ['it', 'italiano'],
  ['ja', '日本語'],
  ['ko', '한국어'],
  ['lt', 'Lietuviškai'],
  ['lv', 'latviešu'],
  ['ml', 'മലയാളം'],
  ['mn', 'Mongolian'],
  ['nl', 'Nederlands'],
  ['no', 'norsk'],
  ['pl', 'polski'],
  ['pt', 'Português'],
  ['pt-br', 'Português Brasileiro'],
  ['pt-pt', 'Português de Portugal'],
  ['ro', 'Română'],
  ['ru', 'Русский'],
  ['si', 'සිංහල'],
  ['sl', 'Slovenščina'],
  ['sr', 'српски'],
  ['sv', 'svenska'],
  ['ta', 'தமிழ்'],
  ['th', 'ภาษาไทย'],
  ['tl', 'Tagalog'],
  ['tr', 'Türkçe'],
  ['uk', 'Українська'],
  ['ur', 'اردو'],
  ['vi', 'Tiếng Việt'],
  ['zh-hans', '简体中文'],
  ['zh-hant', '繁體中文'],
]);

export const isLanguage = (code: string): boolean => LANGUAGES.has(code);

/** Current IANA names of zones that the runtime knows under former names. */
const RENAMED_ZONES: Readonly<Record<string, string>> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Catamarca': 'America/Argentina/Catamarca',
  'America/Coral_Harbour': 'America/Atikokan',
  'America/Cordoba': 'America/Argentina/Cordoba',
  'America/Godthab': 'America/Nuuk',
  'America/Indianapolis': 'America/Indiana/Indianapolis',
  'America/Jujuy': 'America/Argentina/Jujuy',
  'America/Louisville': 'America/Kentucky/Louisville',
  'America/Mendoza': 'America/Argentina/Mendoza',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
  'Pacific/Enderbury': 'Pacific/Kanton',
  'Pacific/Ponape': 'Pacific/Pohnpei',
  'Pacific/Truk': 'Pacific/Chuuk',
};

/** Names that the runtime's list omits although many users have them. */
const UNLISTED_ZONES: ReadonlySet<string> = new Set(['UTC', 'Etc/UTC', ...Object.values(RENAMED_ZONES)]);

let zones: ReadonlyMap<string, string> | undefined;

/** Returns the listed zone of this name in any case. */
function listedZone(name: string): string | undefined {
  zones ??= new Map(Intl.supportedValuesOf('timeZone').map((zone) => [zone.toLowerCase(), zone]));
  return zones.get(name.toLowerCase());
}

/** True for an IANA time zone name such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  if (UNLISTED_ZONES.has(name)) return true;
  if (!/^[A-Z][\w+-]*(?:\/[\w+-]+)*$/.test(name)) return false;
  // The list omits zone aliases. The formatter knows them, case-insensitively, but the first one takes 13 ms and 8 MB.
  const listed = listedZone(name);
  return listed === undefined ? isKnownToFormatter(name) : listed === name;
}

function isKnownToFormatter(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false;
  }
}

const canonicalZones = new Map<string, string>();

/** Returns the name that clients know, such as `America/Los_Angeles` for `US/Pacific`. */
export function canonicalTimeZone(name: string): string {
  if (UNLISTED_ZONES.has(name) || !isTimeZone(name)) return name;
  let canonical = canonicalZones.get(name);
  if (canonical === undefined) {
    const zone = listedZone(name) ?? new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
    canonical = zone === 'UTC' ? name : (RENAMED_ZONES[zone] ?? zone);
    canonicalZones.set(name, canonical);
  }
  return canonical;
}

interface UserSettingRules {
  /**
   * Other users who may change the setting. `administrators`: for many users at once; `nobody`: only the users
   * themselves (users §6.3).
   */
  readonly othersWhoMayChange: 'administrators' | 'nobody';
  /** True if administrators can set a realm default for new users (users §6.5). */
  readonly hasRealmDefault: boolean;
  /** Event that other users receive on a change (users §6.4). */
  readonly othersLearn: 'nothing' | 'timeZone' | 'email' | 'presence' | 'exportConsent';
}

export type UserSettingDefinition<T extends SettingValue = SettingValue> = SettingDefinition<T> & UserSettingRules;

const COMMON: UserSettingRules = {
  othersWhoMayChange: 'administrators',
  hasRealmDefault: true,
  othersLearn: 'nothing',
};

function setting<T extends SettingValue>(
  definition: SettingDefinition<T>,
  rules: Partial<UserSettingRules> = {},
): UserSettingDefinition<T> {
  return { ...definition, ...COMMON, ...rules };
}

const PRIVATE = { othersWhoMayChange: 'nobody' } as const;
const WITHOUT_DEFAULT = { hasRealmDefault: false } as const;

const TOPIC_POLICIES = ['participating', 'sending', 'starting', 'never'] as const;
/** Trigger for automatic topic policies (users §6.6). */
export type AutomaticTopicPolicy = (typeof TOPIC_POLICIES)[number];

const EMAIL_VISIBILITIES = ['everyone', 'members', 'administrators', 'nobody', 'moderators'] as const;
/** Users who may see the email (users §1.2). */
export type EmailVisibility = (typeof EMAIL_VISIBILITIES)[number];

/** Notification sounds in clients, sorted (events §5.3). */
export const NOTIFICATION_SOUNDS: readonly string[] = [
  'ascend',
  'beep_boop',
  'bink',
  'bright',
  'brlip',
  'chime',
  'deep tom',
  'ding',
  'double tap',
  'down',
  'dry bongos',
  'dutdut',
  'fast ascend',
  'flute',
  'friendly',
  'kick roll',
  'loud tintong',
  'metallic snare',
  'pan',
  'shaker',
  'simple',
  'stairs',
  'subtle',
  'swish',
  'tintong',
  'up',
  'wood block',
  'zaping',
  'zing',
  'zulip',
];
const SILENT = 'none';
const isNotificationSound = (name: string): boolean => name === SILENT || NOTIFICATION_SOUNDS.includes(name);

const MAX_NAME_LENGTH = 100;
const WEEK_SECONDS = 604_800;

/** Settings of users, with realm defaults for new users (users §6.1, events §5.3). */
export const USER_SETTINGS = {
  allowPrivateDataExport: setting(flag(false), {
    ...PRIVATE,
    ...WITHOUT_DEFAULT,
    othersLearn: 'exportConsent',
  }),
  automaticallyFollowTopicsPolicy: setting(oneOf('starting', TOPIC_POLICIES)),
  automaticallyFollowTopicsWhereMentioned: setting(flag(true)),
  automaticallyUnmuteTopicsInMutedChannelsPolicy: setting(oneOf('sending', TOPIC_POLICIES)),
  colorScheme: setting(oneOf('automatic', ['automatic', 'dark', 'light'])),
  defaultLanguage: setting(
    text('en', { max: MAX_NAME_LENGTH, isValid: isLanguage, expected: 'a language code such as de or pt-br' }),
    WITHOUT_DEFAULT,
  ),
  demoteInactiveChannels: setting(oneOf('automatic', ['automatic', 'always', 'never'])),
  desktopIconCountDisplay: setting(
    oneOf('allUnreads', ['allUnreads', 'directMentionsAndFollowed', 'directAndMentions', 'none']),
  ),
  displayEmojiReactionUsers: setting(flag(true)),
  emailAddressVisibility: setting(oneOf('everyone', EMAIL_VISIBILITIES), { ...PRIVATE, othersLearn: 'email' }),
  emailNotificationsBatchingPeriodSeconds: setting(integer(120, { min: 1, max: WEEK_SECONDS })),
  emojiset: setting(oneOf('google', ['google', 'google-blob', 'twitter', 'text'])),
  enableDesktopNotifications: setting(flag(true)),
  enableDigestEmails: setting(flag(true), PRIVATE),
  enableDraftsSynchronization: setting(flag(true)),
  enableFollowedTopicAudibleNotifications: setting(flag(true)),
  enableFollowedTopicDesktopNotifications: setting(flag(true)),
  enableFollowedTopicEmailNotifications: setting(flag(true)),
  enableFollowedTopicPushNotifications: setting(flag(true)),
  enableFollowedTopicWildcardMentionsNotify: setting(flag(true)),
  enableLoginEmails: setting(flag(true), { ...PRIVATE, ...WITHOUT_DEFAULT }),
  enableMarketingEmails: setting(flag(true), { ...PRIVATE, ...WITHOUT_DEFAULT }),
  enableOfflineEmailNotifications: setting(flag(true)),
  enableOfflinePushNotifications: setting(flag(true)),
  enableOnlinePushNotifications: setting(flag(true)),
  enableSounds: setting(flag(true)),
  enableChannelAudibleNotifications: setting(flag(false)),
  enableChannelDesktopNotifications: setting(flag(false)),
  enableChannelEmailNotifications: setting(flag(false)),
  enableChannelPushNotifications: setting(flag(false)),
  enterSends: setting(flag(false)),
  fluidLayoutWidth: setting(flag(false)),
  hideAiFeatures: setting(flag(false)),
  highContrastMode: setting(flag(false)),
  leftSideUserlist: setting(flag(false)),
  messageContentInEmailNotifications: setting(flag(true)),
  notificationSound: setting(
    text('zulip', {
      max: MAX_NAME_LENGTH,
      isValid: isNotificationSound,
      expected: 'the name of a sound such as zulip or ding',
    }),
  ),
  pmContentInDesktopNotifications: setting(flag(true)),
  presenceEnabled: setting(flag(true), { ...PRIVATE, othersLearn: 'presence' }),
  realmNameInEmailNotificationsPolicy: setting(oneOf('automatic', ['automatic', 'always', 'never'])),
  receivesTypingNotifications: setting(flag(true)),
  resolvedTopicNoticeAutoReadPolicy: setting(oneOf('exceptFollowed', ['always', 'exceptFollowed', 'never'])),
  sendPrivateTypingNotifications: setting(flag(true), PRIVATE),
  sendReadReceipts: setting(flag(true), PRIVATE),
  sendChannelTypingNotifications: setting(flag(true), PRIVATE),
  starredMessageCounts: setting(flag(true)),
  timezone: setting(
    text('', { max: MAX_NAME_LENGTH, isValid: isTimeZone, expected: 'a time zone such as Europe/Berlin' }),
    {
      ...PRIVATE,
      ...WITHOUT_DEFAULT,
      othersLearn: 'timeZone',
    },
  ),
  translateEmoticons: setting(flag(false)),
  /** Null for the locale's default. */
  twentyFourHourTime: setting(flagOrNull(false)),
  userListStyle: setting(oneOf('withAvatar', ['compact', 'withStatus', 'withAvatar'])),
  webAnimateImagePreviews: setting(oneOf('onHover', ['always', 'onHover', 'never'])),
  webChannelDefaultView: setting(oneOf('topTopic', ['topTopic', 'channelFeed', 'topicList', 'topUnreadTopic'])),
  webEscapeNavigatesToHomeView: setting(flag(true)),
  webFontSizePx: setting(integer(16)),
  webHomeView: setting(oneOf('inbox', ['inbox', 'recent', 'allMessages'])),
  webInboxShowChannelFolders: setting(flag(true)),
  webLeftSidebarShowChannelFolders: setting(flag(true)),
  webLeftSidebarUnreadsCountSummary: setting(flag(true)),
  webLineHeightPercent: setting(integer(140)),
  webMarkReadOnScrollPolicy: setting(oneOf('always', ['always', 'conversationViews', 'never'])),
  webNavigateToSentMessage: setting(flag(true)),
  webChannelUnreadsCountDisplayPolicy: setting(oneOf('unmuted', ['all', 'unmuted', 'none'])),
  webSuggestUpdateTimezone: setting(flag(true)),
  wildcardMentionsNotify: setting(flag(true)),
} as const satisfies Registry;

export type UserSettings = SettingValues<typeof USER_SETTINGS>;
export type UserSettingName = keyof typeof USER_SETTINGS;

const NAMES = Object.keys(USER_SETTINGS) as UserSettingName[];

/** Settings validated before the others, because parameter validation does not cover their values. */
const CHECKED_FIRST: readonly UserSettingName[] = ['defaultLanguage', 'notificationSound'];

/** @throws DomainError BAD_SETTING_VALUE */
export const checkUserSettings = (requested: SettingChanges<typeof USER_SETTINGS>): void =>
  checkSettingValues('user', USER_SETTINGS, requested, [...CHECKED_FIRST, ...NAMES]);

/** Settings with a realm default, in registry order. */
export const SETTINGS_WITH_REALM_DEFAULT: readonly UserSettingName[] = NAMES.filter(
  (name) => USER_SETTINGS[name].hasRealmDefault,
);
