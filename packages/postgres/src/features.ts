import type { Clock } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import { type Migration, migrationsOf, Quarantine } from '@parley/storage';
import { CONFIRMATION_FEATURE } from './access/confirmations.js';
import { CHANNEL_FOLDER_FEATURE } from './channels/channel-folders.js';
import { CHANNEL_FEATURE } from './channels/channels.js';
import { DEFAULT_CHANNEL_FEATURE } from './channels/default-channels.js';
import { TOPIC_POLICY_FEATURE } from './channels/topic-policies.js';
import type { Connection } from './engine/connection.js';
import type { PostgresFeature, SharedObjects, WritableRepositories } from './engine/feature.js';
import { SQL_TEXTS } from './engine/sql-texts.js';
import { COPY_FEATURE } from './exports/copies.js';
import { EXPORT_FEATURE } from './exports/exports.js';
import { CUSTOM_EMOJI_FEATURE } from './files/custom-emoji.js';
import { FILE_FEATURE } from './files/files.js';
import { PICTURE_FEATURE } from './files/pictures.js';
import { GROUP_FEATURE } from './groups/groups.js';
import { CALL_COUNT_FEATURE } from './kernel/call-counts.js';
import { EVENT_FEATURE } from './kernel/events.js';
import { JOB_FEATURE } from './kernel/jobs.js';
import { LEASE_FEATURE } from './kernel/leases.js';
import { BOT_FEATURE } from './membership/bots.js';
import { HOST_USER_FEATURE } from './membership/host-users.js';
import { INVITATION_FEATURE } from './membership/invitations.js';
import { LOG_IN_METHOD_FEATURE } from './membership/log-in-methods.js';
import { PROVISIONING_FEATURE } from './membership/provisioning.js';
import { DRAFT_FEATURE } from './messages/drafts.js';
import { MESSAGE_ARCHIVE_FEATURE } from './messages/message-archive.js';
import { MESSAGE_EDIT_FEATURE } from './messages/message-edits.js';
import { MESSAGE_FEATURE } from './messages/messages.js';
import { NAVIGATION_VIEW_FEATURE } from './messages/navigation-views.js';
import { MESSAGE_PAGE_FEATURE } from './messages/page-reads.js';
import { PERSONAL_MESSAGE_FEATURE } from './messages/personal-messages.js';
import { REACTION_FEATURE } from './messages/reactions.js';
import { RECIPIENT_FEATURE } from './messages/recipients.js';
import { SCHEDULING_FEATURE } from './messages/scheduling.js';
import { SEARCH_FEATURE } from './messages/search.js';
import { SEND_ONCE_FEATURE } from './messages/send-once.js';
import { SNIPPET_FEATURE } from './messages/snippets.js';
import { TOPIC_FEATURE } from './messages/topics.js';
import { INCOMING_EMAIL_FEATURE } from './push/incoming-email.js';
import { NOTIFICATION_FEATURE } from './push/notifications.js';
import { PUSH_FEATURE } from './push/push.js';
import { WEB_PUSH_FEATURE } from './push/web-push.js';
import { REALM_DATA_FEATURE } from './realms/realm-data.js';
import { REALM_LIST_FEATURE } from './realms/realm-lists.js';
import { REALM_FEATURE } from './realms/realms.js';
import { ACTOR_FEATURE } from './users/actors.js';
import { ALERT_WORD_FEATURE } from './users/alert-words.js';
import { CREDENTIAL_FEATURE } from './users/credentials.js';
import { ONBOARDING_FEATURE } from './users/onboarding.js';
import { PRESENCE_FEATURE } from './users/presence.js';
import { PROFILE_FEATURE } from './users/profiles.js';
import { SECOND_FACTOR_FEATURE } from './users/second-factors.js';
import { STATUS_FEATURE } from './users/statuses.js';
import { USER_FEATURE } from './users/users.js';

/** All features. The baseline creates their tables in this order. */
const ALL = [
  REALM_FEATURE,
  REALM_LIST_FEATURE,
  REALM_DATA_FEATURE,
  USER_FEATURE,
  ACTOR_FEATURE,
  PROFILE_FEATURE,
  GROUP_FEATURE,
  CHANNEL_FEATURE,
  CHANNEL_FOLDER_FEATURE,
  DEFAULT_CHANNEL_FEATURE,
  TOPIC_POLICY_FEATURE,
  MESSAGE_FEATURE,
  RECIPIENT_FEATURE,
  MESSAGE_PAGE_FEATURE,
  TOPIC_FEATURE,
  MESSAGE_EDIT_FEATURE,
  MESSAGE_ARCHIVE_FEATURE,
  PERSONAL_MESSAGE_FEATURE,
  SEARCH_FEATURE,
  REACTION_FEATURE,
  BOT_FEATURE,
  PUSH_FEATURE,
  NOTIFICATION_FEATURE,
  INCOMING_EMAIL_FEATURE,
  WEB_PUSH_FEATURE,
  PRESENCE_FEATURE,
  STATUS_FEATURE,
  SCHEDULING_FEATURE,
  DRAFT_FEATURE,
  SEND_ONCE_FEATURE,
  SNIPPET_FEATURE,
  NAVIGATION_VIEW_FEATURE,
  ONBOARDING_FEATURE,
  ALERT_WORD_FEATURE,
  EVENT_FEATURE,
  FILE_FEATURE,
  PICTURE_FEATURE,
  CUSTOM_EMOJI_FEATURE,
  CREDENTIAL_FEATURE,
  CALL_COUNT_FEATURE,
  JOB_FEATURE,
  LEASE_FEATURE,
  INVITATION_FEATURE,
  HOST_USER_FEATURE,
  LOG_IN_METHOD_FEATURE,
  PROVISIONING_FEATURE,
  SECOND_FACTOR_FEATURE,
  CONFIRMATION_FEATURE,
  EXPORT_FEATURE,
  COPY_FEATURE,
] as const satisfies readonly PostgresFeature[];

export const FEATURES: readonly PostgresFeature[] = ALL;

/** Steps that make the schema, in order. */
export const MIGRATIONS: readonly Migration[] = migrationsOf(
  FEATURES.flatMap(({ schema }) => schema ?? []),
  SQL_TEXTS,
);

type NamesIn<Feature> = Feature extends { repositories: (...args: never[]) => (...args: never[]) => infer Created }
  ? keyof Created & keyof WritableRepositories
  : never;
type RepositoryName = NamesIn<(typeof ALL)[number]>;

/** Creates the repositories of a connection; their caches are shared by all connections. */
export function repositoryFactory(
  clock: Clock,
  report: (problem: string) => void,
  words: SearchWords,
): (connection: Connection) => WritableRepositories {
  const parts = { clock, words, quarantine: new Quarantine(report), features: FEATURES };
  const shared = FEATURES.flatMap((feature) => feature.shared?.(parts) ?? []);
  const repositories = FEATURES.flatMap((feature) => feature.repositories?.(parts) ?? []);
  return (connection) => {
    const objects: SharedObjects = Object.assign({}, ...shared.map((open) => open(connection)));
    // The compiler reports a repository here that no feature creates.
    return Object.assign({}, ...repositories.map((open) => open(connection, objects))) as Pick<
      WritableRepositories,
      RepositoryName
    >;
  };
}
