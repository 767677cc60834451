import { DomainError, declareErrors } from '../kernel/errors.js';
import { isId, type RealmId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { encodeJob, idPayload, type Job, type JobHandler, type JobWork, jobKind } from '../kernel/jobs.js';
import type { Clock, RealmUrls, Seed } from '../kernel/ports.js';
import { foldCase } from '../kernel/text.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import {
  composeEmail,
  EMAIL_PORTS,
  type Email,
  type EmailContent,
  EmailJobs,
  emailJobKind,
  type Mailer,
  type NoticeTexts,
  type NoticeWords,
} from './email.js';
import type { NoticeText } from './notice-texts.js';

export const CONFIRMATION_ERRORS = declareErrors({
  /** No link with this key was sent for this purpose. */
  UNKNOWN_CONFIRMATION: 'unknown',
  /** The link was used, has expired, or was replaced by a newer one. */
  CONFIRMATION_EXPIRED: 'conflict',
  /** The maximum number of pending sign-ups is reached. */
  TOO_MANY_SIGN_UPS: 'conflict',
});

type ConfirmationErrors = typeof CONFIRMATION_ERRORS;

/** Action confirmed with an emailed link that only the recipient knows. */
export type ConfirmationPurpose = 'signUp' | 'emailChange' | 'passwordReset' | 'logIn';

/**
 * Pending action to be confirmed by the recipient of an email. The key is derived and never stored; see `LinkKeys`.
 */
export interface Confirmation {
  /** Unique on the server and never reused. */
  readonly id: number;
  readonly realmId: RealmId;
  readonly purpose: ConfirmationPurpose;
  /** Recipient of the link; for an email change, the new address. */
  readonly email: string;
  /** Account to change; null for a sign-up and for a log-in at a service. */
  readonly userId: UserId | null;
  /** Invitation used for the sign-up or log-in; null if there was none. */
  readonly invitationId: number | null;
  readonly expiresAt: UnixSeconds;
  /** `ended` by use or replacement. */
  readonly status: 'open' | 'ended';
  readonly seed: Seed;
}

type NewConfirmation = Omit<Confirmation, 'id' | 'seed'>;

/** Validity of links (organization §10.1). */
export const CONFIRMATION_SECONDS = 86_400;
/** Time during which an expired link is reported as expired, before its key becomes unknown. */
export const KEEP_ENDED_CONFIRMATION_SECONDS = 86_400;
/**
 * Limit on sign-ups per organization, including ended ones that are still kept. Users have one confirmation per
 * purpose.
 */
export const MAX_SIGN_UPS = 10_000;

/** @throws DomainError TOO_MANY_SIGN_UPS */
export function requireRoomForSignUp(present: number): void {
  if (present < MAX_SIGN_UPS) return;
  throw new DomainError('TOO_MANY_SIGN_UPS', 'Too many people are signing up at the moment. Try again tomorrow.');
}

/** Subject with at most one open confirmation per purpose: a user, or the address of a person without an account. */
export const subjectOf = ({ userId, email }: Pick<Confirmation, 'userId' | 'email'>): string =>
  userId === null ? foldCase(email) : String(userId);

export interface ConfirmationReads {
  /** Returns null if the confirmation belongs to another organization. */
  find(realmId: RealmId, id: number): Promise<Confirmation | null>;
  /** Returns the open confirmation, even if expired. See `subjectOf` for `subject`. */
  findOpen(realmId: RealmId, purpose: ConfirmationPurpose, subject: string): Promise<Confirmation | null>;
  /** Counts open and ended confirmations. */
  count(realmId: RealmId, purpose: ConfirmationPurpose): Promise<number>;
}

/** Every implementation passes confirmation-repository.contract.ts. */
export interface ConfirmationRepository extends ConfirmationReads {
  /** Adds it with a new seed. Requires that no other confirmation of this purpose and subject is open. */
  add(confirmation: NewConfirmation): Promise<Confirmation>;
  /** Updates only `expiresAt` and `status`. */
  update(confirmation: Confirmation): Promise<void>;
  remove(realmId: RealmId, id: number): Promise<void>;
}

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends ConfirmationErrors {}
  interface RepositoryMap {
    confirmations: [reads: ConfirmationReads, repository: ConfirmationRepository];
  }
}

