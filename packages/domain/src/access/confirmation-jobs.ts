import type { Clock } from '../kernel/clock.js';
import { isId } from '../kernel/ids.js';
import { idPayload, type Job, jobKind } from '../kernel/job.js';
import type { JobHandler, JobWork } from '../kernel/job-handler.js';
import type { RealmUrls } from '../kernel/realm-urls.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import type { ConfirmationPurpose } from './confirmation.js';
import { composeLetter, type Letter, type LetterContent, type Mailer } from './letter.js';
import { LetterJobs, letterJobKind } from './letter-job.js';
import type { LinkKeys } from './link-keys.js';

/** Null: nothing is sent. */
interface LetterPayload {
  readonly confirmationId: number | null;
}

type ForgetPayload = { readonly confirmationId: number };

export const CONFIRMATION_LETTER = letterJobKind<LetterPayload>({
  name: 'confirmations.letter',
  readPayload: (stored) => {
    const { confirmationId } = stored as LetterPayload;
    if (confirmationId !== null && !isId(confirmationId)) throw new TypeError('no confirmation');
    return { confirmationId };
  },
});

export const FORGET_CONFIRMATION = jobKind<ForgetPayload>({
  name: 'confirmations.forget',
  readPayload: idPayload('confirmationId'),
});

/** Where whoever has the link goes. */
const PATHS: Readonly<Record<ConfirmationPurpose, string>> = {
  signUp: '/accounts/do_confirm/',
  emailChange: '/accounts/confirm_new_email/',
  passwordReset: '/accounts/password/reset/',
};

/** What the link leads to. `origin`: where the organization is reached. */
export const confirmationUrl = (origin: string, purpose: ConfirmationPurpose, key: string): string =>
  origin + PATHS[purpose] + key;

const VALIDITY = 'The link is good for one day.';

/** Sends the links by which somebody confirms that the mail of an address is theirs. */
export class SendConfirmationLetters extends LetterJobs<LetterPayload> {
  static readonly inject = ['mailer', 'unitOfWork', 'confirmationKeys', 'realmUrls', 'clock'] as const;

  readonly kind = CONFIRMATION_LETTER;

  constructor(
    mailer: Mailer,
    private readonly uow: UnitOfWork,
    private readonly keys: LinkKeys,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
  ) {
    super(mailer);
  }

  protected async compose({ realmId, payload: { confirmationId } }: Job<LetterPayload>): Promise<Letter | null> {
    if (confirmationId === null) return null;
    const { realm, confirmation, user } = await this.uow.read(async ({ realms, users, confirmations }) => {
      const found = await confirmations.find(realmId, confirmationId);
      return {
        realm: await realms.get(realmId),
        confirmation: found,
        user: found?.userId ? await users.find(realmId, found.userId) : null,
      };
    });
    const isOpen = confirmation?.status === 'open' && confirmation.expiresAt > this.clock.now();
    if (!isOpen || realm.isDeactivated) return null;
    const { email, purpose, id } = confirmation;
    const url = this.realmUrls.urlOf(realm);
    const content: LetterContent = {
      to: email,
      senderName: realm.name,
      ...CONTENTS[purpose]({
        organization: `${realm.name} (${url})`,
        name: realm.name,
        email,
        isActive: user?.isActive,
      }),
    };
    if (content.link === undefined) return composeLetter(content);
    return composeLetter({
      ...content,
      link: { ...content.link, url: confirmationUrl(url, purpose, this.keys.derive(id)) },
    });
  }
}

interface Circumstances {
  /** With its address. */
  readonly organization: string;
  readonly name: string;
  readonly email: string;
  /** Of the account; undefined: there is none. */
  readonly isActive: boolean | undefined;
}

type Content = Pick<LetterContent, 'subject' | 'paragraphs' | 'link' | 'footer'>;

/** The link's address comes from where it leads. */
const link = (label: string) => ({ label, url: '' });

const CONTENTS: Readonly<Record<ConfirmationPurpose, (circumstances: Circumstances) => Content>> = {
  signUp: ({ organization, name }) => ({
    subject: `Confirm your address for ${name}`,
    paragraphs: [`You are signing up for ${organization}. Confirm that this is your address to go on.`, VALIDITY],
    link: link('Complete registration'),
    footer: 'If it was not you who asked for this, there is nothing that you have to do.',
  }),
  emailChange: ({ organization, name, email }) => ({
    subject: `Confirm your new address for ${name}`,
    paragraphs: [`The address of your account at ${organization} is to become ${email}.`, VALIDITY],
    link: link('Confirm this address'),
    footer: 'If it was not you who asked for this, there is nothing that you have to do.',
  }),
  passwordReset: ({ organization, name, email, isActive }) =>
    isActive
      ? {
          subject: `Set a new password for ${name}`,
          paragraphs: [`Somebody asked for a new password for the account ${email} at ${organization}.`, VALIDITY],
          link: link('Set a new password'),
          footer: 'If it was not you, there is nothing that you have to do: your password stays as it is.',
        }
      : {
          subject: `Your account at ${name}`,
          paragraphs: [
            `Somebody asked for a new password for the account ${email} at ${organization}. The account is deactivated; an administrator of the organization can activate it again.`,
          ],
        },
};

/** Forgets those that ended a while ago. */
export class ForgetConfirmations implements JobHandler<ForgetPayload> {
  static readonly inject = [] as const;

  readonly kind = FORGET_CONFIRMATION;

  async prepare({ realmId, payload }: Job<ForgetPayload>): Promise<JobWork> {
    return (tx) => tx.confirmations.remove(realmId, payload.confirmationId);
  }
}
