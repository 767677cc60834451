import { declareErrors } from '../kernel/errors.js';

export const PICTURE_ERRORS = declareErrors({
  UNKNOWN_PICTURE: 'unknown',
});

type PictureErrors = typeof PICTURE_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends PictureErrors {}
}