export const CONFIRMATION_FEATURE = {
  notExported: {
    confirmations: 'Their links are secrets.',
  },
};

/** Row with a link. */
export interface SeededLink {
  readonly id: number;
  readonly seed: Seed;
}

/**
 * Derives the key of a link from its seed and the server's secret, so that links can be shown again without being
 * stored. Fast enough for transactions.
 */
export interface LinkKeys {
  /** Returns a fixed number of characters `a-z2-7`. */
  derive(link: SeededLink): string;
  /**
   * Returns the row of a key; null if the key was made by another server, for another purpose or for a former row.
   * `load` returns the row with an id that is not verified yet.
   */
  find<Row extends SeededLink>(key: string, load: (id: number) => Promise<Row | null>): Promise<Row | null>;
}

/** Null to send no email. */
interface ConfirmationEmailPayload {
  readonly confirmationId: number | null;
}

type ForgetPayload = { readonly confirmationId: number };

export const CONFIRMATION_EMAIL = emailJobKind<ConfirmationEmailPayload>({
  name: 'confirmations.letter',
  readPayload: (stored) => {
    const { confirmationId } = stored as ConfirmationEmailPayload;
    if (confirmationId !== null && !isId(confirmationId)) throw new TypeError('no confirmation');
    return { confirmationId };
  },
});

export const FORGET_CONFIRMATION = jobKind<ForgetPayload>({
  name: 'confirmations.forget',
  isFixed: true,
  deletes: true,
  readPayload: idPayload('confirmationId'),
});

/** Link path for each purpose. */
const PATHS: Readonly<Record<ConfirmationPurpose, string>> = {
  signUp: '/accounts/do_confirm/',
  emailChange: '/accounts/confirm_new_email/',
  passwordReset: '/accounts/password/reset/',
  logIn: '/accounts/login/confirm/',
};

/** Returns the URL of a confirmation link. `origin` is the organization's address. */
export const confirmationUrl = (origin: string, purpose: ConfirmationPurpose, key: string): string =>
  origin + PATHS[purpose] + key;

/** Emails links to confirm an email address. */
export class SendConfirmationEmails extends EmailJobs<ConfirmationEmailPayload> {
  static readonly inject = [...EMAIL_PORTS, 'confirmationKeys', 'clock'] as const;

  readonly kind = CONFIRMATION_EMAIL;

  constructor(
    mailer: Mailer,
    texts: NoticeTexts,
    uow: UnitOfWork,
    realmUrls: RealmUrls,
    private readonly keys: LinkKeys,
    private readonly clock: Clock,
  ) {
    super(mailer, texts, uow, realmUrls);
  }

  protected async compose({
    realmId,
    payload: { confirmationId },
  }: Job<ConfirmationEmailPayload>): Promise<Email | null> {
    if (confirmationId === null) return null;
    const { realm, confirmation, user, hasPassword } = await this.uow.read(realmId, async (reads) => {
      const { realms, users, confirmations } = reads;
      const found = await confirmations.find(realmId, confirmationId);
      return {
        hasPassword: found?.userId ? (await users.findPasswordHash(realmId, found.userId)) !== null : false,
        realm: await realms.get(realmId),
        confirmation: found,
        user: found?.userId ? await users.find(realmId, found.userId) : null,
      };
    });
    const isOpen = confirmation?.status === 'open' && confirmation.expiresAt > this.clock.now();
    if (!isOpen || realm.isDeactivated) return null;
    const { email, purpose } = confirmation;
    const words = this.wordsFor(user, realm);
    const url = this.realmUrls.urlOf(realm);
    const content: EmailContent = {
      to: email,
      senderName: realm.name,
      isRequested: true,
      language: words.language,
      ...CONTENTS[purpose](words.t, {
        organization: `${realm.name} (${url})`,
        name: realm.name,
        email,
        isActive: user?.isActive,
        hasPassword,
      }),
    };
    if (content.link === undefined) return composeEmail(content);
    return composeEmail({
      ...content,
      link: { ...content.link, url: confirmationUrl(url, purpose, this.keys.derive(confirmation)) },
    });
  }
}

