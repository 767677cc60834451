/**
 * Whether there are more than `limit` code points, in which limits are counted as clients count them (protocol §14).
 * Counts only where the length in UTF-16 does not decide.
 */
export function isLongerThan(text: string, limit: number): boolean {
  return text.length > limit && (text.length > 2 * limit || codePointLength(text) > limit);
}

/** Whether there are fewer than `limit` code points. */
export function isShorterThan(text: string, limit: number): boolean {
  return text.length < limit || (text.length < 2 * limit && codePointLength(text) < limit);
}

/** Looks at all of it: for texts that may be long, `isLongerThan` is quicker. */
export function codePointLength(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

/** Beyond a piece, of the whole that it would keep. */
const MAX_SHARED_LENGTH = 1024;

/**
 * A piece of a text that may be kept for long. V8 lets pieces share the memory of the whole, which then stays as long as the smallest of
 * them does: a name from a long request would be as large as the request. Where much would stay, the piece is a copy.
 */
export function pieceOf(text: string, start: number, end = text.length): string {
  const piece = text.slice(start, end);
  return text.length - piece.length > MAX_SHARED_LENGTH ? ` ${piece}`.slice(1) : piece;
}

/** The first `length` code points. Looks at no more than them, however long the text is. */
export function takeCodePoints(text: string, length: number): string {
  if (text.length <= length) return text;
  let end = 0;
  for (let count = 0; count < length && end < text.length; count++) end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return pieceOf(text, 0, end);
}

/** White space as the API's reference has it: Unicode's, the separators U+001C…U+001F, and no byte order mark. */
const WHITE_SPACE =
  '\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';

/** Most letters, and the space itself, are recognized without looking through all kinds of white space. */
function isWhiteSpace(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code === 0x20) return true;
  return (code < 0x20 || code >= 0x85) && WHITE_SPACE.includes(text[index]!);
}

/** Without white space at its ends. */
export function trim(text: string): string {
  const end = endOf(text);
  let start = 0;
  while (start < end && isWhiteSpace(text, start)) start++;
  return pieceOf(text, start, end);
}

export const trimEnd = (text: string): string => pieceOf(text, 0, endOf(text));

/** Where the white space begins at its end. */
function endOf(text: string): number {
  let end = text.length;
  while (end > 0 && isWhiteSpace(text, end - 1)) end--;
  return end;
}

/** The form under which names, topics and addresses are the same whatever their letter case. */
export function foldCase(text: string): string {
  return text.toLowerCase();
}

/** With a space for line ends and other control characters: for a line of a letter's head, or of a terminal. */
export function toSingleLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

/**
 * 1-based position, in code points, of the first control character, lone surrogate or non-character; 0 when there is
 * none (messages §1.5, channels §1).
 */
export function positionOfUnprintable(text: string): number {
  let position = 0;
  for (const character of text) {
    position++;
    const code = character.codePointAt(0)!;
    const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0);
    const isSurrogate = code >= 0xd800 && code <= 0xdfff;
    const isNonCharacter = (code & 0xfffe) === 0xfffe || (code >= 0xfdd0 && code <= 0xfdef);
    if (isControl || isSurrogate || isNonCharacter) return position;
  }
  return 0;
}

/** Bytes of the text in UTF-8; a lone surrogate counts as the character that replaces it. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) continue;
    // Each half of a pair counts two.
    length += code < 0x800 || isPaired(text, index, code) ? 1 : 2;
  }
  return length;
}

function isPaired(text: string, index: number, code: number): boolean {
  if (code < 0xd800 || code > 0xdfff) return false;
  const other = text.charCodeAt(code < 0xdc00 ? index + 1 : index - 1);
  return code < 0xdc00 ? other >= 0xdc00 && other <= 0xdfff : other >= 0xd800 && other < 0xdc00;
}

/** Orders texts by their code points, as storage does: `<` takes half of one for a whole. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const one = a.charCodeAt(at);
    const other = b.charCodeAt(at);
    if (one !== other) return rankOf(one) - rankOf(other);
  }
  return a.length - b.length;
}

/** What `<` puts behind halves of code points, though they come before whole ones. */
const BEHIND_HALVES = /[\ue000-\uffff]/;

/** Sorts the list itself: as `compareCodePoints` would, and several times as quick where most texts are. */
export function sortByCodePoints<T>(list: T[], textOf: (element: T) => string): T[] {
  if (list.some((element) => BEHIND_HALVES.test(textOf(element)))) {
    return list.sort((a, b) => compareCodePoints(textOf(a), textOf(b)));
  }
  return list.sort((a, b) => {
    const one = textOf(a);
    const other = textOf(b);
    return one < other ? -1 : one > other ? 1 : 0;
  });
}

/** Halves of code points beyond U+FFFF come after all others. */
const rankOf = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit);

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#x27;',
};

/** For texts that quote what somebody typed, in HTML or where a client puts them into a page as they come. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BASE64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/;

/** The bytes of standard, padded Base64 (RFC 4648); null for anything else. For short texts. */
export function decodeBase64(text: string): readonly number[] | null {
  if (!BASE64.test(text)) return null;
  const bytes: number[] = [];
  let bits = 0;
  let count = 0;
  for (const character of text.replace(/=+$/, '')) {
    bits = ((bits << 6) | ALPHABET.indexOf(character)) & 0xffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push((bits >> count) & 0xff);
  }
  return bytes;
}

/** Of all texts of one kind that a user keeps, such as drafts, in bytes: they are sent together when a client registers. */
export const MAX_KEPT_TEXT_BYTES = 2_000_000;

const bytesOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + utf8Length(text), 0);

/** Whether there would be too much, and more than now. `present`: in bytes; `removed`: the texts of it that the others replace. */
export function keepsTooMuchText(present: number, added: readonly string[], removed: readonly string[] = []): boolean {
  const growth = bytesOf(added) - bytesOf(removed);
  return growth > 0 && present + growth > MAX_KEPT_TEXT_BYTES;
}

const MAX_LENGTH = 2000;
/** A scheme that browsers follow, a host of labels (or a number in brackets, or `localhost`), and no white space after it. */
const URL_FORM =
  /^(?:https?|ftps?):\/\/(?:[^\s/?#@]*@)?(?:\[[\da-f:.]+\]|localhost|(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}][\p{L}\p{N}-]{0,61}[\p{L}\p{N}]\.?|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?(?:[/?#]\S*)?$/iu;

/** Whether a text can be followed as a link: absolute, with a host, at most 2,000 code points. */
export const isUrl = (text: string): boolean => !isLongerThan(text, MAX_LENGTH) && URL_FORM.test(text);
