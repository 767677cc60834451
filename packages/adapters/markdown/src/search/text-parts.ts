export const LETTER = /\p{L}/u;
export const ASCII = /^[\0-\x7f]*$/;
/** Emoji by name, such as `:tada:`, but no part of `10:30:15`. */
const EMOJI_NAME = '(?<![a-zA-Z0-9:]):[a-zA-Z0-9_+\\-]{1,60}:';
/** Faster equivalent of `WORDS` for ASCII texts. */
const ASCII_WORDS = new RegExp(`(${EMOJI_NAME})|[a-zA-Z0-9]+(?:[-.@/_+][a-zA-Z0-9]+)*`, 'g');
/** Character class of scripts without spaces between words, and of Hangul because of its particles. */
const DENSE = '[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{sc=Hang}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Mymr}]';
const SPACED = `[[\\p{L}\\p{N}]--${DENSE}]`;
const SPACED_LETTER = `[[\\p{L}\\p{M}\\p{N}]--${DENSE}]`;
/** Letters of dense scripts, with zero-width spaces where lines may break. */
const RUN = `[[\\p{L}\\p{N}]&&${DENSE}](?:[[\\p{L}\\p{N}]&&${DENSE}]|\\p{M}|\\u200b(?=[\\p{L}&&${DENSE}]))*`;
const EMOJI = '\\p{ExtPict}(?:\\ufe0f|\\p{EMod}|\\u200d\\p{ExtPict})*|\\p{RI}{2}';
/** Emoji, runs, and words and addresses, which end where a dense script begins. */
const WORDS = new RegExp(
  `(${EMOJI}|${EMOJI_NAME})|(${RUN})|${SPACED}${SPACED_LETTER}*(?:[\\-.@\\/_+]${SPACED_LETTER}+)*`,
  'gv',
);
export const PLAIN = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu;

