import type { LinkKeys, SeededLink } from '../access/confirmations.js';
import { EMAIL_TOKEN_PLACEHOLDER } from '../channels/channel.js';
import { nameOfFile } from '../files/files.js';
import { declareErrors } from '../kernel/errors.js';
import type { MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Seed } from '../kernel/ports.js';
import { codePointLength, positionOfUnprintable, takeCodePoints } from '../kernel/text.js';
import { isoTime, isTime } from '../markdown/rich-text.js';
import { cutContent, MAX_MESSAGE_LENGTH } from '../messages/message.js';
import { includesEmail, type ReplyText, withoutQuotes } from './email-quotes.js';

export const INCOMING_EMAIL_ERRORS = declareErrors({
  /** The server receives no email. */
  NO_MAIL_GATEWAY: 'unavailable',
  /** A program that delivers email has no token, or a wrong one. */
  WRONG_GATEWAY_TOKEN: 'unauthenticated',
  /** Nobody receives email at the address, or its users may no longer post. */
  UNKNOWN_EMAIL_ADDRESS: 'unknown',
  /** A received email exceeds `PARLEY_MAX_EMAIL`. */
  EMAIL_TOO_LARGE: 'invalid',
  /** A received email cannot be decoded within the limits. */
  UNREADABLE_EMAIL: 'invalid',
});

type IncomingEmailErrors = typeof INCOMING_EMAIL_ERRORS;

/** Headers that determine how an email is handled. */
export const EMAIL_HEADERS = [
  'auto-submitted',
  'precedence',
  'list-id',
  'x-autoreply',
  'x-autorespond',
  'x-parley-server',
  'in-reply-to',
  'references',
] as const;
export type EmailHeader = (typeof EMAIL_HEADERS)[number];

