import { type LinkifierRule, UNSPACED } from '@parley/domain/markdown';
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

/** Linear in the text for any pattern. */
const re2 = lazily((require) => (require('re2js') as { RE2JS: typeof RE2JS }).RE2JS);

/**
 * Limit of the cache of compiled patterns per process. Patterns are compiled on first possible match, because a text
 * matches few of a realm's patterns.
 */
const MAX_COMPILED = 5000;
const compiled = new Map<string, Program | null>();

const MATCH = 'linkifier_actual_match';
const AFTER = 'linkifier_after_match';
/** RE2 has another syntax for code points. */
const UNSPACED_OF_RE2 = UNSPACED.replace(/\\u(\w{4})/g, (_, code: string) =>
  String.fromCharCode(Number.parseInt(code, 16)),
);
/** Allowed characters around a match. Those for ASCII texts compile in a third of the time. */
const CONTEXT = {
  ascii: { before: `'"(,:<`, after: '[^A-Za-z0-9]' },
  any: { before: `'"(,:<${UNSPACED_OF_RE2}`, after: `[^\\pL\\pN]|[${UNSPACED_OF_RE2}]` },
};
/**
 * Adds the allowed context of a match. RE2's `\s` and `\pZ` both lack the next-line character, which is white space.
 */
export const surrounded = (pattern: string, { before, after } = CONTEXT.any) =>
  `(?:^|\\s|\\x85|\\pZ|[${before}])(?P<${MATCH}>${pattern})(?P<${AFTER}>$|${after})`;

const STEPS_PER_SEARCH = 1000;
const STEPS_PER_INSTRUCTION = 250;

/** Linkifier whose pattern requires an engine. Matches not found in time stay text. */
export class EngineLinkifier implements CompiledLinkifier {
  readonly literal: string;
  /** Cache keys of the programs for texts with and without non-ASCII letters. */
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

  /** Returns null if the pattern does not compile or time is up. */
  private compile(hasOtherLetters: boolean, watchdog: Watchdog): Program | null {
    const key = this.keys[hasOtherLetters ? 0 : 1];
    const existing = compiled.get(key);
    if (existing !== undefined || watchdog.isOver) return existing ?? null;
    const { pattern, urlTemplate } = this.rule;
    let program: Program | null;
    try {
      const whole = surrounded(pattern, hasOtherLetters ? CONTEXT.any : CONTEXT.ascii);
      program = new Program(compilePattern(whole, watchdog), parseUrlTemplate(urlTemplate));
    } catch {
      // Not cached, because another text may allow more time.
      if (watchdog.isOver) return null;
      program = null;
    }
    const oldest = compiled.size >= MAX_COMPILED ? compiled.keys().next().value : undefined;
    if (oldest !== undefined) compiled.delete(oldest);
    compiled.set(key, program);
    return program;
  }
}

/**
 * Compiles a pattern; takes linear time without repetitions, otherwise as long as the watchdog allows. @throws as RE2
 * does
 */
export function compilePattern(pattern: string, watchdog: Watchdog): RE2JS {
  // Excludes the time to load the library.
  const engine = re2();
  return watchdog.run(() => engine.compile(pattern), STEPS_PER_INSTRUCTION * programSize(pattern));
}

/** Upper bound, because nested counted repetitions multiply. */
function programSize(pattern: string): number {
  let size = pattern.length;
  for (const [, least, most] of pattern.matchAll(/\{(\d*),?(\d*)\}/g)) size *= Math.max(1, Number(least), Number(most));
  return size;
}

/** Returns the literal start of every match if a quick scan can tell; otherwise an empty text. */
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
      // An escaped letter or digit may be a class or an anchor.
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

  /**
   * Returns the matches found in time. `prefix` starts every match. The character after a match may precede the next
   * one.
   */
  search(text: string, prefix: string, watchdog: Watchdog): readonly LinkifierMatch[] {
    const found: LinkifierMatch[] = [];
    const matcher = this.pattern.matcher(text);
    let position = 0;
    try {
      while (position <= text.length) {
        if (prefix !== '') {
          const next = text.indexOf(prefix, position);
          if (next === -1) break;
          // Includes the character before the match.
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

  /** Upper bound, because a match may require a scan to the end of the text. */
  private stepsFor(text: string, position: number): number {
    return STEPS_PER_SEARCH + this.pattern.programSize() * (text.length - position);
  }
}
