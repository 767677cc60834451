import type { ApiKeyMint, PasswordHasher } from '../../access/api-keys.js';
import { type LoginAttempts, loginAttemptKey } from '../../access/login-attempts.js';
import type { Caller } from '../../kernel/caller.js';
import type { Cancellation } from '../../kernel/cancellation.js';
import { DomainError } from '../../kernel/errors.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { type IssuedKey, issueKey } from './fetch-api-key.js';

export interface FetchOwnApiKeyInput {
  readonly password: string;
  readonly cancellation?: Cancellation | undefined;
}

/** The caller's own key, for their password once more: a browser that somebody left open does not show it (protocol §8.4). */
export class FetchOwnApiKey {
  static readonly inject = ['unitOfWork', 'passwordHasher', 'apiKeyMint', 'loginAttempts'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly hasher: PasswordHasher,
    private readonly mint: ApiKeyMint,
    private readonly attempts: LoginAttempts,
  ) {}

  /** Without a password where the organization has no log-in by password. @throws DomainError RATE_LIMITED, SERVER_BUSY, WRONG_PASSWORD */
  async execute(caller: Caller, { password, cancellation }: FetchOwnApiKeyInput): Promise<IssuedKey> {
    const { realmId, userId } = caller;
    const { user, hash, asksForPassword } = await this.uow.read(async ({ actors, realms, users }) => {
      await actors.get(caller);
      const { settings } = await realms.get(realmId);
      return {
        user: (await users.find(realmId, userId))!,
        hash: await users.findPasswordHash(realmId, userId),
        asksForPassword: settings.emailAuthentication,
      };
    });
    if (asksForPassword) {
      const key = loginAttemptKey(realmId, user.email);
      this.attempts.attempt(key);
      let isRight: boolean;
      try {
        isRight = await this.hasher.verify(password, hash, { client: `user ${userId}`, cancellation });
      } catch (error) {
        this.attempts.withdraw(key);
        throw error;
      }
      if (!isRight) throw new DomainError('WRONG_PASSWORD', 'Password is incorrect.');
      this.attempts.forget(key);
    }
    return issueKey(this.uow, this.mint, user);
  }
}
