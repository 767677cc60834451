import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { enforce } from '../../kernel/permission.js';
import { foldCase } from '../../kernel/text.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { isEmailAddress } from '../../users/email-address.js';
import { addressFault, type DisposableDomains, loadAddressPolicy } from '../../users/joining-address.js';
import { checkOffer } from '../check-offer.js';
import {
  dayOf,
  type InvitationOffer,
  MAX_INVITATION_LETTERS_PER_DAY,
  parseInvitees,
  requireRoomForInvitations,
} from '../invitation.js';
import { addInvitations, publishInvitations } from '../invitation-changes.js';
import { expiryOf, type InvitationConfig } from '../invitation-defaults.js';
import { canInvite, canInviteAs, isTooNewToInvite } from '../invitation-permissions.js';
import { type Invitee, type InviteeState, judgeInvitees } from '../invitees.js';

export interface InviteByEmailInput extends InvitationOffer {
  /** Addresses between commas or line breaks, as they were typed. */
  readonly invitees: string;
  /** Null: for ever; undefined: as the server has it. */
  readonly expiresInMinutes: number | null | undefined;
  readonly notifiesInviter: boolean;
}

/** A letter to each address, by which one person may join (organization §9.3). */
export class InviteByEmail {
  static readonly inject = ['unitOfWork', 'disposableDomains', 'clock', 'invitationConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly disposable: DisposableDomains,
    private readonly clock: Clock,
    private readonly config: InvitationConfig,
  ) {}

  /**
   * INVITATION_FAILED may come after some were invited; its details say so.
   * @throws DomainError MUST_NOT_BE_GUEST, MUST_NOT_BE_BOT, NOT_PERMITTED, MUST_BE_OWNER, CANNOT_INVITE_WITH_ROLE,
   * INVITEES_REQUIRED, TOO_MANY_INVITEES, UNKNOWN_CHANNEL, CANNOT_SUBSCRIBE_OTHERS, UNKNOWN_GROUP, GROUP_DEACTIVATED,
   * TOO_MANY_INVITATIONS, INVITATION_FAILED
   */
  async execute(
    caller: Caller,
    { invitees, expiresInMinutes, notifiesInviter, ...wanted }: InviteByEmailInput,
  ): Promise<void> {
    const decision = await this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const realm = await tx.realms.get(caller.realmId);
      enforce(canInvite(actor, realm, 'email'));
      enforce(canInviteAs(actor, wanted.role));
      const addresses = parseInvitees(invitees);
      const offer = await checkOffer(tx, actor, realm, wanted);

      const now = this.clock.now();
      const day = dayOf(now);
      const sent = await tx.invitations.countLetters(realm.id, day);
      const user = await tx.users.find(realm.id, actor.id);
      const outcome = judgeInvitees(await this.statesOf(tx, realm, addresses), {
        hasReachedDailyLimit: sent + addresses.length > MAX_INVITATION_LETTERS_PER_DAY,
        isTooNew: isTooNewToInvite(actor, realm, user?.joinedAt ?? now, now),
      });
      const { invited } = outcome;
      if (invited.length === 0) return outcome.decision;
      requireRoomForInvitations(await tx.invitations.countOpen(realm.id, now), invited.length);
      await tx.invitations.addLetters(realm.id, day, invited.length);
      const given = {
        ...offer,
        realmId: realm.id,
        kind: 'email',
        inviterId: actor.id,
        invitedAt: now,
        expiresAt: expiryOf(expiresInMinutes, this.config, now),
        status: 'open',
        notifiesInviter,
      } as const;
      await addInvitations(tx, given, invited);
      await publishInvitations(tx, realm.id, actor.id);
      return outcome.decision;
    });
    enforce(decision);
  }

  private async statesOf(tx: Transaction, realm: Realm, addresses: readonly string[]): Promise<readonly Invitee[]> {
    const policy = await loadAddressPolicy(tx, realm, this.disposable);
    const wellFormed = addresses.filter(isEmailAddress);
    const owners = new Map(
      (await tx.users.listByEmail(realm.id, wellFormed)).map((user) => [foldCase(user.email), user]),
    );
    const stateOf = (email: string): InviteeState => {
      if (!isEmailAddress(email)) return 'malformed';
      const fault = addressFault(email, policy);
      if (fault !== null) return fault;
      const owner = owners.get(foldCase(email));
      if (!owner) return 'new';
      if (owner.bot?.isSystem) return 'isSystemBot';
      return owner.isActive ? 'hasAccount' : 'isDeactivated';
    };
    return addresses.map((email) => ({ email, state: stateOf(email) }));
  }
}
