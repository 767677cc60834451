import type { Letter, Mailer } from '@parley/domain/access';

/** Keeps letters. */
export class FakeMailer implements Mailer {
  readonly letters: Letter[] = [];
  /** As a mail server that is down. */
  isDown = false;

  async send(letter: Letter): Promise<void> {
    if (this.isDown) throw new Error('The mail server is down');
    this.letters.push(letter);
  }
}
