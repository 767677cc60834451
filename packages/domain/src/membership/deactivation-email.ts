import { composeEmail, EMAIL_PORTS, type Email, EmailJobs, emailJobKind } from '../access/email.js';
import { isId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { encodeJob, type Job } from '../kernel/jobs.js';
import { trim } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';

/** Maximum length in code points (users §4.1). */
export const MAX_DEACTIVATION_COMMENT_LENGTH = 2000;

interface DeactivationNotice {
  readonly userId: UserId;
  /** Administrator who deactivated the account. */
  readonly byId: UserId;
  /** Comment by the administrator; empty if there is none. */
  readonly comment: string;
}

export const DEACTIVATION_EMAIL = emailJobKind<DeactivationNotice>({
  name: 'accounts.deactivation_letter',
  readPayload: (stored) => {
    const { userId, byId, comment } = stored as Partial<DeactivationNotice>;
    if (!isId(userId) || !isId(byId) || typeof comment !== 'string')
      throw new TypeError('Job payload has no user id or comment');
    return { userId, byId, comment };
  },
});

export const planDeactivationEmail = async (
  tx: Transaction,
  { id: realmId }: Realm,
  notice: DeactivationNotice,
  now: UnixSeconds,
): Promise<void> => {
  // Other control characters would take six characters each in the job payload.
  const comment = trim(notice.comment.replace(/[^\P{Cc}\n\t]/gu, ' '));
  const payload = { ...notice, comment };
  await tx.jobs.schedule(encodeJob(DEACTIVATION_EMAIL, { realmId, dueAt: now, payload }));
};

/** Emails users after an administrator deactivated their account with notification (users §4.1). */
export class DeactivationEmails extends EmailJobs<DeactivationNotice> {
  static readonly inject = [...EMAIL_PORTS] as const;
  readonly kind = DEACTIVATION_EMAIL;

  protected async compose({ realmId, payload }: Job<DeactivationNotice>): Promise<Email | null> {
    const { realm, user, by } = await this.uow.read(realmId, async ({ realms, users }) => ({
      realm: await realms.get(realmId),
      user: await users.find(realmId, payload.userId),
      by: await users.find(realmId, payload.byId),
    }));
    // A reactivated user does not need the email, since the deactivation was probably a mistake.
    if (!user || user.isActive) return null;
    const { name } = realm;
    const { language, t } = this.wordsFor(user, realm);
    const person = by?.fullName ?? t('An administrator');
    return composeEmail({
      to: user.email,
      senderName: name,
      language,
      subject: t('Your account at {name} has been deactivated', { name }),
      paragraphs: [
        t('{person} has deactivated your account at {organization}. You can no longer log in.', {
          person,
          organization: `${name} (${this.realmUrls.urlOf(realm)})`,
        }),
        ...(payload.comment === '' ? [] : [t('Comment by {person}:', { person }), payload.comment]),
      ],
    });
  }
}