export interface EmailAttachment {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** Event of a calendar in an email. Missing texts are empty. */
export interface CalendarEvent {
  readonly kind: 'invitation' | 'cancellation' | 'reply';
  readonly summary: string;
  /** Text if it is a day, or if the time zone is unknown; null if there is none. */
  readonly start: UnixSeconds | string | null;
  readonly end: UnixSeconds | string | null;
  readonly location: string;
  /** Address of the organizer. */
  readonly organizer: string;
}

/** Decoded email. The parser limits every field. */
export interface IncomingEmail {
  /** Sender; both texts are empty if there is none. */
  readonly from: { readonly name: string; readonly address: string };
  readonly subject: string;
  /** Recipients from the headers, most reliable header first. */
  readonly recipients: readonly string[];
  /** Plain text part; null if there is none. */
  readonly text: string | null;
  /** HTML part as plain text; null if there is none. `reply`: without text that email clients mark as quoted. */
  readonly html: { readonly all: string; readonly reply: string } | null;
  readonly attachments: readonly EmailAttachment[];
  /** Attachments beyond the maximum number, with the names of the first ones. */
  readonly omitted: { readonly count: number; readonly names: readonly string[] };
  readonly invitations: readonly CalendarEvent[];
  /** Names of attached calendars without events in `invitations`: damaged ones, and those that are expensive to compute. */
  readonly unreadCalendars: readonly string[];
  /** Kind of the container that hides the text: encryption, or a file for Outlook; null if text was found or none is hidden. */
  readonly sealedBy: 'pgp' | 'smime' | 'tnef' | null;
  readonly headers: Readonly<Partial<Record<EmailHeader, string>>>;
  /** Addresses with a permanent failure in a delivery status notification (RFC 3464); null for other emails. */
  readonly failures: readonly { readonly address: string; readonly reason: string }[] | null;
  /** True for a message disposition notification (RFC 8098). */
  readonly isReadReceipt: boolean;
}

/** Decodes emails without blocking the event loop. */
export interface EmailParser {
  /** Takes ownership of the bytes. @throws DomainError UNREADABLE_EMAIL, SERVER_BUSY */
  parse(raw: Uint8Array): Promise<IncomingEmail>;
}

/** Incoming email configuration of this server. */
export interface MailGateway {
  /** Address with a placeholder, such as `chat+%s@example.com`. */
  readonly pattern: string;
  readonly maxBytes: number;
  readonly parser: EmailParser;
  /** Keys of reply addresses. */
  readonly replyKeys: LinkKeys;
  /** True for the token of programs that deliver email over HTTP. */
  isGatewayToken(token: string): boolean;
  /** Returns the address part for reporting failures of emails to `email`. */
  bounceKeyOf(email: string): string;
  /** Value of the `X-Parley-Server` header in emails from this server. */
  readonly fingerprint: string;
}

/** Rate limit rules for incoming email. */
export type IncomingEmailRule = 'incomingEmailByRealm' | 'incomingEmailByAddress' | 'incomingEmailBySender';

export interface IncomingEmailQuota {
  /** `source`: origin of keys that senders can invent. @throws DomainError RATE_LIMITED */
  take(rule: IncomingEmailRule, key: string, source?: string): void;
}

/** Address for replies of a user to an emailed conversation. The address itself is derived; see `LinkKeys`. */
export interface ReplyAddress {
  /** Unique on the server and never reused. */
  readonly id: number;
  readonly realmId: RealmId;
  readonly userId: UserId;
  /** Message in the conversation. */
  readonly messageId: MessageId;
  readonly expiresAt: UnixSeconds;
  readonly seed: Seed;
}

/** Validity period after the last email of a conversation. */
export const REPLY_ADDRESS_SECONDS = 30 * 86_400;

export interface ReplyAddressReads {
  /** Searches all organizations, since an address does not contain one. Includes expired addresses. */
  find(id: number): Promise<ReplyAddress | null>;
}

/** Every implementation passes reply-address-repository.contract.ts. */
export interface ReplyAddressRepository extends ReplyAddressReads {
  /** Returns the user's address for the conversation: a new one with a new seed, or an existing one with this message and expiry. */
  open(address: Omit<ReplyAddress, 'id' | 'seed'> & { readonly conversation: string }): Promise<SeededLink>;
  /**
   * Removes up to `limit` addresses of any organization that expired before `now`. Returns the number of removed
   * addresses.
   */
  removeExpired(now: UnixSeconds, limit: number): Promise<number>;
}

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends IncomingEmailErrors {}
  interface RepositoryMap {
    replyAddresses: [reads: ReplyAddressReads, repository: ReplyAddressRepository];
  }
}

export const INCOMING_EMAIL_FEATURE = {
  notExported: {
    replyAddresses: 'They are secrets.',
  },
};

/** Options that a sender adds to a channel address. */
export interface EmailOptions {
  readonly showsSender: boolean;
  readonly includesFooter: boolean;
  readonly includesQuotes: boolean;
  readonly prefersHtml: boolean;
}

export const NO_EMAIL_OPTIONS: EmailOptions = {
  showsSender: false,
  includesFooter: false,
  includesQuotes: false,
  prefersHtml: false,
};

const OPTIONS: ReadonlyMap<string, Partial<EmailOptions>> = new Map([
  ['show-sender', { showsSender: true }],
  ['include-footer', { includesFooter: true }],
  ['include-footers', { includesFooter: true }],
  ['include-quotes', { includesQuotes: true }],
  ['prefer-text', { prefersHtml: false }],
  ['prefer-html', { prefersHtml: true }],
]);

export type IncomingAddress =
  | { readonly kind: 'channel'; readonly token: string; readonly options: EmailOptions }
  | { readonly kind: 'reply'; readonly key: string }
  | { readonly kind: 'bounce'; readonly key: string };

const MAX_ADDRESS_LENGTH = 320;
const REPLY_PREFIX = 'mm';
const BOUNCE_WORD = 'bounce';

export const replyAddress = (pattern: string, key: string): string =>
  pattern.replace(EMAIL_TOKEN_PLACEHOLDER, () => REPLY_PREFIX + key);

