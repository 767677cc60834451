import type { LinkKeys } from '../../access/link-keys.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { enforce } from '../../kernel/permission.js';
import type { RealmUrls } from '../../kernel/realm-urls.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { checkOffer } from '../check-offer.js';
import { type InvitationOffer, requireRoomForInvitations } from '../invitation.js';
import { addInvitations, publishInvitations } from '../invitation-changes.js';
import { expiryOf, type InvitationConfig } from '../invitation-defaults.js';
import { invitationLink } from '../invitation-link.js';
import { canInvite, canInviteAs } from '../invitation-permissions.js';

export interface CreateInvitationLinkInput extends InvitationOffer {
  /** Null: for ever; undefined: as the server has it. */
  readonly expiresInMinutes: number | null | undefined;
}

/** A link by which anybody who has it may join (organization §9.1). */
export class CreateInvitationLink {
  static readonly inject = ['unitOfWork', 'invitationKeys', 'realmUrls', 'clock', 'invitationConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly keys: LinkKeys,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
    private readonly config: InvitationConfig,
  ) {}

  /**
   * Answers the link.
   * @throws DomainError MUST_NOT_BE_GUEST, MUST_NOT_BE_BOT, NOT_PERMITTED, MUST_BE_OWNER, CANNOT_INVITE_WITH_ROLE,
   * UNKNOWN_CHANNEL, CANNOT_SUBSCRIBE_OTHERS, UNKNOWN_GROUP, GROUP_DEACTIVATED, TOO_MANY_INVITATIONS
   */
  execute(caller: Caller, { expiresInMinutes, ...given }: CreateInvitationLinkInput): Promise<string> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const realm = await tx.realms.get(caller.realmId);
      enforce(canInvite(actor, realm, 'link'));
      enforce(canInviteAs(actor, given.role));
      const offer = await checkOffer(tx, actor, realm, given);
      const now = this.clock.now();
      requireRoomForInvitations(await tx.invitations.countOpen(realm.id, now), 1);
      const link = {
        ...offer,
        realmId: realm.id,
        kind: 'link',
        inviterId: actor.id,
        invitedAt: now,
        expiresAt: expiryOf(expiresInMinutes, this.config, now),
        status: 'open',
        notifiesInviter: false,
      } as const;
      const [invitation] = await addInvitations(tx, link, [null]);
      await publishInvitations(tx, realm.id, actor.id);
      return invitationLink(this.realmUrls.urlOf(realm), this.keys.derive(invitation!.id));
    });
  }
}
