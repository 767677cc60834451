import {
  type CalendarEvent,
  EMAIL_HEADERS,
  type EmailAttachment,
  type EmailHeader,
  type IncomingEmail,
} from '@parley/domain/push';
import mime from 'mime';
import PostalMime, { addressParser, decodeWords, type Email, type Mailbox } from 'postal-mime';
import { provideMailDecoders } from './mail-charsets.js';
import { textsOfHtml } from './mail-html.js';
import { invitationsIn } from './mail-invitations.js';
import {
  bytesOf,
  fieldOf,
  isBinary,
  type MailPart,
  nameOf,
  parameterOf,
  partsOf,
  splitHead,
  textOfPart,
} from './mail-parts.js';
import { signedContent } from './mail-signed.js';
import { tnefPartsIn } from './mail-tnef.js';

provideMailDecoders();

/** Maximum number of body characters to parse; a message cannot use more. */
const MAX_TEXT_LENGTH = 40_000;
const MAX_SUBJECT_LENGTH = 1000;
const MAX_HEADER_LENGTH = 500;
const MAX_RECIPIENTS = 50;
const MAX_ATTACHMENTS = 20;
const MAX_NAME_LENGTH = 100;
const MAX_OMITTED_NAMES = 10;
const MAX_INVITATIONS = 5;
/** Emails in emails that are read: signed again, or in files of Outlook. */
const MAX_LAYERS = 5;

/** Recipient headers, most reliable first: those added by the last mail server. */
const RECIPIENT_HEADERS = [
  'x-gm-original-to',
  'x-original-to',
  'delivered-to',
  'envelope-to',
  'resent-to',
  'resent-cc',
  'to',
  'cc',
];

/** Parses an email. May take seconds for a hostile one. @throws Error if it exceeds the limits */
export async function parseMail(raw: Uint8Array): Promise<IncomingEmail> {
  const root = partsOf(raw);
  const email = await PostalMime.parse(`${withoutContentFields(root.head)}\n\n`);
  const content = await contentOf(root);
  const from = mailboxOf(email.from);
  return {
    from: { name: cut(from?.name ?? '', MAX_HEADER_LENGTH), address: cut(from?.address ?? '', MAX_HEADER_LENGTH) },
    subject: cut(email.subject ?? '', MAX_SUBJECT_LENGTH),
    recipients: recipientsOf(email),
    text: content.text(),
    html: content.html(),
    attachments: content.attachments,
    omitted: content.omitted,
    invitations: content.invitations,
    unreadCalendars: content.unreadCalendars,
    sealedBy: content.hasText() ? null : content.sealedBy,
    headers: headersOf(email),
    failures: await failuresOf(root),
    isReadReceipt: isReport(root, 'disposition-notification'),
  };
}

/** Text of one place in the body, in one or two representations. */
interface Passage {
  plain: string | null;
  html: { readonly all: string; readonly reply: string } | null;
}

/** Shown parts of an email. */
class MailContent {
  readonly attachments: EmailAttachment[] = [];
  readonly omitted: { count: number; readonly names: string[] } = { count: 0, names: [] };
  readonly invitations: CalendarEvent[] = [];
  readonly unreadCalendars: string[] = [];
  sealedBy: IncomingEmail['sealedBy'] = null;
  layers = 0;
  /** Texts that other parts usually repeat. */
  readonly otherTexts: MailPart[] = [];
  private readonly passages: Passage[] = [];
  private length = 0;

  hasText(): boolean {
    return this.passages.some(({ plain, html }) => (plain ?? '').trim() !== '' || (html?.all ?? '').trim() !== '');
  }

  /** Null if the email has no plain text. */
  text(): string | null {
    if (this.passages.every(({ plain }) => plain === null)) return null;
    return this.joined(({ plain, html }) => plain ?? html?.all ?? '');
  }

  /** Null if the email has no HTML. */
  html(): IncomingEmail['html'] {
    if (this.passages.every(({ html }) => html === null)) return null;
    return {
      all: this.joined(({ plain, html }) => html?.all ?? plain ?? ''),
      reply: this.joined(({ plain, html }) => html?.reply ?? plain ?? ''),
    };
  }

  private joined(textOf: (passage: Passage) => string): string {
    return cut(this.passages.map(textOf).join('\n'), MAX_TEXT_LENGTH);
  }

  openPassage(): Passage {
    const passage: Passage = { plain: null, html: null };
    this.passages.push(passage);
    return passage;
  }

