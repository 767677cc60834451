import { type Confirmation, type LinkKeys, loadConfirmation, requestConfirmation } from '../access/confirmations.js';
import { loginAttemptKey } from '../access/credentials.js';
import { composeEmail, EMAIL_PORTS, type Email, EmailJobs, type EmailQuota, emailJobKind } from '../access/email.js';
import { type DefaultChannelGroupView, listDefaultChannelGroups } from '../channels/default-channels.js';
import { DomainError } from '../kernel/errors.js';
import type { AnonymousCaller, Caller, MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { encodeJob, idPayload, type Job } from '../kernel/jobs.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import { trim } from '../kernel/text.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { canChangeRealm } from '../realms/realm-permissions.js';
import type { EmailVisibility } from '../realms/user-settings.js';
import { passwordAuthDisabled, realmDeactivated } from '../users/authentication.js';
import { canJoinWith, type DisposableDomains, loadAddressPolicy } from '../users/change-email.js';
import { isEmailAddress, type User } from '../users/user.js';
import { SystemMessages } from '../writing/system-messages.js';
import { withPresentOffer } from './invitation-changes.js';
import { type Invitation, type InvitationConfig, type InvitationOffer, isOpen } from './invitations.js';

type WelcomePayload = { readonly userId: UserId };

const WELCOME_EMAIL = emailJobKind<WelcomePayload>({
  name: 'invitations.welcome_letter',
  readPayload: idPayload('userId'),
});

export const planWelcomeEmail = (tx: Transaction, { realmId, id: userId }: User, now: UnixSeconds): Promise<unknown> =>
  tx.jobs.schedule(encodeJob(WELCOME_EMAIL, { realmId, dueAt: now, payload: { userId } }));

/** Emails new users the login URL and method (organization §10.4). */
export class SendWelcomeEmails extends EmailJobs<WelcomePayload> {
  static readonly inject = [...EMAIL_PORTS] as const;
  readonly kind = WELCOME_EMAIL;

  protected async compose({ realmId, payload: { userId } }: Job<WelcomePayload>): Promise<Email | null> {
    const { realm, user, hasPassword } = await this.uow.read(realmId, async ({ realms, users }) => ({
      realm: await realms.get(realmId),
      user: await users.find(realmId, userId),
      hasPassword: (await users.findPasswordHash(realmId, userId)) !== null,
    }));
    if (!user?.isActive || realm.isDeactivated) return null;
    const url = this.realmUrls.urlOf(realm);
    const { name } = realm;
    const { language, t } = this.wordsFor(user, realm);
    return composeEmail({
      to: user.email,
      senderName: name,
      language,
      subject: t('Welcome to {name}', { name }),
      paragraphs: [
        t('You have joined {name}. Log in with:', { name }),
        t('Organization: {url}', { url }),
        t('Address: {email}', { email: user.email }),
        hasPassword
          ? t('Password: the one you chose when you signed up')
          : t('Password: none; log in the same way as when you joined'),
      ],
      link: { label: t('How to connect'), url: `${url}/` },
    });
  }
}

/** Basis of a sign-up. */
export interface SignUp {
  readonly realm: Realm;
  /** Null if anyone may join. */
  readonly invitation: Invitation | null;
  /** Proof of email ownership; null if there is none or an email invitation proves it. */
  readonly confirmation: Confirmation | null;
  /** Null if the person enters the email. */
  readonly email: string | null;
}

/** Key derivation for invitation and confirmation links. */
export interface SignUpKeys {
  readonly invitations: LinkKeys;
  readonly confirmations: LinkKeys;
}

/** Lengths of invitation keys and email confirmation keys. */
const INVITATION_KEY_LENGTH = 24;
export const CONFIRMATION_KEY_LENGTH = 40;

/** Offer for people who join without an invitation (organization §10.3). */
export const OPEN_OFFER: InvitationOffer = {
  role: 'member',
  channelIds: [],
  groupIds: [],
  includesDefaultChannels: true,
  welcomeText: null,
};

type Reads = Repositories | Transaction;

/** @throws DomainError REALM_DEACTIVATED */
export async function loadOpenRealm({ realms }: Reads, realmId: RealmId): Promise<Realm> {
  const realm = await realms.get(realmId);
  if (realm.isDeactivated) throw realmDeactivated();
  return realm;
}

/**
 * Returns the invitation, limited to what its inviter may still offer.
 * @throws DomainError INVALID_INVITATION_KEY, UNKNOWN_INVITATION, INVITATION_EXPIRED
 */
export async function loadInvitation(
  repositories: Reads,
  keys: LinkKeys,
  realm: Realm,
  key: string,
  now: UnixSeconds,
): Promise<Invitation> {
  if (key.length !== INVITATION_KEY_LENGTH) {
    throw new DomainError('INVALID_INVITATION_KEY', 'The invitation link is malformed.');
  }
  const stored = await keys.find(key, (id) => repositories.invitations.find(realm.id, id));
  if (!stored) throw new DomainError('UNKNOWN_INVITATION', 'The invitation link could not be found.');
  if (!isOpen(stored, now)) throw invitationExpired();
  const invitation = await withPresentOffer(repositories, realm, stored);
  if (!invitation) throw invitationExpired();
  return invitation;
}

const invitationExpired = () =>
  new DomainError('INVITATION_EXPIRED', 'The invitation link has expired or been deactivated.');

/** @throws DomainError INVITATION_REQUIRED (organization §10.1) */
export function assertOpenToAll({ settings }: Realm, email: string): void {
  if (settings.inviteRequired) throw invitationRequired(email);
}

export const invitationRequired = (email: string) =>
  new DomainError('INVITATION_REQUIRED', `Please request an invite for ${email} from the organization administrator.`);

/** @throws DomainError PASSWORD_AUTH_DISABLED */
export function assertTakesPasswords({ settings }: Realm): void {
  if (!settings.emailAuthentication) throw passwordAuthDisabled();
}

/** @throws DomainError EMAIL_TAKEN, EMAIL_OF_DEACTIVATED_USER */
export async function assertNoAccount({ users }: Reads, realmId: RealmId, email: string): Promise<void> {
  const [owner] = await users.listByEmail(realmId, [email]);
  if (owner?.isActive) throw new DomainError('EMAIL_TAKEN', `${email} already has an account`);
  if (owner) throw new DomainError('EMAIL_OF_DEACTIVATED_USER', 'Account has been deactivated.');
}

export interface RequestSignUpInput {
  /** Key of an invitation link; null if the person was not invited. */
  readonly key: string | null;
  readonly email: string;
}

/** Sign-ups by invitation, or with a proof of the email address. */
export class SignUps {
  static readonly inject = [
    'unitOfWork',
    'signUpKeys',
    'emailQuota',
    'disposableDomains',
    'clock',
    'invitationConfig',
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly keys: SignUpKeys,
    private readonly emails: EmailQuota,
    private readonly disposable: DisposableDomains,
    private readonly clock: Clock,
    private readonly config: InvitationConfig,
  ) {}

  /** True if the server sends emails that prove an address. */
  get confirmsAddresses(): boolean {
    return this.config.confirmsAddresses;
  }

  /**
   * Loads the sign-up for an invitation key or an email confirmation key.
   * @throws DomainError REALM_DEACTIVATED, INVALID_INVITATION_KEY, UNKNOWN_INVITATION, INVITATION_EXPIRED,
   * UNKNOWN_CONFIRMATION, CONFIRMATION_EXPIRED, INVITATION_REQUIRED
   */
  async load(repositories: Reads, realmId: RealmId, key: string): Promise<SignUp> {
    const now = this.clock.now();
    const realm = await loadOpenRealm(repositories, realmId);
    if (key.length !== CONFIRMATION_KEY_LENGTH) {
      const invitation = await loadInvitation(repositories, this.keys.invitations, realm, key, now);
      return { realm, invitation, confirmation: null, email: invitation.email };
    }
    const wanted = { realmId, purpose: 'signUp', key } as const;
    const confirmation = await loadConfirmation(repositories, this.keys.confirmations, wanted, now);
    const { invitationId, email } = confirmation;
    if (invitationId === null) {
      assertOpenToAll(realm, email);
      return { realm, invitation: null, confirmation, email };
    }
    const stored = await repositories.invitations.find(realmId, invitationId);
    // An invitation may expire after the sign-up started, but must not be used or revoked.
    if (stored?.status !== 'open') throw invitationExpired();
    const invitation = await withPresentOffer(repositories, realm, stored);
    if (!invitation) throw invitationExpired();
    return { realm, invitation, confirmation, email };
  }

  /**
   * Returns the trimmed email if it may join the realm.
   * @throws DomainError INVALID_EMAIL, EMAIL_NOT_ALLOWED
   */
  async acceptedAddress(repositories: Reads, realm: Realm, raw: string): Promise<string> {
    const email = trim(raw);
    if (!isEmailAddress(email)) throw new DomainError('INVALID_EMAIL', 'Enter a valid email address.');
    enforce(canJoinWith(email, await loadAddressPolicy(repositories, realm, this.disposable), 'joinForm'));
    return email;
  }

  /**
   * Starts a sign-up. Returns the normalized email and whether a confirmation email was sent. Invited people skip the
   * proof if the server sends no email.
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, INVALID_INVITATION_KEY, UNKNOWN_INVITATION,
   * INVITATION_EXPIRED, PASSWORD_AUTH_DISABLED, INVALID_EMAIL, EMAIL_NOT_ALLOWED, INVITATION_REQUIRED, RATE_LIMITED,
   * EMAIL_TAKEN, EMAIL_OF_DEACTIVATED_USER, TOO_MANY_SIGN_UPS
   */
  async request(
    { realmId, ip }: AnonymousCaller,
    input: RequestSignUpInput,
  ): Promise<{ readonly email: string; readonly isSent: boolean }> {
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    const { email } = await this.uow.read(realmId, (repositories) => this.check(repositories, realmId, input));
    if (input.key !== null && !this.confirmsAddresses) {
      await this.uow.read(realmId, (repositories) => assertNoAccount(repositories, realmId, email));
      return { email, isSent: false };
    }
    // Throttles before the response can reveal that an account has this email address.
    if (ip !== undefined) this.emails.take('anonymousByIp', ip);
    this.emails.take('signUpByEmail', loginAttemptKey(realmId, email), ip);
    await this.uow.write(realmId, async (tx) => {
      const { invitationId } = await this.check(tx, realmId, input);
      await assertNoAccount(tx, realmId, email);
      const wanted = { realmId, purpose: 'signUp', email, userId: null, invitationId } as const;
      await requestConfirmation(tx, wanted, this.clock.now());
    });
    return { email, isSent: true };
  }

  private async check(
    repositories: Reads,
    realmId: RealmId,
    { key, email: raw }: RequestSignUpInput,
  ): Promise<{ readonly email: string; readonly invitationId: number | null }> {
    const realm = await loadOpenRealm(repositories, realmId);
    const now = this.clock.now();
    const invitation = key === null ? null : await loadInvitation(repositories, this.keys.invitations, realm, key, now);
    // An email invitation is for one address and proves it.
    if (invitation && invitation.kind !== 'link') {
      throw new DomainError('UNKNOWN_INVITATION', 'The invitation link could not be found.');
    }
    assertTakesPasswords(realm);
    const email = await this.acceptedAddress(repositories, realm, raw);
    if (!invitation) assertOpenToAll(realm, email);
    return { email, invitationId: invitation?.id ?? null };
  }
}

export interface GetSignUpInput {
  readonly key: string;
}

/** Data for rendering the sign-up form. */
export interface SignUpForm {
  /** Fixed email; null if the person enters it. */
  readonly email: string | null;
  /** True if the email must be confirmed first. */
  readonly needsConfirmation: boolean;
  /** Default email visibility of new users. */
  readonly emailAddressVisibility: EmailVisibility;
  readonly defaultChannelGroups: readonly DefaultChannelGroupView[];
}

/** Returns the sign-up form for a key without consuming the key. */
export class GetSignUp {
  static readonly inject = ['unitOfWork', SignUps] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly signUps: SignUps,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, INVALID_INVITATION_KEY, UNKNOWN_INVITATION, INVITATION_EXPIRED,
   * UNKNOWN_CONFIRMATION, CONFIRMATION_EXPIRED, INVITATION_REQUIRED
   */
  execute({ realmId }: AnonymousCaller, { key }: GetSignUpInput): Promise<SignUpForm> {
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    return this.uow.read(realmId, async (repositories) => {
      const { realm, email } = await this.signUps.load(repositories, realmId, key);
      return {
        email,
        needsConfirmation: email === null && this.signUps.confirmsAddresses,
        emailAddressVisibility: realm.userDefaults.emailAddressVisibility,
        defaultChannelGroups: await listDefaultChannelGroups(repositories, realmId),
      };
    });
  }
}

/** Starts a sign-up by link or in an open realm, with proof of the email address (organization §10.1). */
export class RequestSignUp {
  static readonly inject = [SignUps] as const;
  constructor(private readonly signUps: SignUps) {}

  /** @throws DomainError the codes of `SignUps.request` */
  execute(caller: AnonymousCaller, input: RequestSignUpInput): ReturnType<SignUps['request']> {
    return this.signUps.request(caller, input);
  }
}

export interface TestWelcomeMessageInput {
  readonly text: string;
}

/** Sends an administrator a preview of the welcome message (organization §10.6). */
export class TestWelcomeMessage {
  static readonly inject = ['unitOfWork', SystemMessages] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly systemMessages: SystemMessages,
  ) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR, INVALID_MESSAGE_CONTENT, UNRENDERABLE_CONTENT */
  async execute(caller: Caller, { text }: TestWelcomeMessageInput): Promise<MessageId> {
    const realm = await this.uow.read(caller.realmId, async ({ actors, realms }) => {
      enforce(canChangeRealm(await actors.get(caller), []));
      if (trim(text) === '') throw new DomainError('INVALID_MESSAGE_CONTENT', 'Message must not be empty');
      return realms.get(caller.realmId);
    });
    const ahead = await this.systemMessages.parse(realm, text);
    return this.uow.write(caller.realmId, async (tx) => {
      enforce(canChangeRealm(await tx.actors.get(caller), []));
      const user = await tx.users.get(caller.realmId, caller.userId);
      return (await this.systemMessages.sendTestWelcome(tx, realm, user, { text, ahead })).id;
    });
  }
}
