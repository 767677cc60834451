import type { Clock } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import { CONFIRMATION_FEATURE } from './access/confirmations.js';
import { CHANNEL_FOLDER_FEATURE } from './channels/channel-folders.js';
import { CHANNEL_CLOSING_FEATURE } from './channels/closing.js';
import { DEFAULT_CHANNEL_FEATURE } from './channels/default-channels.js';
import type { RowTable } from './engine/declared-rows.js';
import type { FeatureTables, StorageFeature, WritableRepositories } from './engine/feature.js';
import { migrationsOf, type SchemaDialect } from './engine/migration.js';
import { Quarantine } from './engine/quarantine.js';
import type { Statements } from './engine/statements.js';
import { inTimeSlices, type TimeSlices } from './engine/time-slices.js';
import { EXPORT_FEATURE } from './exports/exports.js';
import { IMPORT_BATCH_FEATURE, IMPORT_RUN_FEATURE } from './exports/import-batches.js';
import { PERSON_EXPORT_FEATURE } from './exports/person-exports.js';
import { CUSTOM_EMOJI_FEATURE } from './files/custom-emoji.js';
import { FILE_FEATURE } from './files/files.js';
import { PICTURE_FEATURE } from './files/pictures.js';
import { CALL_COUNT_FEATURE } from './kernel/call-counts.js';
import { DATA_KEY_FEATURE } from './kernel/data-keys.js';
import { DATA_SCHEMA_FEATURE } from './kernel/data-schemas.js';
import { EVENT_CONSUMER_FEATURE } from './kernel/event-consumers.js';
import { HOST_DATA_FEATURE } from './kernel/host-data.js';
import { JOB_FEATURE } from './kernel/jobs.js';
import { LEASE_FEATURE } from './kernel/leases.js';
import { ACCESS_TOKEN_FEATURE } from './membership/access-tokens.js';
import { AUDIT_TABLES } from './membership/audit.js';
import { BOT_FEATURE } from './membership/bots.js';
import { ERASURE_TABLES } from './membership/erasures.js';
import { HOST_USER_FEATURE } from './membership/host-users.js';
import { INVITATION_FEATURE } from './membership/invitations.js';
import { LOG_IN_METHOD_FEATURE } from './membership/log-in-methods.js';
import { PLACEHOLDER_FEATURE } from './membership/placeholders.js';
import { PROVISIONING_FEATURE } from './membership/provisioning.js';
import { DRAFT_FEATURE } from './messages/drafts.js';
import { HOLD_FEATURE } from './messages/holds.js';
import { NAVIGATION_VIEW_FEATURE } from './messages/navigation-views.js';
import { REACTION_FEATURE } from './messages/reactions.js';
import { SCHEDULING_FEATURE } from './messages/scheduling.js';
import { SEND_ONCE_FEATURE } from './messages/send-once.js';
import { SNIPPET_FEATURE } from './messages/snippets.js';
import { INCOMING_EMAIL_FEATURE } from './push/incoming-email.js';
import { PUSH_FEATURE } from './push/push.js';
import { WEB_PUSH_FEATURE } from './push/web-push.js';
import { REALM_LIST_FEATURE } from './realms/realm-lists.js';
import { SLICED_CALLS } from './sliced-calls.js';
import { API_KEY_FEATURE } from './users/credentials.js';
import { ONBOARDING_FEATURE } from './users/onboarding.js';
import { PRESENCE_FEATURE } from './users/presence.js';
import { PROFILE_FEATURE } from './users/profiles.js';
import { SECOND_FACTOR_FEATURE } from './users/second-factors.js';
import { STATUS_FEATURE } from './users/statuses.js';

type AnyFeature = StorageFeature<never, never>;

