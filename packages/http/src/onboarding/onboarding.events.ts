import type { OnboardingEventTypes } from '@parley/domain/onboarding';
import { type Presenters, toAll } from '../events/event-presenter.js';
import { presentSteps } from './onboarding.presenters.js';

export const ONBOARDING_EVENTS = {
  'onboarding.steps_changed': toAll('onboarding_steps', ({ remaining }) => ({
    onboarding_steps: presentSteps(remaining),
  })),
} satisfies Presenters<keyof OnboardingEventTypes>;
