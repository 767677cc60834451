import type { Clock, MessageId, Transaction } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import type { Message, MessageParts } from '@parley/domain/messages';
import type { RowTable } from './declared-rows.js';
import type { PersonalData } from './personal-data.js';
import type { Quarantine } from './quarantine.js';
import type { Statements } from './statements.js';

/** Repositories of a connection; the unit of work adds the rest of a transaction. */
export type WritableRepositories = Omit<Transaction, 'onRollback'>;

/** Dependencies passed to the features of a storage. */
export interface StorageParts {
  readonly clock: Clock;
  readonly words: SearchWords;
  readonly quarantine: Quarantine;
  readonly features: readonly FeatureTables[];
}

/** Reads message fields added by a feature. */
export interface MessagePartReads {
  /** Messages without such fields are absent. Runs at most one statement, or none if no message has the fields. */
  list(messages: readonly Message[]): Promise<ReadonlyMap<MessageId, MessageParts>>;
}

/** Table-related parts of a feature. */
export interface FeatureTables {
  /** Name of its `.sql` texts and `steps`. */
  readonly schema?: string;
  /**
   * Schema texts shared by both databases, by step number; 1 is the baseline. The dialect (`SchemaDialect`) replaces
   * words in braces; `{a|b}` is a on SQLite and b on PostgreSQL.
   */
  readonly steps?: Readonly<Record<number, string>>;
  /**
   * Tables with rows of a realm, referencing tables first. They may reference tables of features listed earlier.
   * `Lowercase` keeps the names in the type of a feature, so that a name without an entry in `persons` does not compile.
   */
  readonly realmTables?: readonly Lowercase<string>[];
  /** Personal data in all tables of the feature, which the structure check compares with the schema. */
  readonly persons?: Readonly<Record<string, PersonalData>>;
  /**
   * Tables with rows that belong to a message by `message_id` and are archived with it. Excludes traces of deleted
   * messages.
   */
  readonly messageTables?: readonly string[];
  /**
   * Statements that add `{skipped}` to the feature's own counters, which continue beyond ids of lost rows after a
   * restore. Ids assigned by the database and event numbers need none.
   */
  readonly counters?: readonly string[];
  /** Tables of `realmTables` omitted from exports, with the reason. */
  readonly notExported?: Readonly<Record<string, string>>;
  /** Reads message fields added by the feature. */
  messagePart?(connection: object, parts: Pick<StorageParts, 'quarantine'>): MessagePartReads;
}

/**
 * A feature's share of the storage. `shared` and `repositories` are called once per storage, so that caches created
 * there are shared by all connections.
 */
export interface StorageFeature<Connection = Statements, SharedObjects = object> extends FeatureTables {
  /** Declared tables by repository. */
  readonly rows?: Readonly<Partial<Record<keyof WritableRepositories, RowTable>>>;
  /** Objects of a connection shared by repositories of several features. */
  shared?(parts: StorageParts): (connection: Connection) => object;
  repositories?(parts: StorageParts): (connection: Connection, shared: SharedObjects) => Partial<WritableRepositories>;
}