  /** Parts after a text that fills the message are not decoded; the message says that it is truncated. */
  async addText(part: MailPart, passage: Passage): Promise<void> {
    if (this.length > MAX_TEXT_LENGTH) return;
    if (part.type === 'text/html') passage.html = textsOfHtml(printable(await textOfPart(part, true)));
    else {
      const text = withoutLastBreak(printable(await textOfPart(part)));
      const isEnriched = part.type === 'text/enriched' || part.type === 'text/richtext';
      passage.plain = (passage.plain === null ? '' : `${passage.plain}\n`) + (isEnriched ? textOfEnriched(text) : text);
    }
    this.length += Math.max(passage.plain?.length ?? 0, passage.html?.all.length ?? 0);
  }

  async addFile(part: MailPart): Promise<void> {
    if (this.attachments.length >= MAX_ATTACHMENTS) {
      this.omitted.count++;
      if (this.omitted.names.length < MAX_OMITTED_NAMES) {
        this.omitted.names.push(shortName((await nameOf(part)) ?? nameFor(part)));
      }
      return;
    }
    const name = await nameOf(part);
    const bytes = await bytesOf(part);
    if (name === null && bytes.length === 0) return;
    const isCalendar = part.type === 'text/calendar' || part.type === 'application/ics';
    // Calendars often come twice: among the alternatives of the text, and as a file.
    const isRepeated = isCalendar && this.attachments.some((file) => Buffer.compare(file.bytes, bytes) === 0);
    if (isRepeated) return;
    const file = { name: shortName(name ?? nameFor(part)), contentType: part.type, bytes };
    if (isCalendar) this.addInvitations(await textOfPart(part), file.name);
    this.attachments.push(file);
  }

  private addInvitations(calendar: string, name: string): void {
    const found = invitationsIn(calendar);
    if (found === null) this.unreadCalendars.push(name);
    const known = new Set(this.invitations.map((each) => JSON.stringify(each)));
    const added = (found ?? []).filter((each) => !known.has(JSON.stringify(each)));
    this.invitations.push(...added.slice(0, MAX_INVITATIONS - this.invitations.length));
  }
}

async function contentOf(root: MailPart): Promise<MailContent> {
  const content = new MailContent();
  await collect(root, null, content);
  if (!content.hasText()) for (const part of content.otherTexts) await collect(part, null, content);
  return content;
}

/** @param alternative passage for the representations of the same text; null outside of `multipart/alternative` */
async function collect(part: MailPart, alternative: Passage | null, content: MailContent): Promise<void> {
  if (part.parts.length === 0) {
    if (!isText(part)) await collectFile(part, alternative, content);
    else if (isBinary(await bytesOf(part), part)) await content.addFile({ ...part, type: 'application/octet-stream' });
    else await content.addText(part, alternative ?? content.openPassage());
    return;
  }
  if (part.type !== 'multipart/alternative') {
    for (const child of part.parts) await collect(child, alternative, content);
    return;
  }
  const passage = alternative ?? content.openPassage();
  const hasText = part.parts.some(isPlainOrHtml);
  for (const child of part.parts) {
    if (!hasText || !REDUNDANT.test(child.type)) await collect(child, passage, content);
  }
}

async function collectFile(part: MailPart, alternative: Passage | null, content: MailContent): Promise<void> {
  await content.addFile(part);
  const kind = containerOf(part);
  content.sealedBy ??= kind;
  if (kind === null || kind === 'pgp' || content.layers++ >= MAX_LAYERS) return;
  const { buffer, byteOffset, byteLength } = await bytesOf(part);
  // A copy could be in a pool, which cannot be transferred to another thread.
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const signed = kind === 'smime' ? signedContent(bytes) : null;
  if (signed) await collect(partsOf(signed), alternative, content);
  for (const inner of kind === 'tnef' ? tnefPartsIn(bytes) : []) {
    if (inner.isAttachment) await content.addFile(inner);
    else content.otherTexts.push(inner);
  }
}

