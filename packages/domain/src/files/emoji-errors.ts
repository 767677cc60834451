import { declareErrors } from '../kernel/errors.js';

export const EMOJI_ERRORS = declareErrors({
  UNKNOWN_EMOJI: 'unknown',
  UNKNOWN_EMOJI_TYPE: 'unknown',
  /** The emoji exists, but not by this name. */
  EMOJI_NAME_MISMATCH: 'conflict',
  EMOJI_DEACTIVATED: 'conflict',
});

type EmojiErrors = typeof EMOJI_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends EmojiErrors {}
}
