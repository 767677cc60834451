/**
 * Our own reasons for a refusal; the HTTP adapter maps each to the wire in one table. A reason of its own is due when
 * somebody decides by it: another wire code, other data, or a caller in process that branches on it.
 */
export type ErrorCode =
  | 'INVALID_INPUT'
  | 'BAD_VALUE'
  /** `of`: see `SettingOwner`; `setting`: its name in the registry; `value`. */
  | 'BAD_SETTING_VALUE'
  | 'NOT_PERMITTED'
  | 'NOT_FOUND'
  | 'ACCESS_DENIED'
  | 'MUST_BE_ADMINISTRATOR'
  | 'MUST_BE_OWNER'
  | 'MUST_BE_BOT'
  | 'UNAUTHENTICATED'
  | 'AUTHENTICATION_FAILED'
  | 'USER_DEACTIVATED'
  | 'CANNOT_DEACTIVATE_LAST_USER'
  | 'REALM_DEACTIVATED'
  | 'PASSWORD_AUTH_DISABLED'
  | 'PASSWORD_RESET_REQUIRED'
  | 'UNKNOWN_REALM'
  | 'RATE_LIMITED'
  /** Nothing is wrong with the request, but there is no room for it now; `retryAfter`, in seconds. */
  | 'SERVER_BUSY'
  /** Nothing is wrong with the request, but what is stored is lost or damaged; trying again does not help. */
  | 'STORAGE_UNAVAILABLE'
  | 'CHANNEL_NOT_FOUND'
  | 'CHANNEL_NAME_TAKEN'
  | 'CANNOT_ADMINISTER_CHANNEL'
  | 'CANNOT_MANAGE_DEFAULT_CHANNEL'
  | 'EVENT_QUEUE_NOT_FOUND'
  | 'INVALID_NARROW'
  | 'UNSUPPORTED_COMBINATION'
  | 'STALE_VALUE'
  | 'SYSTEM_GROUP_REQUIRED'
  | 'CANNOT_DEACTIVATE_GROUP_IN_USE'
  | 'CHANNEL_WILDCARD_NOT_ALLOWED'
  | 'TOPIC_WILDCARD_NOT_ALLOWED'
  | 'MOVE_TIME_LIMIT_EXCEEDED'
  | 'INVITATION_FAILED';

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