export const bounceAddress = (pattern: string, key: string): string =>
  pattern.replace(EMAIL_TOKEN_PLACEHOLDER, () => `${BOUNCE_WORD}.${key}`);

/** Returns null for an address that does not match the pattern. Mail servers may change the letter case. */
export function parseIncomingAddress(pattern: string, address: string): IncomingAddress | null {
  const [before, after] = pattern.toLowerCase().split(EMAIL_TOKEN_PLACEHOLDER) as [string, string];
  const text = address.toLowerCase();
  if (text.length > MAX_ADDRESS_LENGTH || text.length <= before.length + after.length) return null;
  if (!text.startsWith(before) || !text.endsWith(after)) return null;
  // Both separators are accepted, as in Zulip, because some mailing lists drop everything after a plus sign.
  const parts = text.slice(before.length, text.length - after.length).split(/[.+]/);
  const [first, second] = parts as [string, string | undefined];
  if (parts.length === 1 && /^mm[a-z2-7]{24,64}$/.test(first)) return { kind: 'reply', key: first.slice(2) };
  if (parts.length === 2 && first === BOUNCE_WORD) return { kind: 'bounce', key: second! };
  const token = parts.findLast((part) => /^[0-9a-f]{32}$/.test(part));
  if (token === undefined) return null;
  const chosen = parts.map((part) => OPTIONS.get(part) ?? {});
  return { kind: 'channel', token, options: Object.assign({}, NO_EMAIL_OPTIONS, ...chosen) };
}

export type EmailFate =
  | 'accepted'
  /** Sent by this server itself. */
  | 'own'
  /** Sent by a program in response to another email. */
  | 'automatic';

const REPLYING = /^(?:auto[_-]reply)$/i;
const BULK = /^(?:bulk|junk|list|auto[_-]reply)$/i;

/**
 * Detects emails that could cause loops. Channels accept emails from programs, such as reports and lists, but no
 * automatic replies. Replies to conversations must come from people.
 */
export function fateOf(
  { headers, failures, isReadReceipt }: IncomingEmail,
  kind: 'channel' | 'reply',
  fingerprint: string,
): EmailFate {
  const { precedence = '' } = headers;
  if (headers['x-parley-server'] === fingerprint) return 'own';
  const submitted = keywordOf(headers['auto-submitted'] ?? '') || 'no';
  const repliesItself = headers['x-autoreply'] !== undefined || headers['x-autorespond'] !== undefined;
  const isReport = failures !== null || isReadReceipt;
  if (isReport || repliesItself || submitted === 'auto-replied' || REPLYING.test(precedence)) return 'automatic';
  if (kind === 'channel') return 'accepted';
  return submitted !== 'no' || BULK.test(precedence) || headers['list-id'] !== undefined ? 'automatic' : 'accepted';
}

/** Returns the keyword of a field with comments and parameters, such as `auto-replied (vacation); owner=x` (RFC 3834). */
const keywordOf = (field: string): string =>
  /^[\w-]*/.exec(field.replace(/\([^()]*\)/g, ' ').trimStart())![0].toLowerCase();

/** Topic for emails without a subject, because the empty topic is not allowed everywhere. */
export const NO_SUBJECT = 'Email with no subject';

