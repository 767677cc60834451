import {
  EndSessions,
  FetchApiKey,
  FetchApiKeyByToken,
  FetchDevelopmentApiKey,
  FetchOwnApiKey,
  ListDevelopmentUsers,
  ListSessions,
  LogIn,
  LogInForDevelopment,
  LoginLetters,
  LogOut,
  OpenSession,
  RemoveExpiredSessions,
  SendLoginLetters,
  VerifyApiKey,
  VerifySession,
} from '@parley/domain/authentication';
import { ContainerModule } from 'inversify';
import { provide, provideAs } from '../provide.js';
import { LISTS, PARTS, TOKENS } from '../tokens.js';

const {
  unitOfWork,
  passwordHasher,
  apiKeyMint,
  sessionTokens,
  webTokens,
  loginAttempts,
  realmUrls,
  developmentMode,
  clock,
  letterQuota,
  mailer,
} = TOKENS;

export const authenticationModule = new ContainerModule(({ bind }) => {
  provide(bind, VerifyApiKey, unitOfWork, apiKeyMint);
  provideAs(bind, LISTS.eventListener, VerifyApiKey);
  provide(bind, LoginLetters, unitOfWork, letterQuota, clock);
  provide(bind, FetchApiKey, unitOfWork, passwordHasher, apiKeyMint, loginAttempts, LoginLetters);
  provide(bind, SendLoginLetters, mailer, unitOfWork, realmUrls);
  provideAs(bind, LISTS.jobHandler, SendLoginLetters);
  provide(bind, FetchDevelopmentApiKey, unitOfWork, apiKeyMint, developmentMode);
  provide(bind, FetchApiKeyByToken, unitOfWork, webTokens, apiKeyMint);
  provide(bind, FetchOwnApiKey, unitOfWork, passwordHasher, apiKeyMint, loginAttempts);
  provide(bind, OpenSession, unitOfWork, sessionTokens, clock);
  provide(bind, LogIn, unitOfWork, passwordHasher, loginAttempts, OpenSession, LoginLetters);
  provide(bind, LogInForDevelopment, FetchDevelopmentApiKey, OpenSession);
  provide(bind, LogOut, unitOfWork);
  provide(bind, VerifySession, unitOfWork, sessionTokens, clock, PARTS.report);
  provideAs(bind, LISTS.eventListener, VerifySession);
  provide(bind, ListSessions, unitOfWork, clock);
  provide(bind, EndSessions, unitOfWork);
  provide(bind, RemoveExpiredSessions, unitOfWork, clock);
  provide(bind, ListDevelopmentUsers, unitOfWork, realmUrls, developmentMode);
});
