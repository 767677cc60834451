import { declareErrors } from '../kernel/errors.js';

export const MUTED_USER_ERRORS = declareErrors({
  CANNOT_MUTE_SELF: 'invalid',
  USER_ALREADY_MUTED: 'conflict',
  USER_NOT_MUTED: 'conflict',
  TOO_MANY_MUTED_USERS: 'conflict',
});

type MutedUserErrors = typeof MUTED_USER_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends MutedUserErrors {}
}
