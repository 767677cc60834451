import type { Linkifier } from '@parley/domain';
import type { RE2JS } from 're2js';
import { lazily } from '../lazy.js';

interface LinkifierMatch {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly url: string;
}

interface UrlTemplate {
  expand(values: Readonly<Record<string, string | undefined>>): string;
}

const re2 = lazily((require) => (require('re2js') as { RE2JS: typeof RE2JS }).RE2JS);
const templates = lazily((require) => require('url-template') as { parse(template: string): UrlTemplate });

/** Compiled once per process: realms have few, and they rarely change. */
const MAX_COMPILED = 1000;
const compiled = new Map<string, CompiledLinkifier | null>();

/** One search is linear, but a pattern may have every one of its matches read on to the end. */
const FREE_MATCHES = 100;
const PATIENCE_MS = 50;

const MATCH = 'linkifier_actual_match';
const AFTER = 'linkifier_after_match';
/** What may stand around a match. The next-line character is white space that RE2's `\s` and `\pZ` both miss. */
const surrounded = (pattern: string) =>
  `(?:^|\\s|\\x{85}|\\pZ|['"(,:<])(?P<${MATCH}>${pattern})(?P<${AFTER}>$|[^\\pL\\pN])`;

/** A linkifier ready to run, in time linear in the text: users write the patterns, and no pattern may stop the server. */
export class CompiledLinkifier {
  private constructor(
    private readonly pattern: RE2JS,
    private readonly groups: readonly string[],
    private readonly template: UrlTemplate,
  ) {}

  /** Null when the pattern does not compile. */
  static of(linkifier: Linkifier): CompiledLinkifier | null {
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

  /** From left to right. The character after one match may be the one before the next. */
  *matches(text: string, restore = (value: string) => value): Generator<LinkifierMatch> {
    const matcher = this.pattern.matcher(text);
    let count = 0;
    const deadline = performance.now() + PATIENCE_MS;
    for (let position = 0; position <= text.length && matcher.find(position); ) {
      if (++count > FREE_MATCHES && performance.now() > deadline) return;
      const start = matcher.start(MATCH);
      const end = matcher.end(MATCH);
      const values: Record<string, string | undefined> = {};
      for (const group of this.groups) {
        const value = matcher.group(group);
        values[group] = value === null ? undefined : restore(value);
      }
      yield { start, end, text: text.slice(start, end), url: this.template.expand(values) };
      position = Math.max(end, position + 1);
    }
  }
}
