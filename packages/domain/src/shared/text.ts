/** Limits are counted in Unicode code points, as clients count them (protocol §14). */
export function codePointLength(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

/** The first `length` code points. */
export function takeCodePoints(text: string, length: number): string {
  return text.length <= length ? text : Array.from(text).slice(0, length).join('');
}

/** The form under which names, topics and addresses are the same whatever their letter case. */
export function foldCase(text: string): string {
  return text.toLowerCase();
}

/**
 * 1-based position, in code points, of the first control character, lone surrogate or non-character; 0 when there is
 * none (messages §1.5, channels §1).
 */
export function positionOfUnprintable(text: string): number {
  let position = 0;
  for (const character of text) {
    position++;
    const code = character.codePointAt(0)!;
    const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0);
    const isSurrogate = code >= 0xd800 && code <= 0xdfff;
    const isNonCharacter = (code & 0xfffe) === 0xfffe || (code >= 0xfdd0 && code <= 0xfdef);
    if (isControl || isSurrogate || isNonCharacter) return position;
  }
  return 0;
}
