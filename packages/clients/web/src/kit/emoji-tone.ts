const PERSON = /^\p{Emoji_Modifier_Base}$/u;
const HANDSHAKE = '1f91d';

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
