import type { Clock, Transaction } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import type { Quarantine } from '@parley/storage';
import type { Connection } from './connection.js';

/** Repositories of a connection; the unit of work adds the rest of a transaction. */
export type WritableRepositories = Omit<Transaction, 'yield' | 'onRollback'>;
export type CreateRepositories = (connection: Connection) => WritableRepositories;

/** Dependencies passed to the features of a storage. */
export interface StorageParts {
  readonly clock: Clock;
  readonly words: SearchWords;
  readonly quarantine: Quarantine;
  readonly features: readonly PostgresFeature[];
}

/** Objects of a connection that repositories of several features use. Features add theirs by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it.
export interface SharedObjects {}

/**
 * A feature's share of the storage. Both functions are called once per storage, so that caches made there are shared by
 * all connections.
 */
export interface PostgresFeature {
  /** Name of its `.sql` texts. */
  readonly schema?: string;
  /** Tables with rows of a realm, referencing tables first. They may reference tables of features that are listed before. */
  readonly realmTables?: readonly string[];
  /** Tables of `realmTables` that exports do not read, and why. */
  readonly notExported?: Readonly<Record<string, string>>;
  shared?(parts: StorageParts): (connection: Connection) => Partial<SharedObjects>;
  repositories?(parts: StorageParts): (connection: Connection, shared: SharedObjects) => Partial<WritableRepositories>;
}
