import { textOfBytes } from './mail-charsets.js';
import { type MailPart, partWith } from './mail-parts.js';
import { textOfRichText } from './mail-rich-text.js';

const SIGNATURE = 0x223e9f78;
/** Maximum number of attributes in a file, and of properties in an attribute. */
const MAX_ENTRIES = 10_000;
/** Attributes (MS-OXTNEF). */
const BODY = 0x0002800c;
const PROPERTIES = 0x00069003;
const ATTACHMENT = 0x00069002;
const ATTACHMENT_NAME = 0x00018010;
const ATTACHMENT_BYTES = 0x0006800f;
const ATTACHMENT_PROPERTIES = 0x00069005;
/** Properties (MS-OXPROPS). */
const TEXT = 0x1000;
const RICH_TEXT = 0x1009;
const HTML = 0x1013;
const LONG_NAME = 0x3707;
/** Types of properties. */
const UNICODE = 0x1f;
const MULTIPLE = 0x1000;
const VARIABLE: readonly number[] = [0x0d, 0x1e, UNICODE, 0x102];
const SIZES: Readonly<Record<number, number>> = { 5: 8, 6: 8, 7: 8, 20: 8, 64: 8, 72: 16 };

/** Reads the text and the attachments of a file by Outlook, as far as it is intact. */
export function tnefPartsIn(file: Buffer): readonly MailPart[] {
  const texts: MailPart[] = [];
  const files: { name: string; bytes: Buffer }[] = [];
  try {
    for (const { id, data } of attributesOf(file)) {
      const current = files.at(-1);
      if (id === BODY) texts.push(partWith('text/plain', textOf(data)));
      else if (id === ATTACHMENT) files.push({ name: '', bytes: Buffer.alloc(0) });
      else if (id === ATTACHMENT_NAME && current) current.name ||= textOf(data);
      else if (id === ATTACHMENT_BYTES && current) current.bytes = data;
      else if (id === ATTACHMENT_PROPERTIES && current)
        current.name = propertiesOf(data).get(LONG_NAME) || current.name;
      else if (id === PROPERTIES) {
        const properties = propertiesOf(data);
        const plain = properties.get(TEXT) || (!properties.has(HTML) && properties.get(RICH_TEXT));
        if (plain) texts.push(partWith('text/plain', plain));
        else if (properties.has(HTML)) texts.push(partWith('text/html', properties.get(HTML)!));
      }
    }
  } catch {
    // The rest of the file is damaged.
  }
  return [...texts.slice(0, 1), ...files.map(({ name, bytes }) => partWith('application/octet-stream', bytes, name))];
}

function* attributesOf(file: Buffer): Generator<{ readonly id: number; readonly data: Buffer }> {
  if (file.length < 6 || file.readUInt32LE(0) !== SIGNATURE) return;
  for (let at = 6, count = 0; at + 9 <= file.length && count < MAX_ENTRIES; count++) {
    const end = at + 9 + file.readUInt32LE(at + 5);
    yield { id: file.readUInt32LE(at + 1), data: file.subarray(at + 9, end) };
    // A checksum follows.
    at = end + 2;
  }
}

/** Returns the texts among the properties. @throws RangeError if the properties are not complete */
function propertiesOf(data: Buffer): ReadonlyMap<number, string> {
  const texts = new Map<number, string>();
  let at = 0;
  const next = (length: number): Buffer => {
    if (at + length > data.length) throw new RangeError('Incomplete');
    const bytes = data.subarray(at, at + length);
    at += Math.ceil(length / 4) * 4;
    return bytes;
  };
  const nextNumber = (): number => next(4).readUInt32LE();
  for (let left = Math.min(nextNumber(), MAX_ENTRIES); left > 0 && at < data.length; left--) {
    const tag = nextNumber();
    const [id, type] = [tag >>> 16, tag & 0xfff];
    if (id >= 0x8000) {
      next(16);
      next(nextNumber() === 0 ? 4 : nextNumber());
    }
    const isVariable = VARIABLE.includes(type);
    for (let values = isVariable || tag & MULTIPLE ? nextNumber() : 1; values > 0; values--) {
      const bytes = next(isVariable ? nextNumber() : (SIZES[type] ?? 4));
      if (id === TEXT || id === HTML || id === LONG_NAME) texts.set(id, textOf(bytes, type === UNICODE));
      else if (id === RICH_TEXT) texts.set(id, textOfRichText(bytes));
    }
  }
  return texts;
}

const textOf = (bytes: Buffer, isUnicode = false): string =>
  (isUnicode ? bytes.toString('utf16le') : textOfBytes(bytes)).replace(/\0.*$/s, '');
