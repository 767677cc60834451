import type { Letter, Mailer } from '@parley/domain/access';

/** Collects emails. */
export class FakeMailer implements Mailer {
  readonly letters: Letter[] = [];
  /** True to simulate an unavailable mail server. */
  isDown = false;

  async send(letter: Letter): Promise<void> {
    if (this.isDown) throw new Error('The mail server is down');
    this.letters.push(letter);
  }
}
