import type { Email, Mailer } from '@parley/domain/access';

/** Collects emails. */
export class FakeMailer implements Mailer {
  readonly emails: Email[] = [];
  /** True to simulate an unavailable mail server. */
  isDown = false;
  /** True to simulate a mail server that accepts emails without confirming them. */
  isSilent = false;

  async send(email: Email): Promise<void> {
    if (this.isDown) throw new Error('The mail server is down');
    this.emails.push(email);
    if (this.isSilent) throw new Error('The mail server is silent');
  }
}
