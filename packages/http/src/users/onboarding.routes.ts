import { CompleteOnboardingStep } from '@parley/domain/users';
import { MAX_TOKEN_LENGTH } from '../kernel/limits.js';
import { TextParam } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';

class CompleteOnboardingStepDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) onboarding_step!: string;
}

export const onboardingRoutes: readonly Route[] = [
  route('POST', '/users/me/onboarding_steps', {
    auth: 'user',
    roleRequirements: ['human'],
    dto: CompleteOnboardingStepDto,
    useCase: CompleteOnboardingStep,
    toInput: ({ onboarding_step }) => ({ step: onboarding_step }),
  }),
];
