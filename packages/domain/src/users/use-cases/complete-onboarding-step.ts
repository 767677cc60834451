import { users } from '../../kernel/audience.js';
import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { isOnboardingStep, remainingSteps } from '../onboarding-steps.js';

/** Notes that somebody has been shown what newcomers are shown once (users §22). */
export class CompleteOnboardingStep {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_ONBOARDING_STEP */
  async execute({ realmId, userId }: Caller, { step }: { readonly step: string }): Promise<void> {
    if (!isOnboardingStep(step)) {
      throw new DomainError('UNKNOWN_ONBOARDING_STEP', `Unknown onboarding_step: ${step}`);
    }
    await this.uow.write(async (tx) => {
      await tx.onboarding.markDone(realmId, userId, step);
      const remaining = remainingSteps(await tx.onboarding.listDone(realmId, userId));
      const event = { type: 'onboarding.steps_changed', remaining } as const;
      await tx.events.append(realmId, { event, audience: users([userId]) });
    });
  }
}