interface Circumstances {
  /** Organization name with its address. */
  readonly organization: string;
  readonly name: string;
  readonly email: string;
  /** State of the account; undefined if there is none. */
  readonly isActive: boolean | undefined;
  /** False for an account that another person created or that logs in by other means. */
  readonly hasPassword: boolean;
}

type Content = Pick<EmailContent, 'subject' | 'paragraphs' | 'link' | 'footer'>;
type Translate = NoticeWords['t'];

/** Email with a link; its empty URL is replaced when the email is composed. */
const withLink = (t: Translate, label: NoticeText, subject: string, paragraph: string): Content => ({
  subject,
  paragraphs: [paragraph, t('The link expires after one day.')],
  link: { label: t(label), url: '' },
  footer: t('If you did not request this, ignore this email.'),
});

const CONTENTS: Readonly<Record<ConfirmationPurpose, (t: Translate, circumstances: Circumstances) => Content>> = {
  signUp: (t, { organization, name }) =>
    withLink(
      t,
      'Complete registration',
      t('Confirm your address for {name}', { name }),
      t('You are signing up for {organization}. Confirm that this is your address to continue.', { organization }),
    ),
  logIn: (t, { organization, name }) =>
    withLink(
      t,
      'Confirm this address',
      t('Confirm your address for {name}', { name }),
      t(
        'Someone logged in to {organization} through a service that has not verified this address. Confirm that it is yours, and log in again.',
        { organization },
      ),
    ),
  emailChange: (t, { organization, name, email }) =>
    withLink(
      t,
      'Confirm this address',
      t('Confirm your new address for {name}', { name }),
      t('You are changing the address of your account at {organization} to {email}.', { organization, email }),
    ),
  passwordReset: (t, { organization, name, email, isActive, hasPassword }) => {
    const requested = t('Someone requested a new password for the account {email} at {organization}.', {
      email,
      organization,
    });
    if (!isActive) {
      const deactivated = t('The account is deactivated. An administrator of the organization can reactivate it.');
      return { subject: t('Your account at {name}', { name }), paragraphs: [requested, deactivated] };
    }
    if (hasPassword) {
      return withLink(t, 'Set a new password', t('Set a new password for {name}', { name }), requested);
    }
    return withLink(
      t,
      'Set a password',
      t('Your account at {name}', { name }),
      t('You have an account, {email}, at {organization}. Set a password to log in.', { email, organization }),
    );
  },
};

/** Deletes confirmations that ended some time ago. */
export class ForgetConfirmations implements JobHandler<ForgetPayload> {
  static readonly inject = [] as const;

  readonly kind = FORGET_CONFIRMATION;

  async prepare({ realmId, payload }: Job<ForgetPayload>): Promise<JobWork> {
    return (tx) => tx.confirmations.remove(realmId, payload.confirmationId);
  }
}

type Wanted = Omit<NewConfirmation, 'expiresAt' | 'status'>;

/** Emails the link of `openConfirmation`. @throws DomainError TOO_MANY_SIGN_UPS */
export async function requestConfirmation(tx: Transaction, wanted: Wanted, now: UnixSeconds): Promise<void> {
  const { id } = await openConfirmation(tx, wanted, now);
  const email = { realmId: wanted.realmId, dueAt: now, payload: { confirmationId: id }, key: String(id) };
  await tx.jobs.schedule(encodeJob(CONFIRMATION_EMAIL, email));
}

/**
 * Returns the confirmation of the link. An identical pending request is reused and extended; a different one is
 * ended. @throws DomainError TOO_MANY_SIGN_UPS
 */
