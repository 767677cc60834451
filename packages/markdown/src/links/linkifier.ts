import type { LinkifierRule } from '@parley/domain/markdown';
import type { RE2JS } from 're2js';
import { lazily } from '../lazy.js';
import { Watchdog } from '../typesetting/watchdog.js';

export interface LinkifierMatch {
  readonly start: number;
  readonly end: number;
  /** @param restore What was typed for a part of the text. */
  urlWith(restore: (part: string) => string): string;
}

interface UrlTemplate {
  expand(values: Readonly<Record<string, string | undefined>>): string;
}

/** Linear in the text, whatever the pattern. */
const re2 = lazily((require) => (require('re2js') as { RE2JS: typeof RE2JS }).RE2JS);
const templates = lazily((require) => require('url-template') as { parse(template: string): UrlTemplate });

/** Compiled once per process, when a text first may hold a match: realms may have many, of which a text has few. */
const MAX_COMPILED = 5000;
const compiled = new Map<string, CompiledLinkifier | null>();

const MATCH = 'linkifier_actual_match';
const AFTER = 'linkifier_after_match';
const LETTERS_AND_DIGITS = '\\pL\\pN';
/** Enough for texts without others, and compiled in a third of the time. */
const OF_ASCII = 'A-Za-z0-9';
const OTHERS = /(?![A-Za-z0-9])[\p{L}\p{N}]/u;
/** What may stand around a match. The next-line character is white space that RE2's `\s` and `\pZ` both miss. */
export const surrounded = (pattern: string, notAfter = LETTERS_AND_DIGITS) =>
  `(?:^|\\s|\\x85|\\pZ|['"(,:<])(?P<${MATCH}>${pattern})(?P<${AFTER}>$|[^${notAfter}])`;

/** For all patterns on all of one text together: some milliseconds without being watched, and these with. */
const SEARCH_STEPS = 1_000_000;
const SEARCH_MS = 12;
/** Some twenty patterns of a line. */
const COMPILE_STEPS = 500_000;
const COMPILE_MS = 15;
const STEPS_PER_SEARCH = 1000;
/** A millisecond or two: being watched costs more than most searches do. */
const STEPS_AT_ONCE = 500_000;
const STEPS_PER_INSTRUCTION = 250;

/** What a realm's administrators want made links of, for one text: no pattern may stop the server. */
export class RealmLinkifiers {
  private readonly watchdog = new Watchdog(SEARCH_MS, SEARCH_STEPS, STEPS_AT_ONCE);
  /** Most patterns are compiled already. */
  private readonly compiling = new Watchdog(COMPILE_MS, COMPILE_STEPS, STEPS_AT_ONCE);

  private lastText: string | undefined;
  private lastNotAfter = LETTERS_AND_DIGITS;

  constructor(private readonly rules: readonly LinkifierRule[]) {}

  /** One for each, in their order of precedence, until time is up; each finds its matches from left to right. */
  *searches(): Generator<(text: string) => readonly LinkifierMatch[]> {
    for (const rule of this.rules) {
      if (this.watchdog.isOver) return;
      yield (text) => this.search(text, rule);
    }
  }

  private search(text: string, rule: LinkifierRule): readonly LinkifierMatch[] {
    const prefix = prefixOf(rule.pattern);
    if (prefix !== '' && !text.includes(prefix)) return NONE;
    return compile(rule, this.notAfter(text), this.compiling)?.search(text, prefix, this.watchdog) ?? NONE;
  }

  /** Looked for once in a text, which most linkifiers leave as it is. */
  private notAfter(text: string): string {
    if (this.lastText !== text) {
      this.lastText = text;
      this.lastNotAfter = OTHERS.test(text) ? LETTERS_AND_DIGITS : OF_ASCII;
    }
    return this.lastNotAfter;
  }
}

const NONE: readonly LinkifierMatch[] = [];

