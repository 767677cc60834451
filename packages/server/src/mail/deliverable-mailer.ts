import type { Letter, Mailer } from '@parley/domain/access';

/** Nothing is ever delivered below it (RFC 6761): users have such addresses of whom no other is known. */
const NOBODYS = /\.invalid$/i;

/** Leaves out letters that nobody could get, which a mail server would bounce. */
export class DeliverableMailer implements Mailer {
  constructor(private readonly mailer: Mailer) {}

  async send(letter: Letter): Promise<void> {
    if (!NOBODYS.test(letter.to)) await this.mailer.send(letter);
  }
}
