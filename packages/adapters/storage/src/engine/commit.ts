/** Durable transaction. */
export interface Commit {
  /** Number of units including failed ones. */
  readonly units: number;
  /** Duration from begin until durable. */
  readonly durationMs: number;
}
