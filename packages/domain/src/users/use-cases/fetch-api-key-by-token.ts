import type { ApiKeyMint } from '../../access/api-keys.js';
import type { AnonymousCaller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { isEmailAddress } from '../email-address.js';
import type { JsonWebTokens } from '../json-web-tokens.js';
import { type IssuedKey, issueKey } from './fetch-api-key.js';
import { authenticationFailed, findActiveAccount, invalidEmail, unknownRealm } from './password-log-in.js';

/** A key for a token that another service has signed (protocol §8.2). */
export class FetchApiKeyByToken {
  static readonly inject = ['unitOfWork', 'webTokens', 'apiKeyMint'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly tokens: JsonWebTokens,
    private readonly mint: ApiKeyMint,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, JWT_DISABLED, JWT_REQUIRED, INVALID_JWT, JWT_WITHOUT_EMAIL, INVALID_EMAIL, USER_DEACTIVATED,
   * REALM_DEACTIVATED, AUTHENTICATION_FAILED
   */
  async execute(
    { realmId }: AnonymousCaller,
    { token }: { readonly token: string },
  ): Promise<IssuedKey & { readonly realm: Realm }> {
    if (realmId === null) throw unknownRealm();
    const { stringId } = await this.uow.read(({ realms }) => realms.get(realmId));
    const email = await this.emailIn(token, stringId);
    const { user, realm } = await this.uow.read((repositories) => findActiveAccount(repositories, realmId, email));
    if (!user || user.bot) throw authenticationFailed();
    return { ...(await issueKey(this.uow, this.mint, user)), realm };
  }

  private async emailIn(token: string, realmStringId: string): Promise<string> {
    if (!this.tokens.isEnabledFor(realmStringId)) {
      throw new DomainError('JWT_DISABLED', 'JWT authentication is not enabled for this organization');
    }
    if (token === '') throw new DomainError('JWT_REQUIRED', 'No JSON web token passed in request');
    const claims = await this.tokens.verify(realmStringId, token);
    if (!claims) throw new DomainError('INVALID_JWT', 'Bad JSON web token');
    if (claims.email === null) {
      throw new DomainError('JWT_WITHOUT_EMAIL', 'No email specified in JSON web token claims');
    }
    if (!isEmailAddress(claims.email)) throw invalidEmail();
    return claims.email;
  }
}
