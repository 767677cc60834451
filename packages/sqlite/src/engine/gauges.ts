/** Durable transaction. */
export interface Commit {
  /** Number of units including failed ones. */
  readonly units: number;
  /** Duration from begin until durable. */
  readonly durationMs: number;
}

/** Values for monitoring. */
export interface StorageGauges {
  /** Number of units waiting to be written. */
  readonly waitingWrites: number;
  readonly databaseBytes: number;
  /** Size of the write-ahead log. */
  readonly logBytes: number;
  /** False if another process migrated the schema to a newer version. */
  readonly hasOwnSchema: boolean;
}
