import { declareErrors } from '../kernel/errors.js';

export const AUTHENTICATION_ERRORS = declareErrors({
  UNAUTHENTICATED: 'unauthenticated',
  /** Address or password is wrong. */
  AUTHENTICATION_FAILED: 'unauthenticated',
  PASSWORD_AUTH_DISABLED: 'forbidden',
  WEAK_PASSWORD: 'invalid',
  /** The present password, given to change it. */
  WRONG_PASSWORD: 'forbidden',
  TOO_MANY_PASSWORD_ATTEMPTS: 'tooMany',
  NOT_IN_PRODUCTION: 'forbidden',
  /** The organization lets nobody in without a password, not even in development. */
  DEVELOPMENT_AUTH_DISABLED: 'forbidden',
  /** The operator has named no secret of the organization. */
  JWT_DISABLED: 'forbidden',
  JWT_REQUIRED: 'invalid',
  INVALID_JWT: 'invalid',
  JWT_WITHOUT_EMAIL: 'invalid',
});

type AuthenticationErrors = typeof AUTHENTICATION_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends AuthenticationErrors {}
}
