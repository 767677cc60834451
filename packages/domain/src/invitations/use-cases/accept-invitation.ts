import type { ApiKeyMint, PasswordHasher } from '../../authentication/api-keys.js';
import { checkPassword, type PasswordStrength } from '../../authentication/password-rules.js';
import type { IssuedKey } from '../../authentication/use-cases/fetch-api-key.js';
import { type AnonymousCaller, realmDeactivated } from '../../authentication/use-cases/password-log-in.js';
import type { Channel } from '../../channels/channel.js';
import { hasFullHistoryAccess } from '../../channels/channel-permissions.js';
import { wholeRealm } from '../../events/audience.js';
import { type SystemMessages, silentMention } from '../../messages/system-messages.js';
import type { Realm } from '../../realms/realm.js';
import type { Cancellation } from '../../shared/cancellation.js';
import type { Clock } from '../../shared/clock.js';
import { DomainError } from '../../shared/errors.js';
import type { RealmId } from '../../shared/ids.js';
import { enforce } from '../../shared/permission.js';
import { trim } from '../../shared/text.js';
import type { Repositories, Transaction, UnitOfWork } from '../../shared/unit-of-work.js';
import { addUser, assertNameAvailable } from '../../users/add-user.js';
import { isEmailAddress } from '../../users/email-address.js';
import { canJoinWith, type DisposableDomains, loadAddressPolicy } from '../../users/joining-address.js';
import { isTimeZone } from '../../users/time-zone.js';
import type { User } from '../../users/user.js';
import { parseFullName } from '../../users/user-name.js';
import type { EmailVisibility } from '../../users/user-settings.js';
import { type Invitation, type InvitationKeys, isOpen } from '../invitation.js';
import { endInvitation, publishInvitations } from '../invitation-changes.js';

export interface AcceptInvitationInput {
  readonly key: string;
  /** Asked for by links; what came by mail has an address. */
  readonly email: string | null;
  readonly fullName: string;
  readonly password: string;
  /** Null: as the organization has it for newcomers. */
  readonly emailAddressVisibility: EmailVisibility | null;
  /** Null, or none that there is: not said. */
  readonly timezone: string | null;
  /** Of whoever waits for the answer. */
  readonly cancellation?: Cancellation | undefined;
}

/** How much of their channels' past newcomers have as their own, and how much of that unread (organization §10.3). */
const MAX_HISTORY = 1000;
const UNREAD_HISTORY = 20;
/** Of a key by link or mail, and of one by which an address is confirmed. */
const KEY_LENGTHS = [24, 40];

/** Somebody who was invited joins, without pages (organization §10.2, §10.3). */
export class AcceptInvitation {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly keys: InvitationKeys,
    private readonly hasher: PasswordHasher,
    private readonly strength: PasswordStrength,
    private readonly disposable: DisposableDomains,
    private readonly mint: ApiKeyMint,
    private readonly systemMessages: SystemMessages,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, INVALID_INVITATION_KEY, UNKNOWN_INVITATION, INVITATION_EXPIRED,
   * INVALID_EMAIL, EMAIL_NOT_ALLOWED, EMAIL_TAKEN, EMAIL_OF_DEACTIVATED_USER, INVALID_USER_NAME, USER_NAME_TAKEN,
   * WEAK_PASSWORD, SERVER_BUSY
   */
  async execute({ realmId, ip }: AnonymousCaller, input: AcceptInvitationInput): Promise<IssuedKey> {
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    const { password, cancellation } = input;
    // Everything is checked before the slow hash is made, and what may have changed meanwhile once more after it.
    const ahead = await this.uow.read((repositories) => this.check(repositories, realmId, input));
    checkPassword(this.strength, password, [ahead.email, ahead.fullName]);
    const { realm, invitation } = ahead;
    const welcome = await this.systemMessages.parseWelcome(realm, invitation.welcomeText);
    const passwordHash = await this.hasher.hash(password, { client: ip, cancellation });
    const { timezone, emailAddressVisibility } = input;
    return this.uow.write(async (tx) => {
      const { realm, invitation, email, fullName } = await this.check(tx, realmId, input);
      const now = this.clock.now();
      const channels = await channelsOf(tx, realm, invitation);
      const settings = {
        ...(emailAddressVisibility !== null && { emailAddressVisibility }),
        ...(timezone !== null && isTimeZone(timezone) && { timezone }),
      };
      const newcomer = { email, fullName, role: invitation.role, passwordHash, settings, channels };
      const user = await addUser(tx, realm, newcomer, { now, mint: this.mint });
      await joinGroups(tx, invitation, user);
      await attachHistory(tx, channels, user);
      if (invitation.kind === 'email') {
        await endInvitation(tx, invitation, 'used', now);
        await publishInvitations(tx, realmId, invitation.inviterId);
        await this.notifyInviter(tx, realm, invitation, user);
      }
      await this.systemMessages.announceSignup(tx, realm, user);
      await this.systemMessages.sendWelcome(tx, realm, user, welcome);
      const record = await tx.apiKeys.find(realmId, user.id);
      return { apiKey: this.mint.derive(record!), user };
    });
  }

