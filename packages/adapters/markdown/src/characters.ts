import { createRequire } from 'node:module';

const NONE: ReadonlySet<never> = new Set();

/** Shared empty set, because most results are empty; `withOne` creates a new set. */
export const noneOf = <T>(): ReadonlySet<T> => NONE;

/** Returns the set with an additional value; a non-empty set is modified in place. */
export function withOne<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
  if (set === NONE) return new Set([value]);
  (set as Set<T>).add(value);
  return set;
}

const require = createRequire(import.meta.url);

/** Loads a library on first use, because most messages need none and startup must not wait. */
export function lazily<T>(load: (require: NodeJS.Require) => T): () => T {
  let loaded: { readonly value: T } | undefined;
  return () => {
    loaded ??= { value: load(require) };
    return loaded.value;
  };
}

/**
 * White space and word characters of the dialect, for use inside a character class. Follows Unicode, whereas
 * JavaScript's `\s` differs in a few control characters and `\w` covers ASCII only.
 */
export const SPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
export const WORD = '\\p{L}\\p{N}_';

const OTHER_SPACE = new RegExp(`[${SPACE}]`);
const OTHER_WORD = new RegExp(`[${WORD}]`, 'u');
const OTHER_LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

export function isSpace(character: string): boolean {
  const code = character.charCodeAt(0);
  if (code < 0x80) return (code >= 9 && code <= 13) || (code >= 28 && code <= 32);
  return OTHER_SPACE.test(character);
}

export function isWord(character: string): boolean {
  const code = character.charCodeAt(0);
  if (code < 0x80) {
    return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95;
  }
  return OTHER_WORD.test(character);
}

/** Accepts any code point. */
export function isLetterOrDigit(code: number): boolean {
  if (code < 0x80) return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57);
  return OTHER_LETTER_OR_DIGIT.test(String.fromCodePoint(code));
}

export function isBlank(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (!isSpace(text[i]!)) return false;
  return true;
}

export function trim(text: string): string {
  return trimEnd(trimStart(text));
}

export function trimStart(text: string): string {
  let start = 0;
  while (start < text.length && isSpace(text[start]!)) start++;
  return start === 0 ? text : text.slice(start);
}

export function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && isSpace(text[end - 1]!)) end--;
  return end === text.length ? text : text.slice(0, end);
}

/** Removes all occurrences of a character at both ends. */
export function trimCharacter(text: string, character: string): string {
  return trimCharacterStart(trimCharacterEnd(text, character), character);
}

export function trimCharacterStart(text: string, character: string): string {
  let start = 0;
  while (start < text.length && text[start] === character) start++;
  return text.slice(start);
}

export function trimCharacterEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

/**
 * Control characters that cannot occur in normalized text. They enclose placeholders for parsed content, which later
 * rules ignore.
 */
export const OPEN_PLACEHOLDER = '\u0002';
export const CLOSE_PLACEHOLDER = '\u0003';
