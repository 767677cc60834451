import { type Job, type JobHandler, type JobKind, type JobWork, jobKind } from '../kernel/jobs.js';
import { escapeHtml, toSingleLine } from '../kernel/text.js';

/** Email in text and HTML form. */
export interface Email {
  /** Address accepted by `isEmailAddress`. */
  readonly to: string;
  /** Display name beside the server's address, usually the realm name. Single line without control characters. */
  readonly senderName: string;
  /** Single line without control characters. */
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Message id with brackets that emails of one thread refer to; absent for none. */
  readonly threadId?: string;
  /** URL that turns such emails off by one POST request (RFC 8058); absent if they cannot be turned off. */
  readonly unsubscribeUrl?: string;
  /** Address for replies; absent if nobody reads them. */
  readonly replyTo?: string;
  /** True if somebody has just asked for it, so that it is sent even to an address that bounced. */
  readonly isRequested?: boolean;
}

/** Sends email through a mail server, to files or through the host application. */
export interface Mailer {
  /** Resolves when the email has been handed over. @throws any error; the job is retried later */
  send(email: Email): Promise<void>;
}

/** Plain text content of an email, without markup. */
export interface EmailContent extends Pick<Email, 'to' | 'senderName' | 'subject' | 'isRequested'> {
  readonly paragraphs: readonly string[];
  /** Link after the paragraphs. */
  readonly link?: { readonly label: string; readonly url: string };
  /** Small print at the bottom that explains why the recipient gets this email. */
  readonly footer?: string;
}

/** Composes the text and the HTML form with the same content. */
export function composeEmail({ paragraphs, link, footer, to, isRequested = false, ...content }: EmailContent): Email {
  // Names may contain line breaks, which not every mailer strips from headers.
  const senderName = toSingleLine(content.senderName);
  const subject = toSingleLine(content.subject);
  const text = [...paragraphs, ...(link ? [`${link.label}:\n${link.url}`] : []), ...(footer ? [`-- \n${footer}`] : [])];
  const html = [
    ...paragraphs.map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`),
    ...(link
      ? [`<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.label)}</a></p>`, `<p>${escapeHtml(link.url)}</p>`]
      : []),
    ...(footer ? [`<p><small>${escapeHtml(footer)}</small></p>`] : []),
  ];
  return {
    to,
    senderName,
    subject,
    text: `${text.join('\n\n')}\n`,
    html: `<!DOCTYPE html>\n<html>\n<head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>\n<body>\n${html.join('\n')}\n</body>\n</html>\n`,
    isRequested,
  };
}

/** Rate limit rules for emails. */
export type EmailRule =
  | 'emailChangeByUser'
  /** Per address and network of the requester. */
  | 'passwordResetByEmail'
  /** Per address, for all networks from which the account never logged in. */
  | 'passwordResetFromElsewhere'
  | 'signUpByEmail'
  | 'loginByUser'
  | 'anonymousByIp';

/** Limits the emails that users can trigger, to themselves or to others (protocol §11). */
export interface EmailQuota {
  /**
   * Counts one email; a rejected one does not count. `ip` is the requester's address, for keys that anyone can
   * invent. @throws DomainError RATE_LIMITED
   */
  take(rule: EmailRule, key: string, ip?: string): void;
  /** Reverts the last `take` because no email was sent. */
  withdraw(rule: EmailRule, key: string, ip?: string): void;
}

/** Covers an overnight outage of the mail server; after about a day the email is set aside. */
const RETRIES = { maxAttempts: 14, firstDelaySeconds: 30, maxDelaySeconds: 4 * 3600 };
/** Longer than the mailer's own timeout. */
const LEASE_SECONDS = 300;

/**
 * Defines a kind of job that sends one email. The payload contains ids but no secrets. The email is composed at
 * sending time.
 */
export const emailJobKind = <Payload>(kind: Pick<JobKind<Payload>, 'name' | 'readPayload'>): JobKind<Payload> =>
  jobKind({ ...kind, retries: RETRIES, leaseSeconds: LEASE_SECONDS });

/**
 * Sends emails of one kind at least once: a crash may occur between sending and ending the job. `compose` returns
 * null if the email is no longer wanted.
 */
export abstract class EmailJobs<Payload> implements JobHandler<Payload> {
  abstract readonly kind: JobKind<Payload>;

  constructor(private readonly mailer: Mailer) {}

  protected abstract compose(job: Job<Payload>): Promise<Email | null>;

  async prepare(job: Job<Payload>): Promise<JobWork> {
    const email = await this.compose(job);
    if (email !== null) await this.mailer.send(email);
    return async () => {};
  }
}
