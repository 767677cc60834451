import { composeLetter, type Letter, type Mailer } from '../access/letter.js';
import { LetterJobs, letterJobKind } from '../access/letter-job.js';
import type { UnixSeconds, UserId } from '../kernel/ids.js';
import { encodeJob, idPayload, type Job } from '../kernel/job.js';
import type { RealmUrls } from '../kernel/realm-urls.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { User } from '../users/user.js';

type WelcomePayload = { readonly userId: UserId };

const WELCOME_LETTER = letterJobKind<WelcomePayload>({
  name: 'invitations.welcome_letter',
  readPayload: idPayload('userId'),
});

export const planWelcomeLetter = (tx: Transaction, { realmId, id: userId }: User, now: UnixSeconds): Promise<unknown> =>
  tx.jobs.schedule(encodeJob(WELCOME_LETTER, { realmId, dueAt: now, payload: { userId } }));

/** Writes to newcomers where and how they log in (organization §10.4). */
export class SendWelcomeLetters extends LetterJobs<WelcomePayload> {
  static readonly inject = ['mailer', 'unitOfWork', 'realmUrls'] as const;

  readonly kind = WELCOME_LETTER;

  constructor(
    mailer: Mailer,
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
  ) {
    super(mailer);
  }

  protected compose({ realmId, payload }: Job<WelcomePayload>): Promise<Letter | null> {
    return this.uow.read(async ({ realms, users }) => {
      const realm = await realms.get(realmId);
      const user = await users.find(realmId, payload.userId);
      if (!user?.isActive || realm.isDeactivated) return null;
      const url = this.realmUrls.urlOf(realm);
      return composeLetter({
        to: user.email,
        senderName: realm.name,
        subject: `Welcome to ${realm.name}`,
        paragraphs: [
          `You have joined ${realm.name}. These are what you log in with:`,
          `Organization: ${url}`,
          `Address: ${user.email}`,
          'Password: the one that you chose when you signed up.',
        ],
        link: { label: 'How to connect', url: `${url}/` },
      });
    });
  }
}
