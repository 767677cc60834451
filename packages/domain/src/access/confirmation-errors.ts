import { declareErrors } from '../kernel/errors.js';

export const CONFIRMATION_ERRORS = declareErrors({
  UNKNOWN_CONFIRMATION: 'unknown',
  /** Or used, or replaced by a newer one. */
  CONFIRMATION_EXPIRED: 'conflict',
  TOO_MANY_SIGN_UPS: 'conflict',
});

type ConfirmationErrors = typeof CONFIRMATION_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends ConfirmationErrors {}
}
