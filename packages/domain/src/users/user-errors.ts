import { declareErrors } from '../kernel/errors.js';

export const USER_ERRORS = declareErrors({
  /** The caller. */
  USER_DEACTIVATED: 'unauthenticated',
  /** Somebody the request names. */
  NAMED_USER_DEACTIVATED: 'conflict',
  UNKNOWN_USER: 'unknown',
  UNKNOWN_BOT: 'unknown',
  /** One that only operators grant. */
  SPECIAL_PERMISSION_REQUIRED: 'forbidden',
  INVALID_USER_NAME: 'invalid',
  /** Where the organization wants names unique. */
  USER_NAME_TAKEN: 'conflict',
  BOT_NAME_TAKEN: 'conflict',
  INVALID_EMAIL: 'invalid',
  EMAIL_TAKEN: 'conflict',
  EMAIL_OF_DEACTIVATED_USER: 'conflict',
  /** For bots of the system. */
  EMAIL_RESERVED: 'conflict',
  /** By the rules of the organization on addresses. */
  EMAIL_NOT_ALLOWED: 'forbidden',
  EMAIL_CHANGES_DISABLED: 'forbidden',
  AVATAR_CHANGES_DISABLED: 'forbidden',
  LAST_OWNER: 'conflict',
  CANNOT_DEACTIVATE_LAST_USER: 'conflict',
  GUEST_CANNOT_ADMINISTER: 'conflict',
  BOT_CANNOT_OWN_BOTS: 'conflict',
  /** Neither users nor groups are named. */
  NO_TARGET_USERS: 'invalid',
  /** Only users themselves change it. */
  SETTING_NOT_FOR_OTHERS: 'forbidden',
});

type UserErrors = typeof USER_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends UserErrors {}

  interface ErrorDetails {
    /** `entity`: what they are the last of. */
    CANNOT_DEACTIVATE_LAST_USER: { readonly isLastOwner: boolean; readonly entity: string };
  }
}
