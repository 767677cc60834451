import { isBlank, trim, withOne } from '../characters.js';
import { Element } from '../html/html.js';
import { findAutolinks } from '../links/autolinks.js';
import { completeUrl, hasForbiddenScheme, relativeToRealm, uploadPath } from '../links/url.js';
import { audioPlayer, inlineImage } from './previews.js';
import type { InlineContext, InlineRule } from './rule.js';

/** Link target `(target "title")` with its end. */
export interface Target {
  readonly href: string;
  /** Raw title without quotes; see `cleanTitle`. */
  readonly title: string | null;
  readonly end: number;
}

const BRACKETED = /\(\s*(?:(<[^<>]*>)\s*(?:('[^']*'|"[^"]*")\s*)?\))?/y;

/** Bracket pairs of a text, computed in one pass, because hostile texts contain many unclosed links. */
export class LinkSyntax {
  private readonly closingBrackets: ReadonlyMap<number, number>;
  private parentheses: Parentheses | undefined;

  constructor(private readonly text: string) {
    this.closingBrackets = pairs(text, '[', ']');
  }

  /** Returns the matching closing bracket; -1 if there is none. */
  findClosingBracket(opening: number): number {
    return this.closingBrackets.get(opening) ?? -1;
  }

  /** Reads the target at a position; null if there is none. */
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

/** Returns the closing position of each matched opening character. */
function pairs(text: string, opening: string, closing: string): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  const open: number[] = [];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === opening) open.push(i);
    else if (text[i] === closing && open.length > 0) found.set(open.pop()!, i);
  }
  return found;
}

/** Closing parenthesis preceded by a quote and optional spaces, a possible end of a title. */
interface TitleEnd {
  readonly quote: number;
  readonly parenthesis: number;
}

/**
 * Finds link targets with balanced parentheses and an optional quoted title. A quote starts a title if a later quote
 * of its kind precedes a closing parenthesis, and parentheses inside a title are ignored. The first quote is tried
 * first, then the first of the other kind. All positions are computed in one pass.
 */
class Parentheses {
  private readonly partners: ReadonlyMap<number, number>;
  /** Positions of all parentheses in order. */
  private readonly positions: number[] = [];
  /** Nesting depth after each parenthesis. */
  private readonly depths: number[] = [];
  private readonly quotes = { '"': [] as number[], "'": [] as number[] };
  private readonly titleEnds = { '"': [] as TitleEnd[], "'": [] as TitleEnd[] };

  constructor(private readonly text: string) {
    this.partners = pairs(text, '(', ')');
    let depth = 0;
    /** Position of the last non-space character. */
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

  /** @param start Start of the target after the opening parenthesis and white space. */
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
   * Reads a target without a valid title. Deliberate: as in the reference server, each parenthesis after the first
   * quote, even an opening one, closes an open one.
   */
  private readUntitled(opening: number, start: number, quote: number): Target | null {
    const { text, positions, depths } = this;
    const first = lowerBound(positions, opening);
    const behindQuote = lowerBound(positions, quote);
    const open = depths[behindQuote - 1]! - depths[first]! + 1;
    const last = positions[behindQuote + open - 1];
    if (last === undefined) return null;
    if (text[last] === ')') return { href: trim(text.slice(start, last)), title: null, end: last + 1 };
    if (text[quote] === "'") {
      // An apostrophe in the address: the reference server loses characters here.
      const partner = this.partners.get(opening);
      return partner === undefined ? null : { href: trim(text.slice(start, partner)), title: null, end: partner + 1 };
    }
    // Like the reference server, takes the target without its last characters as the URL.
    return { href: trim(text.slice(start, -2)), title: null, end: Math.max(start, text.length - 1) };
  }
}

const isQuote = (character: string | undefined): character is '"' | "'" => character === '"' || character === "'";

/** Returns the first of ascending positions at or after `from`; infinite if none. */
const next = (positions: readonly number[], from: number): number =>
  positions[lowerBound(positions, from)] ?? Number.POSITIVE_INFINITY;

/** Returns the first title end whose quote is at or after `from`. */
function nextTitleEnd(ends: readonly TitleEnd[], from: number): TitleEnd | undefined {
  return ends[lowerBound(ends, from, ({ quote }) => quote)];
}

/** Returns the number of ascending values below the limit. */
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

/** Renders `![title](/user_uploads/…)` for images and audio; other uses of this syntax stay text. */
export const media: InlineRule = (text, context) =>
  text.includes('![') && text.includes('user_uploads/')
    ? replaceBracketed(text, '![', (title, target) => mediaElement(title, target, context), context)
    : text;

/** Renders `[text](url "title")`. */
export const links: InlineRule = (text, context) =>
  text.includes('](') ? replaceBracketed(text, '[', (inside, target) => link(inside, target, context), context) : text;

export const autolinks: InlineRule = (text, context) => {
  let result = '';
  let done = 0;
  for (const { start, end } of findAutolinks(text, context.fileLinks, context.work)) {
    result += text.slice(done, start) + context.stash(linkOrText(text.slice(start, end), null, context));
    done = end;
  }
  return done === 0 ? text : result + text.slice(done);
};

/** Returns a link to a possibly incomplete URL; plain text if its scheme is forbidden. */
export function linkOrText(url: string, text: string | null, context: InlineContext): Element | string {
  const href = completeUrl(context.restore(url));
  if (href === null) return text ?? url;
  const element = new Element('a', { href: relativeToRealm(href, context.options.realmUrl) });
  element.text = text ?? url;
  element.isTextFinal = true;
  return element;
}

function replaceBracketed(
  text: string,
  opening: '[' | '![',
  build: (inside: string, target: Target) => Element | null,
  context: InlineContext,
): string {
  let result = '';
  let done = 0;
  const syntax = new LinkSyntax(text);
  const lastTarget = text.lastIndexOf('](');
  for (
    let at = text.indexOf(opening);
    at !== -1 && at < lastTarget;
    at = text.indexOf(opening, Math.max(at + 1, done))
  ) {
    context.work.spend(1);
    if (opening === '[' && text[at - 1] === '!') continue;
    const bracket = at + opening.length - 1;
    const close = syntax.findClosingBracket(bracket);
    const target = close !== -1 && text[close + 1] === '(' ? syntax.readTarget(close + 1) : null;
    const element = target && build(text.slice(bracket + 1, close), target);
    if (!target || !element) continue;
    result += text.slice(done, at) + context.stash(element);
    done = target.end;
  }
  return result + text.slice(done);
}

function link(inside: string, target: Target, context: InlineContext): Element | null {
  const { realmUrl } = context.options;
  // An invalid target may contain many others.
  if (hasForbiddenScheme(target.href)) return null;
  context.work.spend(inside.length + target.href.length);
  const complete = completeUrl(trim(context.restore(target.href)));
  if (complete === null) return null;
  const href = relativeToRealm(complete, realmUrl);
  const title: Record<string, string> =
    target.title === null ? {} : { title: context.restore(cleanTitle(target.title)) };
  const element = new Element('a', { href, ...title });
  element.text = isBlank(inside) ? href : inside;
  element.isTextFinal = true;
  return element;
}

function mediaElement(title: string, target: Target, context: InlineContext): Element | null {
  const { realmUrl } = context.options;
  context.work.spend(title.length + target.href.length);
  const url = context.restore(target.href);
  const href = completeUrl(trim(url));
  const path = href === null ? null : uploadPath(href, realmUrl);
  if (path === null) return null;
  context.outcome.uploadPaths = withOne(context.outcome.uploadPaths, path);
  const upload = context.names.upload(path);
  if (!upload) return null;
  const name = context.restore(title);
  const source = `/user_uploads/${path}`;
  return audioPlayer(upload, source, name, url) ?? inlineImage(upload, path, name, context.outcome);
}
