export type CancelTimer = () => void;

/** Timers, as a port. They keep no process alive, and go by a time of their own that no change of the clock reaches. */
export interface Timers {
  /** Milliseconds since some moment in the past; never goes back. */
  elapsedMs(): number;
  /** Once; a delay that no timer can hold ends early. */
  after(ms: number, run: () => void): CancelTimer;
  /** Again and again. */
  every(ms: number, run: () => void): CancelTimer;
}
