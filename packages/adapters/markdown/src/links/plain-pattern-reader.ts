import { type CharacterSet, EMPTY, inverse, range, setOf, union } from './character-set.js';

/** Repeated character from a set. */
export interface Step {
  readonly set: CharacterSet;
  /** Null if the set has several characters. */
  readonly character: string | null;
  readonly least: number;
  readonly most: number;
}

/** Named group between the starts of two steps. */
export interface Group {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

const DIGITS = setOf(range('0', '9'));
const WORD = setOf([...range('0', '9'), ...range('A', 'Z'), ...range('a', 'z'), '_']);
const SPACES = setOf('\t\n\f\r ');
/** Classes as defined by RE2. */
const CLASSES: Readonly<Record<string, CharacterSet>> = {
  d: DIGITS,
  D: inverse(DIGITS),
  w: WORD,
  W: inverse(WORD),
  s: SPACES,
  S: inverse(SPACES),
};
const ANY = inverse(setOf('\n'));
/** Longer patterns use an engine. */
const MAX_STEPS = 100;
const PRINTABLE = /^[ -~]*$/;
const OPENING = /\((?:\?P<(\w+)>|\?:|(?!\?))/y;
const CLOSING = /\)(?![*+?{])/y;
const ESCAPED = /\\([dDwWsS!-/:-@[-`{-~])/y;
const CLASS = /\[(\^?)((?:[^\\\][]|\\[dws!-/:-@[-`{-~])+)\]/y;
const TIMES = /(?:([*+?])|\{(\d{1,4})(,?)(\d{0,4})\})(?![*+?{])/y;
const BEGINS_TIMES = '*+?{';
/** Characters with a special meaning anywhere or in some positions. */
const SPECIAL = '^$|*+?{}]';
const ONCE = { least: 1, most: 1 };

/** Reads the subset of RE2's syntax used by plain patterns. */
export class PlainPatternReader {
  private at = 0;
  readonly steps: Step[] = [];
  readonly groups: Group[] = [];
  private readonly open: { readonly name: string | null; readonly from: number }[] = [];

  constructor(private readonly pattern: string) {}

  /** Returns true if the pattern is plain. */
  read(): boolean {
    if (!PRINTABLE.test(this.pattern)) return false;
    while (this.at < this.pattern.length) if (!this.readPart()) return false;
    const names = this.groups.map(({ name }) => name);
    return this.open.length === 0 && new Set(names).size === names.length;
  }

  private readPart(): boolean {
    const next = this.pattern[this.at]!;
    if (next === '(') return this.openGroup();
    if (next === ')') return this.closeGroup();
    const characters = this.readCharacters(next);
    const times = characters && this.readTimes();
    // Written out, because there may be a hundred thousand steps.
    if (times)
      this.steps.push({ set: characters.set, character: characters.character, least: times.least, most: times.most });
    return times !== null && this.steps.length <= MAX_STEPS;
  }

  private openGroup(): boolean {
    const opened = this.take(OPENING);
    if (opened) this.open.push({ name: opened[1] ?? null, from: this.steps.length });
    return opened !== null;
  }

  private closeGroup(): boolean {
    const closed = this.take(CLOSING) && this.open.pop();
    if (!closed) return false;
    const { name, from } = closed;
    if (name !== null) this.groups.push({ name, from, to: this.steps.length });
    return true;
  }

  private readCharacters(next: string): Pick<Step, 'set' | 'character'> | null {
    if (next === '[') {
      const [, sign, inside] = this.take(CLASS) ?? [];
      const set = inside === undefined ? null : insideOf(inside);
      return set && { set: sign === '^' ? inverse(set) : set, character: null };
    }
    if (next === '\\') {
      const character = this.take(ESCAPED)?.[1];
      const set = character === undefined ? null : CLASSES[character];
      if (set) return { set, character: null };
      return character === undefined ? null : one(character);
    }
    if (SPECIAL.includes(next)) return null;
    this.at++;
    return next === '.' ? { set: ANY, character: null } : one(next);
  }

  /** Reads a greedy quantifier; returns one repetition if there is none. */
  private readTimes(): Pick<Step, 'least' | 'most'> | null {
    if (this.at >= this.pattern.length || !BEGINS_TIMES.includes(this.pattern[this.at]!)) return ONCE;
    const taken = this.take(TIMES);
    if (!taken) return null;
    const [, sign, least, comma, most] = taken;
    if (sign !== undefined) return { least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Number.POSITIVE_INFINITY };
    if (comma === '') return most === '' ? { least: Number(least), most: Number(least) } : null;
    return { least: Number(least), most: most === '' ? Number.POSITIVE_INFINITY : Number(most) };
  }

  private take(part: RegExp): RegExpExecArray | null {
    part.lastIndex = this.at;
    const taken = part.exec(this.pattern);
    if (taken) this.at = part.lastIndex;
    return taken;
  }
}

const ONES = Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return { set: setOf(character), character };
});
const one = (character: string) => ONES[character.charCodeAt(0)]!;

/** Reads a bracket expression; null if it is not plain. */
function insideOf(inside: string): CharacterSet | null {
  const parts = inside.match(/\\.|[^\\]/g)!;
  let set = EMPTY;
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index]!;
    const next = parts[index + 2];
    const isClass = /^\\[dws]$/.test(part);
    if (parts[index + 1] === '-' && next !== undefined) {
      if (isClass || /^\\[dws]$/.test(next)) return null;
      const [from, to] = [part.at(-1)!, next.at(-1)!];
      if (from > to) return null;
      set = union(set, setOf(range(from, to)));
      index += 2;
    } else if (part === '-' && index > 0 && index < parts.length - 1) return null;
    else set = union(set, isClass ? CLASSES[part[1]!]! : setOf(part.at(-1)!));
  }
  return set;
}
