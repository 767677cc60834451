import { declareErrors } from '../kernel/errors.js';

export const ALERT_WORD_ERRORS = declareErrors({
  TOO_MANY_ALERT_WORDS: 'conflict',
});

type AlertWordErrors = typeof ALERT_WORD_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends AlertWordErrors {}
}