/** Characters that join words and addresses, or end names such as `C#`. */
const JOINING = /[-.@/_+:#&'\u2019]/;
const SYMBOL = /[+#]/;
const SPACE = /\s/;

/** Requires a character after most joining ones, which excludes the end of a sentence. */
const isJoinedAt = (text: string, end: number): boolean =>
  end < text.length &&
  JOINING.test(text[end]!) &&
  (SYMBOL.test(text[end]!) || (end + 1 < text.length && !SPACE.test(text[end + 1]!)));

/** Fills the place of `amp;` while words of HTML are marked. */
export const FILLER = '\u2060';
/** Names such as `C++`, `C#` and `AT&T`. */
const SYMBOLIC = /[a-z]{1,2}(?:(?:\+\+|#)(?![+#\p{L}])|&\u2060*[a-z]{1,2}(?![\p{L}\p{N}]))/iuy;
/** Words such as `don't`, `O'Brien` and `п'ять`. Other words are often different without their apostrophe: `we'll`. */
const CONTRACTION = /\p{L}*n['\u2019]t(?!\p{L})|\p{Lu}['\u2019]\p{Lu}[\p{L}\p{M}]+|\p{sc=Cyrl}+['\u2019]\p{sc=Cyrl}+/uy;
export const APOSTROPHE = /['\u2019]/;

const DENSE_LETTER = new RegExp(DENSE, 'v');
export const isDense = (text: string): boolean => DENSE_LETTER.test(text);
/** Letter with its marks, including the voiced sound marks of half-width Kana, or decomposed Hangul syllable. */
export const CHARACTER =
  /[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|[^\p{M}\uff9e\uff9f\u200b][\p{M}\uff9e\uff9f]*/gu;

/** Called with each part of a text that has terms. Parts may overlap. */
export interface Visitor {
  /** True to end the visit. */
  isDone?(): boolean;
  word(start: number, word: string): void;
  /** Letters of a dense script. */
  run(start: number, run: string): void;
  /** Address, hyphenated word, or name such as `C++`. */
  exact(start: number, text: string): void;
  /** Word with an optional apostrophe, such as `don't`; its parts are found as well. */
  contraction(start: number, text: string): void;
  emoji(start: number, text: string): void;
  /** Identifier or path such as `max_pool_size`; its words are found as well. */
  compound(start: number, compound: string): void;
  /** Address or path; its parts are found as well. */
  address(start: number, address: string): void;
}

export const NOTHING: Visitor = {
  word: () => {},
  run: () => {},
  exact: () => {},
  contraction: () => {},
  emoji: () => {},
  compound: () => {},
  address: () => {},
};

/** The apostrophe of Ukrainian is a letter; most keyboards have the punctuation mark. */
const withApostrophes = (text: string): string => text.replaceAll('\u02bc', "'");

/**
 * Visits the parts of a text: words, runs, addresses as a whole and in parts, and hyphenated words as a whole and in
 * parts.
 */
export function visit(typed: string, visitor: Visitor): void {
  const isAscii = ASCII.test(typed);
  const text = isAscii ? typed : withApostrophes(typed);
  const addresses = new AddressFinder(text);
  const pattern = isAscii ? ASCII_WORDS : WORDS;
  for (let match = next(pattern, text, 0); match && !visitor.isDone?.(); ) {
    const [word, emoji, run] = match;
    const { index: start } = match;
    let end = start + word.length;
    if (emoji !== undefined) visitEmoji(start, emoji, visitor);
    else if (run !== undefined) visitor.run(start, run);
    // Fast path for most words.
    else if (!JOINING.test(word) && !isJoinedAt(text, end)) visitor.word(start, word);
    else end = visitJoined(start, word, text, addresses, visitor);
    match = next(pattern, text, end);
  }
}

function visitEmoji(start: number, emoji: string, visitor: Visitor): void {
  visitor.emoji(start, emoji);
  if (emoji.startsWith(':')) visitCompound(start + 1, emoji.slice(1, -1), visitor);
}

/** Returns the end of the visited part, which begins with the word. */
function visitJoined(start: number, word: string, text: string, addresses: AddressFinder, visitor: Visitor): number {
  const symbolicEnd = endOf(SYMBOLIC, text, start);
  if (symbolicEnd !== -1) {
    visitor.exact(start, text.slice(start, symbolicEnd));
    return symbolicEnd;
  }
  const contractionEnd = endOf(CONTRACTION, text, start);
  if (contractionEnd !== -1) {
    const contraction = text.slice(start, contractionEnd);
    visitor.contraction(start, contraction);
    visitWords(start, contraction, visitor);
    return contractionEnd;
  }
  const addressEnd = addresses.endFrom(start);
  const end = Math.max(start + word.length, addressEnd);
  if (addressEnd !== -1) visitAddress(start, text.slice(start, addressEnd), visitor);
  // A scheme is not a word.
  else if (!text.startsWith('://', end)) visitCompound(start, word, visitor);
  return end;
}

function visitAddress(start: number, address: string, visitor: Visitor): void {
  visitor.address(start, address);
  visitor.exact(start, address);
  const slash = address.indexOf('/');
  if (slash === -1) return;
  visitor.exact(start, address.slice(0, slash));
  visitor.exact(start + slash, address.slice(slash));
}

function visitCompound(start: number, compound: string, visitor: Visitor): void {
  const isHyphenated = /^[^-]+(?:-[^-]+)+$/.test(compound);
  visitor[isHyphenated ? 'exact' : 'compound'](start, compound);
  if (compound.includes('/')) visitor.address(start, compound);
  visitWords(start, compound, visitor);
}

function visitWords(start: number, text: string, visitor: Visitor): void {
  for (const { 0: word, index } of text.matchAll(PLAIN)) visitor.word(start + index, word);
}

const MAIL_NAME = new RegExp(`[[\\p{L}\\p{M}\\p{N}._+\\-]--${DENSE}]+`, 'vy');
const HOST_PART = `[[\\p{L}\\p{M}\\p{N}\\-]--${DENSE}]+`;
const HOST = new RegExp(`${HOST_PART}(?:\\.${HOST_PART})*`, 'vy');
/** Full-width punctuation ends a path, as do spaces and brackets. */
const PATH = new RegExp(
  `\\/[[^\\s"'<>\\)\\]\\uff01-\\uff0f\\uff1a-\\uff20\\uff3b-\\uff40\\uff5b-\\uff65]--${DENSE}]*`,
  'vy',
);

/**
 * Finds the ends of addresses such as `name@host.example` or `host.example/path`. Results are shared by all words of
 * the same run of characters, so positions must ascend.
 */
class AddressFinder {
  private name = { end: -1, addressEnd: -1 };
  private host = { end: -1, lastDot: -1 };

  constructor(private readonly text: string) {}

  /** Returns -1 if no address starts here. */
  endFrom(start: number): number {
    const mailEnd = this.mailEnd(start);
    if (mailEnd !== -1) return mailEnd;
    const { end, lastDot } = this.hostFrom(start);
    if (lastDot <= start) return -1;
    return this.text[end] === '/' ? endOf(PATH, this.text, end) : end;
  }

  private mailEnd(start: number): number {
    if (start >= this.name.end) {
      const end = endOf(MAIL_NAME, this.text, start);
      const hostEnd = this.text[end] === '@' ? endOf(HOST, this.text, end + 1) : -1;
      const hasDot = hostEnd !== -1 && this.text.slice(end, hostEnd).includes('.');
      this.name = { end, addressEnd: hasDot ? hostEnd : -1 };
    }
    return this.name.addressEnd;
  }

  private hostFrom(start: number): { readonly end: number; readonly lastDot: number } {
    if (start >= this.host.end) {
      const end = endOf(HOST, this.text, start);
      const dot = this.text.slice(start, end).lastIndexOf('.');
      this.host = { end, lastDot: dot === -1 ? -1 : start + dot };
    }
    return this.host;
  }
}

/** Returns the end of a match exactly at this position; -1 if there is none. */
function endOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

function next(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(text);
}
