import { QUOTE_WORDS, type QuoteWords } from './email-quote-words.js';

/** Text of a reply. */
export interface ReplyText {
  readonly text: string;
  /** True if quotations are missing. */
  readonly isCut: boolean;
  /** True if the reply contains a forwarded email, which is kept. */
  readonly hasForward: boolean;
}

/** Scripts that write words without spaces between them. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Thai}]/u;

function anyOf(...kinds: readonly (keyof QuoteWords)[]): string {
  const words = [
    ...new Set(kinds.flatMap((kind) => Object.values(QUOTE_WORDS).flatMap((each) => each[kind].split('|')))),
  ];
  const spaced = words.filter((word) => !UNSPACED.test(word)).join('|');
  const unspaced = words.filter((word) => UNSPACED.test(word)).join('|');
  return `(?:(?<![\\p{L}\\p{M}])(?:${spaced})(?![\\p{L}\\p{M}])|${unspaced})`;
}

const fieldLine = (...kinds: readonly (keyof QuoteWords)[]): RegExp =>
  new RegExp(`^[\\s*]*${anyOf(...kinds)}[\\s*]*[:：]`, 'iu');

const FROM_LINE = fieldLine('from');
const SUBJECT_LINE = fieldLine('subject');
const HEADER_LINE = fieldLine('from', 'subject', 'others');
const ORIGINAL = new RegExp(`^[\\s*]*[-–—_]{2,}\\s*${anyOf('original')}\\s*[-–—_]{2,}[\\s*]*$`, 'iu');
const RULE = /^\s*_{20,}\s*$/;
const FORWARDED = new RegExp(
  `^[\\s*]*(?:[-–—_]{2,}\\s*${anyOf('forwarded')}[\\s:：]*[-–—_]{2,}|${anyOf('forwarded')}\\s*[:：])[\\s*]*$`,
  'iu',
);
const WROTE = new RegExp(anyOf('wrote'), 'iu');
const ADDRESS = /[<([](?:mailto:)?[^\s<>()[\]@]{1,100}@[^\s<>()[\]@]{1,200}[>)\]]/;
/** Two numbers, of which one is a year or a time. */
const DATE = /\p{Nd}\P{Nd}.{0,60}(?:\p{Nd}{4}|\p{Nd}[:.時时]\p{Nd}{2})|\p{Nd}{4}\P{Nd}.{0,60}\p{Nd}/u;
/** Directions of text, with which Gmail surrounds names and addresses. */
const DIRECTIONS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const isQuoted = (line: string): boolean => /^\s?>/.test(line);
const isBlank = (line: string): boolean => line.trim() === '';

/**
 * Removes quoted emails from a reply: marked lines anywhere, and unmarked quotations at the end. Text between and below
 * marked lines is kept, and so is everything from a forwarded email on. Returns the whole text if nothing else would be left.
 */
export function withoutQuotes(text: string): ReplyText {
  const shown = text.split(/\r\n|\r|\n/);
  const lines = shown.map((line) => line.replace(DIRECTIONS, ''));
  const kept: string[] = [];
  let isCut = false;
  let hasForward = false;
  for (let at = 0; at < lines.length && !hasForward; at++) {
    const introduction = introductionAt(lines, at);
    if (FORWARDED.test(lines[at]!)) {
      kept.push(...shown.slice(at));
      hasForward = true;
    } else if (isQuoted(lines[at]!) || introduction?.isMarked) {
      isCut = true;
      at += (introduction?.length ?? 1) - 1;
    } else if (introduction?.isDated || startsQuotation(lines, at)) {
      isCut = true;
      break;
    } else kept.push(shown[at]!);
  }
  const reply = kept
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  return reply === '' ? { text: text.trim(), isCut: false, hasForward } : { text: reply, isCut, hasForward };
}

/** True for a separator, and for the copied headers with which Outlook introduces a quotation. */
function startsQuotation(lines: readonly string[], at: number): boolean {
  if (ORIGINAL.test(lines[at]!)) return true;
  if (RULE.test(lines[at]!)) return FROM_LINE.test(lines.slice(at + 1, at + 4).find((line) => !isBlank(line)) ?? '');
  const block = FROM_LINE.test(lines[at]!) ? lines.slice(at, at + 8) : [];
  return block.filter((line) => HEADER_LINE.test(line)).length >= 3 && block.some((line) => SUBJECT_LINE.test(line));
}

/** True if a text contains another email. */
export function includesEmail(text: string): boolean {
  const lines = text.split('\n');
  return lines.some((line, at) => FORWARDED.test(line) || startsQuotation(lines, at));
}

/** Maximum length of a line of an introduction, which also bounds the work; longer lines are text. */
const MAX_INTRODUCTION_LENGTH = 400;

/** `isMarked`: the email below is marked line by line. `isDated`: a date or an address shows that a program wrote the lines. */
type Introduction = { readonly length: number; readonly isMarked: boolean; readonly isDated: boolean };

/** Finds a line such as "On Monday, Ann wrote:", which may span three lines. */
function introductionAt(lines: readonly string[], at: number): Introduction | null {
  for (let length = 1; length <= 3; length++) {
    const last = lines[at + length - 1] ?? '';
    if (isBlank(last) || isQuoted(last) || last.length > MAX_INTRODUCTION_LENGTH) return null;
    const joined = joinedLines(lines, at, length);
    if (/[:：]\*?\s*$/.test(joined)) {
      const isDated = [DATE, WROTE, ADDRESS].filter((mark) => mark.test(joined)).length >= 2;
      const next = lines.slice(at + length, at + length + 4).find((line) => !isBlank(line));
      const isMarked = next !== undefined && isQuoted(next) && (isDated || WROTE.test(joined));
      // The line above an introduction is text.
      const tail = length === 1 ? '' : joinedLines(lines, at + 1, length - 1);
      const isLater =
        DATE.test(tail) && (ADDRESS.test(tail) || (WROTE.test(tail) && !ADDRESS.test(joinedLines(lines, at, 1))));
      return isLater || !(isMarked || isDated) ? null : { length, isMarked, isDated };
    }
    if (length === 1 && !DATE.test(joined) && !ADDRESS.test(joined)) return null;
  }
  return null;
}

const joinedLines = (lines: readonly string[], at: number, length: number): string =>
  lines.slice(at, at + length).join(' ');
