import type { OnboardingEventTypes } from '@parley/domain/users';
import { form } from '../events/event-forms.js';
import { type Presenters, toAll } from '../events/event-presenter.js';
import * as wire from '../kernel/wire-schema.js';
import { onboardingStep } from './onboarding.answers.js';
import { presentSteps } from './onboarding.presenters.js';

export const ONBOARDING_EVENTS = {
  'onboarding.steps_changed': toAll(
    form('onboarding_steps', { onboarding_steps: wire.listOf(onboardingStep) }),
    ({ remaining }) => ({
      onboarding_steps: presentSteps(remaining),
    }),
  ),
} satisfies Presenters<keyof OnboardingEventTypes>;
