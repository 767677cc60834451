import './onboarding-errors.js';

export type { OnboardingEventTypes } from './onboarding-events.js';
export { loadRemainingSteps } from './onboarding-loaders.js';
export type { OnboardingRepository, OnboardingStep } from './onboarding-steps.js';
export * from './use-cases/complete-onboarding-step.js';