/** Prefixes of replies in the languages of mail programs. */
const REPLY_MARKS = 'antw(?:ort)?|vs|odp|res|ynt|atb|回复|回覆|答复|答覆|返信|отв|ответ';
const FORWARD_MARKS = 'wg|fwd?|rv|vl|enc|tr|pd|ilt|转发|轉寄|轉發|转寄';
/** Subject prefixes that could also be part of a topic. */
const OTHER_FORWARD_MARKS = 'i|vb|fs|trs|doorst|πρθ|továbbítás|пер|הועבר';
/** Subject prefixes. The first ones may also stand alone. */
const MARK = new RegExp(
  `^[[(]?\\s*(?:(?:re|aw|wg|sv|fwd?)\\s*(?:\\[\\d+\\])?\\s*(?:[:;)\\]：]|$)|(?:${REPLY_MARKS}|${FORWARD_MARKS})\\s*(?:\\[\\d+\\])?\\s*[:：])[\\s:;\\])：]*`,
  'i',
);
const FORWARDED = new RegExp(`^[[(]?\\s*(?:${FORWARD_MARKS}|${OTHER_FORWARD_MARKS})\\s*[:;)\\]：]`, 'i');
const MAX_MARKS = 20;

/** Returns the topic for a subject, without prefixes such as `Re:`. */
export function topicOfSubject(subject: string): string {
  let topic = Array.from(subject.replace(/\s+/g, ' '))
    .filter((character) => positionOfUnprintable(character) === 0)
    .join('')
    .trim();
  for (let marks = 0; marks < MAX_MARKS && MARK.test(topic); marks++) {
    // `[Fwd: plans]` has a bracket at both ends.
    if (topic.startsWith('[')) topic = topic.replace(/\]$/, '');
    topic = topic.replace(MARK, '').trim();
  }
  return topic || NO_SUBJECT;
}

/** True if an email is forwarded: its body is content. In Danish and Norwegian, `VS:` forwards; in Finnish, it replies. */
export const isForwarded = (subject: string, body = ''): boolean =>
  FORWARDED.test(subject.trim()) || (/^vs\s*:/i.test(subject.trim()) && /^[\s*]*fra[\s*]*:/im.test(body));

/** True if an email responds to another one, which it may quote. */
const isReply = ({ subject, headers }: IncomingEmail): boolean =>
  headers['in-reply-to'] !== undefined || headers.references !== undefined || MARK.test(subject.trim());

/** Removes the footer below a line `--` if there is exactly one such line, and no forwarded email. */
export function withoutFooter(text: string): string {
  const lines = text.split('\n');
  const [first, ...others] = lines.flatMap((line, at) => (line.trim() === '--' ? [at] : []));
  if (first === undefined || others.length > 0 || includesEmail(text)) return text;
  return lines.slice(0, first).join('\n').trim();
}

/** Returns the content of an email as selected by its options; empty if there is none. */
export function bodyOf(email: IncomingEmail, options: EmailOptions, kind: 'channel' | 'reply' = 'channel'): string {
  const { text, html } = email;
  const isWhole =
    options.includesQuotes ||
    isForwarded(email.subject, text?.trim() || html?.all) ||
    !(kind === 'reply' || isReply(email));
  const plain = text === null || text.trim() === '' ? null : isWhole ? wholeText(text) : withoutQuotes(text);
  const formatted = html === null ? null : isWhole ? wholeText(html.all) : replyOfHtml(html);
  // HTML marks quotations in all languages.
  const isHtml = options.prefersHtml || (formatted?.isCut && plain && !plain.isCut && !plain.hasForward);
  const chosen = (isHtml && formatted?.text ? formatted : (plain ?? formatted)) ?? wholeText('');
  const printable = chosen.text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\t\n]/gu, '')
    .trim();
  const body = options.includesFooter ? printable : withoutFooter(printable);
  if (body === '' && email.sealedBy !== null) return SEALED[email.sealedBy];
  // The conversation of a reply contains the quoted messages.
  return chosen.isCut && kind === 'channel' ? `${body}\n\n(The quoted email is not shown.)` : body;
}

const wholeText = (text: string): ReplyText => ({ text, isCut: false, hasForward: false });

function replyOfHtml({ all, reply }: NonNullable<IncomingEmail['html']>): ReplyText {
  const unmarked = withoutQuotes(all);
  // Email clients mark forwarded emails as quoted too.
  if (unmarked.hasForward || reply.trim() === '') return unmarked;
  const marked = withoutQuotes(reply);
  return { ...marked, isCut: marked.isCut || reply.trim() !== all.trim() };
}

