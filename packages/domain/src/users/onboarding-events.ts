import type { FeatureParts } from '../kernel/event.js';
import type { OnboardingStep } from './onboarding-steps.js';

export interface OnboardingEventTypes {
  /** To whom they concern: those that are still to come. */
  'onboarding.steps_changed': { readonly remaining: readonly OnboardingStep[] };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends OnboardingEventTypes {}
}

export const ONBOARDING_FEATURE = {
  eventFormats: { 'onboarding.steps_changed': 1 },
} satisfies FeatureParts<OnboardingEventTypes>;
