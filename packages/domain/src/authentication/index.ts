export type { ApiKeyMint, ApiKeyRecord, ApiKeyRepository, HashRequest, PasswordHasher } from './api-keys.js';

import './authentication-errors.js';

export { type LoginAttempts, loginAttemptKey } from './login-attempts.js';
export { SendLoginLetters } from './login-letter.js';
export {
  PASSWORD_MAX_LENGTH,
  PASSWORD_MIN_GUESSES,
  PASSWORD_MIN_LENGTH,
  type PasswordStrength,
} from './password-rules.js';
export * from './use-cases/fetch-api-key.js';
export * from './use-cases/fetch-development-api-key.js';
export * from './use-cases/list-development-users.js';
export * from './use-cases/verify-api-key.js';
