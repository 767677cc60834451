/** Characters that browsers draw as text without a variation selector. */
const TEXT = /^(?!\p{Emoji_Presentation})\p{Emoji}$/u;
const TONE = /^\p{Emoji_Modifier}$/u;

/** Emoji by its code, which lacks variation selectors. Empty for invalid codes. */
export function characterOf(code: string): string {
  const points = code.split('-').map((digits) => Number.parseInt(digits, 16));
  if (!points.every((point) => point >= 0 && point <= 0x10ffff)) return '';
  const parts = points.map((point) => String.fromCodePoint(point));
  return parts
    .map((part, at) => (TEXT.test(part) && !TONE.test(parts[at + 1] ?? '') ? `${part}\ufe0f` : part))
    .join('');
}
