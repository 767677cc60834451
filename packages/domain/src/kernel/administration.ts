import type { QueueKey } from './event-queue.js';
import type { RealmId, UnixSeconds, UserId } from './ids.js';

/** State of a database for operators. */
export interface DatabaseState {
  /** Number of executed migrations. */
  readonly schema: number;
  /** Number of migrations in this release. */
  readonly latestSchema: number;
  /** Names of pending migrations. */
  readonly pendingSteps: readonly string[];
  /** Fingerprint of the secret used to derive API keys; null if not stored yet. */
  readonly secretFingerprint: string | null;
  /** Id of the database and its copies; null if a release before 0.3 created it and no later one has opened it. */
  readonly installation: string | null;
  /** True for a copy for trying things, which is quiet by default. */
  readonly isCopy: boolean;
  /** False if the file may contain deleted text, because a release before 0.3 created it. */
  readonly isCompacted: boolean;
  readonly bytes: number;
  /** Size of the write-ahead log; 0 if there is none. */
  readonly logBytes: number;
}

/** Rows written at a time that has not come yet, because a clock was ahead. */
export interface FutureRows {
  /** Name for operators, such as `messages`. */
  readonly name: string;
  readonly count: number;
  readonly latest: UnixSeconds;
}

/** State of a database that tells a file that was put back from its successor. */
export interface DatabaseHistory {
  /** Random marks of the last starts, stops and minutes of servers; empty for a restored database. */
  readonly marks: readonly string[];
  /** Last id of a message. */
  readonly messages: number;
  /** Sum of the last event numbers of all organizations. */
  readonly events: number;
}

export interface StorageHistory {
  readHistory(): Promise<DatabaseHistory>;
  /** Appends marks, removes those of `replaced`, and keeps the newest hundred. */
  addMarks(marks: readonly string[], replaced?: readonly string[]): Promise<void>;
  /**
   * Lets all ids continue beyond those of lost rows, removes all event queues, and appends marks. `lost`: number of
   * messages or events known to be lost. Returns the queues; null, without a change, if another process has added marks
   * to those of `from`.
   */
  continueHistory(from: DatabaseHistory, marks: readonly string[], lost: number): Promise<readonly QueueKey[] | null>;
}

/** Stored bytes that cannot be regenerated: uploaded files and pictures. */
export interface BlobRecord {
  readonly blob: string;
  readonly size: number;
}

/** Erasure of a person, with the organization's id for all servers. */
export interface ErasureRecord {
  readonly realmId: RealmId;
  readonly realmUuid: string;
  readonly personId: UserId;
  readonly requestedAt: UnixSeconds;
  /** True if the messages of the person were deleted too. */
  readonly everythingWritten: boolean;
}

/** Content of a stored row, or a term of a search index. */
export interface StoredText {
  readonly table: string;
  /** Id of the row; its position if it has none. */
  readonly row: number;
  /** Text and bytes of all columns. */
  readonly bytes: Uint8Array;
}

export interface CopyOptions {
  /** Maximum number of bytes written between syncs, so that other commits never wait for one large sync. */
  readonly bytesPerSync?: number;
  /** Called after each part; may block to leave disk bandwidth to other processes. */
  readonly onProgress?: (copied: number, total: number) => void;
}

/**
 * Operator tasks on a database that servers may be using, outside units of work. Each method throws an error with a
 * one-sentence message for the operator if the database cannot be used.
 */
export interface StorageAdministration extends StorageHistory {
  /** Reads the state without changing anything. */
  inspect(): DatabaseState;
  /** Migrates the schema and returns the names of the executed steps. */
  migrate(): readonly string[];
  /** Returns rows from the future; the schema must be the latest. */
  findFuture(now: UnixSeconds): readonly FutureRows[];
  /** Checks all stored data and returns one line per problem. */
  findDamage(): readonly string[];
  /** Returns the blobs listed in the database, in pages by name. */
  listBlobs(after: string, limit: number): readonly BlobRecord[];
  /** Returns the erasures of all organizations; none if the schema is older. */
  listErasures(): readonly ErasureRecord[];
  /**
   * Calls `take` with every row that has text, and with every term of the search indexes. With `onlySplit`, omits rows
   * with contiguous texts in the file.
   */
  readTexts(take: (text: StoredText) => void, options: { readonly onlySplit: boolean }): void;
  /** Copies the data committed before the call to a file. */
  copy(target: string, options?: CopyOptions): Promise<void>;
  /** Ends all event queues. This and the next methods need the latest schema, and no server may use the database. */
  endQueues(): void;
  /** Ends all browser sessions and returns their number. */
  endSessions(): number;
  /**
   * Lets all ids and event numbers continue beyond those of rows that were lost with this time. Appends an event about the
   * gap to the log of each organization. Returns the number of skipped ids.
   */
  skipIds(secondsLost: number): number;
  /** Marks the database as a copy for trying things, or removes the mark. */
  markCopy(isCopy: boolean): void;
  /** Rewrites the database without remains of deleted rows; no server may use it. */
  compact(): void;
}

export interface SessionGauges {
  readonly connections: number;
  /** Number of connections without a unit of work. */
  readonly idle: number;
  /** Number of units of work waiting for a connection. */
  readonly waiting: number;
  /** Number of completed round trips to the database server since startup. */
  readonly roundTrips: number;
  /** Total time since startup that units of work waited for their organization's lock. */
  readonly lockWaitSeconds: number;
}

/** Monitoring values of an open storage. */
export interface StorageGauges {
  /** Number of units waiting to be written. */
  readonly waitingWrites: number;
  /** Absent for a database server, like the next two properties. */
  readonly databaseBytes?: number;
  /** Size of the write-ahead log. */
  readonly logBytes?: number;
  /** False if another process migrated the schema to a newer version. */
  readonly hasOwnSchema?: boolean;
  /** Connections to a database server; absent for a file. */
  readonly sessions?: SessionGauges;
  /** Absent without a read replica. */
  readonly replica?: ReplicaGauges;
}

/** State that a server of a shared database reports about itself. */
export interface NodeState {
  /** Committed events that it has not delivered yet. */
  readonly undelivered: number;
  /** State of its bus; null without one. */
  readonly bus: string | null;
  /** True if it uses its read replica; null without one. */
  readonly usesReplica: boolean | null;
}

/** State of all servers of a database and of its standbys. */
export interface ClusterGauges {
  /** Number of running servers by release. */
  readonly nodes: ReadonlyMap<string, number>;
  /** Number of this server's leases for recurring work. */
  readonly leases: number;
  /** Bytes of the log that each standby has not replayed, as far as the database user may see them. */
  readonly standbys: ReadonlyMap<string, number>;
}

/** Use of a read replica. */
export interface ReplicaGauges {
  /** False while it is skipped because it failed. */
  readonly isUsed: boolean;
  /** Number of reads from the replica. */
  readonly served: number;
  /** Number of reads from the primary because the replica lacked changes. */
  readonly behind: number;
  /** Number of reads from the primary because the replica failed. */
  readonly failed: number;
}
