import type { ApiKeyMint } from '../../access/api-keys.js';
import type { AnonymousCaller } from '../../kernel/caller.js';
import type { DevelopmentMode } from '../../kernel/development-mode.js';
import { DomainError } from '../../kernel/errors.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { isEmailAddress } from '../email-address.js';
import { type IssuedKey, issueKey } from './fetch-api-key.js';
import { type OpenedSession, OpenSession } from './open-session.js';
import { authenticationFailed, findActiveAccount, invalidEmail, unknownRealm } from './password-log-in.js';

export const notInProduction = () => new DomainError('NOT_IN_PRODUCTION', 'Endpoint not available in production.');

/** @throws DomainError DEVELOPMENT_AUTH_DISABLED (protocol §8.2, organization §2.5) */
export function requireDevelopmentAuth({ settings }: Pick<Realm, 'settings'>): void {
  if (settings.devAuthentication) return;
  throw new DomainError('DEVELOPMENT_AUTH_DISABLED', 'DevAuthBackend not enabled.');
}

/** A key for the asking (protocol §8.2); only in development. */
export class FetchDevelopmentApiKey {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'developmentMode'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly mode: DevelopmentMode,
  ) {}

  /**
   * @throws DomainError NOT_IN_PRODUCTION, UNKNOWN_REALM, DEVELOPMENT_AUTH_DISABLED, INVALID_EMAIL, USER_DEACTIVATED,
   * REALM_DEACTIVATED, AUTHENTICATION_FAILED
   */
  async execute({ realmId }: AnonymousCaller, { username }: { readonly username: string }): Promise<IssuedKey> {
    if (!this.mode.isOn) throw notInProduction();
    if (realmId === null) throw unknownRealm();
    const { user } = await this.uow.read(async (repositories) => {
      requireDevelopmentAuth(await repositories.realms.get(realmId));
      if (!isEmailAddress(username)) throw invalidEmail();
      return findActiveAccount(repositories, realmId, username);
    });
    if (!user) throw authenticationFailed();
    return issueKey(this.uow, this.mint, user);
  }
}

/** The same for clients that go on in the session style: with a browser session (clients §6). */
export class LogInForDevelopment {
  static readonly inject = [FetchDevelopmentApiKey, OpenSession] as const;
  constructor(
    private readonly fetchKey: FetchDevelopmentApiKey,
    private readonly openSession: OpenSession,
  ) {}

  /** @throws DomainError as `FetchDevelopmentApiKey` does */
  async execute(
    caller: AnonymousCaller,
    { username, userAgent }: { readonly username: string; readonly userAgent: string },
  ): Promise<{ readonly key: IssuedKey; readonly session: OpenedSession }> {
    const key = await this.fetchKey.execute(caller, { username });
    return { key, session: await this.openSession.execute({ user: key.user, userAgent }) };
  }
}
