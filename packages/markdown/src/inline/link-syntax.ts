import { trim } from '../characters.js';

/** `(target "title")`, and where it ends. */
export interface Target {
  readonly href: string;
  /** As typed, without the quotes around it: see `cleanTitle`. */
  readonly title: string | null;
  readonly end: number;
}

const BRACKETED = /\(\s*(?:(<[^<>]*>)\s*(?:('[^']*'|"[^"]*")\s*)?\))?/y;

/** Where the pairs of one text are: found in one go, since links in hostile texts begin everywhere and end nowhere. */
export class LinkSyntax {
  private readonly closingBrackets: ReadonlyMap<number, number>;
  private parentheses: Parentheses | undefined;

  constructor(private readonly text: string) {
    this.closingBrackets = pairs(text, '[', ']');
  }

  /** Where the text opened by a bracket ends, brackets inside it being balanced; -1 when it does not. */
  findClosingBracket(opening: number): number {
    return this.closingBrackets.get(opening) ?? -1;
  }

  /** Reads a target that starts at a given place; null when there is none. */
  readTarget(start: number): Target | null {
    const { text } = this;
    BRACKETED.lastIndex = start;
    const match = BRACKETED.exec(text);
    if (!match) return null;
    if (match[1] === undefined) {
      this.parentheses ??= new Parentheses(text);
      return this.parentheses.readTarget(start, start + match[0].length);
    }
    const title = match[2] === undefined ? null : match[2].slice(1, -1);
    return { href: trim(match[1].slice(1, -1)), title, end: start + match[0].length };
  }
}

/** Where each opening mark that has a partner finds it. */
function pairs(text: string, opening: string, closing: string): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  const open: number[] = [];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === opening) open.push(i);
    else if (text[i] === closing && open.length > 0) found.set(open.pop()!, i);
  }
  return found;
}

/** A closing parenthesis with nothing but spaces between it and a quote, which may be the end of a title. */
interface TitleEnd {
  readonly quote: number;
  readonly parenthesis: number;
}

/**
 * A target holds balanced parentheses and may end in a quoted title, but quotes may also belong to it. The first quote is
 * taken for the beginning of a title, or else the first of the other kind, when any further one of its kind stands right
 * before a closing parenthesis; parentheses mean nothing inside it. All that this needs to know about the text is found
 * in one go.
 */
class Parentheses {
  private readonly partners: ReadonlyMap<number, number>;
  /** All of them, in order. */
  private readonly positions: number[] = [];
  /** For each of those: how many are open behind it. */
  private readonly depths: number[] = [];
  private readonly quotes = { '"': [] as number[], "'": [] as number[] };
  private readonly titleEnds = { '"': [] as TitleEnd[], "'": [] as TitleEnd[] };

  constructor(private readonly text: string) {
    this.partners = pairs(text, '(', ')');
    let depth = 0;
    /** Where the last character stands that is no space. */
    let last = -1;
    for (let i = 0; i < text.length; i++) {
      const character = text[i]!;
      if (character === '(' || character === ')') {
        depth += character === '(' ? 1 : -1;
        this.positions.push(i);
        this.depths.push(depth);
        const quote = text[last];
        if (character === ')' && isQuote(quote)) this.titleEnds[quote].push({ quote: last, parenthesis: i });
      } else if (isQuote(character)) {
        this.quotes[character].push(i);
      }
      if (character !== ' ') last = i;
    }
  }

  /** @param start Where the target begins, behind the parenthesis that opens it and white space. */
  readTarget(opening: number, start: number): Target | null {
    const { text, quotes, titleEnds } = this;
    const partner = this.partners.get(opening) ?? Number.POSITIVE_INFINITY;
    const double = next(quotes['"'], start);
    const single = next(quotes["'"], start);
    const quote = Math.min(double, single);
    if (partner < quote) return { href: trim(text.slice(start, partner)), title: null, end: partner + 1 };
    if (quote === Number.POSITIVE_INFINITY) return null;

    const [mark, other] = quote === double ? (['"', "'"] as const) : (["'", '"'] as const);
    const otherQuote = next(quotes[other], quote + 1);
    const titles = [
      { begin: quote, end: nextTitleEnd(titleEnds[mark], quote + 1) },
      { begin: otherQuote, end: nextTitleEnd(titleEnds[other], otherQuote + 1) },
    ].filter(({ end }) => end !== undefined);
    titles.sort((a, b) => a.end!.parenthesis - b.end!.parenthesis);
    const title = titles[0];
    if (title) {
      return {
        href: trim(text.slice(start, title.begin)),
        title: text.slice(title.begin + 1, title.end!.quote),
        end: title.end!.parenthesis + 1,
      };
    }
    return this.readUntitled(opening, start, quote);
  }

  /**
   * No title ends anywhere. Then each parenthesis behind the first quote, an opening one too, closes one that is open
   * there: the reference's slip.
   */
  private readUntitled(opening: number, start: number, quote: number): Target | null {
    const { text, positions, depths } = this;
    const first = lowerBound(positions, opening);
    const behindQuote = lowerBound(positions, quote);
    const open = depths[behindQuote - 1]! - depths[first]! + 1;
    const last = positions[behindQuote + open - 1];
    if (last === undefined) return null;
    if (text[last] === ')') return { href: trim(text.slice(start, last)), title: null, end: last + 1 };
    // The reference then takes everything but the last characters for the URL.
    return { href: trim(text.slice(start, -2)), title: null, end: Math.max(start, text.length - 1) };
  }
}

const isQuote = (character: string | undefined): character is '"' | "'" => character === '"' || character === "'";

/** The first of ascending positions that is not before `from`; infinite when there is none. */
const next = (positions: readonly number[], from: number): number =>
  positions[lowerBound(positions, from)] ?? Number.POSITIVE_INFINITY;

/** The first whose quote is not before `from`. */
function nextTitleEnd(ends: readonly TitleEnd[], from: number): TitleEnd | undefined {
  return ends[lowerBound(ends, from, ({ quote }) => quote)];
}

/** How many of ascending values are less. */
function lowerBound<T = number>(values: readonly T[], than: number, value = (item: T) => item as number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value(values[middle]!) < than) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function cleanTitle(title: string): string {
  const text = trim(title);
  const isQuoted = text.length > 1 && (text[0] === '"' || text[0] === "'") && text.endsWith(text[0]);
  return (isQuoted ? text.slice(1, -1) : text).replace(/\s/g, ' ');
}
