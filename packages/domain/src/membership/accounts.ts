import {
  type Confirmation,
  type ConfirmationPurpose,
  confirmationExpired,
  endConfirmation,
  hasOpenConfirmation,
  type LinkKeys,
  loadConfirmation,
  openConfirmation,
  pretendConfirmation,
  requestConfirmation,
} from '../access/confirmations.js';
import {
  changePassword,
  isKnownNetwork,
  type LoginAttempts,
  loginAttemptKey,
  Passwords,
  rememberNetwork,
} from '../access/credentials.js';
import { composeEmail, EMAIL_PORTS, type Email, EmailJobs, type EmailQuota, emailJobKind } from '../access/email.js';
import { DomainError } from '../kernel/errors.js';
import { type AnonymousCaller, isId, type RealmId, type UserId } from '../kernel/ids.js';
import { encodeJob, type Job } from '../kernel/jobs.js';
import { enforce } from '../kernel/permission.js';
import type { Cancellation, Clock } from '../kernel/ports.js';
import { foldCase, trim } from '../kernel/text.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { passwordAuthDisabled, realmDeactivated } from '../users/authentication.js';
import { changeEmail, type DisposableDomains, newEmailProblem } from '../users/change-email.js';
import { isEmailAddress, type User } from '../users/user.js';
import { canChangeOwnEmail } from '../users/user-permissions.js';

interface EmailChangedNotice {
  readonly userId: UserId;
  /** Email address before the change. */
  readonly before: string;
}

export const ADDRESS_CHANGED_EMAIL = emailJobKind<EmailChangedNotice>({
  name: 'accounts.email_changed_letter',
  readPayload: (stored) => {
    const { userId, before } = stored as Partial<EmailChangedNotice>;
    if (!isId(userId) || typeof before !== 'string')
      throw new TypeError('Job payload has no user id or earlier address');
    return { userId, before };
  },
});

/** Notifies the old address of an email change, in case the owner did not request it. */
export class AddressChangedEmails extends EmailJobs<EmailChangedNotice> {
  static readonly inject = [...EMAIL_PORTS] as const;
  readonly kind = ADDRESS_CHANGED_EMAIL;

  protected async compose({ realmId, payload: { userId, before } }: Job<EmailChangedNotice>): Promise<Email | null> {
    const { realm, user } = await this.uow.read(realmId, async ({ realms, users }) => ({
      realm: await realms.get(realmId),
      user: await users.find(realmId, userId),
    }));
    if (!user) return null;
    const { language, t } = this.wordsFor(user, realm);
    return composeEmail({
      to: before,
      senderName: realm.name,
      language,
      subject: t('Your address at {name} has changed', { name: realm.name }),
      paragraphs: [
        t('The address of your account at {organization} is now {email}. Log in with it; emails go there, too.', {
          organization: `${realm.name} (${this.realmUrls.urlOf(realm)})`,
          email: user.email,
        }),
        t('If you did not change it, tell an administrator of the organization immediately.'),
      ],
    });
  }
}

export interface GetConfirmationInput {
  readonly purpose: ConfirmationPurpose;
  readonly key: string;
}

/**
 * Returns the purpose of a confirmation link. Reading does not consume the link, because mail programs open links
 * automatically.
 */
