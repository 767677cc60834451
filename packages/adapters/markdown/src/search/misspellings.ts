/** Letters that a misspelled word may lack, by script. */
const ALPHABETS = [
  'abcdefghijklmnopqrstuvwxyz',
  'абвгдежзийклмнопрстуфхцчшщъыьэюя',
  'αβγδεζηθικλμνξοπρστυφχψω',
  'אבגדהוזחטיכךלמםנןסעפףצץקרשת',
  'ابتثجحخدذرزسشصضطظعغفقكلمنهوي',
] as const;

/** Shorter words have too many neighbors. */
const MIN_LETTERS = 4;
/** Words with two slips are looked for from this length. */
const MIN_LETTERS_FOR_TWO = 8;
/** Longer words are identifiers rather than misspelled. */
const MAX_LETTERS = 25;

/**
 * Returns the spellings within one edit of a word: a letter added, left out, replaced, or swapped with the next. Empty for
 * short words, and for words with letters of several scripts.
 */
export function spellingsNear(word: string): ReadonlySet<string> {
  const alphabet = ALPHABETS.find((each) => [...word].every((letter) => each.includes(letter)));
  if (!alphabet || word.length < MIN_LETTERS || word.length > MAX_LETTERS) return new Set();
  const near = new Set(slips(word));
  for (let at = 0; at <= word.length; at++) {
    const [before, rest] = [word.slice(0, at), word.slice(at)];
    for (const letter of alphabet) {
      near.add(before + letter + rest);
      if (rest !== '') near.add(before + letter + rest.slice(1));
    }
  }
  near.delete(word);
  return near;
}

/** Returns the spellings of a long word within two edits that need no further letter. */
export function spellingsWithTwoSlips(word: string): ReadonlySet<string> {
  if (word.length < MIN_LETTERS_FOR_TWO) return new Set();
  return new Set([...slips(word)].flatMap((once) => [...slips(once)]));
}

/** Returns the spellings that differ by a letter left out, doubled, or swapped with the next. */
function* slips(word: string): Generator<string> {
  for (let at = 0; at < word.length; at++) {
    const [before, rest] = [word.slice(0, at), word.slice(at)];
    yield before + rest.slice(1);
    yield before + rest[0] + rest;
    if (rest.length > 1) yield before + rest[1] + rest[0] + rest.slice(2);
  }
}
