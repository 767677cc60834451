import { isUnspacedAt } from '@parley/domain/markdown';
import { isLetterOrDigit } from '../characters.js';
import {
  areDisjoint,
  type CharacterSet,
  EMPTY,
  endOfCharacter,
  inverse,
  range,
  setOf,
  startOfPrevious,
  union,
} from './character-set.js';
import { type Group, PlainPatternReader, type Step } from './plain-pattern-reader.js';

/** Cache limit, enough for several large lists. */
const MAX_CACHED = 5000;
/** Allowed characters after a match. */
const AFTER = inverse(setOf([...range('0', '9'), ...range('A', 'Z'), ...range('a', 'z')]));

/**
 * Pattern that needs no engine: characters, classes, quantifiers and groups. The characters after a part of variable
 * length never occur in that part, so there is only one way to match and a single pass suffices. Nearly all linkifiers
 * qualify.
 */
export class PlainPattern {
  /** Cached, because a change of one linkifier leaves the others of its list unchanged. */
  private static readonly compiled = new Map<string, PlainPattern | null>();

  /** Step boundaries of the last match. */
  private readonly marks: number[];
  private charactersOfMatch = 0;

  private constructor(
    private readonly steps: readonly Step[],
    private readonly groups: readonly Group[],
    /** Longest text contained in every match; may be empty. */
    readonly literal: string,
    /** Characters that may precede the literal in a match; null if the literal comes first. */
    private readonly beforeLiteral: CharacterSet | null,
  ) {
    this.marks = new Array<number>(steps.length + 1).fill(0);
  }

  /** Returns null if the pattern requires an engine or is invalid. */
  static of(pattern: string): PlainPattern | null {
    let existing = PlainPattern.compiled.get(pattern);
    if (existing === undefined) {
      if (PlainPattern.compiled.size >= MAX_CACHED) PlainPattern.compiled.clear();
      existing = PlainPattern.read(pattern);
      PlainPattern.compiled.set(pattern, existing);
    }
    return existing;
  }

  private static read(pattern: string): PlainPattern | null {
    const reader = new PlainPatternReader(pattern);
    if (!reader.read()) return null;
    const { steps, groups } = reader;
    if (steps.every(({ least }) => least === 0) || !hasOneWay(steps)) return null;
    const { start, literal } = longestLiteral(steps);
    const before = steps.slice(0, start).reduce((sets, { set }) => union(sets, set), EMPTY);
    return new PlainPattern(steps, groups, literal, start === 0 ? null : before);
  }

  /** Characters read by the last match attempt. */
  get charactersRead(): number {
    return this.charactersOfMatch;
  }

  /** Returns the end of the match at `start`, which must be followed by neither letter nor digit; -1 if none. */
  match(text: string, start: number): number {
    const { steps, marks } = this;
    this.charactersOfMatch = 0;
    const last = steps.length - 1;
    let at = start;
    for (let index = 0; index <= last; index++) {
      const { set, least, most } = steps[index]!;
      marks[index] = at;
      let count = 0;
      for (
        let next = endOfCharacter(text, at, set);
        next !== -1 && count < most;
        next = endOfCharacter(text, at, set)
      ) {
        at = next;
        count++;
      }
      this.charactersOfMatch += count;
      if (count < least) return -1;
      if (index < last) continue;
      // Backtracks the last step.
      for (; !mayEnd(text, at); at = startOfPrevious(text, at)) if (count-- === least) return -1;
    }
    marks[last + 1] = at;
    return at;
  }

  /** Groups of the last match. */
  caught(text: string): readonly (readonly [name: string, value: string])[] {
    return this.groups.map(({ name, from, to }) => [name, text.slice(this.marks[from], this.marks[to])]);
  }

  /** Returns the earliest start, at or after `from`, of a match that contains the literal at `position`. */
  earliestStart(text: string, position: number, from: number): number {
    if (this.beforeLiteral === null) return position;
    let at = position;
    while (at > from) {
      const previous = startOfPrevious(text, at);
      if (endOfCharacter(text, previous, this.beforeLiteral) === -1) break;
      at = previous;
    }
    return Math.max(at, from);
  }
}

const mayEnd = (text: string, at: number) =>
  at >= text.length || !isLetterOrDigit(text.codePointAt(at)!) || isUnspacedAt(text, at);

/** True if each part except the last can end in only one way. */
function hasOneWay(steps: readonly Step[]): boolean {
  let next = AFTER;
  for (let index = steps.length - 1; index >= 0; index--) {
    const { set, least, most } = steps[index]!;
    if (index < steps.length - 1 && least !== most && !areDisjoint(set, next)) return false;
    next = least === 0 ? union(set, next) : set;
  }
  return true;
}

function longestLiteral(steps: readonly Step[]): { readonly start: number; readonly literal: string } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (let index = 0; index < steps.length; index++) {
    const { character, least, most } = steps[index]!;
    if (character === null || least !== 1 || most !== 1) start = index + 1;
    else if (index + 1 - start > best.length) best = { start, length: index + 1 - start };
  }
  const literal = steps.slice(best.start, best.start + best.length).map(({ character }) => character);
  return { start: best.start, literal: literal.join('') };
}
