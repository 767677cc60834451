import type { Clock } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import {
  type Migration,
  migrationsOf,
  repositoriesOf,
  type StorageFeature,
  storageFeatures,
  type WritableRepositories,
} from '@parley/storage';
import { CHANNEL_FEATURE } from './channels/channels.js';
import { TOPIC_POLICY_FEATURE } from './channels/topic-policies.js';
import type { Connection } from './engine/connection.js';
import { SQL_TEXTS } from './engine/sql-texts.js';
import { COPY_FEATURE } from './exports/copies.js';
import { GROUP_FEATURE } from './groups/groups.js';
import { EVENT_FEATURE } from './kernel/events.js';
import { BOT_STORAGE_FEATURE } from './membership/bot-storage.js';
import { MESSAGE_ARCHIVE_FEATURE } from './messages/message-archive.js';
import { MESSAGE_EDIT_FEATURE } from './messages/message-edits.js';
import { MESSAGE_FEATURE } from './messages/messages.js';
import { MESSAGE_PAGE_FEATURE } from './messages/page-reads.js';
import { PERSONAL_MESSAGE_FEATURE } from './messages/personal-messages.js';
import { RECIPIENT_FEATURE } from './messages/recipients.js';
import { SEARCH_FEATURE } from './messages/search.js';
import { TOPIC_FEATURE } from './messages/topics.js';
import { NOTIFICATION_FEATURE } from './push/notifications.js';
import { REALM_DATA_FEATURE } from './realms/realm-data.js';
import { REALM_FEATURE } from './realms/realms.js';
import { ACTOR_FEATURE } from './users/actors.js';
import { ALERT_WORD_FEATURE } from './users/alert-words.js';
import { USER_FEATURE } from './users/users.js';

const ALL = storageFeatures({
  realm: REALM_FEATURE,
  realmData: REALM_DATA_FEATURE,
  user: USER_FEATURE,
  actor: ACTOR_FEATURE,
  group: GROUP_FEATURE,
  channel: CHANNEL_FEATURE,
  topicPolicy: TOPIC_POLICY_FEATURE,
  message: MESSAGE_FEATURE,
  recipient: RECIPIENT_FEATURE,
  messagePage: MESSAGE_PAGE_FEATURE,
  topic: TOPIC_FEATURE,
  messageEdit: MESSAGE_EDIT_FEATURE,
  messageArchive: MESSAGE_ARCHIVE_FEATURE,
  personalMessage: PERSONAL_MESSAGE_FEATURE,
  search: SEARCH_FEATURE,
  botStorage: BOT_STORAGE_FEATURE,
  notification: NOTIFICATION_FEATURE,
  alertWord: ALERT_WORD_FEATURE,
  event: EVENT_FEATURE,
  copy: COPY_FEATURE,
});

export const FEATURES: readonly StorageFeature<never, never>[] = ALL;

/** Steps that make the schema, in order. The schema's version is the number of steps that have run. */
export const MIGRATIONS: readonly Migration[] = migrationsOf(
  FEATURES.flatMap(({ schema }) => schema ?? []),
  SQL_TEXTS,
);

/** Creates the repositories of a connection. The compiler reports a repository here that no feature creates. */
export const repositoryFactory: (
  clock: Clock,
  report: (problem: string) => void,
  words: SearchWords,
) => (connection: Connection) => WritableRepositories = (clock, report, words) =>
  repositoriesOf(ALL, clock, report, words);
