import { firstOf } from '@parley/domain/kernel';
import PostalMime, { type Attachment } from 'postal-mime';
import { charsetOf, NOT_ASCII, textOfBytes } from './mail-charsets.js';

/** Depth of nested multipart bodies. */
const MAX_NESTING = 20;
export const MAX_PARTS = 10_000;
const MAX_HEADERS_BYTES = 256 * 1024;
/** Longer values are cut, so that reading them takes linear time. */
const MAX_FIELD_LENGTH = 2000;

/** Part of an email (RFC 2046), or the whole email. */
export interface MailPart {
  /** Header fields, unfolded, without the last line break. */
  readonly head: string;
  /** Lower-case media type; the default of RFC 2045 if the declared one is none. */
  readonly type: string;
  readonly isAttachment: boolean;
  /** Still encoded for transfer. */
  readonly body: Buffer;
  /** Empty unless the type is `multipart/…`. */
  readonly parts: readonly MailPart[];
}

/** Splits an email into its parts. @throws Error if it exceeds the limits */
export function partsOf(raw: Uint8Array): MailPart {
  const budget = { left: MAX_PARTS };
  return readPart(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength), 'text/plain', 0, budget);
}

function readPart(bytes: Buffer, defaultType: string, depth: number, budget: { left: number }): MailPart {
  if (budget.left-- <= 0) throw new Error('Too many parts');
  const { head, body } = splitHead(bytes);
  const declared = fieldOf(head, 'content-type');
  const type = typeOf(declared, defaultType);
  const isAttachment = /^\s*attachment\b/i.test(fieldOf(head, 'content-disposition'));
  const part = { head, type, isAttachment, body, parts: [] };
  if (!type.startsWith('multipart/')) return part;
  const children = childrenOf(body, parameterOf(declared, 'boundary'));
  // A body without a boundary is shown unchanged.
  if (children.length === 0) return { ...part, type: 'text/plain' };
  if (depth >= MAX_NESTING) throw new Error('Nested too deeply');
  const childType = type === 'multipart/digest' ? 'message/rfc822' : 'text/plain';
  return { ...part, parts: children.map((child) => readPart(child, childType, depth + 1, budget)) };
}

/** Splits at the first blank line. Without one, the body begins below the header fields. */
export function splitHead(bytes: Buffer): { readonly head: string; readonly body: Buffer } {
  const { at, length } = blankLine(bytes);
  const start = bytes.subarray(0, Math.min(at, MAX_HEADERS_BYTES)).toString('latin1');
  const fields = lengthOfFields(start);
  const isWhole = fields === start.length;
  if (at > MAX_HEADERS_BYTES && isWhole) throw new Error('Too many headers');
  const head = textOfBytes(bytes.subarray(0, isWhole ? at : fields)).replace(/\r?\n(?=[ \t])/g, '');
  return { head, body: bytes.subarray(isWhole ? at + length : fields) };
}

/** Header fields by which a header is recognized. */
const COMMON_FIELD =
  /^(?:content-[\w-]+|mime-version|from|to|cc|subject|date|received|return-path|message-id|x-[\w-]+)[ \t]*:/im;

/** Returns the position of the first line without a header field, or the end if more fields follow a wrongly folded one. */
function lengthOfFields(start: string): number {
  if (start !== '' && start.length < MAX_HEADERS_BYTES && !COMMON_FIELD.test(start)) return 0;
  for (const { 0: line, index } of start.matchAll(/[^\n]*(?:\n|$)/g)) {
    const isField = /^(?:[!-9;-~]+[ \t]*:|[ \t\r\n]|>?From )/.test(line) || line === '';
    if (!isField) return COMMON_FIELD.test(start.slice(index)) ? start.length : index;
  }
  return start.length;
}

