/**
 * Client errors without a code of the server: unreachable, timeout, a response from an intermediary, or a body or address that
 * the server or an intermediary rejects as too large (status 413 or 414).
 */
export type ConnectionErrorCode = 'NO_CONNECTION' | 'TIMEOUT' | 'NOT_PARLEY' | 'TOO_LARGE';

/** Failed call. */
export class ParleyError extends Error {
  override readonly name = 'ParleyError';

  constructor(
    message: string,
    /** Error code of the server: `RATE_LIMIT_HIT`, `BAD_EVENT_QUEUE_ID` …; or a `ConnectionErrorCode`. */
    readonly code: string,
    /** HTTP status; 0 without a response. */
    readonly status: number,
    /** Further fields of the error response. */
    readonly details: Readonly<Record<string, unknown>> = {},
    /** Delay before a retry, if the server specified one. */
    readonly retryAfterMs: number | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** True if the same call may succeed later: the server is unreachable, restarting or rate limiting. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500 || this.code === 'NOT_PARLEY';
  }

  /** True if the credentials are no longer valid. */
  get endsLogIn(): boolean {
    return LOG_IN_ENDED.includes(this.code);
  }

  /** True if the server rejected the call before any effect, so that any call can be retried. */
  get changedNothing(): boolean {
    return this.status === 429 || (this.status === 503 && this.retryAfterMs !== null);
  }
}

const LOG_IN_ENDED = ['UNAUTHORIZED', 'USER_DEACTIVATED', 'REALM_DEACTIVATED'];
