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

  override decode(bytes: Uint8Array<ArrayBuffer> | ArrayBuffer): string {
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
