/** What may stand before an alert word, and behind it. */
export const BEFORE_ALERT_WORD: ReadonlySet<string> = new Set(' \n(".,\';[*`>');
export const AFTER_ALERT_WORD: ReadonlySet<string> = new Set(" \n)?:.,';]!*`");

/** The first two places of a text count as the beginning of a word whatever precedes: the reference's rule. */
export const mayAlertWordBegin = (text: string, at: number): boolean => at <= 1 || BEFORE_ALERT_WORD.has(text[at - 1]!);

/**
 * A word up to its first character that may stand behind one; in lower case. Where a text says the word, it has the same
 * segment, which is how words are looked up.
 */
export function alertSegment(word: string): string {
  let end = 0;
  while (end < word.length && !AFTER_ALERT_WORD.has(word[end]!)) end++;
  return word.slice(0, end).toLowerCase();
}

/** In UTF-16 units: longer words than that there are none of. */
const MAX_SEGMENT_LENGTH = 200;

/** Of all places of a text in lower case where an alert word may begin. */
export function alertSegments(lowered: string): ReadonlySet<string> {
  const segments = new Set<string>(['']);
  let end = 0;
  for (let at = 0; at < lowered.length; at++) {
    if (!mayAlertWordBegin(lowered, at)) continue;
    if (end < at) end = at;
    while (end < lowered.length && !AFTER_ALERT_WORD.has(lowered[end]!)) end++;
    if (end - at <= MAX_SEGMENT_LENGTH) segments.add(lowered.slice(at, end));
  }
  return segments;
}
