import type { LinkifierRule } from '@parley/domain/markdown';
import type { RE2JS } from 're2js';
import { lazily } from '../lazy.js';
import { Watchdog } from '../typesetting/watchdog.js';

export interface LinkifierMatch {
  readonly start: number;
  readonly end: number;
  /** @param restore Returns what was typed for a part of the text. */
  urlWith(restore: (part: string) => string): string;
}

interface UrlTemplate {
  expand(values: Readonly<Record<string, string | undefined>>): string;
}

/** Linear in the text, whatever the pattern. */
const re2 = lazily((require) => (require('re2js') as { RE2JS: typeof RE2JS }).RE2JS);
const templates = lazily((require) => require('url-template') as { parse(template: string): UrlTemplate });

/** All patterns on all of one text together take some milliseconds without being watched, and these with. */
const SEARCH_STEPS = 1_000_000;
const SEARCH_MS = 12;
/** Starting a search costs more than most searches do. */
const MAX_SEARCHES = 10_000;
/** Some fifteen patterns of a line. */
const COMPILE_STEPS = 500_000;
const COMPILE_MS = 15;
/** A millisecond or two: being watched costs more than most searches do. */
const STEPS_AT_ONCE = 500_000;

/** Work of all linkifiers together on one message. */
export class Effort {
  searches = 0;
  /** Rough count of what was done, in the unit of `WorkBudget`. */
  steps = 0;
  readonly searching: Watchdog;
  /** Most patterns are compiled already. */
  readonly compiling: Watchdog;

  constructor(searchMs = SEARCH_MS, compileMs = COMPILE_MS) {
    this.searching = new Watchdog(searchMs, SEARCH_STEPS, STEPS_AT_ONCE);
    this.compiling = new Watchdog(compileMs, COMPILE_STEPS, STEPS_AT_ONCE);
  }

  get isSpent(): boolean {
    return this.searching.isOver || this.searches > MAX_SEARCHES;
  }
}

/** Compiled once per process, when a text first may hold a match: realms may have many, of which a text has few. */
const MAX_COMPILED = 5000;
const compiled = new Map<string, Program | null>();

const MATCH = 'linkifier_actual_match';
const AFTER = 'linkifier_after_match';
/** Adds what may stand around a match. The next-line character is white space that RE2's `\s` and `\pZ` both miss. */
export const surrounded = (pattern: string) =>
  `(?:^|[\\s\\x85\\pZ'"(,:<])(?P<${MATCH}>${pattern})(?P<${AFTER}>$|[^\\pL\\pN])`;

const STEPS_PER_SEARCH = 1000;
const STEPS_PER_INSTRUCTION = 250;

export class Linkifier {
  /** Start of every match; empty where none is known. */
  readonly literal: string;
  private readonly key: string;

  constructor(private readonly rule: LinkifierRule) {
    this.literal = literalPrefix(rule.pattern);
    this.key = JSON.stringify([rule.pattern, rule.urlTemplate]);
  }

  /** Returns the matches found with the effort that is left, from left to right. */
  search(text: string, effort: Effort): readonly LinkifierMatch[] {
    if (effort.isSpent || !text.includes(this.literal)) return [];
    effort.searches++;
    effort.steps += STEPS_PER_SEARCH + text.length;
    return this.compile(effort.compiling)?.search(text, this.literal, effort.searching) ?? [];
  }

  /** Null when the pattern does not compile, or time is up. */
  private compile(watchdog: Watchdog): Program | null {
    const known = compiled.get(this.key);
    if (known !== undefined || watchdog.isOver) return known ?? null;
    let program: Program | null;
    try {
      const pattern = compilePattern(surrounded(this.rule.pattern), watchdog);
      program = new Program(pattern, templates().parse(this.rule.urlTemplate));
    } catch {
      // Another text may give it more time.
      if (watchdog.isOver) return null;
      program = null;
    }
    const oldest = compiled.size >= MAX_COMPILED ? compiled.keys().next().value : undefined;
    if (oldest !== undefined) compiled.delete(oldest);
    compiled.set(this.key, program);
    return program;
  }
}
/** Takes time linear to a pattern without repetitions; others take as long as the watchdog lets them. @throws as RE2 does */
export function compilePattern(pattern: string, watchdog: Watchdog): RE2JS {
  // Loading the library is no fault of the pattern.
  const engine = re2();
  return watchdog.run(() => engine.compile(pattern), STEPS_PER_INSTRUCTION * programSize(pattern));
}

/** Upper bound: numbered repetitions may be nested, so their counts multiply. */
function programSize(pattern: string): number {
  let size = pattern.length;
  for (const [, least, most] of pattern.matchAll(/\{(\d*),?(\d*)\}/g)) size *= Math.max(1, Number(least), Number(most));
  return size;
}

/** Returns the literal start of every match if a short look at the pattern tells it; otherwise empty. */
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

class Program {
  private readonly groups: readonly string[];

  constructor(
    private readonly pattern: RE2JS,
    private readonly template: UrlTemplate,
  ) {
    this.groups = Object.keys(pattern.namedGroups());
  }

  /** Returns the matches found in time. The character after one match may be the one before the next. */
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
        found.push({
          start: matcher.start(MATCH),
          end,
          urlWith: (restore) => this.urlOf(groups, restore),
        });
        position = Math.max(end, position + 1);
      }
    } catch {
      // Time is up.
    }
    return found;
  }

  /** @param groups A group that took no part is null. */
  private urlOf(groups: readonly (readonly [string, string | null])[], restore: (part: string) => string): string {
    return this.template.expand(
      Object.fromEntries(groups.map(([name, value]) => [name, value === null ? undefined : restore(value)])),
    );
  }

  /** A search may read the text to its very end. */
  private stepsFor(text: string, position: number): number {
    return STEPS_PER_SEARCH + this.pattern.programSize() * (text.length - position);
  }
}
