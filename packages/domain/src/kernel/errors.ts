/** What kind of refusal a code is, for those who handle kinds of them alike. */
export type ErrorKind = keyof typeof STATUS_OF_KIND;

const STATUS_OF_KIND = {
  /** The request is invalid, whatever is stored. */
  invalid: 400,
  /** It is not known who asks. */
  unauthenticated: 401,
  /** Whoever asks may not do it. */
  forbidden: 403,
  /** What the request names does not exist, or the caller cannot see it. */
  unknown: 404,
  /** The request contradicts what is stored. */
  conflict: 409,
  /** Asked too often. */
  tooMany: 429,
  /** Nothing is wrong with the request, but it cannot be done now. */
  unavailable: 503,
} as const;

/**
 * Every reason for a refusal, by its code. Each feature declares its own and merges them in:
 *
 *     export const CHANNEL_ERRORS = declareErrors({ CHANNEL_NAME_TAKEN: 'conflict' });
 *     type ChannelErrors = typeof CHANNEL_ERRORS;
 *     declare module './errors.js' { interface ErrorCodes extends ChannelErrors {} }
 *
 * A code of its own is due for each reason that somebody could act on; one reason has one code, however many texts.
 * `docs/errors.md` lists them for embedders.
 */
export interface ErrorCodes extends SharedErrors {}

export type ErrorCode = keyof ErrorCodes;

/** Interfaces vanish when a program runs, so that the kinds are kept here as well. */
const kinds = new Map<string, ErrorKind>();

/** Called once per feature, when its module is loaded. @throws Error for a code that is declared twice */
export function declareErrors<const T extends Readonly<Record<string, ErrorKind>>>(codes: T): T {
  for (const [code, kind] of Object.entries(codes)) {
    if (kinds.has(code)) throw new Error(`The error code ${code} is declared twice.`);
    kinds.set(code, kind);
  }
  return codes;
}

/** Every code that is declared, with its kind. */
export const declaredErrors = (): ReadonlyMap<string, ErrorKind> => kinds;

type SharedErrors = typeof SHARED_ERRORS;

/** Of no feature alone. */
export const SHARED_ERRORS = declareErrors({
  /** None of the permissions that allow it was granted. */
  NOT_PERMITTED: 'forbidden',
  BAD_SETTING_VALUE: 'invalid',
  RATE_LIMITED: 'tooMany',
  /** There is no room for the request now. */
  SERVER_BUSY: 'unavailable',
  /** What is stored is lost or damaged; trying again does not help. */
  STORAGE_UNAVAILABLE: 'unavailable',
});

/** `retryAfter`: in seconds. */
interface RetryLater {
  readonly retryAfter: number;
}

/**
 * Data that goes with refusals, by code and in the domain's names. A feature merges in that of its codes, beside them; with
 * a code that is absent here goes none.
 */
export interface ErrorDetails {
  RATE_LIMITED: RetryLater;
  SERVER_BUSY: RetryLater;
}

type NoDetails = Readonly<Record<never, never>>;

/** Of any of several codes: with one of them. */
export type DetailsOf<C extends ErrorCode> = C extends keyof ErrorDetails ? ErrorDetails[C] : NoDetails;

/** The last parameter of what refuses with a code: absent where no data goes with it. */
export type DetailsParameter<C extends ErrorCode> = C extends keyof ErrorDetails
  ? NoDetails extends ErrorDetails[C]
    ? [details?: ErrorDetails[C]]
    : [details: ErrorDetails[C]]
  : [];

/**
 * A refusal. Thrown, so that it also rolls the unit of work back. `message` is for people: the contract's text, unless
 * that spells names of the API, which the HTTP adapter then writes.
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

  /** Whether it is of this code, and so has its details. */
  is<T extends ErrorCode>(code: T): this is DomainError<T> {
    return (this.code as ErrorCode) === code;
  }

  get kind(): ErrorKind {
    return kinds.get(this.code) ?? 'invalid';
  }

  /** An HTTP status for hosts that show the refusal; the API has its own habits (`ErrorReplies` of the HTTP adapter). */
  get status(): number {
    return STATUS_OF_KIND[this.kind];
  }
}

/** @throws DomainError where it was kept instead of the value. */
export function orThrow<T>(value: T | DomainError): T {
  if (value instanceof DomainError) throw value;
  return value;
}

/** What the work answers, or why it refuses: a refusal that is said later, where its turn comes. */
export function refusalOr<T>(work: () => T): T | DomainError {
  try {
    return work();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}
