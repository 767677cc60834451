import { escapeHtml } from '../kernel/html.js';
import { toSingleLine } from '../kernel/text.js';

/** What somebody gets by mail, in both forms. */
export interface Letter {
  /** An address that `isEmailAddress` takes. */
  readonly to: string;
  /** Shown as the sender beside the server's own address: an organization's name. One line without control characters. */
  readonly senderName: string;
  /** One line without control characters. */
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Sends letters: through a mail server, into files, or however the host application does. */
export interface Mailer {
  /** Resolves when the letter is out of our hands. @throws whatever went wrong: it is tried again later */
  send(letter: Letter): Promise<void>;
}

/** A letter in plain words, none of them markup. */
export interface LetterContent extends Pick<Letter, 'to' | 'senderName' | 'subject'> {
  readonly paragraphs: readonly string[];
  /** What the reader is asked to open, after the paragraphs. */
  readonly link?: { readonly label: string; readonly url: string };
  /** Below everything else, smaller: why one gets this. */
  readonly footer?: string;
}

/** Both forms of a letter, which say the same. */
export function composeLetter({ paragraphs, link, footer, to, ...content }: LetterContent): Letter {
  // Names may hold line ends, which not every mailer keeps out of the headers.
  const senderName = toSingleLine(content.senderName);
  const subject = toSingleLine(content.subject);
  const text = [...paragraphs, ...(link ? [`${link.label}:\n${link.url}`] : []), ...(footer ? [`-- \n${footer}`] : [])];
  const html = [
    ...paragraphs.map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`),
    ...(link
      ? [`<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.label)}</a></p>`, `<p>${escapeHtml(link.url)}</p>`]
      : []),
    ...(footer ? [`<p><small>${escapeHtml(footer)}</small></p>`] : []),
  ];
  return {
    to,
    senderName,
    subject,
    text: `${text.join('\n\n')}\n`,
    html: `<!DOCTYPE html>\n<html>\n<head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>\n<body>\n${html.join('\n')}\n</body>\n</html>\n`,
  };
}
