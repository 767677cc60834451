import { declareErrors } from '../kernel/errors.js';

export const PERMISSION_ERRORS = declareErrors({
  /** Of the organization. */
  MUST_BE_OWNER: 'forbidden',
  /** Of the organization. */
  MUST_BE_ADMINISTRATOR: 'forbidden',
  MUST_BE_BOT: 'forbidden',
  MUST_NOT_BE_BOT: 'forbidden',
  MUST_NOT_BE_GUEST: 'forbidden',
  GROUP_CYCLE: 'conflict',
  /** As the value of a permission. */
  GROUP_NOT_ALLOWED: 'invalid',
  /** As the value of a permission. */
  SYSTEM_GROUP_REQUIRED: 'invalid',
  TOO_MANY_PERMISSION_HOLDERS: 'conflict',
  /** Somebody changed the value meanwhile. */
  STALE_VALUE: 'conflict',
});

type PermissionErrors = typeof PERMISSION_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends PermissionErrors {}

  interface ErrorDetails {
    /** `permission`: whose value it cannot be. */
    GROUP_NOT_ALLOWED: { readonly permission: string; readonly groupName: string };
    SYSTEM_GROUP_REQUIRED: { readonly permission: string };
  }
}
