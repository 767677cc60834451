import type { SnapshotPart } from '@parley/domain';

/** The groups of register's answer, and what of the state each is made of (events §3.2). */
const PARTS = {
  alert_words: [],
  custom_profile_fields: [],
  onboarding_steps: [],
  message: ['newestMessage'],
  unread: ['unread'],
  starred_messages: ['starred'],
  saved_snippets: [],
  navigation_views: [],
  drafts: [],
  scheduled_messages: [],
  reminders: [],
  muted_topics: ['topicPolicies'],
  user_topic: ['topicPolicies'],
  muted_users: [],
  user_status: [],
  presence: [],
  realm: ['realmPermissions'],
  realm_user_settings_defaults: [],
  realm_domains: [],
  realm_emoji: [],
  realm_linkifiers: [],
  realm_filters: [],
  realm_playgrounds: [],
  realm_billing: [],
  realm_user_groups: ['groups'],
  realm_user: ['people'],
  realm_bot: [],
  realm_embedded_bots: [],
  realm_incoming_webhook_bots: [],
  recent_private_conversations: ['recentConversations'],
  subscription: ['subscriptions', 'channels'],
  channel_folders: [],
  stream: ['channels'],
  default_streams: ['channels'],
  default_stream_groups: [],
  stop_words: [],
  user_settings: [],
  video_calls: [],
  giphy: [],
  tenor: [],
  klipy: [],
  device: [],
} as const satisfies Readonly<Record<string, readonly SnapshotPart[]>>;

export type RegisterSection = keyof typeof PARTS;

/** Whether a group is in the answer to these role requirements; null: everything was asked for. */
export function isRequested(section: RegisterSection, fetchEventTypes: ReadonlySet<string> | null): boolean {
  switch (section) {
    case 'unread':
      return (
        fetchEventTypes === null || (fetchEventTypes.has('message') && fetchEventTypes.has('update_message_flags'))
      );
    case 'muted_topics':
      // Whoever knows user_topic does not need the older form.
      return fetchEventTypes === null || (fetchEventTypes.has('muted_topics') && !fetchEventTypes.has('user_topic'));
    default:
      return fetchEventTypes === null || fetchEventTypes.has(section);
  }
}

export function partsForSections(fetchEventTypes: ReadonlySet<string> | null): ReadonlySet<SnapshotPart> {
  const parts = new Set<SnapshotPart>();
  for (const [section, needed] of Object.entries(PARTS) as [RegisterSection, readonly SnapshotPart[]][]) {
    if (isRequested(section, fetchEventTypes)) for (const part of needed) parts.add(part);
  }
  return parts;
}