/** All features. The baseline creates their tables in this order. Names stand for database-specific features. */
const ALL = [
  'REALM_FEATURE',
  REALM_LIST_FEATURE,
  'REALM_DATA_FEATURE',
  'USER_FEATURE',
  'ACTOR_FEATURE',
  PROFILE_FEATURE,
  'GROUP_FEATURE',
  'CHANNEL_FEATURE',
  CHANNEL_FOLDER_FEATURE,
  CHANNEL_CLOSING_FEATURE,
  DEFAULT_CHANNEL_FEATURE,
  'TOPIC_POLICY_FEATURE',
  'MESSAGE_FEATURE',
  'RECIPIENT_FEATURE',
  'MESSAGE_PAGE_FEATURE',
  'TOPIC_FEATURE',
  'MESSAGE_EDIT_FEATURE',
  'MESSAGE_ARCHIVE_FEATURE',
  'PERSONAL_MESSAGE_FEATURE',
  'SEARCH_FEATURE',
  REACTION_FEATURE,
  BOT_FEATURE,
  PUSH_FEATURE,
  'NOTIFICATION_FEATURE',
  INCOMING_EMAIL_FEATURE,
  WEB_PUSH_FEATURE,
  PRESENCE_FEATURE,
  STATUS_FEATURE,
  HOST_DATA_FEATURE,
  DATA_KEY_FEATURE,
  DATA_SCHEMA_FEATURE,
  SCHEDULING_FEATURE,
  DRAFT_FEATURE,
  SEND_ONCE_FEATURE,
  SNIPPET_FEATURE,
  HOLD_FEATURE,
  NAVIGATION_VIEW_FEATURE,
  ONBOARDING_FEATURE,
  'ALERT_WORD_FEATURE',
  'EVENT_FEATURE',
  EVENT_CONSUMER_FEATURE,
  FILE_FEATURE,
  PICTURE_FEATURE,
  CUSTOM_EMOJI_FEATURE,
  API_KEY_FEATURE,
  CALL_COUNT_FEATURE,
  JOB_FEATURE,
  LEASE_FEATURE,
  INVITATION_FEATURE,
  ERASURE_TABLES,
  AUDIT_TABLES,
  'PERSONAL_DATA_FEATURE',
  HOST_USER_FEATURE,
  LOG_IN_METHOD_FEATURE,
  PLACEHOLDER_FEATURE,
  PROVISIONING_FEATURE,
  ACCESS_TOKEN_FEATURE,
  SECOND_FACTOR_FEATURE,
  CONFIRMATION_FEATURE,
  EXPORT_FEATURE,
  IMPORT_BATCH_FEATURE,
  IMPORT_RUN_FEATURE,
  PERSON_EXPORT_FEATURE,
  'COPY_FEATURE',
] as const;

type Listed = (typeof ALL)[number];
type OwnFeatures = Readonly<Record<Extract<Listed, string>, AnyFeature>>;

/** Tables that the `persons` of their feature omits. */
type Undeclared<Feature> = Feature extends { readonly realmTables: readonly (infer Name)[] }
  ? Exclude<Name, Feature extends { readonly persons: infer Persons } ? keyof Persons : never>
  : never;

type RowsIn<Feature> = Feature extends { readonly rows: infer Rows } ? keyof Rows & keyof WritableRepositories : never;

/** Declared tables of all features, by repository. */
export const ROW_TABLES = Object.assign(
  {},
  ...ALL.map((feature) => typeof feature !== 'string' && 'rows' in feature && feature.rows),
) as Readonly<Record<RowsIn<Exclude<Listed, string>>, RowTable>>;

/** Returns the statements by which the counters of all features skip `count` ids. */
export const counterSkips = (count: number): readonly string[] =>
  ALL.flatMap((feature) => (typeof feature !== 'string' && 'counters' in feature ? feature.counters : [])).map(
    (statement) => statement.replaceAll('{skipped}', String(count)),
  );

type NamesIn<Feature> = Feature extends { repositories: (...args: never[]) => (...args: never[]) => infer Created }
  ? keyof Created & keyof WritableRepositories
  : never;

/**
 * Combines the features of a database. `own`: database-specific features; `texts`: its `.sql` files. Does not compile if
 * a feature declares no personal data for one of its tables.
 */
export function featuresOf<const Own extends OwnFeatures>(
  own: Own & Readonly<Record<Extract<Undeclared<Exclude<Listed, string> | Own[keyof Own]>, string>, never>>,
  texts: Readonly<Record<string, string>>,
  dialect: SchemaDialect,
) {
  const all = ALL.map((feature) => (typeof feature === 'string' ? own[feature] : feature));
  const features = all as readonly (Exclude<Listed, string> | Own[keyof OwnFeatures])[];
  return {
    FEATURES: features as readonly AnyFeature[],
    /** Schema steps, in order. The schema version is the number of executed steps. */
    MIGRATIONS: migrationsOf(features as readonly FeatureTables[], texts, dialect),
    repositoryFactory: (clock: Clock, report: (problem: string) => void, words: SearchWords) =>
      repositoriesOf(features, clock, report, words),
  };
}

/**
 * Returns a function that creates the repositories of a connection, whose calls yield to the event loop during long
 * units. Their caches are shared by all connections.
 */
function repositoriesOf<Features extends readonly AnyFeature[]>(
  list: Features,
  clock: Clock,
  report: (problem: string) => void,
  words: SearchWords,
): (connection: TimeSlices) => Pick<WritableRepositories, NamesIn<Features[number]> | keyof typeof ROW_TABLES> {
  const features = list as readonly object[] as readonly StorageFeature<object>[];
  const parts = { clock, words, quarantine: new Quarantine(report), features };
  const shared = features.flatMap((feature) => feature.shared?.(parts) ?? []);
  const repositories = features.flatMap((feature) => feature.repositories?.(parts) ?? []);
  return (connection) => {
    const objects = Object.assign({}, ...shared.map((open) => open(connection)));
    const rows = Object.entries<RowTable>(ROW_TABLES).map(([name, table]) => ({
      [name]: table.open(connection as Statements, parts.quarantine),
    }));
    return inTimeSlices(
      Object.assign({}, ...rows, ...repositories.map((open) => open(connection, objects))),
      connection,
      SLICED_CALLS,
    );
  };
}
