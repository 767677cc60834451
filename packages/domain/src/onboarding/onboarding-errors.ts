import { declareErrors } from '../shared/errors.js';

export const ONBOARDING_ERRORS = declareErrors({
  UNKNOWN_ONBOARDING_STEP: 'unknown',
});

type OnboardingErrors = typeof ONBOARDING_ERRORS;

declare module '../shared/errors.js' {
  interface ErrorCodes extends OnboardingErrors {}
}
