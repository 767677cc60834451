import { declareErrors } from '../kernel/errors.js';

export const ONBOARDING_ERRORS = declareErrors({
  UNKNOWN_ONBOARDING_STEP: 'unknown',
});

type OnboardingErrors = typeof ONBOARDING_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends OnboardingErrors {}
}
