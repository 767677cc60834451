import type { SettingDefinition, SettingValue } from '../shared/settings.js';
import { REALM_SETTINGS } from './realm-settings.js';

/** Events §5.1, organization §2.1 and §2.3, as JSON: name, type, what a fresh organization has, and every value there is. */
const CONTRACT = `
  allowMessageEditing                        | boolean | true                | any
  avatarChangesDisabled                      | boolean | false               | any
  defaultAvatarSource                        | text    | "J"                 | ["G","J"]
  defaultCodeBlockLanguage                   | text    | ""                  | any
  defaultLanguage                            | text    | "en"                | any
  description                                | text    | ""                  | any
  digestEmailsEnabled                        | boolean | false               | any
  digestWeekday                              | integer | 1                   | [0,1,2,3,4,5,6]
  disallowDisposableEmailAddresses           | boolean | true                | any
  emailChangesDisabled                       | boolean | false               | any
  emailsRestrictedToDomains                  | boolean | false               | any
  enableGuestUserDmWarning                   | boolean | true                | any
  enableGuestUserIndicator                   | boolean | true                | any
  enableReadReceipts                         | boolean | false               | any
  enableSpectatorAccess                      | boolean | false               | any
  gifRatingPolicy                            | integer | 2                   | [0,1,2,3,4,5]
  inlineImagePreview                         | boolean | true                | any
  inlineUrlEmbedPreview                      | boolean | false               | any
  inviteRequired                             | boolean | true                | any
  jitsiServerUrl                             | text    | null                | any
  mediaPreviewSize                           | integer | 100                 | [100,150,200]
  messageContentAllowedInEmailNotifications  | boolean | true                | any
  messageContentDeleteLimitSeconds           | integer | 600                 | or null
  messageContentEditLimitSeconds             | integer | 600                 | or null
  messageEditHistoryVisibilityPolicy         | text    | "all"               | ["all","moves","none"]
  messageRetentionDays                       | integer | -1                  | any
  moveMessagesBetweenChannelsLimitSeconds    | integer | 604800              | or null
  moveMessagesWithinChannelLimitSeconds      | integer | 604800              | or null
  nameChangesDisabled                        | boolean | false               | any
  organizationType                           | integer | 0                   | any
  ownerFullContentAccess                     | boolean | false               | any
  requireE2eePushNotifications               | boolean | false               | any
  requireUniqueNames                         | boolean | false               | any
  sendChannelEventsMessages                  | boolean | true                | any
  sendWelcomeEmails                          | boolean | true                | any
  topicsPolicy                               | text    | "allow_empty_topic" | ["allow_empty_topic","disable_empty_topic"]
  videoChatProvider                          | integer | 1                   | [0,1,3,4,5,6,7,8]
  waitingPeriodThreshold                     | integer | 0                   | any
  wantAdvertiseInCommunitiesDirectory        | boolean | false               | any
  welcomeMessageCustomText                   | text    | ""                  | any
  moderationRequestChannelId                 | integer | null                | any
  newChannelAnnouncementsChannelId           | integer | null                | any
  signupAnnouncementsChannelId               | integer | null                | any
  updateAnnouncementsChannelId               | integer | null                | any
`;

const describeSetting = ({ type, default: initial, nullable, values }: SettingDefinition<SettingValue>) => [
  type,
  JSON.stringify(initial),
  values ? JSON.stringify(values) : nullable && initial !== null ? 'or null' : 'any',
];

it('an organization begins with what the contract says, and can be set to nothing else', () => {
  const rows = CONTRACT.trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const actual = Object.entries(REALM_SETTINGS).map(([name, definition]) => [name, ...describeSetting(definition)]);
  expect(actual).toEqual(rows);
  for (const definition of Object.values<SettingDefinition<SettingValue>>(REALM_SETTINGS)) {
    if (definition.default === null) expect(definition.nullable).toBe(true);
  }
});
