import {
  FetchApiKey,
  FetchDevelopmentApiKey,
  ListDevelopmentUsers,
  SendLoginLetters,
  VerifyApiKey,
} from '@parley/domain/authentication';
import { ContainerModule } from 'inversify';
import { provide, provideAs } from '../provide.js';
import { LISTS, TOKENS } from '../tokens.js';

const {
  apiKeyMint,
  clock,
  developmentMode,
  letterQuota,
  loginAttempts,
  mailer,
  passwordHasher,
  realmUrls,
  unitOfWork,
} = TOKENS;

export const authenticationModule = new ContainerModule(({ bind }) => {
  provide(bind, VerifyApiKey, unitOfWork, apiKeyMint);
  provideAs(bind, LISTS.eventListener, VerifyApiKey);
  provide(bind, FetchApiKey, unitOfWork, passwordHasher, apiKeyMint, loginAttempts, letterQuota, clock);
  provide(bind, SendLoginLetters, mailer, unitOfWork, realmUrls);
  provideAs(bind, LISTS.jobHandler, SendLoginLetters);
  provide(bind, FetchDevelopmentApiKey, unitOfWork, apiKeyMint, developmentMode);
  provide(bind, ListDevelopmentUsers, unitOfWork, realmUrls, developmentMode);
});
