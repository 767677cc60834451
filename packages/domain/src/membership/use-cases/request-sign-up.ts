import { requestConfirmation } from '../../access/confirmation-changes.js';
import type { LetterQuota } from '../../access/letter-quota.js';
import { loginAttemptKey } from '../../access/login-attempts.js';
import type { AnonymousCaller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { RealmId } from '../../kernel/ids.js';
import type { Repositories, Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { DisposableDomains } from '../../users/joining-address.js';
import type { InvitationConfig } from '../invitation-defaults.js';
import {
  acceptedAddress,
  assertNoAccount,
  assertOpenToAll,
  loadInvitation,
  loadOpenRealm,
  type SignUpKeys,
} from '../sign-up.js';

export interface RequestSignUpInput {
  /** Of an invitation link; null: they were not invited. */
  readonly key: string | null;
  readonly email: string;
}

/**
 * Somebody wants to join by a link, or an organization that is open to all, and shows first that the address is theirs (organization
 * §10.1). Where the server has no mail of its own, who was invited joins without.
 */
export class RequestSignUp {
  static readonly inject = [
    'unitOfWork',
    'signUpKeys',
    'letterQuota',
    'disposableDomains',
    'clock',
    'invitationConfig',
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly keys: SignUpKeys,
    private readonly letters: LetterQuota,
    private readonly disposable: DisposableDomains,
    private readonly clock: Clock,
    private readonly config: InvitationConfig,
  ) {}

  /**
   * Whether they go on by a letter, with the address as it was understood.
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, INVALID_INVITATION_KEY, UNKNOWN_INVITATION, INVITATION_EXPIRED,
   * INVALID_EMAIL, EMAIL_NOT_ALLOWED, INVITATION_REQUIRED, RATE_LIMITED, EMAIL_TAKEN, EMAIL_OF_DEACTIVATED_USER,
   * TOO_MANY_SIGN_UPS
   */
  async execute(
    { realmId, ip }: AnonymousCaller,
    input: RequestSignUpInput,
  ): Promise<{ readonly email: string; readonly isSent: boolean }> {
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    const { email } = await this.uow.read((repositories) => this.check(repositories, realmId, input));
    if (input.key !== null && !this.config.confirmsAddresses) {
      await this.uow.read((repositories) => assertNoAccount(repositories, realmId, email));
      return { email, isSent: false };
    }
    // Before anybody learns whose the address is.
    if (ip !== undefined) this.letters.take('anonymousByIp', ip);
    this.letters.take('signUpByEmail', loginAttemptKey(realmId, email), ip);
    await this.uow.write(async (tx) => {
      const { invitationId } = await this.check(tx, realmId, input);
      await assertNoAccount(tx, realmId, email);
      const wanted = { realmId, purpose: 'signUp', email, userId: null, invitationId } as const;
      await requestConfirmation(tx, wanted, this.clock.now());
    });
    return { email, isSent: true };
  }

  private async check(
    repositories: Repositories | Transaction,
    realmId: RealmId,
    { key, email: raw }: RequestSignUpInput,
  ): Promise<{ readonly email: string; readonly invitationId: number | null }> {
    const realm = await loadOpenRealm(repositories, realmId);
    const now = this.clock.now();
    const invitation =
      key === null ? null : await loadInvitation(repositories, this.keys.invitations, realmId, key, now);
    // What came by mail is for one address, which it confirms.
    if (invitation && invitation.kind !== 'link') {
      throw new DomainError('UNKNOWN_INVITATION', 'The invitation link could not be found.');
    }
    const email = await acceptedAddress(repositories, realm, raw, this.disposable);
    if (!invitation) assertOpenToAll(realm, email);
    return { email, invitationId: invitation?.id ?? null };
  }
}
