import { endConfirmation } from '../access/confirmations.js';
import {
  type ApiKeyMint,
  checkPassword,
  type LoginAttempts,
  type PasswordHasher,
  type PasswordStrength,
  rememberNetwork,
} from '../access/credentials.js';
import type { Channel } from '../channels/channel.js';
import { hasFullHistoryAccess } from '../channels/channel-access.js';
import { DomainError } from '../kernel/errors.js';
import { wholeRealm } from '../kernel/event.js';
import type { AnonymousCaller, DefaultChannelGroupId, RealmId } from '../kernel/ids.js';
import type { Cancellation, Clock } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { silentMention } from '../markdown/markdown.js';
import { SystemMessages } from '../messages/system-messages.js';
import type { Realm } from '../realms/realm.js';
import { type EmailVisibility, isTimeZone } from '../realms/user-settings.js';
import type { DisposableDomains } from '../users/change-email.js';
import { requiresSecondFactor } from '../users/second-factors.js';
import { parseFullName, type User } from '../users/user.js';
import { addUser, assertNameAvailable } from './add-user.js';
import { endInvitation, publishInvitations } from './invitation-changes.js';
import type { Invitation, InvitationConfig, InvitationOffer } from './invitations.js';
import {
  acceptedAddress,
  assertNoAccount,
  loadSignUp,
  OPEN_OFFER,
  planWelcomeEmail,
  RequestSignUp,
  type SignUp,
  type SignUpKeys,
} from './sign-up.js';

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
  /** Null if the organization requires a second factor of the user, who sets one up at the first log-in. */
  readonly apiKey: string | null;
}

/**
 * Maximum number of existing messages that new users receive, and how many of those are unread (organization §10.3).
 */
const MAX_HISTORY = 1000;
const UNREAD_HISTORY = 20;

