import type { OnboardingStep } from '@parley/domain/users';

/** Users §22. */
export const presentSteps = (steps: readonly OnboardingStep[]) =>
  steps.map((name) => ({ type: 'one_time_notice', name }));
