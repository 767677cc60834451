import type { Confirmation } from '../access/confirmation.js';
import { loadConfirmation } from '../access/confirmation-changes.js';
import type { LinkKeys } from '../access/link-keys.js';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UnixSeconds } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import { trim } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { isEmailAddress } from '../users/email-address.js';
import { canJoinWith, type DisposableDomains, loadAddressPolicy } from '../users/joining-address.js';
import { realmDeactivated } from '../users/use-cases/password-log-in.js';
import { type Invitation, type InvitationOffer, isOpen } from './invitation.js';

/** By what somebody signs up. */
export interface SignUp {
  readonly realm: Realm;
  /** Null: anybody may join. */
  readonly invitation: Invitation | null;
  /** By which they have shown that the address is theirs; null: by none, or by a letter that invited them. */
  readonly confirmation: Confirmation | null;
  /** Null: they say it themselves. */
  readonly email: string | null;
}

/** Of both kinds of links. */
export interface SignUpKeys {
  readonly invitations: LinkKeys;
  readonly confirmations: LinkKeys;
}

/** Of a key by link or letter, and of one by which an address is confirmed. */
const INVITATION_KEY_LENGTH = 24;
const CONFIRMATION_KEY_LENGTH = 40;

/** What those get who join without an invitation (organization §10.3). */
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
 * By a key from a link, from a letter of invitation, or from one that confirms an address.
 * @throws DomainError REALM_DEACTIVATED, INVALID_INVITATION_KEY, UNKNOWN_INVITATION, INVITATION_EXPIRED, UNKNOWN_CONFIRMATION,
 * CONFIRMATION_EXPIRED, INVITATION_REQUIRED
 */
export async function loadSignUp(
  repositories: Reads,
  keys: SignUpKeys,
  realmId: RealmId,
  key: string,
  now: UnixSeconds,
): Promise<SignUp> {
  const realm = await loadOpenRealm(repositories, realmId);
  if (key.length !== CONFIRMATION_KEY_LENGTH) {
    const invitation = await loadInvitation(repositories, keys.invitations, realmId, key, now);
    return { realm, invitation, confirmation: null, email: invitation.email };
  }
  const wanted = { realmId, purpose: 'signUp', key } as const;
  const confirmation = await loadConfirmation(repositories, keys.confirmations, wanted, now);
  const { invitationId, email } = confirmation;
  if (invitationId === null) {
    assertOpenToAll(realm, email);
    return { realm, invitation: null, confirmation, email };
  }
  const invitation = await repositories.invitations.find(realmId, invitationId);
  // Who came in time may finish.
  if (invitation?.status !== 'open') throw invitationExpired();
  return { realm, invitation, confirmation, email };
}

/** @throws DomainError INVALID_INVITATION_KEY, UNKNOWN_INVITATION, INVITATION_EXPIRED */
export async function loadInvitation(
  { invitations }: Reads,
  keys: LinkKeys,
  realmId: RealmId,
  key: string,
  now: UnixSeconds,
): Promise<Invitation> {
  if (key.length !== INVITATION_KEY_LENGTH) {
    throw new DomainError('INVALID_INVITATION_KEY', 'The invitation link is malformed.');
  }
  const id = keys.read(key);
  const invitation = id === null ? null : await invitations.find(realmId, id);
  if (!invitation) throw new DomainError('UNKNOWN_INVITATION', 'The invitation link could not be found.');
  if (!isOpen(invitation, now)) throw invitationExpired();
  return invitation;
}

const invitationExpired = () =>
  new DomainError('INVITATION_EXPIRED', 'The invitation link has expired or been deactivated.');

/** @throws DomainError INVITATION_REQUIRED (organization §10.1) */
export function assertOpenToAll({ settings }: Realm, email: string): void {
  if (!settings.inviteRequired) return;
  throw new DomainError(
    'INVITATION_REQUIRED',
    `Please request an invite for ${email} from the organization administrator.`,
  );
}

/**
 * The address, trimmed, of somebody who may join with it.
 * @throws DomainError INVALID_EMAIL, EMAIL_NOT_ALLOWED
 */
export async function acceptedAddress(
  repositories: Reads,
  realm: Realm,
  raw: string,
  disposable: DisposableDomains,
): Promise<string> {
  const email = trim(raw);
  if (!isEmailAddress(email)) throw new DomainError('INVALID_EMAIL', 'Enter a valid email address.');
  enforce(canJoinWith(email, await loadAddressPolicy(repositories, realm, disposable), 'joinForm'));
  return email;
}

/** @throws DomainError EMAIL_TAKEN, EMAIL_OF_DEACTIVATED_USER */
export async function assertNoAccount({ users }: Reads, realmId: RealmId, email: string): Promise<void> {
  const [owner] = await users.listByEmail(realmId, [email]);
  if (owner?.isActive) throw new DomainError('EMAIL_TAKEN', `${email} already has an account`);
  if (owner) throw new DomainError('EMAIL_OF_DEACTIVATED_USER', 'Account has been deactivated.');
}
