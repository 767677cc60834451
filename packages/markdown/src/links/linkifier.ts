import type { Linkifier } from '@parley/domain';
import type { RE2JS } from 're2js';
import { lazily } from '../lazy.js';
import { Watchdog } from '../typesetting/watchdog.js';

interface LinkifierMatch {
  readonly start: number;
  readonly end: number;
  /** Of the pattern, by name. */
  readonly groups: Readonly<Record<string, string | undefined>>;
}

interface UrlTemplate {
  expand(values: Readonly<Record<string, string | undefined>>): string;
}

const re2 = lazily((require) => (require('re2js') as { RE2JS: typeof RE2JS }).RE2JS);
const templates = lazily((require) => require('url-template') as { parse(template: string): UrlTemplate });

/** Compiled once per process: realms have few, and they rarely change. */
const MAX_COMPILED = 1000;
const compiled = new Map<string, CompiledLinkifier | null>();

/** For all patterns together, each time a text is formatted: a tenth of that without being watched. */
const TIME_MS = 20;
const UNWATCHED_STEPS = 5_000_000;
const STEPS_PER_SEARCH = 1000;

export const linkifierWatchdog = () => new Watchdog(TIME_MS, UNWATCHED_STEPS);

const MATCH = 'linkifier_actual_match';
const AFTER = 'linkifier_after_match';
/** What may stand around a match. The next-line character is white space that RE2's `\s` and `\pZ` both miss. */
const surrounded = (pattern: string) =>
  `(?:^|\\s|\\x{85}|\\pZ|['"(,:<])(?P<${MATCH}>${pattern})(?P<${AFTER}>$|[^\\pL\\pN])`;

/** A linkifier ready to run. Administrators write the patterns, and no pattern may stop the server. */
export class CompiledLinkifier {
  private constructor(
    private readonly pattern: RE2JS,
    private readonly groups: readonly string[],
    private readonly template: UrlTemplate,
  ) {}

  /** Those of the patterns that compile. */
  static all(linkifiers: readonly Linkifier[]): readonly CompiledLinkifier[] {
    return linkifiers.map((linkifier) => CompiledLinkifier.of(linkifier)).filter((linkifier) => linkifier !== null);
  }

  private static of(linkifier: Linkifier): CompiledLinkifier | null {
    const key = JSON.stringify([linkifier.pattern, linkifier.urlTemplate]);
    let result = compiled.get(key);
    if (result === undefined) {
      if (compiled.size >= MAX_COMPILED) compiled.clear();
      result = CompiledLinkifier.compile(linkifier);
      compiled.set(key, result);
    }
    return result;
  }

  private static compile({ pattern, urlTemplate }: Linkifier): CompiledLinkifier | null {
    try {
      const compiledPattern = re2().compile(surrounded(pattern));
      const groups = Object.keys(compiledPattern.namedGroups());
      return new CompiledLinkifier(compiledPattern, groups, templates().parse(urlTemplate));
    } catch {
      return null;
    }
  }

  /** From left to right, as many as are found in time. The character after one match may be the one before the next. */
  matches(text: string, watchdog: Watchdog): readonly LinkifierMatch[] {
    const found: LinkifierMatch[] = [];
    // One search is linear in the text, but each may read on to the end.
    const steps = STEPS_PER_SEARCH + this.pattern.programSize() * text.length * text.length;
    try {
      watchdog.run(() => this.findAll(text, found), steps);
    } catch {
      // Time is up.
    }
    return found;
  }

  urlOf({ groups }: LinkifierMatch, restore = (value: string) => value): string {
    const values: Record<string, string | undefined> = {};
    for (const [name, value] of Object.entries(groups)) values[name] = value && restore(value);
    return this.template.expand(values);
  }

  private findAll(text: string, found: LinkifierMatch[]): void {
    const matcher = this.pattern.matcher(text);
    for (let position = 0; position <= text.length && matcher.find(position); ) {
      const start = matcher.start(MATCH);
      const end = matcher.end(MATCH);
      const groups: Record<string, string | undefined> = {};
      for (const name of this.groups) groups[name] = matcher.group(name) ?? undefined;
      found.push({ start, end, groups });
      position = Math.max(end, position + 1);
    }
  }
}
