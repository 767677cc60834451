import type { Snapshot } from '../kernel/snapshot.js';
import { type OnboardingStep, remainingSteps } from './onboarding-steps.js';

/** What the viewer has not been shown yet. */
export const loadRemainingSteps = async ({ caller, repositories }: Snapshot): Promise<readonly OnboardingStep[]> =>
  remainingSteps(await repositories.onboarding.listDone(caller.realmId, caller.userId));
