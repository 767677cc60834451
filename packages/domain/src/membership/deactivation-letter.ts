import { composeLetter, type Letter, type Mailer } from '../access/letter.js';
import { LetterJobs, letterJobKind } from '../access/letter-job.js';
import { isId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { encodeJob, type Job } from '../kernel/job.js';
import type { RealmUrls } from '../kernel/realm-urls.js';
import { trim } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';

/** In code points (users §4.1). */
export const MAX_DEACTIVATION_COMMENT_LENGTH = 2000;

interface DeactivationNotice {
  readonly userId: UserId;
  /** Who did it. */
  readonly byId: UserId;
  /** In their words; empty: they say nothing. */
  readonly comment: string;
}

export const DEACTIVATION_LETTER_JOB = letterJobKind<DeactivationNotice>({
  name: 'accounts.deactivation_letter',
  readPayload: (stored) => {
    const { userId, byId, comment } = stored as Partial<DeactivationNotice>;
    if (!isId(userId) || !isId(byId) || typeof comment !== 'string') throw new Error('It names nobody');
    return { userId, byId, comment };
  },
});

export const planDeactivationLetter = async (
  tx: Transaction,
  { id: realmId }: Realm,
  notice: DeactivationNotice,
  now: UnixSeconds,
): Promise<void> => {
  // Other control characters would be six characters each in the job.
  const comment = trim(notice.comment.replace(/[^\P{Cc}\n\t]/gu, ' '));
  const payload = { ...notice, comment };
  await tx.jobs.schedule(encodeJob(DEACTIVATION_LETTER_JOB, { realmId, dueAt: now, payload }));
};

/** Writes to those whose account an administrator has deactivated, and who are to be notified (users §4.1). */
export class DeactivationLetters extends LetterJobs<DeactivationNotice> {
  static readonly inject = ['mailer', 'unitOfWork', 'realmUrls'] as const;

  readonly kind = DEACTIVATION_LETTER_JOB;

  constructor(
    mailer: Mailer,
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
  ) {
    super(mailer);
  }

  protected compose({ realmId, payload: { userId, byId, comment } }: Job<DeactivationNotice>): Promise<Letter | null> {
    return this.uow.read(async ({ realms, users }) => {
      const realm = await realms.get(realmId);
      const user = await users.find(realmId, userId);
      const by = await users.find(realmId, byId);
      // Who is back already was deactivated by mistake.
      if (!user || user.isActive) return null;
      const who = by ? by.fullName : 'An administrator';
      return composeLetter({
        to: user.email,
        senderName: realm.name,
        subject: `Your account at ${realm.name} has been deactivated`,
        paragraphs: [
          `${who} has deactivated your account at ${realm.name} (${this.realmUrls.urlOf(realm)}). You cannot sign in any more.`,
          ...(comment === '' ? [] : [`${who} adds:`, comment]),
        ],
      });
    });
  }
}
