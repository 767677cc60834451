import type { Clock } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import { type Migration, migrationsOf, Quarantine } from '@parley/storage';
import type { Connection } from './engine/connection.js';
import type { PostgresFeature, SharedObjects, WritableRepositories } from './engine/feature.js';
import { SQL_TEXTS } from './engine/sql-texts.js';
import { CALL_COUNT_FEATURE } from './kernel/call-counts.js';
import { EVENT_FEATURE } from './kernel/events.js';
import { JOB_FEATURE } from './kernel/jobs.js';
import { LEASE_FEATURE } from './kernel/leases.js';

/** All features. The baseline creates their tables in the order of `SCHEMA`. */
const ALL = [
  EVENT_FEATURE,
  CALL_COUNT_FEATURE,
  JOB_FEATURE,
  LEASE_FEATURE,
] as const satisfies readonly PostgresFeature[];

export const FEATURES: readonly PostgresFeature[] = ALL;

const SCHEMA = [
  'realms',
  'users',
  'groups',
  'channels',
  'messages',
  'reactions',
  'bots',
  'push',
  'missed-emails',
  'web-push',
  'presence',
  'statuses',
  'scheduling',
  'drafts',
  'send-once',
  'snippets',
  'navigation-views',
  'onboarding',
  'alert-words',
  'events',
  'files',
  'pictures',
  'custom-emoji',
  'authentication',
  'call-counts',
  'jobs',
  'leases',
  'invitations',
  'log-in-methods',
  'confirmations',
  'exports',
];

/** Steps that make the schema, in order. */
export const MIGRATIONS: readonly Migration[] = migrationsOf(SCHEMA, SQL_TEXTS);

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
    return Object.assign({}, ...repositories.map((open) => open(connection, objects)));
  };
}