export class GetConfirmation {
  static readonly inject = ['unitOfWork', 'confirmationKeys', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly keys: LinkKeys,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, UNKNOWN_CONFIRMATION, CONFIRMATION_EXPIRED */
  execute(
    { realmId }: AnonymousCaller,
    { purpose, key }: GetConfirmationInput,
  ): Promise<{ readonly realm: Realm; readonly confirmation: Confirmation }> {
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    return this.uow.read(realmId, async (repositories) => {
      const realm = await repositories.realms.get(realmId);
      if (realm.isDeactivated) throw realmDeactivated();
      const wanted = { realmId, purpose, key };
      return { realm, confirmation: await loadConfirmation(repositories, this.keys, wanted, this.clock.now()) };
    });
  }
}

export interface ConfirmEmailChangeInput {
  readonly key: string;
}

/**
 * Assigns the new email address once its recipient confirms the link (users §6.2). Repeats all checks made at the
 * request.
 */
export class ConfirmEmailChange {
  static readonly inject = ['unitOfWork', 'confirmationKeys', 'disposableDomains', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly keys: LinkKeys,
    private readonly disposable: DisposableDomains,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, UNKNOWN_CONFIRMATION, CONFIRMATION_EXPIRED, EMAIL_CHANGES_DISABLED,
   * EMAIL_NOT_ALLOWED, EMAIL_RESERVED, EMAIL_TAKEN, EMAIL_OF_DEACTIVATED_USER
   */
  execute(
    { realmId }: AnonymousCaller,
    { key }: ConfirmEmailChangeInput,
  ): Promise<{ readonly realm: Realm; readonly user: User }> {
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    return this.uow.write(realmId, async (tx) => {
      const realm = await tx.realms.get(realmId);
      if (realm.isDeactivated) throw realmDeactivated();
      const now = this.clock.now();
      const confirmation = await loadConfirmation(tx, this.keys, { realmId, purpose: 'emailChange', key }, now);
      const user = await tx.users.find(realmId, confirmation.userId!);
      if (!user?.isActive) throw confirmationExpired();
      const { email } = confirmation;
      enforce(canChangeOwnEmail(user, realm));
      const problem = await newEmailProblem(tx, user, realm, email, this.disposable);
      if (problem) throw problem;
      await endConfirmation(tx, confirmation, now);
      const changed = await changeEmail(tx, user, email);
      await tx.bouncedAddresses.remove(email);
      const payload = { userId: user.id, before: user.email };
      await tx.jobs.schedule(encodeJob(ADDRESS_CHANGED_EMAIL, { realmId, dueAt: now, payload }));
      return { realm, user: changed };
    });
  }
}

export interface RequestPasswordResetInput {
  readonly email: string;
}

/**
 * Emails a reset link if the address belongs to an account (protocol §8.3). Neither the response nor its duration
 * reveals whether the account exists.
 */
export class RequestPasswordReset {
  static readonly inject = ['unitOfWork', 'emailQuota', 'loginAttempts', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly emails: EmailQuota,
    private readonly attempts: LoginAttempts,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, PASSWORD_AUTH_DISABLED, INVALID_EMAIL, RATE_LIMITED */
  async execute({ realmId, ip }: AnonymousCaller, input: RequestPasswordResetInput): Promise<void> {
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    await this.uow.read(realmId, (repositories) => loadPasswordRealm(repositories, realmId));
    const email = trim(input.email);
    if (!isEmailAddress(email)) throw new DomainError('INVALID_EMAIL', 'Enter a valid email address.');
    const key = loginAttemptKey(realmId, email);
    if (ip !== undefined) this.emails.take('anonymousByIp', ip);
    this.emails.take('passwordResetByEmail', key, ip);
    const isKnown = await this.uow.read(realmId, async ({ sessions, users }) =>
      isKnownNetwork({ sessions }, this.attempts, await users.findByEmail(realmId, email), ip),
    );
    const mayFlood = !isKnown && !this.hasEmailLeft(key);
    await this.uow.write(realmId, async (tx) => {
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
      // A previous email contains a valid link, so requests by others cannot block the owner.
      if (mayFlood && (await hasOpenConfirmation(tx, wanted, now))) await openConfirmation(tx, wanted, now);
      else await requestConfirmation(tx, wanted, now);
    });
  }

  /** Limits the total emails to one mailbox caused by requests from unknown networks. */
  private hasEmailLeft(key: string): boolean {
    try {
      this.emails.take('passwordResetFromElsewhere', key);
      return true;
    } catch (error) {
      if (error instanceof DomainError && error.is('RATE_LIMITED')) return false;
      throw error;
    }
  }
}

export interface ResetPasswordInput {
  readonly key: string;
  readonly password: string;
  /** Aborts when the client disconnects. */
  readonly cancellation?: Cancellation | undefined;
}

/** Sets a new password for the user who received the link by email (protocol §8.3). */
export class ResetPassword {
  static readonly inject = ['unitOfWork', 'confirmationKeys', Passwords, 'loginAttempts', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly keys: LinkKeys,
    private readonly passwords: Passwords,
    private readonly attempts: LoginAttempts,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, PASSWORD_AUTH_DISABLED, UNKNOWN_CONFIRMATION, CONFIRMATION_EXPIRED,
   * WEAK_PASSWORD, SERVER_BUSY
   */
  async execute({ realmId, ip }: AnonymousCaller, { key, password, cancellation }: ResetPasswordInput): Promise<void> {
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    const ahead = await this.uow.read(realmId, (repositories) => this.load(repositories, realmId, key));
    this.passwords.requireStrong(password, [ahead.email, ahead.fullName]);
    const hash = await this.passwords.hash(password, { client: ip, cancellation });
    const user = await this.uow.write(realmId, async (tx) => {
      const loaded = await this.load(tx, realmId, key);
      await changePassword(tx, loaded, hash, { now: this.clock.now() });
      // The user received the key by email, so the address works again.
      await tx.bouncedAddresses.remove(loaded.email);
      return loaded;
    });
    // Users who forgot their password have often exhausted their attempts. The email has proved their identity.
    this.attempts.forget(loginAttemptKey(realmId, user.email), ip);
    await rememberNetwork(this.uow, this.attempts, user, ip, this.clock.now());
  }

  private async load(repositories: Repositories | Transaction, realmId: RealmId, key: string): Promise<User> {
    await loadPasswordRealm(repositories, realmId);
    const wanted = { realmId, purpose: 'passwordReset', key } as const;
    const { userId, email } = await loadConfirmation(repositories, this.keys, wanted, this.clock.now());
    const user = await repositories.users.find(realmId, userId!);
    // After an address change, the old mailbox may belong to another person.
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
