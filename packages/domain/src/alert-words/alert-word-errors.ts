import { declareErrors } from '../shared/errors.js';

export const ALERT_WORD_ERRORS = declareErrors({
  TOO_MANY_ALERT_WORDS: 'conflict',
});

type AlertWordErrors = typeof ALERT_WORD_ERRORS;

declare module '../shared/errors.js' {
  interface ErrorCodes extends AlertWordErrors {}
}
