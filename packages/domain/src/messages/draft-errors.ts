import { declareErrors } from '../kernel/errors.js';

export const DRAFT_ERRORS = declareErrors({
  /** The user keeps drafts on their devices. */
  DRAFTS_NOT_SYNCHRONIZED: 'forbidden',
  UNKNOWN_DRAFT: 'unknown',
  INVALID_DRAFT: 'invalid',
  TOO_MANY_DRAFTS: 'conflict',
});

type DraftErrors = typeof DRAFT_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends DraftErrors {}
}
