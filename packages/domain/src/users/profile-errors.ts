import { declareErrors } from '../kernel/errors.js';

export const PROFILE_ERRORS = declareErrors({
  UNKNOWN_PROFILE_FIELD: 'unknown',
  INVALID_PROFILE_FIELD: 'invalid',
  PROFILE_FIELD_NAME_TAKEN: 'conflict',
  TOO_MANY_PROFILE_FIELDS: 'conflict',
  /** As many fields as the summary shows are in it. */
  TOO_MANY_SUMMARY_FIELDS: 'conflict',
  /** Named by the server. */
  DEFAULT_PROFILE_FIELD: 'forbidden',
  /** Some field is missing in it. */
  INVALID_PROFILE_FIELD_ORDER: 'invalid',
  INVALID_PROFILE_VALUE: 'invalid',
  /** By users; administrators may. */
  PROFILE_FIELD_NOT_EDITABLE: 'forbidden',
});

type ProfileErrors = typeof PROFILE_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends ProfileErrors {}
}