function blankLine(bytes: Buffer): { readonly at: number; readonly length: number } {
  for (let at = 0; ; ) {
    const end = bytes.indexOf(LINE_FEED, at);
    if (end === -1) return { at: bytes.length, length: 0 };
    const isBlank = end === at || (end === at + 1 && bytes[at] === CARRIAGE_RETURN);
    if (isBlank) return { at, length: end + 1 - at };
    at = end + 1;
  }
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const DASH = 0x2d;

/** Returns the bodies between boundary lines. Guesses a missing or wrong boundary from the first line that looks like one. */
function childrenOf(body: Buffer, boundary: string): readonly Buffer[] {
  const found = boundary === '' ? [] : splitAt(body, boundary);
  if (found.length > 0) return found;
  const start = body.subarray(0, MAX_HEADERS_BYTES).toString('latin1');
  const guessed = /(?:^|\n)--([^\s-][^\r\n]{0,69})[ \t]*\r?\n[\w-]{1,80}:/.exec(start)?.[1]?.trim();
  return guessed === undefined ? [] : splitAt(body, guessed);
}

function splitAt(body: Buffer, boundary: string): readonly Buffer[] {
  const marker = Buffer.from(`--${boundary}`);
  const children: Buffer[] = [];
  let start = -1;
  for (let at = body.indexOf(marker); at !== -1; at = body.indexOf(marker, at + 1)) {
    if (at > 0 && body[at - 1] !== LINE_FEED) continue;
    let end = at + marker.length;
    const isLast = body[end] === DASH && body[end + 1] === DASH;
    if (isLast) end += 2;
    while (body[end] === 0x20 || body[end] === 0x09 || body[end] === CARRIAGE_RETURN) end++;
    if (end < body.length && body[end] !== LINE_FEED) continue;
    if (start !== -1) children.push(withoutLineBreak(body.subarray(start, at)));
    if (children.length > MAX_PARTS) throw new Error('Too many parts');
    start = isLast ? -1 : end + 1;
    if (isLast) break;
  }
  if (start !== -1 && start < body.length) children.push(body.subarray(start));
  return children;
}

/** The line break before a boundary belongs to the boundary. */
function withoutLineBreak(bytes: Buffer): Buffer {
  let end = bytes.length;
  if (bytes[end - 1] === LINE_FEED) end--;
  if (bytes[end - 1] === CARRIAGE_RETURN) end--;
  return bytes.subarray(0, end);
}

/** Returns the first field with the name; empty if there is none. */
export function fieldOf(head: string, name: string): string {
  const value = new RegExp(`^${name}[ \\t]*:(.*)$`, 'im').exec(head)?.[1] ?? '';
  return value.slice(0, MAX_FIELD_LENGTH).trim();
}

/** An incomplete type such as `text` or `charset=utf-8` is plain text (RFC 2045, section 5.2). */
function typeOf(field: string, defaultType: string): string {
  const [declared = ''] = field.split(/[;\s(]/, 1);
  if (declared === '') return field === '' ? defaultType : 'text/plain';
  return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(declared) ? declared.toLowerCase() : 'text/plain';
}

/** Returns a parameter of a structured field; empty if there is none. */
export function parameterOf(field: string, name: string): string {
  const found = new RegExp(`(?:^|[;\\s])${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]*))`, 'i').exec(field);
  return found?.[1]?.replace(/\\(.)/g, '$1') ?? found?.[2] ?? '';
}

/** Returns the name of a file; null if it has none. */
export async function nameOf({ head }: MailPart): Promise<string | null> {
  const fields = ['Content-Disposition', 'Content-Type'].map((name) => `${name}: ${fieldOf(head, name)}`);
  // Any other type, so that the library takes the part for a file.
  const [attachment] = await decode(
    [firstOf(fields), fields[1]!.replace(/:[^;]*/, ': application/octet-stream')],
    NO_BYTES,
  );
  return attachment?.filename || null;
}

const NO_BYTES = Buffer.alloc(0);

/** Decodes the transfer encoding. */
export async function bytesOf({ head, body }: MailPart): Promise<Uint8Array> {
  const encoding = fieldOf(head, 'content-transfer-encoding').toLowerCase();
  const isQuoted = encoding.includes('quoted-printable');
  // Text may be declared as Base64 by mistake.
  if (!isQuoted && !(encoding.includes('base64') && isBase64(body))) return body;
  const field = `Content-Transfer-Encoding: ${isQuoted ? 'quoted-printable' : 'base64'}`;
  const [attachment] = await decode(['Content-Type: application/octet-stream', field], body);
  const bytes = attachment ? new Uint8Array(attachment.content as ArrayBuffer) : NO_BYTES;
  // The library adds a line break.
  const isLonger = isQuoted && bytes.at(-1) === LINE_FEED && body.at(-1) !== LINE_FEED;
  return isLonger ? bytes.subarray(0, -1) : bytes;
}

/** Maximum number of bytes to examine. */
const EXAMINED_BYTES = 4096;

/** True for the bytes of a file that is declared as text. UTF-16 is text. */
export function isBinary(bytes: Uint8Array, { head }: MailPart): boolean {
  const start = bytes.subarray(0, EXAMINED_BYTES);
  const isWide = /^(?:fffe|feff)/.test(Buffer.from(start.subarray(0, 2)).toString('hex'));
  if (isWide || NOT_ASCII.test(parameterOf(fieldOf(head, 'content-type'), 'charset').toLowerCase())) return false;
  const controls = start.filter((byte) => byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b).length;
  return controls >= 4 && controls * 50 > start.length;
}

/** Creates a part from decoded content. */
export function partWith(type: string, content: Buffer | string, fileName?: string): MailPart {
  const name = (fileName ?? '').replace(/["\\\p{Cc}]/gu, '').slice(0, MAX_FIELD_LENGTH / 10);
  const head = `Content-Type: ${type}${name && `\nContent-Disposition: attachment; filename="${name}"`}`;
  return {
    head,
    type,
    isAttachment: fileName !== undefined,
    body: typeof content === 'string' ? Buffer.from(content) : content,
    parts: [],
  };
}

/** Decodes the transfer encoding and the charset of text. */
export async function textOfPart(part: MailPart, isHtml = false): Promise<string> {
  const bytes = Buffer.from(await bytesOf(part));
  const field = fieldOf(part.head, 'content-type');
  const charset = charsetOf(bytes, parameterOf(field, 'charset').toLowerCase(), isHtml);
  const isFlowed = parameterOf(field, 'format').toLowerCase() === 'flowed' && !isHtml;
  if (charset === 'utf-8' && !isFlowed) return bytes.toString('utf8');
  const isJoined = parameterOf(field, 'delsp').toLowerCase() === 'yes';
  const flow = isFlowed ? `; format=flowed; delsp=${isJoined ? 'yes' : 'no'}` : '';
  const fields = [`Content-Type: text/plain; charset="${charset}"${flow}`, 'Content-Transfer-Encoding: base64'];
  const { text = '' } = await parse(fields, Buffer.from(bytes.toString('base64')));
  return text;
}

const decode = async (fields: readonly string[], body: Buffer): Promise<readonly Attachment[]> =>
  (await parse(fields, body)).attachments;

const parse = (fields: readonly string[], body: Buffer) =>
  PostalMime.parse(Buffer.concat([Buffer.from(`${fields.join('\r\n')}\r\n\r\n`), body]), {
    attachmentEncoding: 'arraybuffer',
    forceRfc822Attachments: true,
  });

/** Maximum number of lines to examine. */
const EXAMINED_LINES = 20;

/** Other programs may append lines of text to Base64. */
function isBase64(body: Buffer): boolean {
  const start = body.subarray(0, 100 * EXAMINED_LINES).toString('latin1');
  const lines = start.split(/\r?\n/, EXAMINED_LINES).filter((line) => line.trim() !== '');
  const [first = ''] = lines;
  const isEncoded = (line: string): boolean => /^[A-Za-z0-9+/]+={0,2}\s*$/.test(line);
  if (!isEncoded(first)) return lines.length === 0;
  if (first.trim().length % 4 === 0) return true;
  return (
    lines.every(isEncoded) && (lines.length >= EXAMINED_LINES || lines.join('').replace(/\s/g, '').length % 4 === 0)
  );
}
