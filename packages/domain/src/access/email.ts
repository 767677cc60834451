import type { JobId } from '../kernel/ids.js';
import { type Job, type JobHandler, type JobKind, type JobWork, jobKind } from '../kernel/jobs.js';
import { directionOf, type TextLanguage, textLanguageOf } from '../kernel/languages.js';
import type { RealmUrls } from '../kernel/ports.js';
import { escapeHtml, toSingleLine } from '../kernel/text.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import type { NoticeText } from './notice-texts.js';

/** Email in text and HTML form. */
export interface Email {
  /** Address accepted by `isHostAddress`. */
  readonly to: string;
  /** Display name next to the server's address, usually the realm name. Single line without control characters. */
  readonly senderName: string;
  /** Single line without control characters. */
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /**
   * Identifies a delivery across its attempts; absent if there is only one attempt. Content may differ between
   * attempts.
   */
  readonly deliveryId?: string;
  /** Message id of the email thread, in brackets; absent if there is no thread. */
  readonly threadId?: string;
  /** URL that turns off such emails with one POST request (RFC 8058); absent if they cannot be turned off. */
  readonly unsubscribeUrl?: string;
  /** Reply address; absent if replies are not read. */
  readonly replyTo?: string;
  /** True if someone has just requested the email, so that it is sent even to a bounced address. */
  readonly isRequested?: boolean;
}

/** Sends email through a mail server, to files or through the host application. */
export interface Mailer {
  /** Resolves when the email has been handed over. @throws any error; the job is retried later */
  send(email: Email): Promise<void>;
  /** Deletes emails to this address that the mailer keeps. Absent if it keeps none. */
  removeTo?(address: string): Promise<void>;
}

/** Texts of emails and push notifications in the recipient's language. */
export interface NoticeWords {
  readonly language: TextLanguage;
  /** Values replace the words in braces. */
  readonly t: (text: NoticeText, values?: Readonly<Record<string, string | number>>) => string;
}

/** Returns the translation of English texts into a language. A text without a translation is in English. */
export type NoticeTexts = (
  language: TextLanguage,
) => (text: string, values?: Readonly<Record<string, string | number>>) => string;

interface HasLanguage {
  readonly settings: { readonly defaultLanguage: string };
}

/**
 * Returns the texts of emails in the user's language, else in the organization's. `user`: null for people without an
 * account.
 */
export function emailWords(texts: NoticeTexts, user: HasLanguage | null, realm: HasLanguage): NoticeWords {
  const speakers = user === null ? [realm] : [user, realm];
  const language = textLanguageOf(speakers.map(({ settings }) => settings.defaultLanguage));
  return { language, t: texts(language) };
}

/** Plain text content of an email, without markup. */
export interface EmailContent extends Pick<Email, 'to' | 'senderName' | 'subject' | 'isRequested'> {
  readonly language: TextLanguage;
  readonly paragraphs: readonly string[];
  /** Link after the paragraphs. */
  readonly link?: { readonly label: string; readonly url: string };
  /** Small print at the bottom that explains why the recipient gets this email. */
  readonly footer?: string;
}

/** Composes text and HTML forms with the same content. */
export function composeEmail(given: EmailContent): Email {
  const { language, paragraphs, link, footer, to, isRequested = false, ...content } = given;
  // Names may contain line breaks, which some mailers do not strip from headers.
  const senderName = toSingleLine(content.senderName);
  const subject = toSingleLine(content.subject);
  const text = [...paragraphs, ...(link ? [`${link.label}:\n${link.url}`] : []), ...(footer ? [`-- \n${footer}`] : [])];
  const body = [
    ...paragraphs.map((paragraph) => `<p style="margin:0 0 20px;overflow-wrap:anywhere">${escapeHtml(paragraph)}</p>`),
    ...(link
      ? [
          emailButton(link.label, link.url),
          `<p style="margin:20px 0 0;font-size:13px;overflow-wrap:anywhere"><bdi>${escapeHtml(link.url)}</bdi></p>`,
        ]
      : []),
  ];
  return {
    to,
    senderName,
    subject,
    text: `${text.join('\n\n')}\n`,
    html: emailDocument(language, subject, body, footer ? escapeHtml(footer) : null),
    isRequested,
  };
}

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

