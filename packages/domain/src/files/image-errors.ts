import { declareErrors } from '../kernel/errors.js';

export const IMAGE_ERRORS = declareErrors({
  /** There is no file, or there are several. */
  ONE_IMAGE_REQUIRED: 'invalid',
  /** In bytes. */
  IMAGE_FILE_TOO_LARGE: 'invalid',
  /** Not an image, damaged, or in a format that is not read. */
  UNREADABLE_IMAGE: 'invalid',
  /** Too many pixels, or work. */
  IMAGE_TOO_LARGE: 'invalid',
  /** Its first frame can be read, and a further one cannot. */
  CORRUPT_ANIMATION: 'invalid',
  /** It has several frames in a format in which none are shown. */
  UNKNOWN_ANIMATION_FORMAT: 'invalid',
});

type ImageErrors = typeof IMAGE_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends ImageErrors {}
}
