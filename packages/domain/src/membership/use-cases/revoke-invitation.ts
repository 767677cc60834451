import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { endInvitation, publishInvitations } from '../invitation-changes.js';
import type { InvitationKind } from '../invitation-permissions.js';
import { loadChangeable } from '../load-changeable.js';

export interface RevokeInvitationInput {
  readonly kind: InvitationKind;
  readonly id: number;
}

/** Nobody joins by it any more (organization §9.4). */
export class RevokeInvitation {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError MUST_NOT_BE_GUEST, MUST_NOT_BE_BOT, UNKNOWN_INVITATION, MUST_BE_OWNER, NOT_INVITER,
   * INVITATION_REVOKED
   */
  execute(caller: Caller, input: RevokeInvitationInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const invitation = await loadChangeable(tx, caller, input);
      await endInvitation(tx, invitation, 'revoked', this.clock.now());
      await publishInvitations(tx, caller.realmId, invitation.inviterId);
    });
  }
}
