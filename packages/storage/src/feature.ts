import type { Clock, MessageId, Transaction } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import type { Message, MessageParts } from '@parley/domain/messages';
import type { Quarantine } from './quarantine.js';
import type { Statements } from './statements.js';

/** Repositories of a connection; the unit of work adds the rest of a transaction. */
export type WritableRepositories = Omit<Transaction, 'yield' | 'onRollback'>;

/** Dependencies passed to the features of a storage. */
export interface StorageParts {
  readonly clock: Clock;
  readonly words: SearchWords;
  readonly quarantine: Quarantine;
  readonly features: readonly FeatureTables[];
}

/** Reads the fields that a feature shows with messages. */
export interface MessagePartReads {
  /** Messages without such fields are absent. Runs at most one statement, and none if no message has the fields. */
  list(messages: readonly Message[]): Promise<ReadonlyMap<MessageId, MessageParts>>;
}

/** Parts of a feature that concern its tables. */
export interface FeatureTables {
  /** Name of its `.sql` texts and `steps`. */
  readonly schema?: string;
  /**
   * Texts of the schema that both databases share, by the number of the step; 1 is the baseline. Words in braces are spelled by the
   * dialect (`SchemaDialect`), and `{a|b}` is a on SQLite and b on PostgreSQL.
   */
  readonly steps?: Readonly<Record<number, string>>;
  /** Tables with rows of a realm, referencing tables first. They may reference tables of features that are listed before. */
  readonly realmTables?: readonly string[];
  /** Tables whose rows belong to a message by `message_id` and are archived with it. Excludes traces of deleted messages. */
  readonly messageTables?: readonly string[];
  /** Tables of `realmTables` that exports do not read, and why. */
  readonly notExported?: Readonly<Record<string, string>>;
  /** Reads what the feature adds to shown messages. */
  messagePart?(connection: object): MessagePartReads;
}

/**
 * A feature's share of the storage. `shared` and `repositories` are called once per storage, so that caches made there are
 * shared by all connections.
 */
export interface StorageFeature<Connection = Statements, SharedObjects = object> extends FeatureTables {
  /** Objects of a connection that repositories of several features use. */
  shared?(parts: StorageParts): (connection: Connection) => object;
  repositories?(parts: StorageParts): (connection: Connection, shared: SharedObjects) => Partial<WritableRepositories>;
}
