import { declareErrors } from '../kernel/errors.js';

export const EXPORT_ERRORS = declareErrors({
  /** What is to be imported contradicts itself, or holds what no organization can have. */
  INVALID_IMPORT: 'invalid',
  TOO_MANY_EXPORTS: 'conflict',
  /** The operator has to make it, from the command line. */
  EXPORT_TOO_LARGE: 'conflict',
  UNKNOWN_EXPORT: 'unknown',
  /** Its bytes, not those of one under way, or that failed. */
  EXPORT_DELETED: 'conflict',
  EXPORT_FAILED: 'conflict',
  EXPORT_IN_PROGRESS: 'conflict',
});

type ExportErrors = typeof EXPORT_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends ExportErrors {}
}
