import {
  type Confirmation,
  loadConfirmation,
  pretendConfirmation,
  requestConfirmation,
} from '../access/confirmations.js';
import { loginAttemptKey } from '../access/credentials.js';
import type { EmailQuota } from '../access/email.js';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UnixSeconds } from '../kernel/ids.js';
import type { Clock } from '../kernel/ports.js';
import { foldCase } from '../kernel/text.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { findEmailInvitation } from '../membership/admission.js';
import { withPresentOffer } from '../membership/invitation-changes.js';
import type { Invitation } from '../membership/invitations.js';
import { CONFIRMATION_KEY_LENGTH, loadInvitation, loadOpenRealm, type SignUpKeys } from '../membership/sign-up.js';
import type { Realm } from '../realms/realm.js';
import { canJoinWith, type DisposableDomains, loadAddressPolicy } from '../users/change-email.js';
import { admitsStrangers, type LogInMethod } from './log-in-methods.js';

type Reads = Repositories | Transaction;

/** Ids in the invitation or confirmation link that led to a log-in at a service. */
export interface LogInEvidence {
  readonly invitationId: number | null;
  readonly confirmationId: number | null;
}

/**
 * Parses a link key.
 * @throws DomainError INVALID_INVITATION_KEY, UNKNOWN_INVITATION, INVITATION_EXPIRED, UNKNOWN_CONFIRMATION,
 * CONFIRMATION_EXPIRED
 */
export async function readEvidence(
  reads: Reads,
  keys: SignUpKeys,
  realm: Realm,
  key: string,
  now: UnixSeconds,
): Promise<LogInEvidence> {
  if (key.length !== CONFIRMATION_KEY_LENGTH) {
    const { id } = await loadInvitation(reads, keys.invitations, realm, key, now);
    return { invitationId: id, confirmationId: null };
  }
  const wanted = { realmId: realm.id, purpose: ['signUp', 'logIn'], key } as const;
  const { id, invitationId } = await loadConfirmation(reads, keys.confirmations, wanted, now);
  return { invitationId, confirmationId: id };
}

export interface LogInProof {
  /** True if the person opened a link sent to the address. */
  readonly isAddressProven: boolean;
  /** Invitation for the address; null without one. */
  readonly invitation: Invitation | null;
  /** Null if the person confirmed another address or none. */
  readonly confirmation: Confirmation | null;
}

/** Returns what the evidence proves for the address. Links that have ended since then prove nothing. */
export async function proofFor(
  reads: Reads,
  realm: Realm,
  { email, evidence }: { readonly email: string; readonly evidence: LogInEvidence },
  now: UnixSeconds,
): Promise<LogInProof> {
  const { invitationId, confirmationId } = evidence;
  const isSame = (other: string | null) => other !== null && foldCase(other) === foldCase(email);
  const confirmed = confirmationId === null ? null : await reads.confirmations.find(realm.id, confirmationId);
  const confirmation = confirmed?.status === 'open' && isSame(confirmed.email) ? confirmed : null;
  const stored = invitationId === null ? null : await reads.invitations.find(realm.id, invitationId);
  const opened = stored?.status === 'open' ? await withPresentOffer(reads, realm, stored) : null;
  const isOpenedForAddress = opened !== null && isSame(opened.email);
  const isUsable = opened !== null && (opened.kind === 'link' || isOpenedForAddress);
  const invitation = isUsable ? opened : await findEmailInvitation(reads, realm, email, now);
  return {
    isAddressProven: confirmation !== null || isOpenedForAddress,
    invitation,
    confirmation,
  };
}

interface UnprovenPerson {
  readonly email: string;
  readonly method: LogInMethod;
  readonly evidence: LogInEvidence;
}

/**
 * Emails a link that proves the address, if a log-in with it would succeed. Neither the response nor its duration
 * reveals whether it would.
 */
async function requestProof(
  tx: Transaction,
  realm: Realm,
  { email, method, evidence }: UnprovenPerson,
  { disposable, now }: { readonly disposable: DisposableDomains; readonly now: UnixSeconds },
): Promise<void> {
  const owner = await tx.users.findByEmail(realm.id, email);
  const { invitation } = await proofFor(tx, realm, { email, evidence }, now);
  const mayLogIn = owner
    ? owner.isActive && !owner.bot
    : (invitation !== null || admitsStrangers(method, realm)) &&
      canJoinWith(email, await loadAddressPolicy(tx, realm, disposable), 'joinForm').allowed;
  if (!mayLogIn) return pretendConfirmation(tx, realm.id, now);
  const wanted = { realmId: realm.id, purpose: 'logIn', userId: null } as const;
  // Email invitations are found by address.
  const invitationId = !owner && invitation?.kind === 'link' ? invitation.id : null;
  await requestConfirmation(tx, { ...wanted, email: owner?.email ?? email, invitationId }, now);
}

/** Emails that prove the address of a person who logs in at a service. */
export class AddressProofs {
  static readonly inject = ['unitOfWork', 'emailQuota', 'disposableDomains', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly emails: EmailQuota,
    private readonly disposable: DisposableDomains,
    private readonly clock: Clock,
  ) {}

  /** Returns the refusal if too many emails were sent. Others may use them up; the address's owner can still log in. */
  async request(
    realmId: RealmId,
    { subject, ...person }: UnprovenPerson & { readonly subject: string },
    ip: string | undefined,
  ): Promise<DomainError | null> {
    const { email, method } = person;
    try {
      // Counted per account, since many people may share a network address and may be able to change their email address.
      this.emails.take('signUpByEmail', `${realmId} ${method.name} ${subject}`, ip);
      this.emails.take('signUpByEmail', loginAttemptKey(realmId, email), ip);
      const { disposable } = this;
      const now = this.clock.now();
      await this.uow.write(realmId, async (tx) =>
        requestProof(tx, await loadOpenRealm(tx, realmId), person, { disposable, now }),
      );
      return null;
    } catch (error) {
      if (!(error instanceof DomainError) || !error.is('RATE_LIMITED')) throw error;
      return error;
    }
  }
}
