/** State of a database for operators. */
export interface DatabaseState {
  /** Number of executed migrations. */
  readonly schema: number;
  /** Number of migrations in this release. */
  readonly latestSchema: number;
  /** Names of pending migrations. */
  readonly pendingSteps: readonly string[];
  /** Fingerprint of the secret from which API keys are derived; null if not stored yet. */
  readonly secretFingerprint: string | null;
  readonly bytes: number;
  /** Size of the write-ahead log; 0 if there is none. */
  readonly logBytes: number;
}

/** Stored bytes that cannot be regenerated: uploaded files and pictures. */
export interface BlobRecord {
  readonly blob: string;
  readonly size: number;
}

export interface CopyOptions {
  /** Maximum bytes written between syncs, so that commits of others do not wait for all data at the end. */
  readonly bytesPerSync?: number;
  /** Called after each part; may block to leave disk bandwidth to others. */
  readonly onProgress?: (copied: number, total: number) => void;
}

/**
 * Work of operators on a database that servers may be using, outside units of work. Each method throws an error with one
 * sentence for the operator if the database cannot be used.
 */
export interface StorageAdministration {
  /** Changes nothing. */
  inspect(): DatabaseState;
  /** Migrates the schema and returns the names of the executed steps. */
  migrate(): readonly string[];
  /** Returns the problems found by a check of everything stored, one line each. */
  findDamage(): readonly string[];
  /** Returns the blobs listed in the database, in pages by name. */
  listBlobs(after: string, limit: number): readonly BlobRecord[];
  /** Copies exactly the data committed when it began to a file. */
  copy(target: string, options?: CopyOptions): Promise<void>;
}

export interface SessionGauges {
  readonly connections: number;
  /** Connections without a unit. */
  readonly idle: number;
  /** Units that wait for a connection. */
  readonly waiting: number;
  /** Messages to the server that were answered, since the start. */
  readonly roundTrips: number;
  /** Time for which units waited for the lock of their organization, since the start. */
  readonly lockWaitSeconds: number;
}

/** Values of an open storage for monitoring. */
export interface StorageGauges {
  /** Number of units waiting to be written. */
  readonly waitingWrites: number;
  /** Absent for a database on a server, like the next two. */
  readonly databaseBytes?: number;
  /** Size of the write-ahead log. */
  readonly logBytes?: number;
  /** False if another process migrated the schema to a newer version. */
  readonly hasOwnSchema?: boolean;
  /** Connections to a database server; absent for a file. */
  readonly sessions?: SessionGauges;
}
