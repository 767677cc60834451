import type { ErrorCodes, ErrorDetails } from './feature-types.js';

/** Kind of an error code, for handling similar errors uniformly. */
export type ErrorKind = keyof typeof STATUS_OF_KIND;

const STATUS_OF_KIND = {
  /** The request is invalid, regardless of stored data. */
  invalid: 400,
  /** The caller is not authenticated. */
  unauthenticated: 401,
  /** The caller lacks permission. */
  forbidden: 403,
  /** The requested entity does not exist or is hidden from the caller. */
  unknown: 404,
  /** The request conflicts with stored data. */
  conflict: 409,
  /** The rate limit is exceeded. */
  tooMany: 429,
  /** The request is valid, but cannot be processed now. */
  unavailable: 503,
} as const;

export type ErrorCode = keyof ErrorCodes;

/** Kind by code at runtime, where interfaces do not exist. */
const kinds = new Map<string, ErrorKind>();

/**
 * Declares a feature's error codes, once on module load. The feature adds the result to `ErrorCodes`:
 *
 *     export const CHANNEL_ERRORS = declareErrors({
 *       /** The name belongs to another channel. *\/
 *       CHANNEL_NAME_TAKEN: 'conflict',
 *     });
 *     type ChannelErrors = typeof CHANNEL_ERRORS;
 *     declare module '../kernel/feature-types.js' { interface ErrorCodes extends ChannelErrors {} }
 *
 * Add a separate code for each reason that callers can act on. One reason has one code, even with several texts.
 * `docs/errors.md` is generated from the codes and their comments, for embedders.
 * @throws Error if a code is declared twice
 */
export function declareErrors<const T extends Readonly<Record<string, ErrorKind>>>(codes: T): T {
  for (const [code, kind] of Object.entries(codes)) {
    if (kinds.has(code)) throw new Error(`The error code ${code} is declared twice.`);
    kinds.set(code, kind);
  }
  return codes;
}

/** All declared codes with their kinds. */
export const declaredErrors = (): ReadonlyMap<string, ErrorKind> => kinds;

type SharedErrors = typeof SHARED_ERRORS;

/** Codes shared by several features. */
export const SHARED_ERRORS = declareErrors({
  /** The caller has no permission that allows the action. */
  NOT_PERMITTED: 'forbidden',
  /** The value is invalid for the setting; `of` (owner of the setting), `setting`, `value`. */
  BAD_SETTING_VALUE: 'invalid',
  /** Too many requests; `retryAfter`, in seconds. */
  RATE_LIMITED: 'tooMany',
  /** No capacity at the moment; retry after `retryAfter` seconds. */
  SERVER_BUSY: 'unavailable',
  /** The database or the store for files cannot be reached, or has lost data. */
  STORAGE_UNAVAILABLE: 'unavailable',
});

/** `retryAfter`: seconds. */
interface RetryLater {
  readonly retryAfter: number;
}

declare module './feature-types.js' {
  interface ErrorCodes extends SharedErrors {}
  interface ErrorDetails {
    RATE_LIMITED: RetryLater;
    SERVER_BUSY: RetryLater;
  }
}

type NoDetails = Readonly<Record<never, never>>;

/** Details of one of the given codes. */
export type DetailsOf<C extends ErrorCode> = C extends keyof ErrorDetails ? ErrorDetails[C] : NoDetails;

/** Last parameter of functions that reject with a code; absent if the code has no details. */
export type DetailsParameter<C extends ErrorCode> = C extends keyof ErrorDetails
  ? NoDetails extends ErrorDetails[C]
    ? [details?: ErrorDetails[C]]
    : [details: ErrorDetails[C]]
  : [];

/**
 * Expected error that rejects a request and rolls back the unit of work. `message` is the user-visible contract text.
 * The HTTP adapter supplies texts that contain wire names.
 */
export class DomainError<C extends ErrorCode = ErrorCode> extends Error {
  readonly details: DetailsOf<C>;

  constructor(
    readonly code: C,
    message: string,
    ...[details]: DetailsParameter<C>
  ) {
    super(message);
    this.name = 'DomainError';
    this.details = (details ?? {}) as DetailsOf<C>;
  }

  /** True if the error has this code and therefore its details. */
  is<T extends ErrorCode>(code: T): this is DomainError<T> {
    return (this.code as ErrorCode) === code;
  }

  get kind(): ErrorKind {
    return kinds.get(this.code) ?? 'invalid';
  }

  /**
   * HTTP status for host applications that show the error; the API maps errors itself (`ErrorReplies` in the HTTP
   * adapter).
   */
  get status(): number {
    return STATUS_OF_KIND[this.kind];
  }
}

/** @throws DomainError if the value is an error. */
export function orThrow<T>(value: T | DomainError): T {
  if (value instanceof DomainError) throw value;
  return value;
}

/** Returns the result, or the DomainError to throw at the right place in the validation order. */
export function refusalOr<T>(work: () => T): T | DomainError {
  try {
    return work();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}
