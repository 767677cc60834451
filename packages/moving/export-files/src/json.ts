import { endOfString } from '@parley/domain/kernel';

export interface JsonLimits {
  /** Maximum nesting depth of lists and dictionaries. */
  readonly maxDepth: number;
  /** Maximum number of lists and dictionaries; five times as many values are allowed. */
  readonly maxStructures: number;
  /** Maximum number of keys in one dictionary. */
  readonly maxMembers: number;
}

/** An organization of twenty thousand users has about a million rows. */
export const JSON_LIMITS: JsonLimits = { maxDepth: 100, maxStructures: 10_000_000, maxMembers: 1_000_000 };
const VALUES_A_STRUCTURE = 5;

/**
 * Returns the reason why JSON is too large to parse; null if it is not. Parsed values take far more memory than text,
 * and exhausting memory ends the process.
 */
export function excessOf(text: string, limits: JsonLimits = JSON_LIMITS): string | null {
  /** Number of colons of the open structure by depth. */
  const members: number[] = [0];
  const maxValues = VALUES_A_STRUCTURE * limits.maxStructures;
  let depth = 0;
  let structures = 0;
  let values = 0;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x22: // "
        index = endOfString(text, index);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++structures > limits.maxStructures) return 'contains too many lists and dictionaries';
        if (++depth > limits.maxDepth) return 'is nested too deeply';
        members[depth] = 0;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth = Math.max(0, depth - 1);
        break;
      case 0x3a: // :
        if (++members[depth]! > limits.maxMembers) return 'has a dictionary with too many keys';
        break;
      case 0x2c: // ,
        if (++values > maxValues) return 'contains too many values';
    }
  }
  return null;
}

/** List members serialized at once; about four milliseconds of work for users. */
const MEMBERS_AT_A_TIME = 100;

/**
 * Yields the JSON of a dictionary with long lists in pieces, so that other work can run in between. List members may
 * be created lazily.
 */
export function* jsonPieces(members: Readonly<Record<string, unknown>>): Generator<Buffer> {
  let before = '{';
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    const start = `${before}${JSON.stringify(name)}:`;
    if (isList(value)) yield* listPieces(start, value);
    else yield Buffer.from(start + JSON.stringify(value));
    before = ',';
  }
  yield Buffer.from(before === '{' ? '{}' : '}');
}

function* listPieces(start: string, list: Iterable<unknown>): Generator<Buffer> {
  let text = `${start}[`;
  let count = 0;
  for (const member of list) {
    if (count > 0) text += ',';
    text += JSON.stringify(member) ?? 'null';
    if (++count % MEMBERS_AT_A_TIME !== 0) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(`${text}]`);
}

const isList = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value;

/** Maps a list lazily. */
export function mapped<T, R>(list: readonly T[], map: (member: T) => R): Iterable<R> {
  return {
    *[Symbol.iterator]() {
      for (const member of list) yield map(member);
    },
  };
}
