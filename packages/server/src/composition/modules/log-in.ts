import type { PasswordHasher } from '@parley/domain/access';
import { type LogInProvider, type PeopleDirectory, VerifyDirectoryPassword } from '@parley/domain/log-in';
import {
  HmacApiKeyMint,
  HmacLogInTokens,
  HmacSessionTokens,
  HmacTicketTokens,
  JoseWebTokens,
  ListedDisposableDomains,
  OtplibCodes,
  SealedSecondFactors,
  SimpleWebAuthn,
  ZxcvbnPasswordStrength,
} from '@parley/node-adapters';
import { Adapter } from '../adapter.js';

export interface LogInOptions {
  readonly passwordHasher: PasswordHasher;
  /** Secrets with which other services sign log-in tokens, by string id of the organization; default: none. */
  readonly jwtSecrets?: ReadonlyMap<string, string>;
  /** Required in the `aud` claim of these tokens; null accepts any. */
  readonly jwtAudience?: string | null;
  /** Log-in services, in button order; default: none. */
  readonly logInProviders?: readonly LogInProvider[];
  /** LDAP directories that verify passwords; default: none. */
  readonly directories?: readonly PeopleDirectory[];
}

/** Passwords, second factors, log-in services, and the keys and tokens of those who have logged in. */
export const logIn = ({
  passwordHasher,
  jwtSecrets = new Map(),
  jwtAudience,
  logInProviders = [],
  directories = [],
}: LogInOptions) =>
  new Adapter({
    passwordHasher: () => passwordHasher,
    passwordStrength: () => new ZxcvbnPasswordStrength(),
    disposableDomains: () => new ListedDisposableDomains(),
    apiKeyMint: ({ get }) => new HmacApiKeyMint(get('secret')),
    sessionTokens: ({ get }) => new HmacSessionTokens(get('secret')),
    webTokens: ({ get }) => new JoseWebTokens(jwtSecrets, get('clock'), jwtAudience),
    logInProviders: () => logInProviders,
    logInTokens: ({ get }) => new HmacLogInTokens(get('secret')),
    visitorTokens: ({ get }) => new HmacTicketTokens(get('secret'), 'visitors'),
    peopleDirectories: () => directories,
    directoryPasswords: ({ resolve }) => resolve(VerifyDirectoryPassword),
    secondFactorSecrets: ({ get }) => new SealedSecondFactors(get('secret')),
    oneTimeCodes: () => new OtplibCodes(),
    passkeys: () => new SimpleWebAuthn(),
  });
