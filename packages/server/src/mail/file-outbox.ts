import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Letter, Mailer } from '@parley/domain/access';
import type { Clock } from '@parley/domain/kernel';
import { mailOf, nodemailer } from './nodemailer.js';

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