/** Kind of a file that may contain the text of the email. */
function containerOf({ type, head }: MailPart): IncomingEmail['sealedBy'] {
  if (/^application\/(?:vnd\.)?ms-tnef$/.test(type) || /["=]winmail\.dat\b/i.test(head)) return 'tnef';
  if (/^application\/(?:x-)?pkcs7-mime$/.test(type)) return 'smime';
  return type === 'application/pgp-encrypted' ? 'pgp' : null;
}

/** Representations of a text that is also there as plain text or HTML. */
const REDUNDANT = /^text\/(?:x-amp-html|watch-html|enriched|richtext|markdown)$/;
const isPlainOrHtml = ({ type }: MailPart): boolean => type === 'text/plain' || type === 'text/html';

/** Other types, such as tables and contacts, are files. */
const isText = ({ type, isAttachment }: MailPart): boolean =>
  !isAttachment && /^text\/(?:plain|html|markdown|enriched|richtext)$/.test(type);

/** Removes the commands of RFC 1896. */
const textOfEnriched = (text: string): string =>
  text
    .replace(/<param>[^<]{0,200}<\/param>/gi, '')
    .replace(/<<|<\/?[a-z-]{1,60}>/gi, (found) => (found === '<<' ? '<' : ''));

/** Keeps tabs and line breaks. */
const printable = (text: string): string => text.replace(/[^\P{Cc}\t\n\r]/gu, '');

const withoutLastBreak = (text: string): string => text.replace(/\r?\n$/, '');

/** Returns a name by type; forwarded emails get their subject. */
function nameFor({ type, body }: MailPart): string {
  if (type === 'message/rfc822') {
    const subject = decodeWords(fieldOf(headOf(body), 'subject'));
    return `${
      subject
        .replace(/[/\\:*?"<>|\p{Cc}]+/gu, ' ')
        .trim()
        .slice(0, MAX_NAME_LENGTH - 4) || 'email'
    }.eml`;
  }
  const kind =
    /^(?:image|audio|video)(?=\/)/.exec(type)?.[0] ?? (type === 'text/calendar' ? 'invitation' : 'attachment');
  const extension = mime.getExtension(type) ?? (/^(?:text|message)\//.test(type) ? 'txt' : 'bin');
  return `${kind}.${extension}`;
}

/** Maximum number of bytes in which the subject of a forwarded email is found. */
const MAX_HEAD_BYTES = 64 * 1024;
const headOf = (email: Buffer): string => splitHead(email.subarray(0, MAX_HEAD_BYTES)).head;

/** Cuts a name, but keeps its extension. */
function shortName(name: string): string {
  const clean = printable(name);
  if (clean.length <= MAX_NAME_LENGTH) return clean;
  const extension = /\.[^.]{1,10}$/.exec(clean)?.[0] ?? '';
  return clean.slice(0, MAX_NAME_LENGTH - extension.length) + extension;
}

/** The header is parsed alone, as an email without a body. */
const withoutContentFields = (head: string): string => head.replace(/^content-[^\n]*\n?/gim, '');

const cut = (text: string, length: number): string => (text.length > length ? text.slice(0, length) : text);

const mailboxOf = (from: Email['from']): Mailbox | undefined =>
  from && (from.group === undefined ? (from as Mailbox) : from.group[0]);

function recipientsOf({ headers }: Email): readonly string[] {
  const found: string[] = [];
  for (const name of RECIPIENT_HEADERS) {
    for (const { key, value } of headers) {
      if (key !== name || found.length >= MAX_RECIPIENTS) continue;
      const parsed = addressParser(cut(value, 10 * MAX_HEADER_LENGTH), { flatten: true });
      found.push(...parsed.flatMap(({ address }) => address ?? []));
    }
  }
  return found.slice(0, MAX_RECIPIENTS);
}

function headersOf({ headers }: Email): IncomingEmail['headers'] {
  const known: readonly string[] = EMAIL_HEADERS;
  return Object.fromEntries(
    headers
      .filter(({ key }) => known.includes(key))
      .map(({ key, value }) => [key as EmailHeader, cut(value.trim(), MAX_HEADER_LENGTH)]),
  );
}

const MAX_REPORT_LENGTH = 100_000;

/** True for a report of the type, such as `delivery-status` (RFC 6522). */
function isReport({ head, type }: MailPart, reportType: string): boolean {
  const field = fieldOf(head, 'content-type');
  return type === 'multipart/report' && parameterOf(field, 'report-type').toLowerCase() === reportType;
}

/** Reads the fields of a delivery status notification (RFC 3464). */
async function failuresOf(root: MailPart): Promise<IncomingEmail['failures']> {
  if (!isReport(root, 'delivery-status')) return null;
  const part = root.parts.find(({ type }) => type === 'message/delivery-status') ?? root.parts.find(isText);
  const report = part ? cut(await textOfPart(part), MAX_REPORT_LENGTH) : '';
  const failures: { address: string; reason: string }[] = [];
  for (const group of report.split(/\r?\n\s*\r?\n/).slice(0, MAX_RECIPIENTS)) {
    const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'im').exec(group)?.[1]?.trim() ?? '';
    if (field('Action').toLowerCase() !== 'failed' || !field('Status').startsWith('5.')) continue;
    const reason = field('Diagnostic-Code').replace(/^smtp;\s*/i, '') || `status ${field('Status')}`;
    for (const name of ['Original-Recipient', 'Final-Recipient']) {
      const address = field(name).replace(/^rfc822;\s*/i, '');
      if (address !== '')
        failures.push({ address: cut(address, MAX_HEADER_LENGTH), reason: cut(reason, MAX_HEADER_LENGTH) });
    }
  }
  return failures;
}
