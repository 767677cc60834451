import type { LinkifierRule } from '@parley/domain/markdown';
import type { RE2JS } from 're2js';
import { lazily } from '../characters.js';
import type { Watchdog } from '../typesetting/typeset.js';
import {
  type CompiledLinkifier,
  type Effort,
  expandUrl,
  type LinkifierMatch,
  NONE,
  type OriginalText,
  parseUrlTemplate,
  type UrlTemplate,
} from './compiled-linkifier.js';

/** Linear in the text, whatever the pattern. */
const re2 = lazily((require) => (require('re2js') as { RE2JS: typeof RE2JS }).RE2JS);

/** Compiled once per process, when a text first may hold a match: realms may have many, of which a text has few. */
const MAX_COMPILED = 5000;
const compiled = new Map<string, Program | null>();

const MATCH = 'linkifier_actual_match';
const AFTER = 'linkifier_after_match';
const LETTERS_AND_DIGITS = '\\pL\\pN';
/** Enough for texts without others, and compiled in a third of the time. */
const OF_ASCII = 'A-Za-z0-9';
/** What may stand around a match. The next-line character is white space that RE2's `\s` and `\pZ` both miss. */
export const surrounded = (pattern: string, notAfter = LETTERS_AND_DIGITS) =>
  `(?:^|\\s|\\x85|\\pZ|['"(,:<])(?P<${MATCH}>${pattern})(?P<${AFTER}>$|[^${notAfter}])`;

const STEPS_PER_SEARCH = 1000;
const STEPS_PER_INSTRUCTION = 250;

/** One whose pattern takes an engine. What is not found in time stays text. */
export class EngineLinkifier implements CompiledLinkifier {
  readonly literal: string;
  /** Of its programs for texts with other letters than ASCII's, and without. */
  private readonly keys: readonly [others: string, ascii: string];

  constructor(private readonly rule: LinkifierRule) {
    const { pattern, urlTemplate } = rule;
    this.literal = literalPrefix(pattern);
    this.keys = [JSON.stringify([pattern, urlTemplate, 'others']), JSON.stringify([pattern, urlTemplate, 'ascii'])];
  }

  search(text: string, effort: Effort, original: OriginalText): readonly LinkifierMatch[] {
    if (effort.isEngineSpent || !text.includes(this.literal)) return NONE;
    effort.engineStarts++;
    const program = this.compile(original.hasOtherLetters, effort.compiling);
    return program?.search(text, this.literal, effort.searching) ?? NONE;
  }

  /** Null when the pattern does not compile, or time is up. */
  private compile(hasOtherLetters: boolean, watchdog: Watchdog): Program | null {
    const key = this.keys[hasOtherLetters ? 0 : 1];
    const known = compiled.get(key);
    if (known !== undefined || watchdog.isOver) return known ?? null;
    const { pattern, urlTemplate } = this.rule;
    let program: Program | null;
    try {
      const whole = surrounded(pattern, hasOtherLetters ? LETTERS_AND_DIGITS : OF_ASCII);
      program = new Program(compilePattern(whole, watchdog), parseUrlTemplate(urlTemplate));
    } catch {
      // Another text may give it more time.
      if (watchdog.isOver) return null;
      program = null;
    }
    const oldest = compiled.size >= MAX_COMPILED ? compiled.keys().next().value : undefined;
    if (oldest !== undefined) compiled.delete(oldest);
    compiled.set(key, program);
    return program;
  }
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

class Program {
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
        found.push({
          start: matcher.start(MATCH),
          end,
          urlWith: (restore) => expandUrl(this.template, groups, restore),
        });
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
}
