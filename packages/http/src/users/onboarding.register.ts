import { loadRemainingSteps } from '@parley/domain/users';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import * as wire from '../kernel/wire-schema.js';
import { onboardingStep } from './onboarding.answers.js';
import { presentSteps } from './onboarding.presenters.js';

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
