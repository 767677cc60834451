import { trim } from '../characters.js';

/** `(target "title")`, and where it ends. */
export interface Target {
  readonly href: string;
  readonly title: string | null;
  readonly end: number;
}

const BRACKETED = /\(\s*(?:(<[^<>]*>)\s*(?:('[^']*'|"[^"]*")\s*)?\))?/y;

/** Where the text opened by a bracket ends, brackets inside it being balanced; -1 when it does not. */
export function findClosingBracket(text: string, opening: number): number {
  let depth = 0;
  for (let i = opening; i < text.length; i++) {
    const character = text[i];
    if (character === '[') depth++;
    else if (character === ']' && --depth === 0) return i;
  }
  return -1;
}

/** Reads a target that starts at a given place; null when there is none. */
export function readTarget(text: string, start: number): Target | null {
  BRACKETED.lastIndex = start;
  const match = BRACKETED.exec(text);
  if (!match) return null;
  if (match[1] === undefined) return new TargetReader(text, start + match[0].length).read();
  const title = match[2] === undefined ? null : cleanTitle(match[2].slice(1, -1));
  return { href: trim(match[1].slice(1, -1)), title, end: start + match[0].length };
}

/** A quote that may open a title, and where it was seen last. */
class Quote {
  mark = '';
  start = -1;
  end = -1;
}

/**
 * A target holds balanced parentheses and may end in a quoted title, but quotes may also belong to it. So it is read
 * twice at once: as if the first quote opened a title, inside which parentheses mean nothing, and as if it did not.
 */
class TargetReader {
  private depth = 1;
  private depthOutsideTitle = 1;
  private inTitle = false;
  private readonly first = new Quote();
  private readonly second = new Quote();
  private fallbackEnd = -1;

  constructor(
    private readonly text: string,
    private readonly start: number,
  ) {}

  read(): Target | null {
    const { text, start, first, second } = this;
    let last = '';
    for (let i = start; i < text.length; i++) {
      const character = text[i]!;
      if (character === '(') this.openParenthesis();
      else if (character === ')') this.closeParenthesis(i, last);
      else if (character === '"' || character === "'") this.quote(i, character);

      if (this.depth === 0) {
        if (first.end !== -1 && first.mark === last) return this.withTitle(first, i);
        if (second.end !== -1 && second.mark === last) return this.withTitle(second, i);
        return { href: trim(text.slice(start, i)), title: null, end: i + 1 };
      }
      if (character !== ' ') last = character;
    }
    if (this.depthOutsideTitle !== 0) return null;
    if (this.fallbackEnd !== -1) {
      return { href: trim(text.slice(start, this.fallbackEnd)), title: null, end: this.fallbackEnd + 1 };
    }
    // Only opening parentheses made it nought. The reference then takes everything but the last characters for the URL.
    return { href: trim(text.slice(start, -2)), title: null, end: Math.max(start, text.length - 1) };
  }

  /** Inside what may be a title it counts against the fallback, as a closing one does: the reference's slip. */
  private openParenthesis(): void {
    if (!this.inTitle) this.depth++;
    else if (this.depthOutsideTitle > 0) this.depthOutsideTitle--;
  }

  private closeParenthesis(position: number, last: string): void {
    const { first, second } = this;
    if ((first.end !== -1 && first.mark === last) || (second.end !== -1 && second.mark === last)) this.depth = 0;
    else if (!this.inTitle) this.depth--;
    else if (this.depthOutsideTitle > 0 && --this.depthOutsideTitle === 0) this.fallbackEnd = position;
  }

  private quote(position: number, mark: string): void {
    const { first, second } = this;
    if (first.mark === '') {
      this.inTitle = true;
      this.depthOutsideTitle = this.depth;
      this.depth = 1;
      first.start = position + 1;
      first.mark = mark;
    } else if (mark !== first.mark && second.mark === '') {
      second.start = position + 1;
      second.mark = mark;
    } else if (mark === first.mark) {
      first.end = position + 1;
    } else if (mark === second.mark) {
      second.end = position + 1;
    }
  }

  private withTitle({ start, end }: Quote, close: number): Target {
    const href = trim(this.text.slice(this.start, start - 1));
    return { href, title: cleanTitle(this.text.slice(start, end - 1)), end: close + 1 };
  }
}

function cleanTitle(title: string): string {
  const text = trim(title);
  const isQuoted = text.length > 1 && (text[0] === '"' || text[0] === "'") && text.endsWith(text[0]);
  return (isQuoted ? text.slice(1, -1) : text).replace(/\s/g, ' ');
}
