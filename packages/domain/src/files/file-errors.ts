import { declareErrors } from '../kernel/errors.js';

export const FILE_ERRORS = declareErrors({
  UNKNOWN_FILE: 'unknown',
  FILE_TOO_LARGE: 'invalid',
  /** The organization's. */
  UPLOAD_QUOTA_EXCEEDED: 'conflict',
  OWN_UPLOAD_QUOTA_EXCEEDED: 'conflict',
  TOO_MANY_FILES: 'conflict',
  TOO_MANY_UPLOADS: 'conflict',
  UNKNOWN_UPLOAD: 'unknown',
  /** What the client says of a file is too long. */
  UPLOAD_METADATA_TOO_LONG: 'invalid',
  /** Made up, expired, or the file is gone. */
  INVALID_FILE_TOKEN: 'invalid',
  /** Not the name of the file that the token is for. */
  INVALID_FILE_NAME: 'invalid',
});

type FileErrors = typeof FILE_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends FileErrors {}
}