export async function openConfirmation(tx: Transaction, wanted: Wanted, now: UnixSeconds): Promise<Confirmation> {
  const { realmId, purpose } = wanted;
  const expiresAt = now + CONFIRMATION_SECONDS;
  let open = await tx.confirmations.findOpen(realmId, purpose, subjectOf(wanted));
  if (open && !isSame(open, wanted, now)) {
    await endConfirmation(tx, open, now);
    open = null;
  }
  if (open) await tx.confirmations.update({ ...open, expiresAt });
  else if (wanted.userId === null) requireRoomForSignUp(await tx.confirmations.count(realmId, purpose));
  const confirmation = open ?? (await tx.confirmations.add({ ...wanted, expiresAt, status: 'open' }));
  await forgetAt(tx, realmId, confirmation.id, expiresAt + KEEP_ENDED_CONFIRMATION_SECONDS);
  return confirmation;
}

/** True if an earlier email for the same request has a valid link. */
export async function hasOpenConfirmation(tx: Transaction, wanted: Wanted, now: UnixSeconds): Promise<boolean> {
  const open = await tx.confirmations.findOpen(wanted.realmId, wanted.purpose, subjectOf(wanted));
  return open !== null && isSame(open, wanted, now);
}

/**
 * Does as much work as for a real email without sending one, so that timing does not reveal whether an address is
 * known.
 */
export async function pretendConfirmation(tx: Transaction, realmId: RealmId, now: UnixSeconds): Promise<void> {
  await tx.jobs.schedule(
    encodeJob(CONFIRMATION_EMAIL, { realmId, dueAt: now, payload: { confirmationId: null }, key: 'nobody' }),
  );
}

const isSame = (open: Confirmation, wanted: Wanted, now: UnixSeconds): boolean =>
  open.expiresAt > now && open.email === wanted.email && open.invitationId === wanted.invitationId;

/** Invalidates the link of a confirmation. */
export async function endConfirmation(tx: Transaction, confirmation: Confirmation, now: UnixSeconds): Promise<void> {
  await tx.confirmations.update({ ...confirmation, status: 'ended' });
  await forgetAt(tx, confirmation.realmId, confirmation.id, now + KEEP_ENDED_CONFIRMATION_SECONDS);
}

/** Ends a user's pending confirmation, if any. */
export async function endConfirmationOf(
  tx: Transaction,
  { realmId, id }: { readonly realmId: RealmId; readonly id: UserId },
  purpose: ConfirmationPurpose,
  now: UnixSeconds,
): Promise<void> {
  const open = await tx.confirmations.findOpen(realmId, purpose, String(id));
  if (open) await endConfirmation(tx, open, now);
}

/** @throws DomainError UNKNOWN_CONFIRMATION, CONFIRMATION_EXPIRED */
export async function loadConfirmation(
  { confirmations }: Pick<Repositories | Transaction, 'confirmations'>,
  keys: LinkKeys,
  wanted: {
    readonly realmId: RealmId;
    readonly purpose: ConfirmationPurpose | readonly ConfirmationPurpose[];
    readonly key: string;
  },
  now: UnixSeconds,
): Promise<Confirmation> {
  const confirmation = await keys.find(wanted.key, (id) => confirmations.find(wanted.realmId, id));
  if (!confirmation || ![wanted.purpose].flat().includes(confirmation.purpose)) {
    throw new DomainError('UNKNOWN_CONFIRMATION', 'The confirmation link could not be found.');
  }
  if (confirmation.status === 'ended' || confirmation.expiresAt <= now) throw confirmationExpired();
  return confirmation;
}

export const confirmationExpired = () =>
  new DomainError('CONFIRMATION_EXPIRED', 'The confirmation link has expired or been deactivated.');

async function forgetAt(tx: Transaction, realmId: RealmId, confirmationId: number, dueAt: UnixSeconds): Promise<void> {
  await tx.jobs.schedule(
    encodeJob(FORGET_CONFIRMATION, { realmId, dueAt, payload: { confirmationId }, key: String(confirmationId) }),
  );
}
