import { endConfirmation } from '../access/confirmations.js';
import { type LoginAttempts, Passwords, rememberNetwork } from '../access/credentials.js';
import { DomainError } from '../kernel/errors.js';
import type { AnonymousCaller, DefaultChannelGroupId, RealmId } from '../kernel/ids.js';
import type { Cancellation, Clock } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { type EmailVisibility, isTimeZone } from '../realms/user-settings.js';
import { requiresSecondFactor } from '../users/second-factors.js';
import { parseFullName, type User } from '../users/user.js';
import { assertNameAvailable } from './add-user.js';
import { Admission } from './admission.js';
import { emailKey, findPlaceholder } from './placeholders.js';
import { assertNoAccount, assertTakesPasswords, type SignUp, SignUps } from './sign-up.js';

export interface JoinRealmInput {
  readonly key: string;
  /** Required for links; an email invitation already has an address. */
  readonly email: string | null;
  readonly fullName: string;
  readonly password: string;
  /** Null: realm default for new users. */
  readonly emailAddressVisibility: EmailVisibility | null;
  /** Null or unknown: not set. */
  readonly timezone: string | null;
  /** Default channel groups to join; deleted ones are ignored. */
  readonly defaultChannelGroupIds?: readonly DefaultChannelGroupId[];
  /** Aborts when the client disconnects. */
  readonly cancellation?: Cancellation | undefined;
}

export interface JoinedUser {
  readonly user: User;
  /** Null if the organization requires a second factor, which the user sets up at the first log-in. */
  readonly apiKey: string | null;
}

interface CheckedSignUp extends SignUp {
  readonly email: string;
  /** True if the person received the key by email. */
  readonly isProven: boolean;
  readonly fullName: string;
  readonly claims: readonly string[];
}

/** Accounts of people who were invited or have confirmed their email address (organization §10.2, §10.3). */
export class NewAccounts {
  static readonly inject = ['unitOfWork', SignUps, Passwords, Admission, 'loginAttempts', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly signUps: SignUps,
    private readonly passwords: Passwords,
    private readonly admission: Admission,
    private readonly attempts: LoginAttempts,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, INVALID_INVITATION_KEY, UNKNOWN_INVITATION, INVITATION_EXPIRED,
   * UNKNOWN_CONFIRMATION, CONFIRMATION_EXPIRED, INVITATION_REQUIRED, PASSWORD_AUTH_DISABLED, EMAIL_UNCONFIRMED, INVALID_EMAIL,
   * EMAIL_NOT_ALLOWED, EMAIL_TAKEN, EMAIL_OF_DEACTIVATED_USER, INVALID_USER_NAME, USER_NAME_TAKEN, WEAK_PASSWORD, SERVER_BUSY
   */
  async join({ realmId, ip }: AnonymousCaller, input: JoinRealmInput): Promise<JoinedUser> {
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    const { password, cancellation } = input;
    // Runs every check before the slow hash, and repeats those whose result may have changed afterwards.
    const ahead = await this.uow.read(realmId, (repositories) => this.check(repositories, realmId, input));
    this.passwords.requireStrong(password, [ahead.email, ahead.fullName]);
    const words = await this.admission.parseWelcome(ahead.realm, ahead.invitation);
    const passwordHash = await this.passwords.hash(password, { client: ip, cancellation });
    const joined = await this.uow.write(realmId, async (tx) => {
      const { realm, invitation, confirmation, email, isProven, fullName, claims } = await this.check(
        tx,
        realmId,
        input,
      );
      const now = this.clock.now();
      const { timezone, emailAddressVisibility, defaultChannelGroupIds = [] } = input;
      const settings = {
        ...(emailAddressVisibility !== null && { emailAddressVisibility }),
        ...(timezone !== null && isTimeZone(timezone) && { timezone }),
      };
      const newcomer = {
        email,
        fullName,
        role: null,
        passwordHash,
        settings,
        invitation,
        defaultChannelGroupIds,
        words,
        claims,
      };
      const user = await this.admission.admit(tx, realm, newcomer);
      if (confirmation) await endConfirmation(tx, confirmation, now);
      if (isProven) await tx.bouncedAddresses.remove(email);
      if (requiresSecondFactor(realm.settings, user.role)) return { user, apiKey: null };
      return { user, apiKey: await this.admission.apiKeyOf(tx, user) };
    });
    await rememberNetwork(this.uow, this.attempts, joined.user, ip, this.clock.now());
    return joined;
  }

  private async check(
    repositories: Repositories | Transaction,
    realmId: RealmId,
    input: JoinRealmInput,
  ): Promise<CheckedSignUp> {
    const signUp = await this.signUps.load(repositories, realmId, input.key);
    const { realm } = signUp;
    assertTakesPasswords(realm);
    if (signUp.email === null && this.signUps.confirmsAddresses) {
      throw new DomainError('EMAIL_UNCONFIRMED', 'Confirm your email address first.');
    }
    const email = await this.signUps.acceptedAddress(repositories, realm, signUp.email ?? input.email ?? '');
    await assertNoAccount(repositories, realmId, email);
    const fullName = parseFullName(input.fullName);
    // The key of an address comes by email, unless the server sends none.
    const isProven = signUp.email !== null && this.signUps.confirmsAddresses;
    const claims = isProven ? [emailKey(email)] : [];
    await assertNameAvailable(repositories, realm, fullName, await findPlaceholder(repositories, realmId, claims));
    return { ...signUp, email, isProven, fullName, claims };
  }
}

/** Creates an account for a person who was invited or has confirmed their email address (organization §10.2, §10.3). */
export class JoinRealm {
  static readonly inject = [NewAccounts] as const;
  constructor(private readonly accounts: NewAccounts) {}

  /** @throws DomainError the codes of `NewAccounts.join` */
  execute(caller: AnonymousCaller, input: JoinRealmInput): Promise<JoinedUser> {
    return this.accounts.join(caller, input);
  }
}

/** Either a new account, or a confirmation email with a key that completes the sign-up. */
export type JoinOutcome = JoinedUser | { readonly confirmedBy: 'email'; readonly email: string };

/** Joins in one step, or sends a confirmation email if the invitation does not prove the email (extensions §4). */
export class JoinOrConfirm {
  static readonly inject = [NewAccounts, SignUps] as const;
  constructor(
    private readonly accounts: NewAccounts,
    private readonly signUps: SignUps,
  ) {}

  /** @throws DomainError the codes of `NewAccounts.join` except EMAIL_UNCONFIRMED, and those of `SignUps.request` */
  async execute(caller: AnonymousCaller, input: JoinRealmInput): Promise<JoinOutcome> {
    try {
      return await this.accounts.join(caller, input);
    } catch (error) {
      if (!(error instanceof DomainError && error.is('EMAIL_UNCONFIRMED'))) throw error;
    }
    const { email } = await this.signUps.request(caller, { key: input.key, email: input.email ?? '' });
    return { confirmedBy: 'email', email };
  }
}
