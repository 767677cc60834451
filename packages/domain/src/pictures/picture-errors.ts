import { declareErrors } from '../shared/errors.js';

export const PICTURE_ERRORS = declareErrors({
  UNKNOWN_PICTURE: 'unknown',
});

type PictureErrors = typeof PICTURE_ERRORS;

declare module '../shared/errors.js' {
  interface ErrorCodes extends PictureErrors {}
}
