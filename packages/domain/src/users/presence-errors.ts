import { declareErrors } from '../kernel/errors.js';

export const PRESENCE_ERRORS = declareErrors({
  /** Bots have none. */
  NO_PRESENCE_OF_BOTS: 'conflict',
  /** The user has never been there, as far as they tell. */
  UNKNOWN_PRESENCE: 'unknown',
});

type PresenceErrors = typeof PRESENCE_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends PresenceErrors {}
}
