import { declareErrors } from '../kernel/errors.js';

export const HOST_USER_ERRORS = declareErrors({
  /** Empty, too long, or with characters that look alike. */
  INVALID_EXTERNAL_ID: 'invalid',
  /** Another user has it, or the user has another one. */
  EXTERNAL_ID_TAKEN: 'conflict',
});

type HostUserErrors = typeof HOST_USER_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends HostUserErrors {}
}
