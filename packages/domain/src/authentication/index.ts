import '../credentials/authentication-errors.js';

export type { JsonWebTokens, TokenClaims } from './json-web-tokens.js';
export { SendLoginLetters } from './login-letter.js';
export * from './use-cases/fetch-api-key.js';
export * from './use-cases/fetch-api-key-by-token.js';
export * from './use-cases/fetch-development-api-key.js';
export * from './use-cases/fetch-own-api-key.js';
export * from './use-cases/list-development-users.js';
export * from './use-cases/log-in.js';
export * from './use-cases/manage-sessions.js';
export * from './use-cases/open-session.js';
export type { PasswordLogIn } from './use-cases/password-log-in.js';
export * from './use-cases/verify-api-key.js';
export * from './use-cases/verify-session.js';
