const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BASE64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/;

/** The bytes of standard, padded Base64 (RFC 4648); null for anything else. For short texts. */
export function decodeBase64(text: string): readonly number[] | null {
  if (!BASE64.test(text)) return null;
  const bytes: number[] = [];
  let bits = 0;
  let count = 0;
  for (const character of text.replace(/=+$/, '')) {
    bits = ((bits << 6) | ALPHABET.indexOf(character)) & 0xffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push((bits >> count) & 0xff);
  }
  return bytes;
}
