import { decodeWords } from 'postal-mime';

/** Labels of windows-1252; in email, Latin-1 and ASCII mean the same (WHATWG Encoding). */
const WINDOWS_1252 = [
  ...['windows-1252', 'cp1252', 'x-cp1252', 'cp819', 'ibm819', 'latin1', 'l1', 'csisolatin1', 'iso-ir-100'],
  ...['iso-8859-1', 'iso8859-1', 'iso88591', 'iso_8859-1', 'iso_8859-1:1987', 'us-ascii', 'ascii', 'ansi_x3.4-1968'],
];
const WINDOWS_1252_FROM_80 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
const ISO_8859_16_FROM_A0 =
  '\xa0ĄąŁ€„Š§š©Ș«Ź\xadźŻ°±ČłŽ”¶·žčș»ŒœŸżÀÁÂĂÄĆÆÇÈÉÊËÌÍÎÏĐŃÒÓÔŐÖŚŰÙÚÛÜĘȚßàáâăäćæçèéêëìíîïđńòóôőöśűùúûüęțÿ';

/** Decodes two encodings that Node lacks: it decodes windows-1252 as Latin-1, and rejects ISO 8859-16. */
class MailDecoder extends TextDecoder {
  private readonly isRomanian: boolean;

  constructor(label: string) {
    super('windows-1252');
    this.isRomanian = label === 'iso-8859-16';
  }

  override decode(bytes: Uint8Array | ArrayBuffer): string {
    const text = Buffer.from(bytes as ArrayBuffer).toString('latin1');
    return this.isRomanian
      ? text.replace(/[\xa0-\xff]/g, (byte) => ISO_8859_16_FROM_A0[byte.charCodeAt(0) - 0xa0]!)
      : text.replace(/[\x80-\x9f]/g, (byte) => WINDOWS_1252_FROM_80[byte.charCodeAt(0) - 0x80]!);
  }
}

/**
 * Makes postal-mime use `MailDecoder`. The library has no option for decoders, but keeps the one that it creates for the
 * first text with a label.
 */
export function provideMailDecoders(): void {
  const { TextDecoder: decoderOfNode } = globalThis;
  globalThis.TextDecoder = MailDecoder as typeof TextDecoder;
  for (const label of [...WINDOWS_1252, 'iso-8859-16']) decodeWords(`=?${label}?q?x?=`);
  globalThis.TextDecoder = decoderOfNode;
}

/** Charsets in which ASCII bytes may stand for other characters. */
export const NOT_ASCII = /^(?:utf-?(?:16|32|7)|ucs|unicode|iso-10646|iso-?2022|csiso2022|junet|hz)/;
/** Charsets in which short texts may also be valid UTF-8, such as "通知" in GBK. */
const AMBIGUOUS =
  /^(?:x-)?(?:gb|euc|big5|cn-|chinese|shift|sjis|ms_kanji|windows-(?:31j|874|9)|cp(?:874|9)|ms9|ks|korean|uhc|tis|iso-?8859-11)/;
/** Escape sequences of ISO-2022-JP. */
const JAPANESE_ESCAPES = ['\u001b$@', '\u001b$B', '\u001b(J', '\u001b(I'];
const UNDECLARED = /^(?:|us-ascii|ascii|utf-?8)$/;
const MAX_META_BYTES = 4096;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function asUtf8(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Returns the charset of a text. Many programs declare a wrong one or none: valid UTF-8 is UTF-8, other texts have the declared
 * charset, or Windows-1252. `declared` is lower-case, and empty if there is none.
 */
export function charsetOf(bytes: Uint8Array, declared: string, isHtml: boolean): string {
  if (NOT_ASCII.test(declared) && (declared.includes('2022') || hasManyNulls(bytes))) return labelOf(declared);
  const text = asUtf8(bytes);
  if (text !== null) {
    if (JAPANESE_ESCAPES.some((sequence) => text.includes(sequence))) return 'iso-2022-jp';
    if (!AMBIGUOUS.test(declared) || !/[^\0-\x7f]/.test(text) || /[^\0-\u07ff]/.test(text)) return 'utf-8';
  }
  if (!UNDECLARED.test(declared)) return labelOf(declared);
  const meta = isHtml ? metaCharset(bytes) : '';
  if (!UNDECLARED.test(meta)) return labelOf(meta);
  // Damaged UTF-8 still has valid characters.
  const damaged = declared.startsWith('utf') && /[^\0-\x7f\ufffd]/.test(Buffer.from(bytes).toString('utf8'));
  return damaged ? 'utf-8' : 'windows-1252';
}

/** True for Latin text in UTF-16. */
const hasManyNulls = (bytes: Uint8Array): boolean => bytes.filter((byte) => byte === 0).length * 4 >= bytes.length;

/** The label becomes part of a header field. */
const labelOf = (charset: string): string => charset.replace(/[^\w.:-]/g, '').slice(0, 50);

function metaCharset(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, MAX_META_BYTES)).toString('latin1');
  return /<meta\b[^>]{0,200}\bcharset\s*=\s*["']?\s*([\w.:-]{1,50})/i.exec(start)?.[1]?.toLowerCase() ?? '';
}

/** Decodes header fields with unencoded characters. */
export const textOfBytes = (bytes: Uint8Array): string =>
  asUtf8(bytes) ?? new MailDecoder('windows-1252').decode(bytes);
