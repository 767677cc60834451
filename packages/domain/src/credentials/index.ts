export type { ApiKeyMint, ApiKeyRecord, ApiKeyRepository, HashRequest, PasswordHasher } from './api-keys.js';
export { type LoginAttempts, loginAttemptKey } from './login-attempts.js';
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

import './authentication-errors.js';
