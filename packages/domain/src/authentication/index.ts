export type { ApiKeyMint, ApiKeyRecord, ApiKeyRepository, HashRequest, PasswordHasher } from './api-keys.js';

import './authentication-errors.js';

export type { JsonWebTokens, TokenClaims } from './json-web-tokens.js';
export { type LoginAttempts, loginAttemptKey } from './login-attempts.js';
export { LoginLetters, SendLoginLetters } from './login-letter.js';
export {
  PASSWORD_MAX_LENGTH,
  PASSWORD_MIN_GUESSES,
  PASSWORD_MIN_LENGTH,
  type PasswordStrength,
} from './password-rules.js';
export type {
  NewSession,
  Session,
  SessionRepository,
  SessionTokens,
} from './session.js';
export * from './use-cases/fetch-api-key.js';
export * from './use-cases/fetch-api-key-by-token.js';
export * from './use-cases/fetch-development-api-key.js';
export * from './use-cases/fetch-own-api-key.js';
export * from './use-cases/list-development-users.js';
export * from './use-cases/log-in.js';
export * from './use-cases/manage-sessions.js';
export * from './use-cases/open-session.js';
export type { AnonymousCaller, PasswordLogIn } from './use-cases/password-log-in.js';
export * from './use-cases/verify-api-key.js';
export * from './use-cases/verify-session.js';