  private async check(
    repositories: Repositories | Transaction,
    realmId: RealmId,
    input: AcceptInvitationInput,
  ): Promise<{ realm: Realm; invitation: Invitation; email: string; fullName: string }> {
    const realm = await repositories.realms.get(realmId);
    if (realm.isDeactivated) throw realmDeactivated();
    const invitation = await this.find(repositories, realmId, input.key);
    const email = invitation.email ?? trim(input.email ?? '');
    if (!isEmailAddress(email)) throw new DomainError('INVALID_EMAIL', 'Enter a valid email address.');
    enforce(canJoinWith(email, await loadAddressPolicy(repositories, realm, this.disposable), 'joinForm'));
    const [owner] = await repositories.users.listByEmail(realmId, [email]);
    if (owner?.isActive) throw new DomainError('EMAIL_TAKEN', `${email} already has an account`);
    if (owner) throw new DomainError('EMAIL_OF_DEACTIVATED_USER', 'Account has been deactivated.');
    const fullName = parseFullName(input.fullName);
    await assertNameAvailable(repositories, realm, fullName);
    return { realm, invitation, email, fullName };
  }

  private async find(repositories: Repositories | Transaction, realmId: RealmId, key: string): Promise<Invitation> {
    if (!KEY_LENGTHS.includes(key.length)) {
      throw new DomainError('INVALID_INVITATION_KEY', 'The invitation link is malformed.');
    }
    const id = this.keys.read(key);
    const invitation = id === null ? null : await repositories.invitations.find(realmId, id);
    if (!invitation) throw new DomainError('UNKNOWN_INVITATION', 'The invitation link could not be found.');
    if (!isOpen(invitation, this.clock.now())) {
      throw new DomainError('INVITATION_EXPIRED', 'The invitation link has expired or been deactivated.');
    }
    return invitation;
  }

  private async notifyInviter(tx: Transaction, realm: Realm, invitation: Invitation, user: User): Promise<void> {
    if (!invitation.notifiesInviter) return;
    const inviter = await tx.users.find(realm.id, invitation.inviterId);
    if (!inviter?.isActive) return;
    const text = `${silentMention(user)} accepted your invitation to join Zulip!`;
    await this.systemMessages.sendDirect(tx, realm, inviter, text, { actor: null });
  }
}

/** Those of the invitation, and with it those that newcomers are put into now; archived ones are gone (organization §10.3). */
async function channelsOf(tx: Transaction, realm: Realm, invitation: Invitation): Promise<readonly Channel[]> {
  const named = await tx.channels.list(realm.id, invitation.channelIds);
  const all = invitation.includesDefaultChannels ? await tx.channels.listAll(realm.id) : [];
  const byId = new Map([...named, ...all.filter(({ isDefault }) => isDefault)].map((channel) => [channel.id, channel]));
  return [...byId.values()].filter(({ isArchived }) => !isArchived).sort((a, b) => a.id - b.id);
}

async function joinGroups(tx: Transaction, { realmId, groupIds }: Invitation, { id }: User): Promise<void> {
  for (const group of await tx.groups.list(realmId, groupIds)) {
    if (group.isDeactivated) continue;
    const added = await tx.groups.addMembers(realmId, group.id, [id]);
    if (added.length === 0) continue;
    await tx.events.append(realmId, {
      event: { type: 'group.members_changed', op: 'add', groupId: group.id, userIds: [id] },
      audience: wholeRealm,
    });
  }
}

/** The newest messages of channels whose past they may read are theirs, so that they find something to read. */
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
