import type { PasswordHasher } from '../../access/api-keys.js';
import { type LoginAttempts, loginAttemptKey } from '../../access/login-attempts.js';
import type { AnonymousCaller } from '../../kernel/caller.js';
import type { Cancellation } from '../../kernel/cancellation.js';
import { DomainError } from '../../kernel/errors.js';
import type { RealmId } from '../../kernel/ids.js';
import type { Repositories, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { isEmailAddress } from '../email-address.js';
import type { User } from '../user.js';

export interface PasswordLogIn {
  /** The address to sign in with. */
  readonly username: string;
  readonly password: string;
  /** Of whoever waits for the answer. */
  readonly cancellation?: Cancellation | undefined;
}

export interface PasswordCheck {
  readonly uow: UnitOfWork;
  readonly hasher: PasswordHasher;
  readonly attempts: LoginAttempts;
}

/**
 * Whose address and password these are, and the hash that the password was right by (protocol §8.1).
 * @throws DomainError UNKNOWN_REALM, INVALID_EMAIL, RATE_LIMITED, USER_DEACTIVATED, REALM_DEACTIVATED,
 * PASSWORD_AUTH_DISABLED, SERVER_BUSY, AUTHENTICATION_FAILED
 */
export async function userOfPassword(
  { uow, hasher, attempts }: PasswordCheck,
  { realmId, ip }: AnonymousCaller,
  { username, password, cancellation }: PasswordLogIn,
): Promise<{ readonly user: User; readonly hash: string | null }> {
  if (realmId === null) throw unknownRealm();
  if (!isEmailAddress(username)) throw invalidEmail();
  const key = loginAttemptKey(realmId, username);
  attempts.attempt(key, ip);
  const { user, hash } = await uow.read(async ({ realms, users }) => {
    const { realm, user: found } = await findActiveAccount({ realms, users }, realmId, username);
    if (!realm.settings.emailAuthentication) throw passwordAuthDisabled();
    // Bots have no password, whatever is stored.
    const person = found && !found.bot ? found : null;
    return { user: person, hash: person && (await users.findPasswordHash(realmId, person.id)) };
  });
  let isRight: boolean;
  try {
    isRight = await hasher.verify(password, hash, { client: ip, cancellation });
  } catch (error) {
    attempts.withdraw(key, ip);
    throw error;
  }
  if (!isRight || !user) throw authenticationFailed();
  attempts.forget(key, ip);
  return { user, hash };
}

/**
 * Who logs in with the address; `user`: null where it is nobody's.
 * @throws DomainError USER_DEACTIVATED, REALM_DEACTIVATED
 */
export async function findActiveAccount(
  { realms, users }: Pick<Repositories, 'realms' | 'users'>,
  realmId: RealmId,
  email: string,
): Promise<{ readonly realm: Realm; readonly user: User | null }> {
  const user = await users.findByEmail(realmId, email);
  if (user && !user.isActive) throw accountDeactivated();
  const realm = await realms.get(realmId);
  if (realm.isDeactivated) throw realmDeactivated();
  return { realm, user };
}

export const unknownRealm = () => new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
export const invalidEmail = () => new DomainError('INVALID_EMAIL', 'Enter a valid email address.');
export const authenticationFailed = () =>
  new DomainError('AUTHENTICATION_FAILED', 'Your username or password is incorrect');
export const accountDeactivated = () => new DomainError('USER_DEACTIVATED', 'Account is deactivated');
export const realmDeactivated = () => new DomainError('REALM_DEACTIVATED', 'This organization has been deactivated');
export const passwordAuthDisabled = () =>
  new DomainError('PASSWORD_AUTH_DISABLED', 'Password authentication is disabled in this organization');
