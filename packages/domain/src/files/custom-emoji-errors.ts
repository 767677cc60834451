import { declareErrors } from '../kernel/errors.js';

export const CUSTOM_EMOJI_ERRORS = declareErrors({
  EMOJI_NAME_MISSING: 'invalid',
  INVALID_EMOJI_NAME: 'invalid',
  CUSTOM_EMOJI_EXISTS: 'conflict',
  UNKNOWN_CUSTOM_EMOJI: 'unknown',
  TOO_MANY_CUSTOM_EMOJI: 'conflict',
});

type CustomEmojiErrors = typeof CUSTOM_EMOJI_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends CustomEmojiErrors {}
}
