import type { HttpFeature } from '../feature.js';
import { ONBOARDING_EVENTS } from './onboarding.events.js';
import { onboardingSection } from './onboarding.register.js';
import { onboardingRoutes } from './onboarding.routes.js';

export const ONBOARDING = {
  routes: () => onboardingRoutes,
  events: ONBOARDING_EVENTS,
  registerSections: () => [onboardingSection],
} satisfies HttpFeature;
