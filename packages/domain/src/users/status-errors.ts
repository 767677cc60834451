import { declareErrors } from '../kernel/errors.js';

export const STATUS_ERRORS = declareErrors({
  /** Nothing is given that could be changed. */
  STATUS_CHANGE_REQUIRED: 'invalid',
  /** An emoji's code or type is given without its name. */
  EMOJI_NAME_REQUIRED: 'invalid',
});

type StatusErrors = typeof STATUS_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends StatusErrors {}
}
