import type { RealmUrls } from '@parley/domain/shared';
import {
  channelsSection,
  defaultChannelsSection,
  mutedTopicsSection,
  subscriptionsSection,
  userTopicsSection,
} from './channels/channel.register.js';
import { fixedSection, plainSection, type RegisterSection } from './events/register-section.js';
import { groupsSection } from './groups/group.register.js';
import {
  newestMessageSection,
  recentConversationsSection,
  starredMessagesSection,
  unreadSection,
} from './messages/message.register.js';
import type { ServerInfo } from './realms/realm.presenters.js';
import { realmSection } from './realms/realm.register.js';
import { ownUserSection, peopleSection } from './users/user.register.js';
import type { UserPagePresenter } from './users/user-page.js';
import { userDefaultsSection, userSettingsSection } from './users/user-settings.register.js';

export interface SectionParts {
  readonly realmUrls: RealmUrls;
  readonly serverInfo: ServerInfo;
  readonly userPages: UserPagePresenter;
}

/** What a client can begin with (events §3.2), in the order of the answer. No two sections have a field in common. */
export const registerSections = (parts: SectionParts): readonly RegisterSection[] => [
  fixedSection('alert_words', { alert_words: [] }),
  fixedSection('custom_profile_fields', {
    custom_profile_fields: [],
    custom_profile_field_types: PROFILE_FIELD_TYPES,
  }),
  fixedSection('onboarding_steps', { onboarding_steps: [], navigation_tour_video_url: null }),
  newestMessageSection,
  unreadSection,
  starredMessagesSection,
  fixedSection('saved_snippets', { saved_snippets: [] }),
  fixedSection('navigation_views', { navigation_views: [] }),
  fixedSection('drafts', { drafts: [] }),
  fixedSection('scheduled_messages', { scheduled_messages: [] }),
  fixedSection('reminders', { reminders: [] }),
  mutedTopicsSection,
  userTopicsSection,
  fixedSection('muted_users', { muted_users: [] }),
  fixedSection('user_status', { user_status: {} }),
  plainSection('presence', ({ now }) => ({ presences: {}, presence_last_update_id: -1, server_timestamp: now })),
  realmSection(parts),
  userDefaultsSection,
  fixedSection('realm_domains', { realm_domains: [] }),
  fixedSection('realm_emoji', { realm_emoji: {} }),
  fixedSection('realm_linkifiers', { realm_linkifiers: [] }),
  fixedSection('realm_filters', { realm_filters: [] }),
  fixedSection('realm_playgrounds', { realm_playgrounds: [] }),
  fixedSection('realm_billing', { realm_billing: { has_pending_sponsorship_request: false } }),
  groupsSection,
  ownUserSection(parts),
  fixedSection('realm_bot', { realm_bots: [] }),
  fixedSection('realm_embedded_bots', { realm_embedded_bots: [] }),
  fixedSection('realm_incoming_webhook_bots', { realm_incoming_webhook_bots: [] }),
  recentConversationsSection,
  subscriptionsSection,
  fixedSection('channel_folders', { channel_folders: [] }),
  channelsSection,
  defaultChannelsSection,
  fixedSection('default_stream_groups', { realm_default_stream_groups: [] }),
  fixedSection('stop_words', { stop_words: STOP_WORDS }),
  userSettingsSection,
  fixedSection('video_calls', { has_zoom_token: false, has_webex_token: false }),
  fixedSection('giphy', { giphy_api_key: '' }),
  fixedSection('tenor', { tenor_api_key: '' }),
  fixedSection('klipy', { klipy_api_key: '' }),
  fixedSection('device', { devices: {} }),
  peopleSection(parts),
];

const PROFILE_FIELD_TYPES = {
  SHORT_TEXT: { id: 1, name: 'Text (short)' },
  LONG_TEXT: { id: 2, name: 'Text (long)' },
  SELECT: { id: 3, name: 'List of options' },
  DATE: { id: 4, name: 'Date' },
  URL: { id: 5, name: 'Link' },
  USER: { id: 6, name: 'Users' },
  EXTERNAL_ACCOUNT: { id: 7, name: 'External account' },
  PRONOUNS: { id: 8, name: 'Pronouns' },
};

/** Words a search passes over. */
const STOP_WORDS = (
  'i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it ' +
  'its itself they them their theirs themselves what which who whom this that these those am is are was were be been ' +
  'being have has had having do does did doing a an the and but if or because as until while of at by for with about ' +
  'against between into through during before after above below to from up down in out on off over under again further ' +
  'then once here there when where why how all any both each few more most other some such no nor not only own same so ' +
  'than too very s t can will just don should now'
).split(' ');
