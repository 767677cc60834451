/** What the client says itself where no server answered: nothing came, not in time, or from something else on the way. */
export type ConnectionErrorCode = 'NO_CONNECTION' | 'TIMEOUT' | 'NOT_PARLEY';

/** A call that failed. */
export class ParleyError extends Error {
  override readonly name = 'ParleyError';

  constructor(
    message: string,
    /** Of the server: `RATE_LIMIT_HIT`, `BAD_EVENT_QUEUE_ID` …; or a `ConnectionErrorCode`. */
    readonly code: string,
    /** 0: there was no answer. */
    readonly status: number,
    /** What goes with the code, as the server answered it. */
    readonly details: Readonly<Record<string, unknown>> = {},
    /** When to try again, if the server said so. */
    readonly retryAfterMs: number | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** Whether the same call may succeed later: the server is away, restarting, or asks for patience. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500 || this.code === 'NOT_PARLEY';
  }

  /** Whether the server refused before it did anything, so that any call may be repeated. */
  get changedNothing(): boolean {
    return this.status === 429 || (this.status === 503 && this.retryAfterMs !== null);
  }
}
