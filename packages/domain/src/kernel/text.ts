/**
 * Returns true if the text has more than `limit` code points, the unit of all limits (protocol §14). Counts only if the
 * UTF-16 length is inconclusive.
 */
export function isLongerThan(text: string, limit: number): boolean {
  return text.length > limit && (text.length > 2 * limit || codePointLength(text) > limit);
}

/** Returns true if the text has fewer than `limit` code points. */
export function isShorterThan(text: string, limit: number): boolean {
  return text.length < limit || (text.length < 2 * limit && codePointLength(text) < limit);
}

/** Scans the whole text; use `isLongerThan` for long texts. */
export function codePointLength(text: string): number {
  let length = text.length;
  for (let index = 1; index < text.length; index++) {
    const isLow = (text.charCodeAt(index) & 0xfc00) === 0xdc00;
    if (isLow && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800) length--;
  }
  return length;
}

/** Maximum excess length of the original that a slice may keep in memory. */
const MAX_SHARED_LENGTH = 1024;

/**
 * Returns a slice that may be kept for long. V8 slices share memory with the original, so a short name could retain a
 * whole request. Copies the slice if it would retain much memory.
 */
export function pieceOf(text: string, start: number, end = text.length): string {
  const piece = text.slice(start, end);
  return text.length - piece.length > MAX_SHARED_LENGTH ? ` ${piece}`.slice(1) : piece;
}

/** Returns the first `length` code points without scanning the rest. */
export function takeCodePoints(text: string, length: number): string {
  if (text.length <= length) return text;
  let end = 0;
  for (let count = 0; count < length && end < text.length; count++) end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return pieceOf(text, 0, end);
}

/**
 * White space as in the reference server: Unicode white space and the separators U+001C…U+001F, but not the byte order
 * mark.
 */
const WHITE_SPACE =
  '\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';

/** Fast path for most letters and the space, before searching the list of white space. */
function isWhiteSpace(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code === 0x20) return true;
  return (code < 0x20 || code >= 0x85) && WHITE_SPACE.includes(text[index]!);
}

/** Removes white space at both ends. */
export function trim(text: string): string {
  const end = endOf(text);
  let start = 0;
  while (start < end && isWhiteSpace(text, start)) start++;
  return pieceOf(text, start, end);
}

export const trimEnd = (text: string): string => pieceOf(text, 0, endOf(text));

/** Returns the start of trailing white space. */
function endOf(text: string): number {
  let end = text.length;
  while (end > 0 && isWhiteSpace(text, end - 1)) end--;
  return end;
}

/** Case-folded form for comparing names, topics and emails. */
export function foldCase(text: string): string {
  return text.toLowerCase();
}

/** Replaces line breaks and control characters with spaces, for email headers and terminal lines. */
export function toSingleLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

/**
 * Returns the 1-based code point position of the first control character, lone surrogate or non-character; 0 if there
 * is none (messages §1.5, channels §1).
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

/** Returns the UTF-8 length in bytes; a lone surrogate counts as its replacement character. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) continue;
    // Each half of a surrogate pair counts two bytes.
    length += code < 0x800 || isPaired(text, index, code) ? 1 : 2;
  }
  return length;
}

function isPaired(text: string, index: number, code: number): boolean {
  if (code < 0xd800 || code > 0xdfff) return false;
  const other = text.charCodeAt(code < 0xdc00 ? index + 1 : index - 1);
  return code < 0xdc00 ? other >= 0xdc00 && other <= 0xdfff : other >= 0xd800 && other < 0xdc00;
}

/** Compares by code points like the storage does; `<` compares UTF-16 units instead. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const one = a.charCodeAt(at);
    const other = b.charCodeAt(at);
    if (one !== other) return rankOf(one) - rankOf(other);
  }
  return a.length - b.length;
}

/** UTF-16 units that `<` sorts after surrogates although their code points are lower. */
const BEHIND_HALVES = /[\ue000-\uffff]/;

/** Sorts in place in the order of `compareCodePoints`, but much faster for most texts. */
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

/** Surrogates encode code points beyond U+FFFF, which come after all other units. */
const rankOf = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit);

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#x27;',
};

/** Escapes user text for HTML, or for clients that insert it into a page unescaped. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BASE64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/;

/** Decodes standard, padded Base64 (RFC 4648); null if invalid. Intended for short texts. */
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

/**
 * Maximum total size in bytes of a user's texts of one kind, such as drafts. The register response contains all of
 * them.
 */
export const MAX_KEPT_TEXT_BYTES = 2_000_000;

const bytesOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + utf8Length(text), 0);

/**
 * Returns true if the total size grows and exceeds the limit. `present`: current size in bytes; `removed`: stored texts
 * that `added` replaces.
 */
export function keepsTooMuchText(present: number, added: readonly string[], removed: readonly string[] = []): boolean {
  const growth = bytesOf(added) - bytesOf(removed);
  return growth > 0 && present + growth > MAX_KEPT_TEXT_BYTES;
}

const MAX_LENGTH = 2000;
/** Scheme known to browsers, host of labels (or a bracketed address, or `localhost`), and no white space. */
const URL_FORM =
  /^(?:https?|ftps?):\/\/(?:[^\s/?#@]*@)?(?:\[[\da-f:.]+\]|localhost|(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}][\p{L}\p{N}-]{0,61}[\p{L}\p{N}]\.?|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?(?:[/?#]\S*)?$/iu;

/** True for an absolute URL with a host and at most 2,000 code points. */
export const isUrl = (text: string): boolean => !isLongerThan(text, MAX_LENGTH) && URL_FORM.test(text);

/** The part of the global `URL` that the domain uses; every runtime has it. */
declare const URL: new (text: string, base?: string) => object;

/**
 * Returns true if `new URL(text, base)` succeeds. `URL.canParse` of Node 20 and 22 returns false for texts with `ü` and
 * other Latin-1 letters once V8 has optimized its caller.
 */
export function isParsableUrl(text: string, base?: string): boolean {
  try {
    new URL(text, base);
    return true;
  } catch {
    return false; // The constructor has no other way to say so.
  }
}
