/** Upper half of code page 437, in which ZIP tools read names without the flag for UTF-8. */
const CP437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0';
const CP437_BYTES = new Map([...CP437].map((character, index) => [character, 0x80 + index]));
/** Windows-1252 where it differs from Latin-1. */
const CP1252_BYTES = new Map(
  [...'€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'].map((character, index) => [character, 0x80 + index]),
);

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Form under which names of folders are compared: composed, and repaired if a ZIP tool took UTF-8 for another encoding.
 */
export function comparableName(name: string): string {
  if (/^[\0-\x7f]*$/.test(name)) return name;
  const composed = name.normalize('NFC');
  return repaired(composed, CP437_BYTES) ?? repaired(composed, CP1252_BYTES) ?? composed;
}

/** Returns null if the name is not UTF-8 in the other encoding. */
function repaired(name: string, bytes: ReadonlyMap<string, number>): string | null {
  const encoded: number[] = [];
  for (const character of name) {
    const code = character.codePointAt(0)!;
    const byte =
      code < 0x80 ? code : (bytes.get(character) ?? (bytes === CP1252_BYTES && code < 0x100 ? code : undefined));
    if (byte === undefined) return null;
    encoded.push(byte);
  }
  try {
    return UTF8.decode(Uint8Array.from(encoded)).normalize('NFC');
  } catch {
    return null;
  }
}
