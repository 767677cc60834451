import { composeLetter, type Letter, type Mailer } from '../access/letter.js';
import { LetterJobs, letterJobKind } from '../access/letter-job.js';
import { isId, type UserId } from '../kernel/ids.js';
import type { Job } from '../kernel/job.js';
import type { RealmUrls } from '../kernel/realm-urls.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';

interface EmailChangedNotice {
  readonly userId: UserId;
  /** The address they had before. */
  readonly before: string;
}

export const EMAIL_CHANGED_LETTER = letterJobKind<EmailChangedNotice>({
  name: 'accounts.email_changed_letter',
  readPayload: (stored) => {
    const { userId, before } = stored as Partial<EmailChangedNotice>;
    if (!isId(userId) || typeof before !== 'string') throw new TypeError('It names nobody');
    return { userId, before };
  },
});

/** Writes to the address that somebody had before about the new one, in case it was not they who changed it. */
export class EmailChangedLetters extends LetterJobs<EmailChangedNotice> {
  static readonly inject = ['mailer', 'unitOfWork', 'realmUrls'] as const;

  readonly kind = EMAIL_CHANGED_LETTER;

  constructor(
    mailer: Mailer,
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
  ) {
    super(mailer);
  }

  protected compose({ realmId, payload: { userId, before } }: Job<EmailChangedNotice>): Promise<Letter | null> {
    return this.uow.read(async ({ realms, users }) => {
      const realm = await realms.get(realmId);
      const user = await users.find(realmId, userId);
      if (!user) return null;
      return composeLetter({
        to: before,
        senderName: realm.name,
        subject: `Your address at ${realm.name} has changed`,
        paragraphs: [
          `The address of your account at ${realm.name} (${this.realmUrls.urlOf(realm)}) is ${user.email} from now on. You log in with it, and mail goes there.`,
          'If it was not you who changed it, tell an administrator of the organization at once.',
        ],
      });
    });
  }
}
