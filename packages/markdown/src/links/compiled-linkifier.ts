import { lazily } from '../characters.js';
import { Watchdog } from '../typesetting/typeset.js';

export interface LinkifierMatch {
  readonly start: number;
  readonly end: number;
  /** @param restore What was typed for a part of the text. */
  urlWith(restore: (part: string) => string): string;
}

/** One that is ready to be applied. */
export interface CompiledLinkifier {
  /** Part of every match; empty where none is known. */
  readonly literal: string;
  /** As many as are found with the effort that is left, from left to right. `original`: what the text was before other matches left it. */
  search(text: string, effort: Effort, original: OriginalText): readonly LinkifierMatch[];
}

const OTHER_LETTERS = /(?![A-Za-z0-9])[\p{L}\p{N}]/u;

export class OriginalText {
  private hasOthers: boolean | undefined;

  constructor(private readonly text: string) {}

  /** Whether there are letters or digits that are not ASCII's. */
  get hasOtherLetters(): boolean {
    this.hasOthers ??= OTHER_LETTERS.test(this.text);
    return this.hasOthers;
  }
}

export const NONE: readonly LinkifierMatch[] = [];

/** Characters that plain patterns may look at: some ten milliseconds. */
const MAX_CHARACTERS = 1_000_000;
/** For engines: all patterns on all of one text together take some milliseconds without being watched, and these with. */
const SEARCH_STEPS = 1_000_000;
const SEARCH_MS = 12;
/** Starting an engine costs more than most searches do. */
const MAX_ENGINE_STARTS = 10_000;
/** Some twenty patterns of a line. */
const COMPILE_STEPS = 500_000;
const COMPILE_MS = 15;
/** A millisecond or two: being watched costs more than most searches do. */
const STEPS_AT_ONCE = 500_000;

/** What all linkifiers together may do for one text. */
export class Effort {
  readonly searching = new Watchdog(SEARCH_MS, SEARCH_STEPS, STEPS_AT_ONCE);
  /** Most patterns are compiled already. */
  readonly compiling = new Watchdog(COMPILE_MS, COMPILE_STEPS, STEPS_AT_ONCE);
  /** Looked at without an engine. */
  characters = 0;
  engineStarts = 0;

  get isEngineSpent(): boolean {
    return this.searching.isOver || this.engineStarts > MAX_ENGINE_STARTS;
  }

  /** Whether plain patterns may look at no more. It is counted: no text has other links on another machine. */
  get isSpent(): boolean {
    return this.characters > MAX_CHARACTERS;
  }
}

export interface UrlTemplate {
  expand(values: Readonly<Record<string, string | undefined>>): string;
}

const templates = lazily((require) => require('url-template') as { parse(template: string): UrlTemplate });

export const parseUrlTemplate = (template: string): UrlTemplate => templates().parse(template);

/** A group that took no part is null. */
export type CaughtGroups = readonly (readonly [name: string, value: string | null])[];

export function expandUrl(template: UrlTemplate, groups: CaughtGroups, restore: (part: string) => string): string {
  const values: Record<string, string | undefined> = {};
  for (const [name, value] of groups) values[name] = value === null ? undefined : restore(value);
  return template.expand(values);
}
