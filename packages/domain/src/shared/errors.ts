/**
 * Our own reasons for a refusal; the HTTP adapter maps each to the wire in one table. A reason of its own is due when
 * somebody decides by it: another wire code, other data, or a caller in process that branches on it. A feature adds its own by
 * declaration merging.
 */
export interface ErrorCodes {
  INVALID_INPUT: unknown;
  BAD_VALUE: unknown;
  /** `of`: see `SettingOwner`; `setting`: its name in the registry; `value`. */
  BAD_SETTING_VALUE: unknown;
  NOT_PERMITTED: unknown;
  NOT_FOUND: unknown;
  ACCESS_DENIED: unknown;
  MUST_BE_ADMINISTRATOR: unknown;
  MUST_BE_OWNER: unknown;
  MUST_BE_BOT: unknown;
  UNAUTHENTICATED: unknown;
  AUTHENTICATION_FAILED: unknown;
  USER_DEACTIVATED: unknown;
  CANNOT_DEACTIVATE_LAST_USER: unknown;
  REALM_DEACTIVATED: unknown;
  PASSWORD_AUTH_DISABLED: unknown;
  PASSWORD_RESET_REQUIRED: unknown;
  UNKNOWN_REALM: unknown;
  RATE_LIMITED: unknown;
  /** Nothing is wrong with the request, but there is no room for it now; `retryAfter`, in seconds. */
  SERVER_BUSY: unknown;
  /** Nothing is wrong with the request, but what is stored is lost or damaged; trying again does not help. */
  STORAGE_UNAVAILABLE: unknown;
  CHANNEL_NOT_FOUND: unknown;
  CHANNEL_NAME_TAKEN: unknown;
  CANNOT_ADMINISTER_CHANNEL: unknown;
  CANNOT_MANAGE_DEFAULT_CHANNEL: unknown;
  EVENT_QUEUE_NOT_FOUND: unknown;
  INVALID_NARROW: unknown;
  UNSUPPORTED_COMBINATION: unknown;
  STALE_VALUE: unknown;
  SYSTEM_GROUP_REQUIRED: unknown;
  CANNOT_DEACTIVATE_GROUP_IN_USE: unknown;
  CHANNEL_WILDCARD_NOT_ALLOWED: unknown;
  TOPIC_WILDCARD_NOT_ALLOWED: unknown;
  MOVE_TIME_LIMIT_EXCEEDED: unknown;
  INVITATION_FAILED: unknown;
}

export type ErrorCode = keyof ErrorCodes;

/** Data that goes with a refusal, in the domain's names: `{ channelId: 7 }`. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** A refusal. Thrown, so that it also rolls the unit of work back. `message` is the contract's text, for people. */
export class DomainError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: ErrorDetails = {},
  ) {
    super(message);
    this.name = 'DomainError';
  }
}

export const invalidInput = (message: string, details?: ErrorDetails) =>
  new DomainError('INVALID_INPUT', message, details);
