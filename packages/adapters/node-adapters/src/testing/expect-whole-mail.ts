import { parseMail } from '../mail-parsing.js';
import { markersIn } from './generated-mails.js';

/** Fails if a part of the email is neither in a text nor in a file nor named, or if a text is too long or unprintable. */
export async function expectWholeMail(mail: string): Promise<void> {
  const email = await parseMail(Buffer.from(mail));
  const texts = [email.subject, email.from.name, email.text ?? '', email.html?.all ?? '', email.html?.reply ?? ''];
  const files = email.attachments.map(({ bytes }) => Buffer.from(bytes).toString());
  const shown = [...texts, ...files, ...email.omitted.names].join('\n');
  const lost = markersIn(mail).filter((forms) => !forms.some((form) => shown.includes(form)));
  const unprintable = texts.slice(2).filter((text) => /(?![\n\r\t])\p{Cc}/u.test(text) || text.length > 40_000);
  const badNames = email.attachments.filter(({ name }) => name === '' || name.length > 100);
  if (lost.length + unprintable.length + badNames.length === 0) return;
  throw new Error(
    JSON.stringify({ lost, unprintable, badNames, mail: mail.slice(0, 3000), shown: shown.slice(0, 500) }, null, 1),
  );
}
