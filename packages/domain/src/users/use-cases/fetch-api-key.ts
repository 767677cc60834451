import type { ApiKeyMint, PasswordHasher } from '../../access/api-keys.js';
import type { LoginAttempts } from '../../access/login-attempts.js';
import type { AnonymousCaller } from '../../kernel/caller.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { LoginLetters } from '../login-letter.js';
import type { User } from '../user.js';
import { authenticationFailed, type PasswordLogIn, userOfPassword } from './password-log-in.js';

export interface IssuedKey {
  readonly apiKey: string;
  readonly user: User;
}

/** A key for a password (protocol §8.1). */
export class FetchApiKey {
  static readonly inject = ['unitOfWork', 'passwordHasher', 'apiKeyMint', 'loginAttempts', LoginLetters] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly hasher: PasswordHasher,
    private readonly mint: ApiKeyMint,
    private readonly attempts: LoginAttempts,
    private readonly loginLetters: LoginLetters,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, INVALID_EMAIL, RATE_LIMITED, USER_DEACTIVATED, REALM_DEACTIVATED,
   * PASSWORD_AUTH_DISABLED, SERVER_BUSY, AUTHENTICATION_FAILED
   */
  async execute(caller: AnonymousCaller, input: PasswordLogIn): Promise<IssuedKey> {
    const { uow, hasher, attempts } = this;
    const { user } = await userOfPassword({ uow, hasher, attempts }, caller, input);
    await this.loginLetters.plan(user, caller);
    return issueKey(this.uow, this.mint, user);
  }
}

/** The user's present key. */
export async function issueKey(uow: UnitOfWork, mint: ApiKeyMint, user: User): Promise<IssuedKey> {
  const record = await uow.read(({ apiKeys }) => apiKeys.find(user.realmId, user.id));
  if (!record) throw authenticationFailed();
  return { apiKey: mint.derive(record), user };
}
