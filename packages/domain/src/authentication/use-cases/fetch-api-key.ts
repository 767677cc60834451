import type { LetterQuota } from '../../mail/letter-quota.js';
import type { Cancellation } from '../../shared/cancellation.js';
import type { Clock } from '../../shared/clock.js';
import { DomainError } from '../../shared/errors.js';
import type { RealmId } from '../../shared/ids.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import { isEmailAddress } from '../../users/email-address.js';
import type { User } from '../../users/user.js';
import type { ApiKeyMint, PasswordHasher } from '../api-keys.js';
import { type LoginAttempts, loginAttemptKey } from '../login-attempts.js';
import { type LoginSource, planLoginLetter, wantsLoginLetter } from '../login-letter.js';

/** Somebody who has proved nothing yet, on the host of a realm or of none. */
export interface AnonymousCaller {
  readonly realmId: RealmId | null;
  /** Network address, which limits are counted by; absent in process. */
  readonly ip?: string | undefined;
  /** As the program calls itself; absent in process. */
  readonly clientName?: string | undefined;
}

export interface FetchApiKeyInput {
  /** The address to sign in with. */
  readonly username: string;
  readonly password: string;
  /** Of whoever waits for the answer. */
  readonly cancellation?: Cancellation | undefined;
}

export interface IssuedKey {
  readonly apiKey: string;
  readonly user: User;
}

/** A key for a password (protocol §8.1). */
export class FetchApiKey {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly hasher: PasswordHasher,
    private readonly mint: ApiKeyMint,
    private readonly attempts: LoginAttempts,
    private readonly letters: LetterQuota,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, INVALID_EMAIL, RATE_LIMITED, USER_DEACTIVATED, REALM_DEACTIVATED,
   * PASSWORD_AUTH_DISABLED, SERVER_BUSY, AUTHENTICATION_FAILED
   */
  async execute(
    { realmId, ip, clientName }: AnonymousCaller,
    { username, password, cancellation }: FetchApiKeyInput,
  ): Promise<IssuedKey> {
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    if (!isEmailAddress(username)) throw new DomainError('INVALID_EMAIL', 'Enter a valid email address.');
    const key = loginAttemptKey(realmId, username);
    this.attempts.attempt(key, ip);
    const { user, hash } = await this.uow.read(async ({ realms, users }) => {
      const found = await users.findByEmail(realmId, username);
      if (found && !found.isActive) throw accountDeactivated();
      const realm = await realms.get(realmId);
      if (realm.isDeactivated) throw realmDeactivated();
      if (!realm.settings.emailAuthentication) throw passwordAuthDisabled();
      // Bots have no password, whatever is stored.
      const person = found && !found.bot ? found : null;
      return { user: person, hash: person && (await users.findPasswordHash(realmId, person.id)) };
    });
    let isRight: boolean;
    try {
      isRight = await this.hasher.verify(password, hash, { client: ip, cancellation });
    } catch (error) {
      this.attempts.withdraw(key, ip);
      throw error;
    }
    if (!isRight || !user) {
      throw new DomainError('AUTHENTICATION_FAILED', 'Your username or password is incorrect');
    }
    this.attempts.forget(key, ip);
    await this.sendLetter(user, { ip, clientName });
    return issueKey(this.uow, this.mint, user);
  }

  /** Not without end: a program may ask for its key each time it runs. */
  private async sendLetter(user: User, source: LoginSource): Promise<void> {
    const now = this.clock.now();
    if (!wantsLoginLetter(user, now)) return;
    try {
      this.letters.take('loginByUser', String(user.id));
    } catch (error) {
      if (error instanceof DomainError && error.is('RATE_LIMITED')) return;
      throw error;
    }
    await this.uow.write((tx) => planLoginLetter(tx, user, source, now));
  }
}

export const accountDeactivated = () => new DomainError('USER_DEACTIVATED', 'Account is deactivated');
export const realmDeactivated = () => new DomainError('REALM_DEACTIVATED', 'This organization has been deactivated');
export const passwordAuthDisabled = () =>
  new DomainError('PASSWORD_AUTH_DISABLED', 'Password authentication is disabled in this organization');

/** The user's present key. */
export async function issueKey(uow: UnitOfWork, mint: ApiKeyMint, user: User): Promise<IssuedKey> {
  const record = await uow.read(({ apiKeys }) => apiKeys.find(user.realmId, user.id));
  if (!record) throw new DomainError('AUTHENTICATION_FAILED', 'Your username or password is incorrect');
  return { apiKey: mint.derive(record), user };
}
