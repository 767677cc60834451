import { textOfBytes } from './mail-charsets.js';

/** Maximum number of bytes to decompress; a message uses at most 40,000 characters of the text. */
const MAX_BYTES = 1_000_000;
const HEADER_LENGTH = 16;
const WINDOW_LENGTH = 4096;
/** First bytes of the window of the compression (MS-OXRTFCP, section 2.1.2.1). */
const FIRST_BYTES =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbol' +
  'ArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx';

/** Reads the text of Outlook's compressed rich text, without its formatting. @throws RangeError if it is cut */
export const textOfRichText = (file: Buffer): string => textOf(decompress(file).toString('latin1'));

/** Decompresses MS-OXRTFCP, as far as `MAX_BYTES`. */
function decompress(file: Buffer): Buffer {
  if (file.toString('latin1', 8, 12) === 'MELA') return file.subarray(HEADER_LENGTH, HEADER_LENGTH + MAX_BYTES);
  const window = Buffer.alloc(WINDOW_LENGTH);
  const result = Buffer.alloc(MAX_BYTES);
  let end = window.write(FIRST_BYTES, 'latin1');
  let length = 0;
  const add = (byte: number): void => {
    window[end] = byte;
    end = (end + 1) % WINDOW_LENGTH;
    // Ignored beyond the end of the buffer.
    result[length++] = byte;
  };
  for (let at = HEADER_LENGTH; length < MAX_BYTES; ) {
    const references = file.readUInt8(at++);
    for (let bit = 0; bit < 8; bit++) {
      if (((references >> bit) & 1) === 0) {
        add(file.readUInt8(at++));
        continue;
      }
      const reference = file.readUInt16BE(at);
      at += 2;
      const start = reference >> 4;
      if (start === end) return result.subarray(0, length);
      for (let n = 0; n < (reference & 15) + 2; n++) add(window[(start + n) % WINDOW_LENGTH]!);
    }
  }
  return result;
}

/** Control word with its number, byte, control symbol, brace, line break of the file, or text. */
const TOKENS = /\\([a-z]{1,32})(-?\d{1,9})? ?|\\'([\da-f]{2})|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)/gi;
/** Groups that contain no text of the document, beside those with `\*`. */
const HIDDEN = new Set(['fonttbl', 'colortbl', 'stylesheet', 'info', 'pict', 'header', 'footer', '*']);
const CHARACTERS = new Map([
  ...['par', 'line', 'row', '\r', '\n'].map((word) => [word, '\n'] as const),
  ...['tab', 'cell'].map((word) => [word, '\t'] as const),
  ...['\\', '{', '}'].map((symbol) => [symbol, symbol] as const),
  ...Object.entries({ emdash: '—', endash: '–', bullet: '•', '~': '\xa0', _: '‑' }),
  ...Object.entries({ lquote: '‘', rquote: '’', ldblquote: '“', rdblquote: '”' }),
]);
/** Labels of code pages that are not called `windows-…`. */
const CODE_PAGES = new Map([
  ['932', 'shift_jis'],
  ['936', 'gbk'],
  ['949', 'euc-kr'],
  ['950', 'big5'],
  ['65001', 'utf-8'],
]);

/** Reads the text of a document in RTF. */
function textOf(document: string): string {
  let text = '';
  let codePage = '1252';
  let bytes: number[] = [];
  let group = { isHidden: false, replacements: 1 };
  const outer: (typeof group)[] = [];
  /** Number of bytes that stand for a Unicode character in older programs. */
  let replaced = 0;
  const addText = (added: string): void => {
    text += decoded(Buffer.from(bytes), codePage) + added;
    bytes = [];
  };
  for (const [, word, number, hex, symbol, brace, plain] of document.matchAll(TOKENS)) {
    const name = word ?? symbol;
    if (brace === '{') outer.push({ ...group });
    else if (brace === '}') group = outer.pop() ?? group;
    else if (name !== undefined && HIDDEN.has(name)) group.isHidden = true;
    else if (name === 'ansicpg') codePage = number ?? codePage;
    else if (name === 'uc') group.replacements = Number(number);
    else if (group.isHidden) continue;
    else if (name === 'u') {
      addText(String.fromCharCode(Number(number)));
      replaced = group.replacements;
    } else if (name !== undefined) addText(CHARACTERS.get(name) ?? '');
    else {
      const added = Buffer.from(hex ?? '', 'hex');
      for (const byte of plain === undefined ? added : Buffer.from(plain, 'latin1')) {
        if (replaced > 0) replaced--;
        else bytes.push(byte);
      }
    }
  }
  addText('');
  return text;
}

function decoded(bytes: Buffer, codePage: string): string {
  if (codePage === '1252') return textOfBytes(bytes);
  try {
    return new TextDecoder(CODE_PAGES.get(codePage) ?? `windows-${codePage}`).decode(bytes);
  } catch {
    return textOfBytes(bytes);
  }
}
