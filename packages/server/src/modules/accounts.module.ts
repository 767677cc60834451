import {
  ConfirmEmailChange,
  DeactivateSelf,
  DeactivateUser,
  DeactivationLetters,
  DeleteContributions,
  EmailChangedLetters,
  GetConfirmation,
  IssuePasswordLink,
  IssueUserKey,
  ReactivateUser,
  RequestPasswordReset,
  ResetPassword,
  SetUserActive,
  SetUserEmail,
  SetUserName,
  SetUserPassword,
  SetUserRole,
} from '@parley/domain/accounts';
import { ForgetConfirmations, SendConfirmationLetters } from '@parley/domain/confirmations';
import { ContainerModule } from 'inversify';
import { provide, provideAs } from '../provide.js';
import { LISTS, TOKENS } from '../tokens.js';

const {
  apiKeyMint,
  clock,
  confirmationKeys,
  disposableDomains,
  letterQuota,
  loginAttempts,
  mailer,
  passwordHasher,
  passwordStrength,
  realmUrls,
  unitOfWork,
} = TOKENS;

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
  provide(bind, SetUserEmail, unitOfWork);
  provide(bind, SetUserActive, unitOfWork, clock);
  provide(bind, SetUserPassword, unitOfWork, passwordHasher, passwordStrength, clock);
  provide(bind, IssuePasswordLink, unitOfWork, confirmationKeys, realmUrls, clock);
  provide(bind, IssueUserKey, unitOfWork, apiKeyMint, clock);

  provide(bind, SendConfirmationLetters, mailer, unitOfWork, confirmationKeys, realmUrls, clock);
  provideAs(bind, LISTS.jobHandler, SendConfirmationLetters);
  provide(bind, ForgetConfirmations);
  provideAs(bind, LISTS.jobHandler, ForgetConfirmations);
  provide(bind, GetConfirmation, unitOfWork, confirmationKeys, clock);
  provide(bind, ConfirmEmailChange, unitOfWork, confirmationKeys, disposableDomains, clock);
  provide(bind, EmailChangedLetters, mailer, unitOfWork, realmUrls);
  provideAs(bind, LISTS.jobHandler, EmailChangedLetters);
  provide(bind, RequestPasswordReset, unitOfWork, letterQuota, clock);
  provide(bind, ResetPassword, unitOfWork, confirmationKeys, passwordHasher, passwordStrength, loginAttempts, clock);
});