/** Null when the pattern does not compile, or time is up. */
function compile(
  { pattern, urlTemplate }: LinkifierRule,
  notAfter: string,
  watchdog: Watchdog,
): CompiledLinkifier | null {
  const key = JSON.stringify([pattern, urlTemplate, notAfter]);
  let result = compiled.get(key);
  if (result !== undefined || watchdog.isOver) return result ?? null;
  try {
    const program = compilePattern(surrounded(pattern, notAfter), watchdog);
    result = new CompiledLinkifier(program, templates().parse(urlTemplate));
  } catch {
    // Another text may give it more time.
    if (watchdog.isOver) return null;
    result = null;
  }
  const oldest = compiled.size >= MAX_COMPILED ? compiled.keys().next().value : undefined;
  if (oldest !== undefined) compiled.delete(oldest);
  compiled.set(key, result);
  return result;
}

/** In time linear to the pattern, as far as it repeats nothing; else as long as the watchdog lets it. @throws as RE2 does */
export function compilePattern(pattern: string, watchdog: Watchdog): RE2JS {
  // Loading the library is no fault of the pattern.
  const engine = re2();
  return watchdog.run(() => engine.compile(pattern), STEPS_PER_INSTRUCTION * programSize(pattern));
}

/** At most: what is repeated by a number may hold what is, and counts as often. */
function programSize(pattern: string): number {
  let size = pattern.length;
  for (const [, least, most] of pattern.matchAll(/\{(\d*),?(\d*)\}/g)) size *= Math.max(1, Number(least), Number(most));
  return size;
}

/** By pattern. */
const MAX_PREFIXES = 20_000;
const prefixes = new Map<string, string>();

function prefixOf(pattern: string): string {
  let prefix = prefixes.get(pattern);
  if (prefix === undefined) {
    if (prefixes.size >= MAX_PREFIXES) prefixes.clear();
    prefix = literalPrefix(pattern);
    prefixes.set(pattern, prefix);
  }
  return prefix;
}

/** What every match begins with, as far as a short look at the pattern tells; empty where it does not. */
export function literalPrefix(pattern: string): string {
  if (pattern.includes('|')) return '';
  const characters = [...pattern];
  const prefix: string[] = [];
  for (let at = 0; at < characters.length; at++) {
    let character = characters[at]!;
    if ('*?{'.includes(character)) {
      prefix.pop();
      break;
    }
    if (character === '\\') {
      character = characters[++at] ?? '';
      // A letter or digit after it is a class, an anchor, or the like.
      if (!/^[!-/:-@[-`{-~]$/.test(character)) break;
    } else if (!/^[\p{L}\p{N} _#:/!@&%=~;,"'<>-]$/u.test(character)) break;
    prefix.push(character);
  }
  return prefix.join('');
}

class CompiledLinkifier {
  private readonly groups: readonly string[];

  constructor(
    private readonly pattern: RE2JS,
    private readonly template: UrlTemplate,
  ) {
    this.groups = Object.keys(pattern.namedGroups());
  }

  /** As many as are found in time. `prefix`: of every match. The character after one match may be the one before the next. */
  search(text: string, prefix: string, watchdog: Watchdog): readonly LinkifierMatch[] {
    const found: LinkifierMatch[] = [];
    const matcher = this.pattern.matcher(text);
    let position = 0;
    try {
      while (position <= text.length) {
        if (prefix !== '') {
          const next = text.indexOf(prefix, position);
          if (next === -1) break;
          // With the character before it.
          position = Math.max(next - 1, position);
        }
        const from = position;
        if (!watchdog.run(() => matcher.find(from), this.stepsFor(text, from))) break;
        const end = matcher.end(MATCH);
        const groups = this.groups.map((name) => [name, matcher.group(name)] as const);
        found.push({ start: matcher.start(MATCH), end, urlWith: (restore) => this.expand(groups, restore) });
        position = Math.max(end, position + 1);
      }
    } catch {
      // Time is up.
    }
    return found;
  }

  /** One match may be looked for to the very end. */
  private stepsFor(text: string, position: number): number {
    return STEPS_PER_SEARCH + this.pattern.programSize() * (text.length - position);
  }

  private expand(
    groups: readonly (readonly [name: string, value: string | null])[],
    restore: (part: string) => string,
  ): string {
    const values: Record<string, string | undefined> = {};
    for (const [name, value] of groups) values[name] = value === null ? undefined : restore(value);
    return this.template.expand(values);
  }
}
