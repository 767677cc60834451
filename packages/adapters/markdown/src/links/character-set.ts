const ASCII = 128;

/** ASCII characters as bits of four numbers; all other characters are either all included or all excluded. */
export interface CharacterSet {
  readonly ascii: readonly [number, number, number, number];
  readonly others: boolean;
}

export function setOf(characters: Iterable<string>): CharacterSet {
  const ascii: [number, number, number, number] = [0, 0, 0, 0];
  for (const character of characters) {
    const code = character.charCodeAt(0);
    ascii[code >> 5]! |= 1 << (code & 31);
  }
  return { ascii, others: false };
}

export const EMPTY = setOf('');
export const inverse = ({ ascii: [a, b, c, d], others }: CharacterSet): CharacterSet => ({
  ascii: [~a, ~b, ~c, ~d],
  others: !others,
});
export const union = (one: CharacterSet, two: CharacterSet): CharacterSet => ({
  ascii: [
    one.ascii[0] | two.ascii[0],
    one.ascii[1] | two.ascii[1],
    one.ascii[2] | two.ascii[2],
    one.ascii[3] | two.ascii[3],
  ],
  others: one.others || two.others,
});
export const areDisjoint = (one: CharacterSet, two: CharacterSet) =>
  !(one.others && two.others) && one.ascii.every((bits, index) => (bits & two.ascii[index]!) === 0);
const has = ({ ascii }: CharacterSet, code: number) => ((ascii[code >> 5]! >>> (code & 31)) & 1) === 1;

export function* range(from: string, to: string): Generator<string> {
  for (let code = from.charCodeAt(0); code <= to.charCodeAt(0); code++) yield String.fromCharCode(code);
}

/** Returns the end of the character at `at` if it is in the set; otherwise -1. */
export function endOfCharacter(text: string, at: number, set: CharacterSet): number {
  if (at >= text.length) return -1;
  const code = text.charCodeAt(at);
  if (code < ASCII) return has(set, code) ? at + 1 : -1;
  if (!set.others) return -1;
  return at + (text.codePointAt(at)! > 0xffff ? 2 : 1);
}

/** Returns the start of the character before `at`. */
export function startOfPrevious(text: string, at: number): number {
  return at >= 2 && text.codePointAt(at - 2)! > 0xffff ? at - 2 : at - 1;
}
