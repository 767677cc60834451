import {
  CompleteOnboardingStep,
  loadRemainingSteps,
  type OnboardingEventTypes,
  type OnboardingStep,
} from '@parley/domain/users';
import type { HttpFeature } from '../declarations/feature.js';
import { type RegisterSection, registerSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { form, type Presenters, toAll } from '../delivery/event-presenter.js';
import { MAX_TOKEN_LENGTH } from '../params/param-types.js';
import { TextParam } from '../params/params.js';
import * as wire from '../wire/schema.js';

/** Users §22. */
export const onboardingStep = wire.named(
  'OnboardingStep',
  wire.fields({ type: wire.oneOf('one_time_notice'), name: wire.text() }),
);

/** Users §22. */
export const presentSteps = (steps: readonly OnboardingStep[]) =>
  steps.map((name) => ({ type: 'one_time_notice', name }));

export const ONBOARDING_EVENTS = {
  'onboarding.steps_changed': toAll(
    form('onboarding_steps', { onboarding_steps: wire.listOf(onboardingStep) }),
    ({ remaining }) => ({
      onboarding_steps: presentSteps(remaining),
    }),
  ),
} satisfies Presenters<keyof OnboardingEventTypes>;

export const onboardingSection: RegisterSection = registerSection({
  name: 'onboarding_steps',
  fields: {
    onboarding_steps: wire.listOf(onboardingStep),
    navigation_tour_video_url: wire.nullable(wire.text()),
  },
  forSpectators: { onboarding_steps: [], navigation_tour_video_url: null },
  load: (snapshot) => snapshot.load(loadRemainingSteps),
  present: (remaining) => ({ onboarding_steps: presentSteps(remaining), navigation_tour_video_url: null }),
});

class CompleteOnboardingStepDto {
  @TextParam({ max: MAX_TOKEN_LENGTH, description: 'Name of the step.' }) onboarding_step!: string;
}

export const onboardingRoutes: readonly Route[] = [
  route('POST', '/users/me/onboarding_steps', {
    summary: 'Mark an onboarding step as read',
    section: 'users §22',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['human'],
    dto: CompleteOnboardingStepDto,
    useCase: CompleteOnboardingStep,
    toInput: ({ onboarding_step }) => ({ step: onboarding_step }),
  }),
];

export const ONBOARDING = {
  tag: 'Users',
  routes: () => onboardingRoutes,
  events: ONBOARDING_EVENTS,
  registerSections: () => [onboardingSection],
} satisfies HttpFeature;
