import { declareErrors } from '../shared/errors.js';

export const FILE_ERRORS = declareErrors({
  UNKNOWN_FILE: 'unknown',
  FILE_TOO_LARGE: 'invalid',
  UPLOAD_QUOTA_EXCEEDED: 'conflict',
  TOO_MANY_FILES: 'conflict',
  /** Made up, expired, or the file is gone. */
  INVALID_FILE_TOKEN: 'invalid',
  /** Not the name of the file that the token is for. */
  INVALID_FILE_NAME: 'invalid',
});

type FileErrors = typeof FILE_ERRORS;

declare module '../shared/errors.js' {
  interface ErrorCodes extends FileErrors {}
}
