/** Characters that browsers draw as text without a variation selector. */
const TEXT = /^(?!\p{Emoji_Presentation})\p{Emoji}$/u;
const TONE = /^\p{Emoji_Modifier}$/u;
const PERSON = /^\p{Emoji_Modifier_Base}$/u;
const HANDSHAKE = '1f91d';

/** Emoji by its code, which lacks variation selectors. Empty for invalid codes. */
export function characterOf(code: string): string {
  const points = code.split('-').map((digits) => Number.parseInt(digits, 16));
  if (!points.every((point) => point >= 0 && point <= 0x10ffff)) return '';
  const parts = points.map((point) => String.fromCodePoint(point));
  return parts
    .map((part, at) => (TEXT.test(part) && !TONE.test(parts[at + 1] ?? '') ? `${part}\ufe0f` : part))
    .join('');
}

/** Code of an emoji with a skin tone for all its people. */
export const withTone = (code: string, tone: string): string =>
  code
    .split('-')
    .map((part, _, parts) => {
      // Two joined hands have one tone only if they are the whole emoji.
      const isPart = part === HANDSHAKE && parts.length > 1;
      return PERSON.test(String.fromCodePoint(Number.parseInt(part, 16))) && !isPart ? `${part}-${tone}` : part;
    })
    .join('-');
