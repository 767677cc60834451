import {
  DeactivateSelf,
  DeactivateUser,
  DeactivationLetters,
  DeleteContributions,
  ReactivateUser,
} from '@parley/domain/accounts';
import { ContainerModule } from 'inversify';
import { provide, provideAs } from '../provide.js';
import { LISTS, TOKENS } from '../tokens.js';

const { unitOfWork, clock, mailer, realmUrls } = TOKENS;

export const accountsModule = new ContainerModule(({ bind }) => {
  provide(bind, DeactivateUser, unitOfWork, clock);
  provide(bind, DeactivationLetters, mailer, unitOfWork, realmUrls);
  provideAs(bind, LISTS.jobHandler, DeactivationLetters);
  provide(bind, DeleteContributions, clock);
  provideAs(bind, LISTS.jobHandler, DeleteContributions);
  provide(bind, DeactivateSelf, unitOfWork, clock);
  provide(bind, ReactivateUser, unitOfWork, clock);
});
