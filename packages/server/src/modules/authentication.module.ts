import { FetchApiKey, FetchDevelopmentApiKey, ListDevelopmentUsers, VerifyApiKey } from '@parley/domain';
import { ContainerModule } from 'inversify';
import { provide, provideAs } from '../provide.js';
import { LISTS, TOKENS } from '../tokens.js';

const { unitOfWork, passwordHasher, apiKeyMint, loginAttempts, realmUrls, developmentMode } = TOKENS;

export const authenticationModule = new ContainerModule(({ bind }) => {
  provide(bind, VerifyApiKey, unitOfWork, apiKeyMint);
  provideAs(bind, LISTS.eventListener, VerifyApiKey);
  provide(bind, FetchApiKey, unitOfWork, passwordHasher, apiKeyMint, loginAttempts);
  provide(bind, FetchDevelopmentApiKey, unitOfWork, apiKeyMint, developmentMode);
  provide(bind, ListDevelopmentUsers, unitOfWork, realmUrls, developmentMode);
});
