import { CompleteOnboardingStep } from '@parley/domain/onboarding';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork } = TOKENS;

export const onboardingModule = new ContainerModule(({ bind }) => {
  provide(bind, CompleteOnboardingStep, unitOfWork);
});
