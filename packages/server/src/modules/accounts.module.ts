import {
  DeactivateSelf,
  DeactivateUser,
  DeactivationLetters,
  DeleteContributions,
  IssueUserKey,
  ReactivateUser,
  SetUserActive,
  SetUserName,
  SetUserPassword,
  SetUserRole,
} from '@parley/domain/accounts';
import { ContainerModule } from 'inversify';
import { provide, provideAs } from '../provide.js';
import { LISTS, TOKENS } from '../tokens.js';

const { unitOfWork, clock, mailer, realmUrls, passwordHasher, passwordStrength, apiKeyMint } = TOKENS;

export const accountsModule = new ContainerModule(({ bind }) => {
  provide(bind, DeactivateUser, unitOfWork, clock);
  provide(bind, DeactivationLetters, mailer, unitOfWork, realmUrls);
  provideAs(bind, LISTS.jobHandler, DeactivationLetters);
  provide(bind, DeleteContributions, clock);
  provideAs(bind, LISTS.jobHandler, DeleteContributions);
  provide(bind, DeactivateSelf, unitOfWork, clock);
  provide(bind, ReactivateUser, unitOfWork, clock);
  provide(bind, SetUserRole, unitOfWork, clock);
  provide(bind, SetUserName, unitOfWork);
  provide(bind, SetUserActive, unitOfWork, clock);
  provide(bind, SetUserPassword, unitOfWork, passwordHasher, passwordStrength);
  provide(bind, IssueUserKey, unitOfWork, apiKeyMint);
});
