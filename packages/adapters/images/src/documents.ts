import { MAX_FILE_TEXT } from '@parley/domain/files';
import { fromBufferPromise } from 'yauzl';
import { DOCUMENT_PARTS, PDF } from './file-texts.js';
import { readPdf } from './pdf.js';

/** Maximum total size of the unpacked parts. */
const MAX_XML_BYTES = 20 * 1024 * 1024;
/** Maximum number of examined archive entries. */
const MAX_ENTRIES = 10_000;

/** Returns the beginning of the text of a document. @throws MissingLibrary, and for damaged documents */
export async function readDocument(document: Uint8Array, contentType: string): Promise<string> {
  if (contentType === PDF) return readPdf(document);
  const parts = DOCUMENT_PARTS.get(contentType);
  if (!parts) throw new Error(`No document: ${contentType}`);
  const { buffer, byteOffset, length } = document;
  const zip = await fromBufferPromise(Buffer.from(buffer as ArrayBuffer, byteOffset, length), { lazyEntries: true });
  let text = '';
  let leftBytes = MAX_XML_BYTES;
  let leftEntries = MAX_ENTRIES;
  for await (const entry of zip.eachEntry()) {
    if (leftEntries-- === 0 || leftBytes <= 0 || text.length > MAX_FILE_TEXT) break;
    if (!parts.test(entry.fileName)) continue;
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      chunks.push(chunk as Buffer);
      leftBytes -= (chunk as Buffer).length;
      if (leftBytes <= 0) break;
    }
    text += textOf(Buffer.concat(chunks).toString());
  }
  return text.slice(0, MAX_FILE_TEXT);
}

const TAG = /<[^<>]*>/g;
/** Tags that separate words; others, such as formatting, may be inside a word. */
const SEPARATOR = /^<(?:\/(?:w:p|text:p|text:h)\b|(?:w:tab|w:br|w:cr|text:tab|text:s|text:line-break)\b)/;
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const HIGHEST = 0x10ffff;

/** Returns the text of an XML part. */
const textOf = (xml: string): string =>
  `${xml
    .replace(TAG, (tag) => (SEPARATOR.test(tag) ? ' ' : ''))
    .replace(ENTITY, (_, decimal?: string, hexadecimal?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name]!;
      const code = decimal === undefined ? Number.parseInt(hexadecimal!, 16) : Number(decimal);
      return code <= HIGHEST ? String.fromCodePoint(code) : ' ';
    })} `;
