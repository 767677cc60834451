import type { Linkifier } from '@parley/domain/messages';
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

const re2 = lazily((require) => (require('re2js') as { RE2JS: typeof RE2JS }).RE2JS);
const templates = lazily((require) => require('url-template') as { parse(template: string): UrlTemplate });

/** Compiled once per process: realms have few, and they rarely change. */
const MAX_COMPILED = 1000;
const compiled = new Map<string, CompiledLinkifier | null>();

const MATCH = 'linkifier_actual_match';
const AFTER = 'linkifier_after_match';
/** What may stand around a match. The next-line character is white space that RE2's `\s` and `\pZ` both miss. */
const surrounded = (pattern: string) =>
  `(?:^|\\s|\\x{85}|\\pZ|['"(,:<])(?P<${MATCH}>${pattern})(?P<${AFTER}>$|[^\\pL\\pN])`;

/** For all patterns on all of one text together: some milliseconds without being watched, and these with. */
const UNWATCHED_STEPS = 2_000_000;
const TIME_MS = 15;
const STEPS_PER_SEARCH = 1000;

/** What a realm's administrators want made links of, for one text: no pattern may stop the server. */
export class RealmLinkifiers {
  private readonly linkifiers: readonly CompiledLinkifier[];
  private readonly watchdog = new Watchdog(TIME_MS, UNWATCHED_STEPS);

  constructor(linkifiers: readonly Linkifier[]) {
    this.linkifiers = linkifiers.map(compile).filter((linkifier) => linkifier !== null);
  }

  /** One for each, in their order of precedence, until time is up; each finds its matches from left to right. */
  *searches(): Generator<(text: string) => readonly LinkifierMatch[]> {
    for (const linkifier of this.linkifiers) {
      if (this.watchdog.isOver) return;
      yield (text) => linkifier.search(text, this.watchdog);
    }
  }
}

/** Null when the pattern does not compile. */
function compile({ pattern, urlTemplate }: Linkifier): CompiledLinkifier | null {
  const key = JSON.stringify([pattern, urlTemplate]);
  let result = compiled.get(key);
  if (result === undefined) {
    if (compiled.size >= MAX_COMPILED) compiled.clear();
    try {
      result = new CompiledLinkifier(re2().compile(surrounded(pattern)), templates().parse(urlTemplate));
    } catch {
      result = null;
    }
    compiled.set(key, result);
  }
  return result;
}

class CompiledLinkifier {
  private readonly groups: readonly string[];

  constructor(
    private readonly pattern: RE2JS,
    private readonly template: UrlTemplate,
  ) {
    this.groups = Object.keys(pattern.namedGroups());
  }

  /** As many as are found in time. The character after one match may be the one before the next. */
  search(text: string, watchdog: Watchdog): readonly LinkifierMatch[] {
    const found: LinkifierMatch[] = [];
    const matcher = this.pattern.matcher(text);
    let position = 0;
    try {
      while (position <= text.length && watchdog.run(() => matcher.find(position), this.stepsFor(text, position))) {
        const start = matcher.start(MATCH);
        const end = matcher.end(MATCH);
        const groups = this.groups.map((name) => [name, matcher.group(name)] as const);
        found.push({ start, end, urlWith: (restore) => this.expand(groups, restore) });
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
