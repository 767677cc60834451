import './onboarding-errors.js';

export type { OnboardingEventTypes } from './onboarding-events.js';
export { loadRemainingSteps } from './onboarding-loaders.js';
export { isOnboardingStep, type OnboardingRepository, type OnboardingStep } from './onboarding-steps.js';
export * from './use-cases/complete-onboarding-step.js';
