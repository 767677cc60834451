import { declareErrors } from '../shared/errors.js';

export const REACTION_ERRORS = declareErrors({
  /** Neither its name nor its code is given. */
  EMOJI_REQUIRED: 'invalid',
  REACTION_ALREADY_EXISTS: 'conflict',
  UNKNOWN_REACTION: 'unknown',
  TOO_MANY_REACTIONS: 'conflict',
});

type ReactionErrors = typeof REACTION_ERRORS;

declare module '../shared/errors.js' {
  interface ErrorCodes extends ReactionErrors {}
}
