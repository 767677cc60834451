import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Email, type Mailer, RecipientRefused } from '@parley/domain/access';
import type { Clock } from '@parley/domain/kernel';
import { type MailTokenAccount, MailTokens } from './mail-tokens.js';
import type { OutgoingProxy } from './outgoing-proxy.js';

const require = createRequire(import.meta.url);

/** Loads nodemailer only when email is sent. */
export const nodemailer = (): typeof import('nodemailer') => require('nodemailer') as typeof import('nodemailer');

/** Sender identity of emails. */
export interface MailSender {
  readonly from: string;
  /** Header value by which the server recognizes its own emails; absent if it receives no email. */
  readonly fingerprint?: string;
  /** Returns the bounce address for a recipient; absent to use `from`. */
  readonly bounceAddressOf?: (to: string) => string;
}

/**
 * Returns the same id for each delivery attempt, so that receivers drop duplicates. Changed content gets a new id,
 * since an earlier attempt may already have arrived.
 */
function messageIdOf({ deliveryId, to, subject, text }: Email, from: string): string {
  const content = JSON.stringify([deliveryId, to, subject, text]);
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 32);
  return `<${digest}@${from.slice(from.lastIndexOf('@') + 1)}>`;
}

/** Message for nodemailer, which encodes text and rejects addresses with line breaks. */
export const mailOf = (email: Email, { from, fingerprint, bounceAddressOf }: MailSender) => {
  const { to, senderName, subject, text, html, deliveryId, threadId, unsubscribeUrl, replyTo } = email;
  return {
    from: { name: senderName, address: from },
    to: { name: '', address: to },
    ...(replyTo !== undefined && { replyTo: { name: senderName, address: replyTo } }),
    ...(bounceAddressOf && { envelope: { from: bounceAddressOf(to), to } }),
    subject,
    text,
    html,
    ...(deliveryId !== undefined && { messageId: messageIdOf(email, from) }),
    ...(threadId !== undefined && { inReplyTo: threadId, references: threadId }),
    headers: {
      'Auto-Submitted': 'auto-generated',
      // Exchange and Outlook send replies about absence unless they find this.
      'X-Auto-Response-Suppress': 'All',
      ...(fingerprint !== undefined && { 'X-Parley-Server': fingerprint }),
      ...(unsubscribeUrl !== undefined && {
        'List-Unsubscribe': `<${unsubscribeUrl}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
    // Content is never loaded from files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
};

const CONNECT_MS = 15_000;
const SILENCE_MS = 60_000;
/** Shorter than the lease of an email job, after which another attempt would run concurrently. */
const DELIVERY_MS = 240_000;

export interface SmtpOptions extends MailSender {
  /** `smtp://user:password@mail.example.com:587`, or `smtps:` for implicit TLS. */
  readonly url: string;
  /** Access tokens that replace the password; null to use that of the URL. */
  readonly oauth?: MailTokenAccount | null;
  /** Proxies for requests of access tokens; default: none. */
  readonly proxy?: OutgoingProxy;
  /** Timeout for the connection and the greeting. */
  readonly connectMs?: number;
  /** Timeout for any other response. */
  readonly silenceMs?: number;
  /** Total timeout per email, since a server may trickle bytes indefinitely. */
  readonly deliveryMs?: number;
}

/** Permanent errors about one mailbox. Other errors, such as a denied relay, say nothing about the address. */
const NO_MAILBOX = /\b5\.(?:1\.(?:1|2|3|6|10)|2\.1)\b/;
const ENHANCED = /\b5\.\d{1,3}\.\d{1,3}\b/;
const NO_USER = /\b(?:no such|unknown|does not exist|doesn't exist|not found|invalid|disabled)\b/i;

/** True if the mail server permanently rejects the recipient (RFC 5321, RFC 3463). */
export function isRecipientRefused(error: unknown): boolean {
  const {
    command,
    responseCode = 0,
    response = '',
  } = error as {
    readonly command?: string;
    readonly responseCode?: number;
    readonly response?: string;
  };
  if (command !== 'RCPT TO' || responseCode < 550 || responseCode > 559) return false;
  return ENHANCED.test(response) ? NO_MAILBOX.test(response) : NO_USER.test(response);
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Options of nodemailer for XOAUTH2. It keeps a token until it ends, and requests another one if it is refused. */
function logInByTokens(url: string, tokens: MailTokens) {
  const server = new URL(url);
  const user = decodeURIComponent(server.username);
  // nodemailer would prefer the user of the URL to `auth`.
  server.username = '';
  type Done = (error: Error | null, accessToken?: string, endsAtMs?: number) => void;
  const provisionCallback = (_user: string, _renew: boolean, done: Done) =>
    tokens.request().then(
      ({ accessToken, endsAtMs }) => done(null, accessToken, endsAtMs),
      (error: Error) => done(error),
    );
  return {
    url: server.href,
    // A token in plain text could be used by others.
    requireTLS: !LOOPBACK.test(server.hostname),
    auth: { type: 'OAuth2' as const, user, provisionCallback },
  };
}

/** Sends emails through a mail server with one connection per email, since few are sent concurrently. */
export class SmtpMailer implements Mailer {
  private opened: { sendMail(mail: object): Promise<unknown>; verify(): Promise<unknown> } | undefined;

  constructor(private readonly options: SmtpOptions) {}

  /** @throws RecipientRefused; any other error if another attempt may succeed */
  async send(email: Email): Promise<void> {
    const { deliveryMs = DELIVERY_MS } = this.options;
    const signal = AbortSignal.timeout(deliveryMs);
    try {
      await this.transport().sendMail({ ...mailOf(email, this.options), signal });
    } catch (error) {
      if (signal.aborted) throw new Error(`The mail server took longer than ${deliveryMs / 1000} s`, { cause: error });
      throw isRecipientRefused(error) ? new RecipientRefused((error as Error).message, { cause: error }) : error;
    }
  }

  /** Rejects if the server is unreachable or denies the log-in. Sends nothing. */
  async verify(): Promise<void> {
    await this.transport().verify();
  }

  private transport() {
    const { url, oauth = null, proxy, connectMs = CONNECT_MS, silenceMs = SILENCE_MS } = this.options;
    this.opened ??= nodemailer().createTransport({
      ...(oauth === null ? { url } : logInByTokens(url, new MailTokens(oauth, proxy))),
      connectionTimeout: connectMs,
      greetingTimeout: connectMs,
      socketTimeout: silenceMs,
    });
    return this.opened;
  }
}

/** Upper limit, since the outbox may never be read. */
export const MAX_EMAILS_IN_OUTBOX = 10_000;

/** Writes emails to a folder as .eml files if no mail server is configured. Readers delete the files. */
export class FileOutbox implements Mailer {
  private counted: number | undefined;

  private readonly folder: string;

  /** `folders`: the first one receives emails; an erasure removes them from all. */
  constructor(
    private readonly folders: readonly [string, ...string[]],
    private readonly from: string,
    private readonly clock: Clock,
    private readonly max = MAX_EMAILS_IN_OUTBOX,
  ) {
    this.folder = folders[0];
  }

  /** @throws Error if the folder is full or cannot be written */
  async send(email: Email): Promise<void> {
    // Private, since emails are confidential.
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await this.requireRoom();
    const transport = nodemailer().createTransport({ streamTransport: true, buffer: true });
    const { message } = await transport.sendMail(mailOf(email, { from: this.from }));
    const name = `${new Date(this.clock.nowMs()).toISOString().replace(/[:.]/g, '-')}-${randomUUID()}`;
    const path = join(this.folder, name);
    // A partial file must not be mistaken for a complete email.
    await writeFile(`${path}.part`, message as Buffer, { mode: 0o600 });
    await rename(`${path}.part`, `${path}.eml`);
    this.counted!++;
  }

  async removeTo(address: string): Promise<void> {
    const listed = this.folders.map(async (folder) =>
      (await readdir(folder).catch(unlessMissing([]))).map((name) => join(folder, name)),
    );
    for (const path of (await Promise.all(listed)).flat().filter((each) => each.endsWith('.eml'))) {
      // Readers remove files in the meantime.
      const content = await readFile(path, 'utf8').catch(unlessMissing(''));
      const [, to = ''] = /^To:(.*(?:\r?\n[ \t].*)*)/m.exec(content) ?? [];
      if (addressesIn(to).includes(address.toLowerCase())) await rm(path, { force: true });
    }
  }

  /** Counts files again only when the folder may be full, since readers remove files. */
  private async requireRoom(): Promise<void> {
    if (this.counted === undefined || this.counted >= this.max) this.counted = (await readdir(this.folder)).length;
    if (this.counted >= this.max) throw new Error(`The outbox ${this.folder} is full: remove emails from it.`);
  }
}

/** Returns a handler that replaces a missing file or folder, and throws other errors again. */
const unlessMissing =
  <T>(replacement: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return replacement;
    throw error;
  };

const addressesIn = (header: string): readonly string[] => header.toLowerCase().split(/[\s<>,]+/);

/** Reserved top-level domain (RFC 6761) of users without a known email address. */
const NOBODYS = /\.invalid$/i;

/** Drops undeliverable emails, which a mail server would bounce. */
export class DeliverableMailer implements Mailer {
  constructor(private readonly mailer: Mailer) {}

  async send(email: Email): Promise<void> {
    if (!NOBODYS.test(email.to)) await this.mailer.send(email);
  }

  async removeTo(address: string): Promise<void> {
    await this.mailer.removeTo?.(address);
  }
}

/** Message as an email in a file, from and to anybody. */
export interface EmailToEncode {
  readonly from: { readonly name: string; readonly email: string };
  readonly to: readonly { readonly name: string; readonly email: string }[];
  readonly subject: string;
  readonly date: Date;
  readonly messageId: string;
  readonly text: string;
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Encodes an email by RFC 5322. */
export async function encodeEmail({ from, to, headers, ...email }: EmailToEncode): Promise<Uint8Array> {
  const transport = nodemailer().createTransport({ streamTransport: true, buffer: true });
  const address = ({ name, email }: EmailToEncode['from']) => ({ name, address: email });
  const { message } = await transport.sendMail({
    ...email,
    from: address(from),
    to: to.map(address),
    headers: { ...headers },
    // Content is never loaded from files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return message as Buffer;
}
