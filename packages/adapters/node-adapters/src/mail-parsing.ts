import { EMAIL_HEADERS, type EmailHeader, type IncomingEmail } from '@parley/domain/push';
import { convert, type HtmlToTextOptions } from 'html-to-text';
import PostalMime, { type Attachment, addressParser, type Email, type Mailbox } from 'postal-mime';
import { provideMailDecoders } from './mail-charsets.js';

provideMailDecoders();

/** Maximum number of body characters to parse; a message cannot use more. */
const MAX_TEXT_LENGTH = 40_000;
/** Parsing time grows with the length, and faster than linearly with the depth. */
const MAX_HTML_LENGTH = 300_000;
const MAX_HTML_DEPTH = 300;
const MAX_SUBJECT_LENGTH = 1000;
const MAX_HEADER_LENGTH = 500;
const MAX_RECIPIENTS = 50;
const MAX_ATTACHMENTS = 20;
const MAX_BOUNDARIES = 10_000;
const MAX_NESTING = 20;
const MAX_HEADERS_BYTES = 256 * 1024;

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

/** Elements in which mail programs quote the original email. */
const QUOTES = [
  'blockquote',
  'div.gmail_quote',
  'div.moz-cite-prefix',
  'div.yahoo_quoted',
  'div#divRplyFwdMsg',
  'div#appendonsend',
];

const OPTIONS: HtmlToTextOptions = {
  wordwrap: false,
  limits: { maxDepth: 100, maxChildNodes: 2000, ellipsis: '\u2026' },
  selectors: [
    {
      selector: 'a',
      options: { hideLinkHrefIfSameAsText: true, ignoreHref: false, linkBrackets: ['(', ')'], noAnchorUrl: true },
    },
    { selector: 'img', format: 'skip' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: 'table', format: 'block' },
  ],
};

const WITHOUT_QUOTES: HtmlToTextOptions = {
  ...OPTIONS,
  selectors: [...OPTIONS.selectors!, ...QUOTES.map((selector) => ({ selector, format: 'skip' }))],
};

/** Parses an email. May take seconds for a hostile one. @throws Error if it exceeds the limits */
export async function parseMail(raw: Uint8Array): Promise<IncomingEmail> {
  if (countBoundaries(raw) > MAX_BOUNDARIES) throw new Error('Too many parts');
  const email = await PostalMime.parse(raw, {
    attachmentEncoding: 'arraybuffer',
    forceRfc822Attachments: true,
    maxNestingDepth: MAX_NESTING,
    maxHeadersSize: MAX_HEADERS_BYTES,
  });
  const from = mailboxOf(email.from);
  return {
    from: { name: cut(from?.name ?? '', MAX_HEADER_LENGTH), address: cut(from?.address ?? '', MAX_HEADER_LENGTH) },
    subject: cut(email.subject ?? '', MAX_SUBJECT_LENGTH),
    recipients: recipientsOf(email),
    text: email.text === undefined ? null : cut(email.text, MAX_TEXT_LENGTH),
    html:
      email.html === undefined
        ? null
        : {
            all: textOf(email.html, OPTIONS),
            reply: textOf(email.html, WITHOUT_QUOTES),
          },
    attachments: email.attachments
      .filter((part) => part.filename && !(part.disposition === 'inline' && part.mimeType.startsWith('message/')))
      .slice(0, MAX_ATTACHMENTS)
      .map((part) => ({ name: part.filename!, contentType: part.mimeType, bytes: bytesOf(part) })),
    headers: headersOf(email),
    failures: failuresOf(email),
  };
}

/** Counts potential part boundaries, whose number determines the parsing time. */
function countBoundaries(raw: Uint8Array): number {
  let count = 0;
  for (let at = raw.indexOf(LINE_FEED); at !== -1; at = raw.indexOf(LINE_FEED, at + 1)) {
    if (raw[at + 1] === DASH && raw[at + 2] === DASH) count++;
  }
  return count;
}

const LINE_FEED = 0x0a;
const DASH = 0x2d;

function textOf(html: string, options: HtmlToTextOptions): string {
  const shown = cut(html, MAX_HTML_LENGTH);
  const text = depthOf(shown) > MAX_HTML_DEPTH ? shown.replace(/<[^<>]*>/g, ' ') : convert(shown, options);
  return cut(text, MAX_TEXT_LENGTH);
}

/** Estimates the nesting depth. Ignores elements with no or an optional end tag. */
function depthOf(html: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [, end, name] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)/gi)) {
    if (/^(?:br|hr|img|meta|link|input|col|area|base|wbr|p|li|tr|th|td|dd|dt|option)$/i.test(name!)) continue;
    depth += end === '/' ? -1 : 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

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

const bytesOf = ({ content }: Attachment): Uint8Array =>
  typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content as ArrayBuffer);

const MAX_REPORT_LENGTH = 100_000;

/** Reads the fields of a delivery status notification (RFC 3464). */
function failuresOf({ headers, attachments, text = '' }: Email): IncomingEmail['failures'] {
  const type = headers.find(({ key }) => key === 'content-type')?.value ?? '';
  if (!/^\s*multipart\/report\b/i.test(type) || !/report-type="?delivery-status/i.test(type)) return null;
  const part = attachments.find(({ mimeType }) => mimeType === 'message/delivery-status');
  const report = cut(part ? new TextDecoder().decode(bytesOf(part)) : text, MAX_REPORT_LENGTH);
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
