import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { dayOf, MAX_INVITATION_LETTERS_PER_DAY } from '../invitation.js';
import { sendLetter } from '../invitation-changes.js';
import { judgeInvitees } from '../invitees.js';
import { loadChangeable } from '../load-changeable.js';

export interface ResendInvitationInput {
  readonly id: number;
}

/** The same letter once more; it is good for no longer (organization §9.4). */
export class ResendInvitation {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError MUST_NOT_BE_GUEST, MUST_NOT_BE_BOT, UNKNOWN_INVITATION, MUST_BE_OWNER, NOT_INVITER,
   * INVITATION_FAILED
   */
  execute(caller: Caller, { id }: ResendInvitationInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const invitation = await loadChangeable(tx, caller, { kind: 'email', id });
      const now = this.clock.now();
      const sent = await tx.invitations.countLetters(caller.realmId, dayOf(now));
      const hasReachedDailyLimit = sent >= MAX_INVITATION_LETTERS_PER_DAY;
      const invitees = [{ email: invitation.email!, state: 'new' }] as const;
      enforce(judgeInvitees(invitees, { hasReachedDailyLimit, isTooNew: false }).decision);
      await tx.invitations.addLetters(caller.realmId, dayOf(now), 1);
      await sendLetter(tx, invitation, now);
    });
  }
}
