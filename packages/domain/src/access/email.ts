import { type Job, type JobHandler, type JobKind, type JobWork, jobKind } from '../kernel/jobs.js';
import { escapeHtml, toSingleLine } from '../kernel/text.js';

/** What somebody gets by mail, in both forms. */
export interface Letter {
  /** An address that `isEmailAddress` takes. */
  readonly to: string;
  /** Shown as the sender beside the server's own address: an organization's name. One line without control characters. */
  readonly senderName: string;
  /** One line without control characters. */
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Sends letters: through a mail server, into files, or however the host application does. */
export interface Mailer {
  /** Resolves when the letter is out of our hands. @throws whatever went wrong: it is tried again later */
  send(letter: Letter): Promise<void>;
}

/** A letter in plain words, none of them markup. */
export interface LetterContent extends Pick<Letter, 'to' | 'senderName' | 'subject'> {
  readonly paragraphs: readonly string[];
  /** What the reader is asked to open, after the paragraphs. */
  readonly link?: { readonly label: string; readonly url: string };
  /** Below everything else, smaller: why one gets this. */
  readonly footer?: string;
}

/** Both forms of a letter, which say the same. */
export function composeLetter({ paragraphs, link, footer, to, ...content }: LetterContent): Letter {
  // Names may hold line ends, which not every mailer keeps out of the headers.
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
  };
}

/** What letters are counted by. */
export type LetterRule =
  | 'emailChangeByUser'
  | 'passwordResetByEmail'
  | 'signUpByEmail'
  | 'loginByUser'
  | 'anonymousByIp';

/** Keeps people from having the server send letters without end, to themselves or to others (protocol §11). */
export interface LetterQuota {
  /**
   * Counts one. `ip`: of whoever asks, where anybody may make up the key. @throws DomainError RATE_LIMITED; what is refused
   * does not count
   */
  take(rule: LetterRule, key: string, ip?: string): void;
  /** As if the last one had not been: no letter was sent. */
  withdraw(rule: LetterRule, key: string, ip?: string): void;
}

/** Mail servers may be down for a night; after about a day a letter is set aside. */
const RETRIES = { maxAttempts: 14, firstDelaySeconds: 30, maxDelaySeconds: 4 * 3600 };
/** Longer than a mailer may take: it gives up on its own before. */
const LEASE_SECONDS = 300;

/**
 * A kind of job that sends a letter each. The payload names what the letter is about by ids, and never holds a secret: the
 * letter is composed when it is sent.
 */
export const letterJobKind = <Payload>(kind: Pick<JobKind<Payload>, 'name' | 'readPayload'>): JobKind<Payload> =>
  jobKind({ ...kind, retries: RETRIES, leaseSeconds: LEASE_SECONDS });

/**
 * Sends the letters of one kind: at least once, since a crash may come between the sending and the unit that ends the job.
 * `compose` answers null for one that is no longer wanted.
 */
export abstract class LetterJobs<Payload> implements JobHandler<Payload> {
  abstract readonly kind: JobKind<Payload>;

  constructor(private readonly mailer: Mailer) {}

  protected abstract compose(job: Job<Payload>): Promise<Letter | null>;

  async prepare(job: Job<Payload>): Promise<JobWork> {
    const letter = await this.compose(job);
    if (letter !== null) await this.mailer.send(letter);
    return async () => {};
  }
}
