import { declareErrors } from '../kernel/errors.js';

export const NAVIGATION_VIEW_ERRORS = declareErrors({
  UNKNOWN_NAVIGATION_VIEW: 'unknown',
  /** Built-in views have the name that clients give them, others one that is not blank. */
  INVALID_NAVIGATION_VIEW_NAME: 'invalid',
  NAVIGATION_VIEW_EXISTS: 'conflict',
  TOO_MANY_NAVIGATION_VIEWS: 'conflict',
});

type NavigationViewErrors = typeof NAVIGATION_VIEW_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends NavigationViewErrors {}
}
