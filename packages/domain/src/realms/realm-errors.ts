import { declareErrors } from '../shared/errors.js';

export const REALM_ERRORS = declareErrors({
  UNKNOWN_REALM: 'unknown',
  /** Nothing is served at the host. */
  UNKNOWN_REALM_ADDRESS: 'unknown',
  REALM_DEACTIVATED: 'forbidden',
  INVALID_REALM_NAME: 'invalid',
  INVALID_STRING_ID: 'invalid',
  /** Or reserved. */
  STRING_ID_TAKEN: 'conflict',
  /** For another organization on this server. */
  NO_ADDRESS_LEFT: 'conflict',
  DEMO_REALM_REQUIRED: 'conflict',
  AUTHENTICATION_METHOD_REQUIRED: 'conflict',
  CANNOT_OVERRIDE_EMOJI: 'forbidden',
  NOT_EMOJI_AUTHOR: 'forbidden',
});

type RealmErrors = typeof REALM_ERRORS;

declare module '../shared/errors.js' {
  interface ErrorCodes extends RealmErrors {}
}
