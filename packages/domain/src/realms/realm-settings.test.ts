import { isSettingValue, type SettingDefinition } from '../kernel/settings.js';
import {
  authenticationMethods,
  REALM_SETTINGS,
  type RealmSettingDefinition,
  type RealmSettings,
  STORED_REALM_SETTINGS,
} from './realm-settings.js';

/** JSON from events §5.1, organization §2.1 and §2.3: name, kind, default, permitted users, values. */
const CONTRACT = `
  allowMessageEditing                        | boolean | true                | administrators | any
  avatarChangesDisabled                      | boolean | false               | administrators | any
  defaultAvatarSource                        | choice  | "generated"         | administrators | ["gravatar","generated"]
  defaultCodeBlockLanguage                   | text    | ""                  | administrators | to 100
  defaultLanguage                            | text    | "en"                | administrators | to 100
  description                                | text    | ""                  | administrators | to 1000
  digestEmailsEnabled                        | boolean | false               | administrators | any
  digestWeekday                              | choice  | 1                   | administrators | [0,1,2,3,4,5,6]
  disallowDisposableEmailAddresses           | boolean | true                | owners         | any
  emailChangesDisabled                       | boolean | false               | administrators | any
  emailsRestrictedToDomains                  | boolean | false               | owners         | any
  enableGuestUserDmWarning                   | boolean | true                | administrators | any
  enableGuestUserIndicator                   | boolean | true                | administrators | any
  enableReadReceipts                         | boolean | false               | administrators | any
  enableSpectatorAccess                      | boolean | false               | administrators | any
  gifRatingPolicy                            | choice  | "g"                 | administrators | ["disabled","y","g","pg","pg-13","r"]
  inlineImagePreview                         | boolean | true                | administrators | any
  inlineUrlEmbedPreview                      | boolean | false               | administrators | any
  inviteRequired                             | boolean | true                | owners         | any
  jitsiServerUrl                             | text    | null                | administrators | to 200, null
  keepFileMetadata                           | boolean | false               | administrators | any
  mediaPreviewSize                           | choice  | 100                 | administrators | [100,150,200]
  messageContentAllowedInEmailNotifications  | boolean | true                | administrators | any
  messageContentDeleteLimitSeconds           | limit   | 600                 | administrators | any, null
  messageContentEditLimitSeconds             | limit   | 600                 | administrators | any, null
  messageEditHistoryVisibilityPolicy         | choice  | "all"               | administrators | ["all","moves","none"]
  messageRetentionDays                       | limit   | null                | owners         | any, null
  moveMessagesBetweenChannelsLimitSeconds    | limit   | 604800              | administrators | any, null
  moveMessagesWithinChannelLimitSeconds      | limit   | 604800              | administrators | any, null
  nameChangesDisabled                        | boolean | false               | administrators | any
  organizationType                           | choice  | "unspecified"       | administrators | ["unspecified","business","openSource","educationNonprofit","education","research","event","nonprofit","government","politicalGroup","community","personal","other"]
  ownerFullContentAccess                     | boolean | false               | nobody         | any
  presenceDisabled                           | boolean | false               | nobody         | any
  requireE2eePushNotifications               | boolean | false               | administrators | any
  requireUniqueNames                         | boolean | false               | administrators | any
  searchLanguages                            | text    | ""                  | administrators | to 100
  secondFactorRequiredFor                    | choice  | "nobody"            | owners         | ["nobody","owners","administrators","moderators","members","everyone"]
  sendChannelEventsMessages                  | boolean | true                | administrators | any
  sendWelcomeEmails                          | boolean | true                | administrators | any
  topicsPolicy                               | choice  | "emptyTopicAllowed" | administrators | ["emptyTopicAllowed","emptyTopicRefused"]
  videoChatProvider                          | choice  | "jitsi"             | administrators | ["none","jitsi","bigBlueButton"]
  waitingPeriodThreshold                     | integer | 0                   | owners         | from 0
  wantAdvertiseInCommunitiesDirectory        | boolean | false               | administrators | any
  welcomeMessageCustomText                   | text    | ""                  | administrators | to 8000
  moderationRequestChannelId                 | channel | null                | administrators | any, null
  newChannelAnnouncementsChannelId           | channel | null                | administrators | any, null
  signupAnnouncementsChannelId               | channel | null                | administrators | any, null
  updateAnnouncementsChannelId               | channel | null                | administrators | any, null
`;

const valuesOf = (row: SettingDefinition): string => {
  switch (row.kind) {
    case 'choice':
      return JSON.stringify(row.values);
    case 'text':
      return `to ${row.max}`;
    case 'integer':
      return `from ${row.min}`;
    default:
      return 'any';
  }
};

const describeSetting = (row: RealmSettingDefinition) => [
  row.kind,
  JSON.stringify(row.default),
  row.changedBy,
  valuesOf(row) + (row.nullable ? ', null' : ''),
];

it('REALM_SETTINGS has the defaults and value ranges of the contract', () => {
  const rows = CONTRACT.trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const actual = Object.entries(REALM_SETTINGS).map(([name, definition]) => [name, ...describeSetting(definition)]);
  expect(actual).toEqual(rows);
  for (const definition of Object.values<SettingDefinition>(STORED_REALM_SETTINGS)) {
    expect(isSettingValue(definition, definition.default)).toBe(true);
  }
});

it.each([true, false])('authenticationMethods enables log-in without a password only in development: %s', (isOn) => {
  const settings = { devAuthentication: true, emailAuthentication: true } as RealmSettings;
  const [dev, email] = authenticationMethods(settings, { isOn }, new Set());
  expect(dev).toEqual({ method: 'devAuthentication', isEnabled: isOn, isAvailable: isOn });
  expect(email).toEqual({ method: 'emailAuthentication', isEnabled: true, isAvailable: true });
});
