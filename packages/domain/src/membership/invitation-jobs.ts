import { composeLetter, type Letter, type Mailer } from '../access/letter.js';
import { LetterJobs, letterJobKind } from '../access/letter-job.js';
import type { LinkKeys } from '../access/link-keys.js';
import type { Clock } from '../kernel/clock.js';
import { isId } from '../kernel/ids.js';
import { idPayload, type Job, jobKind } from '../kernel/job.js';
import type { JobHandler, JobWork } from '../kernel/job-handler.js';
import type { RealmUrls } from '../kernel/realm-urls.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { isEmailPublic } from '../users/email-visibility.js';
import { isOpen } from './invitation.js';

interface LetterPayload {
  readonly invitationId: number;
  readonly isReminder: boolean;
}

export const INVITATION_LETTER = letterJobKind<LetterPayload>({
  name: 'invitations.letter',
  readPayload: (stored) => {
    const { invitationId, isReminder } = stored as Partial<LetterPayload>;
    if (!isId(invitationId)) throw new TypeError('no invitation');
    return { invitationId, isReminder: isReminder === true };
  },
});

export const FORGET_INVITATION = jobKind<{ readonly invitationId: number }>({
  name: 'invitations.forget',
  readPayload: idPayload('invitationId'),
});

/** Sends invitations by mail, and reminds of them (organization §9.3). */
export class SendInvitationLetters extends LetterJobs<LetterPayload> {
  static readonly inject = ['mailer', 'unitOfWork', 'invitationKeys', 'realmUrls', 'clock'] as const;

  readonly kind = INVITATION_LETTER;

  constructor(
    mailer: Mailer,
    private readonly uow: UnitOfWork,
    private readonly keys: LinkKeys,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
  ) {
    super(mailer);
  }

  protected async compose({ realmId, payload }: Job<LetterPayload>): Promise<Letter | null> {
    const { realm, invitation, inviter } = await this.uow.read(async (repositories) => {
      const found = await repositories.invitations.find(realmId, payload.invitationId);
      return {
        realm: await repositories.realms.get(realmId),
        invitation: found,
        inviter: found && (await repositories.users.find(realmId, found.inviterId)),
      };
    });
    const isWanted = invitation && !realm.isDeactivated && isOpen(invitation, this.clock.now());
    if (!isWanted || invitation.email === null || !inviter) return null;
    const { isReminder } = payload;
    return composeLetter({
      to: invitation.email,
      senderName: realm.name,
      subject: `${isReminder ? 'Reminder: ' : ''}${inviter.fullName} has invited you to join ${realm.name}`,
      paragraphs: [
        'Hello,',
        `${inviter.fullName}${isEmailPublic(inviter) ? ` (${inviter.email})` : ''} wants you to join them in ${realm.name}, where teams talk in channels and topics.`,
        ...(isReminder ? ['This is a reminder: the invitation is not good for much longer.'] : []),
      ],
      link: {
        label: 'Complete registration',
        url: `${this.realmUrls.urlOf(realm)}/accounts/do_confirm/${this.keys.derive(invitation.id)}`,
      },
      footer: 'If you do not want to join, there is nothing that you have to do.',
    });
  }
}

/** Forgets invitations that ended long ago. */
export class ForgetInvitations implements JobHandler<{ readonly invitationId: number }> {
  static readonly inject = [] as const;

  readonly kind = FORGET_INVITATION;

  async prepare({ realmId, payload }: Job<{ readonly invitationId: number }>): Promise<JobWork> {
    return (tx) => tx.invitations.remove(realmId, payload.invitationId);
  }
}
