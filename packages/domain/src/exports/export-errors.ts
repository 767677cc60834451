import { declareErrors } from '../shared/errors.js';

export const EXPORT_ERRORS = declareErrors({
  /** What is to be imported contradicts itself, or holds what no organization can have. */
  INVALID_IMPORT: 'invalid',
  UNKNOWN_EXPORT: 'unknown',
  EXPORT_DELETED: 'conflict',
  EXPORT_FAILED: 'conflict',
  EXPORT_PENDING: 'conflict',
  /** In a week. */
  TOO_MANY_EXPORTS: 'tooMany',
  /** Only the operator exports so much. */
  EXPORT_TOO_LARGE: 'conflict',
  /** The operator has not given administrators access to everything. */
  FULL_CONTENT_NOT_ALLOWED: 'forbidden',
});

type ExportErrors = typeof EXPORT_ERRORS;

declare module '../shared/errors.js' {
  interface ErrorCodes extends ExportErrors {}
}
