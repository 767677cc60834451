import { declareErrors } from '../shared/errors.js';

export const EXPORT_ERRORS = declareErrors({
  /** What is to be imported contradicts itself, or holds what no organization can have. */
  INVALID_IMPORT: 'invalid',
});

type ExportErrors = typeof EXPORT_ERRORS;

declare module '../shared/errors.js' {
  interface ErrorCodes extends ExportErrors {}
}
