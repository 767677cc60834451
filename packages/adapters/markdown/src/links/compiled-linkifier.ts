import { UNSPACED } from '@parley/domain/markdown';
import { lazily } from '../characters.js';
import { Watchdog } from '../typesetting/typeset.js';

export interface LinkifierMatch {
  readonly start: number;
  readonly end: number;
  /** @param restore returns the source of a part of the text */
  urlWith(restore: (part: string) => string): string;
}

/** Linkifier ready to be applied. */
export interface CompiledLinkifier {
  /** Text contained in every match; may be empty. */
  readonly literal: string;
  /**
   * Returns matches from left to right within the remaining effort. `original` is the text before other matches were
   * removed.
   */
  search(text: string, effort: Effort, original: OriginalText): readonly LinkifierMatch[];
}

const OTHER_LETTERS = new RegExp(`(?![A-Za-z0-9])[\\p{L}\\p{N}${UNSPACED}]`, 'u');

export class OriginalText {
  private hasOthers: boolean | undefined;

  constructor(private readonly text: string) {}

  /** True if there are non-ASCII letters or digits. */
  get hasOtherLetters(): boolean {
    this.hasOthers ??= OTHER_LETTERS.test(this.text);
    return this.hasOthers;
  }
}

export const NONE: readonly LinkifierMatch[] = [];

/** Maximum number of characters read by plain patterns; about ten milliseconds. */
const MAX_CHARACTERS = 1_000_000;
/** Limits for engines per text: unwatched steps first, then watched time, a few milliseconds each. */
const SEARCH_STEPS = 1_000_000;
const SEARCH_MS = 12;
/** Starting an engine costs more than most searches. */
const MAX_ENGINE_STARTS = 10_000;
/** Enough for about twenty one-line patterns. */
const COMPILE_STEPS = 500_000;
const COMPILE_MS = 15;
/** One or two milliseconds; watching costs more than most searches. */
const STEPS_AT_ONCE = 500_000;

/** Limits of all linkifiers together for one text. */
export class Effort {
  readonly searching = new Watchdog(SEARCH_MS, SEARCH_STEPS, STEPS_AT_ONCE);
  /** Small, because most patterns are already compiled. */
  readonly compiling = new Watchdog(COMPILE_MS, COMPILE_STEPS, STEPS_AT_ONCE);
  /** Characters examined without an engine. */
  characters = 0;
  engineStarts = 0;

  get isEngineSpent(): boolean {
    return this.searching.isOver || this.engineStarts > MAX_ENGINE_STARTS;
  }

  /** True if plain patterns must stop. Counted instead of timed, so that links do not depend on the machine. */
  get isSpent(): boolean {
    return this.characters > MAX_CHARACTERS;
  }
}

export interface UrlTemplate {
  expand(values: Readonly<Record<string, string | undefined>>): string;
}

const templates = lazily((require) => require('url-template') as { parse(template: string): UrlTemplate });

export const parseUrlTemplate = (template: string): UrlTemplate => templates().parse(template);

/** A group without a match is null. */
export type CaughtGroups = readonly (readonly [name: string, value: string | null])[];

export function expandUrl(template: UrlTemplate, groups: CaughtGroups, restore: (part: string) => string): string {
  const values: Record<string, string | undefined> = {};
  for (const [name, value] of groups) values[name] = value === null ? undefined : restore(value);
  return template.expand(values);
}
