import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Letter, Mailer } from '@parley/domain/access';
import type { Clock } from '@parley/domain/kernel';

const require = createRequire(import.meta.url);

/** Needed where mail is sent, and by nobody else. */
export const nodemailer = (): typeof import('nodemailer') => require('nodemailer') as typeof import('nodemailer');

/** As nodemailer has it, which encodes what is no plain text and refuses addresses that hold line breaks. */
export const mailOf = ({ to, senderName, subject, text, html }: Letter, from: string) => ({
  from: { name: senderName, address: from },
  to: { name: '', address: to },
  subject,
  text,
  html,
  headers: { 'Auto-Submitted': 'auto-generated' },
  // A letter is what it says: nothing is fetched for it.
  disableFileAccess: true,
  disableUrlAccess: true,
});

/** All together, shorter than a letter's job may take. */
const CONNECT_MS = 15_000;
const SILENCE_MS = 60_000;

export interface SmtpOptions {
  /** `smtp://user:password@mail.example.com:587`, or `smtps:` for TLS from the first byte. */
  readonly url: string;
  /** The server's own address. */
  readonly from: string;
}

/** Through a mail server: a connection for each letter, of which few are sent at once. */
export class SmtpMailer implements Mailer {
  private opened: { sendMail(mail: object): Promise<unknown>; verify(): Promise<unknown> } | undefined;

  constructor(private readonly options: SmtpOptions) {}

  async send(letter: Letter): Promise<void> {
    await this.transport().sendMail(mailOf(letter, this.options.from));
  }

  /** Rejects where the server cannot be reached, or does not let us in. Sends nothing. */
  async verify(): Promise<void> {
    await this.transport().verify();
  }

  private transport() {
    this.opened ??= nodemailer().createTransport({
      url: this.options.url,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
    });
    return this.opened;
  }
}

/** Nobody may ever look. */
export const MAX_LETTERS_IN_OUTBOX = 10_000;

/**
 * Where no mail server is named, letters are put into a folder, each a file as mail programs open it. Whoever takes a
 * letter out of it deletes the file.
 */
export class FileOutbox implements Mailer {
  private counted: number | undefined;

  constructor(
    private readonly folder: string,
    private readonly from: string,
    private readonly clock: Clock,
    private readonly max = MAX_LETTERS_IN_OUTBOX,
  ) {}

  /** @throws Error when the folder is full, or cannot be written */
  async send(letter: Letter): Promise<void> {
    // What is in a letter is its reader's business.
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await this.requireRoom();
    const transport = nodemailer().createTransport({ streamTransport: true, buffer: true });
    const { message } = await transport.sendMail(mailOf(letter, this.from));
    const name = `${new Date(this.clock.nowMs()).toISOString().replace(/[:.]/g, '-')}-${randomUUID()}`;
    const path = join(this.folder, name);
    // Half a letter must never be taken for a whole one.
    await writeFile(`${path}.part`, message as Buffer, { mode: 0o600 });
    await rename(`${path}.part`, `${path}.eml`);
    this.counted!++;
  }

  /** Counted anew only when it may be full: others take letters out. */
  private async requireRoom(): Promise<void> {
    if (this.counted === undefined || this.counted >= this.max) this.counted = (await readdir(this.folder)).length;
    if (this.counted >= this.max) throw new Error(`The outbox ${this.folder} is full: take letters out of it.`);
  }
}

/** Nothing is ever delivered below it (RFC 6761): users have such addresses of whom no other is known. */
const NOBODYS = /\.invalid$/i;

/** Leaves out letters that nobody could get, which a mail server would bounce. */
export class DeliverableMailer implements Mailer {
  constructor(private readonly mailer: Mailer) {}

  async send(letter: Letter): Promise<void> {
    if (!NOBODYS.test(letter.to)) await this.mailer.send(letter);
  }
}
