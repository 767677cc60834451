import type { PasswordHasher } from '../../access/api-keys.js';
import { changePassword } from '../../access/change-password.js';
import {
  confirmationExpired,
  loadConfirmation,
  pretendConfirmation,
  requestConfirmation,
} from '../../access/confirmation-changes.js';
import type { LetterQuota } from '../../access/letter-quota.js';
import type { LinkKeys } from '../../access/link-keys.js';
import { type LoginAttempts, loginAttemptKey } from '../../access/login-attempts.js';
import { checkPassword, type PasswordStrength } from '../../access/password-rules.js';
import type { AnonymousCaller } from '../../kernel/caller.js';
import type { Cancellation } from '../../kernel/cancellation.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { RealmId } from '../../kernel/ids.js';
import { foldCase, trim } from '../../kernel/text.js';
import type { Repositories, Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { isEmailAddress } from '../../users/email-address.js';
import { passwordAuthDisabled, realmDeactivated } from '../../users/use-cases/password-log-in.js';
import type { User } from '../../users/user.js';

export interface RequestPasswordResetInput {
  readonly email: string;
}

/**
 * Sends a link to whoever has an account with the address (protocol §8.3). Nobody learns here whether somebody has: neither from
 * the answer nor from the time that it takes.
 */
export class RequestPasswordReset {
  static readonly inject = ['unitOfWork', 'letterQuota', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly letters: LetterQuota,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, PASSWORD_AUTH_DISABLED, INVALID_EMAIL, RATE_LIMITED */
  async execute({ realmId, ip }: AnonymousCaller, input: RequestPasswordResetInput): Promise<void> {
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    await this.uow.read((repositories) => loadPasswordRealm(repositories, realmId));
    const email = trim(input.email);
    if (!isEmailAddress(email)) throw new DomainError('INVALID_EMAIL', 'Enter a valid email address.');
    this.countLetter(loginAttemptKey(realmId, email), ip);
    await this.uow.write(async (tx) => {
      const user = await tx.users.findByEmail(realmId, email);
      const now = this.clock.now();
      if (!user || user.bot) return pretendConfirmation(tx, realmId, now);
      const wanted = {
        realmId,
        purpose: 'passwordReset',
        email: user.email,
        userId: user.id,
        invitationId: null,
      } as const;
      await requestConfirmation(tx, wanted, now);
    });
  }

  private countLetter(key: string, ip: string | undefined): void {
    if (ip !== undefined) this.letters.take('anonymousByIp', ip);
    this.letters.take('passwordResetByEmail', key, ip);
  }
}

export interface ResetPasswordInput {
  readonly key: string;
  readonly password: string;
  /** Aborted when the client no longer waits for the answer. */
  readonly cancellation?: Cancellation | undefined;
}

/** Whoever reads the mail of an account's address sets another password (protocol §8.3). */
export class ResetPassword {
  static readonly inject = [
    'unitOfWork',
    'confirmationKeys',
    'passwordHasher',
    'passwordStrength',
    'loginAttempts',
    'clock',
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly keys: LinkKeys,
    private readonly hasher: PasswordHasher,
    private readonly strength: PasswordStrength,
    private readonly attempts: LoginAttempts,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, PASSWORD_AUTH_DISABLED, UNKNOWN_CONFIRMATION, CONFIRMATION_EXPIRED,
   * WEAK_PASSWORD, SERVER_BUSY
   */
  async execute({ realmId, ip }: AnonymousCaller, { key, password, cancellation }: ResetPasswordInput): Promise<void> {
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    const ahead = await this.uow.read((repositories) => this.load(repositories, realmId, key));
    checkPassword(this.strength, password, [ahead.email, ahead.fullName]);
    const hash = await this.hasher.hash(password, { client: ip, cancellation });
    const user = await this.uow.write(async (tx) => {
      const loaded = await this.load(tx, realmId, key);
      await changePassword(tx, loaded, hash, { now: this.clock.now() });
      return loaded;
    });
    // Those who forgot it have often tried before.
    this.attempts.forget(loginAttemptKey(realmId, user.email), ip);
  }

  private async load(repositories: Repositories | Transaction, realmId: RealmId, key: string): Promise<User> {
    await loadPasswordRealm(repositories, realmId);
    const wanted = { realmId, purpose: 'passwordReset', key } as const;
    const { userId, email } = await loadConfirmation(repositories, this.keys, wanted, this.clock.now());
    const user = await repositories.users.find(realmId, userId!);
    // After a change of address, the mail of the old one may belong to another person.
    if (!user?.isActive || foldCase(user.email) !== foldCase(email)) throw confirmationExpired();
    return user;
  }
}

/** @throws DomainError REALM_DEACTIVATED, PASSWORD_AUTH_DISABLED */
export async function loadPasswordRealm({ realms }: Repositories | Transaction, realmId: RealmId): Promise<Realm> {
  const realm = await realms.get(realmId);
  if (realm.isDeactivated) throw realmDeactivated();
  if (!realm.settings.emailAuthentication) throw passwordAuthDisabled();
  return realm;
}
