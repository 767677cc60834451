import { isEmailAddress } from '@parley/domain/users';
import { smtpMailerOf } from '../open-parley.js';
import { addressesOf } from '../server-address.js';
import { StartupError, UsageError } from '../startup-error.js';
import type { Command, CommandContext, CommandResult } from './command.js';

async function test({ invocation: { configuration }, words }: CommandContext): Promise<CommandResult> {
  const [to] = words as [string];
  if (!isEmailAddress(to)) throw new UsageError('ADDRESS must be an address such as me@example.com.');
  const { url } = addressesOf(configuration);
  const mailer = smtpMailerOf({ ...configuration, url });
  if (!mailer)
    throw new StartupError('There is no mail server: PARLEY_SMTP_URL is not set. Letters are put into files.');
  const text = `This letter was sent by "parley mail test" of the chat at ${url}. Letters arrive.`;
  try {
    await mailer.send({ to, senderName: 'Parley', subject: 'A test of mail', text, html: `<p>${text}</p>` });
  } catch (error) {
    throw new StartupError(`The mail server did not take the letter: ${(error as Error).message}`);
  }
  return {
    lines: [`The mail server took a letter to ${to}. Whether it arrives, its log and the mailbox tell.`],
    data: { to, sent: true },
  };
}

export const MAIL_COMMANDS: readonly Command[] = [
  {
    name: 'mail test',
    words: 'ADDRESS',
    help: 'sends a letter by the mail server of the configuration, and says what that says to it',
    details: 'Opens no database.',
    examples: ['parley mail test me@example.com'],
    run: test,
  },
];
