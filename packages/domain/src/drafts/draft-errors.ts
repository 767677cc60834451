import { declareErrors } from '../shared/errors.js';

export const DRAFT_ERRORS = declareErrors({
  /** The user keeps drafts on their devices. */
  DRAFTS_NOT_SYNCHRONIZED: 'forbidden',
  UNKNOWN_DRAFT: 'unknown',
  INVALID_DRAFT: 'invalid',
  TOO_MANY_DRAFTS: 'conflict',
});

type DraftErrors = typeof DRAFT_ERRORS;

declare module '../shared/errors.js' {
  interface ErrorCodes extends DraftErrors {}
}