/** Creates an account for a person who was invited or confirmed their email (organization §10.2, §10.3). */
export class JoinRealm {
  static readonly inject = [
    'unitOfWork',
    'signUpKeys',
    'passwordHasher',
    'passwordStrength',
    'disposableDomains',
    'apiKeyMint',
    'loginAttempts',
    SystemMessages,
    'clock',
    'invitationConfig',
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly keys: SignUpKeys,
    private readonly hasher: PasswordHasher,
    private readonly strength: PasswordStrength,
    private readonly disposable: DisposableDomains,
    private readonly mint: ApiKeyMint,
    private readonly attempts: LoginAttempts,
    private readonly systemMessages: SystemMessages,
    private readonly clock: Clock,
    private readonly config: InvitationConfig,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, INVALID_INVITATION_KEY, UNKNOWN_INVITATION, INVITATION_EXPIRED,
   * UNKNOWN_CONFIRMATION, CONFIRMATION_EXPIRED, INVITATION_REQUIRED, EMAIL_UNCONFIRMED, INVALID_EMAIL, EMAIL_NOT_ALLOWED,
   * EMAIL_TAKEN, EMAIL_OF_DEACTIVATED_USER, INVALID_USER_NAME, USER_NAME_TAKEN, WEAK_PASSWORD, SERVER_BUSY
   */
  async execute({ realmId, ip }: AnonymousCaller, input: JoinRealmInput): Promise<JoinedUser> {
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    const { password, cancellation } = input;
    // Runs every check before the slow hash, and repeats those that may have changed after it.
    const ahead = await this.uow.read(realmId, (repositories) => this.check(repositories, realmId, input));
    checkPassword(this.strength, password, [ahead.email, ahead.fullName]);
    const words = await this.systemMessages.parseWelcome(ahead.realm, (ahead.invitation ?? OPEN_OFFER).welcomeText);
    const passwordHash = await this.hasher.hash(password, { client: ip, cancellation });
    const joined = await this.uow.write(realmId, async (tx) => {
      const { realm, invitation, confirmation, email, fullName } = await this.check(tx, realmId, input);
      const offer = invitation ?? OPEN_OFFER;
      const now = this.clock.now();
      const channels = await channelsOf(tx, realm, offer, input.defaultChannelGroupIds ?? []);
      const { timezone, emailAddressVisibility } = input;
      const settings = {
        ...(emailAddressVisibility !== null && { emailAddressVisibility }),
        ...(timezone !== null && isTimeZone(timezone) && { timezone }),
      };
      const newcomer = { email, fullName, role: offer.role, passwordHash, settings, channels };
      const user = await addUser(tx, realm, newcomer, { now, mint: this.mint });
      await joinGroups(tx, offer, user);
      await attachHistory(tx, channels, user);
      if (confirmation) {
        await endConfirmation(tx, confirmation, now);
        await tx.bouncedAddresses.remove(confirmation.email);
      }
      if (invitation?.kind === 'email') {
        await endInvitation(tx, invitation, 'used', now);
        await publishInvitations(tx, realmId, invitation.inviterId);
        await this.notifyInviter(tx, realm, invitation, user);
      }
      await this.systemMessages.announceSignup(tx, realm, user);
      await this.systemMessages.sendWelcome(tx, realm, user, words);
      if (realm.settings.sendWelcomeEmails) await planWelcomeEmail(tx, user, now);
      if (requiresSecondFactor(realm.settings, user.role)) return { user, apiKey: null };
      return { user, apiKey: this.mint.derive((await tx.apiKeys.find(realmId, user.id))!) };
    });
    await rememberNetwork(this.uow, this.attempts, joined.user, ip, this.clock.now());
    return joined;
  }

  private async check(
    repositories: Repositories | Transaction,
    realmId: RealmId,
    input: JoinRealmInput,
  ): Promise<SignUp & { readonly email: string; readonly fullName: string }> {
    const signUp = await loadSignUp(repositories, this.keys, realmId, input.key, this.clock.now());
    const { realm } = signUp;
    if (signUp.email === null && this.config.confirmsAddresses) {
      throw new DomainError('EMAIL_UNCONFIRMED', 'Confirm your email address first.');
    }
    const email = await acceptedAddress(repositories, realm, signUp.email ?? input.email ?? '', this.disposable);
    await assertNoAccount(repositories, realmId, email);
    const fullName = parseFullName(input.fullName);
    await assertNameAvailable(repositories, realm, fullName);
    return { ...signUp, email, fullName };
  }

  private async notifyInviter(tx: Transaction, realm: Realm, invitation: Invitation, user: User): Promise<void> {
    if (!invitation.notifiesInviter) return;
    const inviter = await tx.users.find(realm.id, invitation.inviterId);
    if (!inviter?.isActive) return;
    const text = `${silentMention(user)} accepted your invitation to join Zulip!`;
    await this.systemMessages.sendDirect(tx, realm, inviter, text, { actor: null });
  }
}

/**
 * Returns the channels of the invitation, the default channels and the chosen groups, without archived ones
 * (organization §10.3).
 */
async function channelsOf(
  tx: Transaction,
  realm: Realm,
  offer: InvitationOffer,
  groupIds: readonly DefaultChannelGroupId[],
): Promise<readonly Channel[]> {
  const chosen = groupIds.length === 0 ? [] : await tx.defaultChannelGroups.list(realm.id);
  const ids = chosen.filter(({ id }) => groupIds.includes(id)).flatMap(({ channelIds }) => channelIds);
  const named = await tx.channels.list(realm.id, [...new Set([...offer.channelIds, ...ids])]);
  const all = offer.includesDefaultChannels ? await tx.channels.listAll(realm.id) : [];
  const byId = new Map([...named, ...all.filter(({ isDefault }) => isDefault)].map((channel) => [channel.id, channel]));
  return [...byId.values()].filter(({ isArchived }) => !isArchived).sort((a, b) => a.id - b.id);
}

async function joinGroups(tx: Transaction, { groupIds }: InvitationOffer, { id, realmId }: User): Promise<void> {
  for (const group of await tx.groups.list(realmId, groupIds)) {
    if (group.isDeactivated) continue;
    const added = await tx.groups.addMembers(realmId, group.id, [id]);
    if (added.length === 0) continue;
    await tx.events.append(realmId, {
      event: { type: 'group.members_changed', op: 'add', groupId: group.id, userIds: [id] },
      audience: wholeRealm,
    });
    await tx.yield();
  }
}

/** Gives the new user the newest messages of channels with readable history, so that their views are not empty. */
async function attachHistory(tx: Transaction, channels: readonly Channel[], { id, realmId }: User): Promise<void> {
  const viewer = { realmId, userId: id };
  const actor = await tx.actors.get(viewer);
  const recipientIds = channels
    .filter((channel) => hasFullHistoryAccess(actor, channel, true))
    .map(({ recipientId }) => recipientId);
  if (recipientIds.length === 0) return;
  const filter = { conditions: [{ kind: 'recipient', recipientIds }], scope: 'shared' } as const;
  const entries = await tx.pages.listEntriesUpTo(viewer, filter, null, MAX_HISTORY);
  const ids = entries.map((entry) => entry.id);
  await tx.personal.addHistorical(viewer, ids);
  await tx.personal.setRead(viewer, ids.slice(-UNREAD_HISTORY), false);
  await tx.yield();
}

/** Either a new account, or a confirmation email whose key completes the sign-up. */
export type JoinOutcome = JoinedUser | { readonly confirmedBy: 'email'; readonly email: string };

/** Joins in one step, or sends a confirmation email if the invitation does not prove the email (organization §10.7). */
export class JoinOrConfirm {
  static readonly inject = [JoinRealm, RequestSignUp] as const;
  constructor(
    private readonly joinRealm: JoinRealm,
    private readonly requestSignUp: RequestSignUp,
  ) {}

  /** @throws DomainError the codes of `JoinRealm` except EMAIL_UNCONFIRMED, and those of `RequestSignUp` */
  async execute(caller: AnonymousCaller, input: JoinRealmInput): Promise<JoinOutcome> {
    try {
      return await this.joinRealm.execute(caller, input);
    } catch (error) {
      if (!(error instanceof DomainError && error.is('EMAIL_UNCONFIRMED'))) throw error;
    }
    const { email } = await this.requestSignUp.execute(caller, { key: input.key, email: input.email ?? '' });
    return { confirmedBy: 'email', email };
  }
}