/** Texts for emails without readable text. */
const SEALED: Readonly<Record<NonNullable<IncomingEmail['sealedBy']>, string>> = {
  pgp: '(This email is encrypted with PGP.)',
  smime: '(This email is encrypted or signed with S/MIME, and its text cannot be read here.)',
  tnef: '(The text of this email is in a file for Outlook, and cannot be read here.)',
};

/**
 * Silences wildcard mentions in email to a channel, which anybody may have sent. Mentions of people and groups remain,
 * with the rights of the address's user.
 */
export const withoutWildcards = (content: string): string =>
  content.replace(/@(?=\*\*(?:all|everyone|channel|stream|topic)\*\*)/g, '@_');

/** Markdown characters, which names of other people must not contain. */
const MARKUP = /[`*_~@#[\]<>\\|]/g;

export const fromLine = ({ name, address }: IncomingEmail['from']): string => {
  const shown = name.replace(MARKUP, '').trim();
  return `From: ${shown === '' ? '' : `${shown} `}<${address.replace(/[<>\s`]/g, '')}>`;
};

/** Markdown link to an attachment. */
export const attachmentLink = (name: string, pathId: string): string =>
  `[${name.replace(/[[\]\\\r\n]/g, '')}](/user_uploads/${pathId})`;

/** Shows what, when and where. */
export function invitationText({ kind, summary, start, end, location, organizer }: CalendarEvent): string {
  const lines = [
    `${INVITATION_TITLES[kind]}: **${withoutMarkup(summary) || 'no title'}**`,
    start === null ? '' : `When: ${timeText(start)}${end === null || end === start ? '' : ` – ${timeText(end)}`}`,
    location === '' ? '' : `Where: ${withoutMarkup(location)}`,
    organizer === '' ? '' : `From: ${organizer.replace(/[<>\s`*[\]]/g, '')}`,
  ];
  return lines.filter((line) => line !== '').join('\n');
}

const INVITATION_TITLES: Readonly<Record<CalendarEvent['kind'], string>> = {
  invitation: 'Invitation',
  cancellation: 'Canceled',
  reply: 'Reply to the invitation',
};

const withoutMarkup = (text: string): string => text.replace(MARKUP, '').replace(/\s+/g, ' ').trim();

/** Clients show times in the reader's time zone (markdown §14). */
const timeText = (time: UnixSeconds | string): string =>
  typeof time === 'string' ? withoutMarkup(time) : isTime(time) ? `<time:${isoTime(time)}>` : '?';

const MAX_NAMES_LENGTH = 500;

/** Names attachments beyond the maximum number; empty if there are none. */
export function omittedLine({ count, names }: IncomingEmail['omitted']): string {
  if (count === 0) return '';
  const others = count > names.length ? ` and ${count - names.length} more` : '';
  return `(${count === 1 ? 'An attachment is' : `${count} attachments are`} missing, because there are too many: ${shownNames(names)}${others})`;
}

/** Names the calendars without shown events; empty if there are none. */
export function unreadCalendarsLine(names: IncomingEmail['unreadCalendars']): string {
  return names.length === 0 ? '' : `(Events of these calendars cannot be shown: ${shownNames(names)})`;
}

const shownNames = (names: readonly string[]): string =>
  takeCodePoints(names.map((name) => withoutMarkup(nameOfFile(name))).join(', '), MAX_NAMES_LENGTH);

/** Composes the message. The body is truncated so that the sender and attachments always fit. */
export function composeContent(body: string, from: string | null, attachments: readonly string[]): string {
  const before = from === null ? '' : `${from}\n`;
  const after = attachments.length === 0 ? '' : `\n\n${attachments.join('\n')}`;
  const room = MAX_MESSAGE_LENGTH - codePointLength(before) - codePointLength(after);
  return before + cutContent(body === '' ? '(No email body)' : body, room) + after;
}
