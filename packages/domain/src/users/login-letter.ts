import { composeLetter, type Letter, type Mailer } from '../access/letter.js';
import { LetterJobs, letterJobKind } from '../access/letter-job.js';
import type { LetterQuota } from '../access/letter-quota.js';
import type { Clock } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import { isId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { encodeJob, type Job } from '../kernel/job.js';
import type { RealmUrls } from '../kernel/realm-urls.js';
import { takeCodePoints } from '../kernel/text.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import type { User } from './user.js';

/** Where somebody logged in from, as far as it is known. */
interface LoginSource {
  /** As the program calls itself. */
  readonly clientName?: string | undefined;
  readonly ip?: string | undefined;
}

interface LoginNotice {
  readonly userId: UserId;
  readonly at: UnixSeconds;
  readonly clientName: string | null;
  readonly ip: string | null;
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const LOGIN_LETTER = letterJobKind<LoginNotice>({
  name: 'authentication.login_letter',
  readPayload: (stored) => {
    const { userId, at, clientName, ip } = stored as Partial<LoginNotice>;
    if (!isId(userId) || !Number.isSafeInteger(at)) throw new TypeError('It names nobody');
    return { userId, at: at!, clientName: textOrNull(clientName), ip: textOrNull(ip) };
  },
});

/** Who has only just joined knows that they log in. */
const NEWCOMER_SECONDS = 60;
/** Of what comes from the request, in code points. */
const MAX_SOURCE_LENGTH = 100;

/** Plans a letter to whoever logs in, so that they notice log-ins that were somebody else's (protocol §8.1). */
export class LoginLetters {
  static readonly inject = ['unitOfWork', 'letterQuota', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly quota: LetterQuota,
    private readonly clock: Clock,
  ) {}

  /** To those who want it, and not without end: a program may ask for its key each time it runs. */
  async plan(user: User, { clientName, ip }: LoginSource): Promise<void> {
    const { realmId, id: userId, settings, joinedAt, bot } = user;
    const now = this.clock.now();
    if (!settings.enableLoginEmails || bot !== null || now - joinedAt <= NEWCOMER_SECONDS) return;
    try {
      this.quota.take('loginByUser', String(userId));
    } catch (error) {
      if (error instanceof DomainError && error.is('RATE_LIMITED')) return;
      throw error;
    }
    const payload = { userId, at: now, clientName: shortened(clientName), ip: shortened(ip) };
    await this.uow.write((tx) => tx.jobs.schedule(encodeJob(LOGIN_LETTER, { realmId, dueAt: now, payload })));
  }
}

const shortened = (text: string | undefined): string | null => takeCodePoints(text ?? '', MAX_SOURCE_LENGTH) || null;

/** Writes to people about log-ins to their accounts, which may have been somebody else's. */
export class SendLoginLetters extends LetterJobs<LoginNotice> {
  static readonly inject = ['mailer', 'unitOfWork', 'realmUrls'] as const;

  readonly kind = LOGIN_LETTER;

  constructor(
    mailer: Mailer,
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
  ) {
    super(mailer);
  }

  protected async compose({ realmId, payload }: Job<LoginNotice>): Promise<Letter | null> {
    const { realm, user } = await this.uow.read(async ({ realms, users }) => ({
      realm: await realms.get(realmId),
      user: await users.find(realmId, payload.userId),
    }));
    if (!user?.isActive || realm.isDeactivated) return null;
    const url = this.realmUrls.urlOf(realm);
    return composeLetter({
      to: user.email,
      senderName: realm.name,
      subject: `New log-in to ${realm.name}`,
      paragraphs: [
        `Somebody has logged in to your account ${user.email} at ${realm.name} (${url}).`,
        `When: ${timeFor(user, payload.at)}`,
        `Program: ${payload.clientName ?? 'unknown'}`,
        `Network address: ${payload.ip ?? 'unknown'}`,
        'If this was you, there is nothing that you have to do. If it was not, set a new password at once and ask for a new API key.',
      ],
      link: { label: 'Set a new password', url: `${url}/accounts/password/reset/` },
      footer: 'You get this because the setting "Send email notifications for new logins to my account" is on.',
    });
  }
}

/** In their time zone, if they named one. */
function timeFor({ settings }: User, at: UnixSeconds): string {
  const timeZone = settings.timezone === '' ? 'UTC' : settings.timezone;
  return new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'long', timeZone }).format(new Date(at * 1000));
}