/** Link that looks like a button. */
export const emailButton = (label: string, url: string): string =>
  `<p style="margin:24px 0 0"><a href="${escapeHtml(url)}" style="background:#1558b0;color:#fff;border-radius:6px;` +
  `display:inline-block;padding:10px 18px;text-decoration:none">${escapeHtml(label)}</a></p>`;

/** Heading of a part below the subject. */
export const emailHeading = (markup: string): string =>
  `<h2 style="font-size:16px;margin:0 0 4px;overflow-wrap:anywhere">${markup}</h2>`;

/** Composes the HTML form, with the subject as heading. Email clients support little CSS, and only in attributes. `footer`: markup. */
export function emailDocument(
  language: TextLanguage,
  subject: string,
  body: readonly string[],
  footer: string | null,
): string {
  // Some email clients keep only the content of the body.
  const words = `lang="${language}" dir="${directionOf(language)}"`;
  return `<!DOCTYPE html>
<html ${words}>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(subject)}</title></head>
<body style="background:#f1f3f6;color:#1b1f24;margin:0;padding:16px;font-size:16px;line-height:1.5;${FONT}">
<div ${words} style="background:#fff;border-radius:8px;margin:0 auto;max-width:560px;padding:24px">
<h1 style="font-size:20px;line-height:1.3;margin:0 0 20px;overflow-wrap:anywhere">${escapeHtml(subject)}</h1>
${body.join('\n')}
</div>
${footer === null ? '' : `<p ${words} style="color:#545c66;font-size:13px;margin:16px auto;max-width:560px">${footer}</p>\n`}</body>
</html>
`;
}

/** Rate limit rules for emails. */
export type EmailRule =
  | 'emailChangeByUser'
  /** Per address and network of the requester. */
  | 'passwordResetByEmail'
  /** Per address, across all networks that the account has never logged in from. */
  | 'passwordResetFromElsewhere'
  | 'signUpByEmail'
  | 'loginByUser'
  | 'anonymousByIp';

/** Limits the emails that users can trigger, to themselves or to others (protocol §11). */
export interface EmailQuota {
  /**
   * Counts one email; a rejected email does not count. `ip` is the requester's address, for keys that anyone can
   * invent. @throws DomainError RATE_LIMITED
   */
  take(rule: EmailRule, key: string, ip?: string): void;
  /** Reverts the last `take` because no email was sent. */
  withdraw(rule: EmailRule, key: string, ip?: string): void;
}

/** Covers an overnight outage of the mail server; after about a day the email is set aside. */
const RETRIES = { maxAttempts: 14, firstDelaySeconds: 30, maxDelaySeconds: 4 * 3600 };
/** Lease longer than the mailer's own timeout, so that attempts do not overlap. */
const LEASE_SECONDS = 300;

/**
 * Defines a kind of job that sends one email. The payload contains ids but no secrets. The email is composed when it is
 * sent.
 */
export const emailJobKind = <Payload>(kind: Pick<JobKind<Payload>, 'name' | 'readPayload'>): JobKind<Payload> =>
  jobKind({ ...kind, retries: RETRIES, leaseSeconds: LEASE_SECONDS, callsOthers: true });

/** Delivery id from a job id, which is never reused. */
export const deliveryIdOf = ({ name }: { readonly name: string }, { id }: { readonly id: JobId }): string =>
  `${name} ${id}`;

/** Dependencies of all email jobs. */
export const EMAIL_PORTS = ['mailer', 'noticeTexts', 'unitOfWork', 'realmUrls'] as const;

/**
 * Sends emails of one kind at least once: a crash may occur between sending and completing the job. `compose` returns
 * null if the email is no longer wanted.
 */
export abstract class EmailJobs<Payload> implements JobHandler<Payload> {
  abstract readonly kind: JobKind<Payload>;

  constructor(
    private readonly mailer: Mailer,
    private readonly texts: NoticeTexts,
    protected readonly uow: UnitOfWork,
    protected readonly realmUrls: RealmUrls,
  ) {}

  protected wordsFor(user: HasLanguage | null, realm: HasLanguage): NoticeWords {
    return emailWords(this.texts, user, realm);
  }

  protected abstract compose(job: Job<Payload>): Promise<Email | null>;

  async prepare(job: Job<Payload>): Promise<JobWork> {
    const email = await this.compose(job);
    if (email !== null) await this.mailer.send({ ...email, deliveryId: deliveryIdOf(this.kind, job) });
    return async () => {};
  }
}
