import type { Letter, Mailer } from '@parley/domain/access';
import { mailOf, nodemailer } from './nodemailer.js';

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
