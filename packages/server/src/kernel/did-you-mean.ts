/** Maximum edit distance of a suggestion. */
const MAX_DISTANCE = 3;

/** Returns the most similar candidate; null if none is similar. */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  let best: string | null = null;
  let least = Math.min(MAX_DISTANCE, Math.ceil(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = Math.min(
      distanceOf(word.toLowerCase(), candidate.toLowerCase()),
      // Matches swapped words, such as `create-user` for `user create`.
      distanceOf(wordsOf(word), wordsOf(candidate)),
    );
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

/** Returns `; did you mean …?`, or an empty string. */
export function hint(word: string, candidates: Iterable<string>): string {
  const meant = nearest(word, candidates);
  return meant === null ? '' : `; did you mean ${meant}?`;
}

const wordsOf = (text: string): string =>
  text
    .toLowerCase()
    .split(/[\s_-]+/)
    .sort()
    .join(' ');

/** Maximum length of words to compare letter by letter. */
const MAX_COMPARED = 60;

/** Edit distance: letters inserted, deleted, replaced or transposed. */
function distanceOf(a: string, b: string): number {
  if (a === b) return 0;
  if (a.length > MAX_COMPARED || b.length > MAX_COMPARED) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      let least = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (isSame ? 0 : 1));
      const isExchanged = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isExchanged) least = Math.min(least, beforeLast[column - 2]! + 1);
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}
