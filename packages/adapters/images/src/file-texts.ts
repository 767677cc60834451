import { type FileTextReader, MAX_FILE_TEXT, type StoredFile } from '@parley/domain/files';
import type { WorkOwner } from '@parley/domain/kernel';

/** Types that begin with `text/` but consist of markup. */
const MARKUP: ReadonlySet<string> = new Set(['text/html', 'text/rtf', 'text/xml']);
/** Maximum number of bytes per UTF-16 unit of a text. */
const MAX_BYTES_PER_UNIT = 4;
const UTF_16 = { 'utf-16le': [0xff, 0xfe], 'utf-16be': [0xfe, 0xff] } as const;

export const PDF = 'application/pdf';
/** Types of documents in ZIP archives, with the names of the parts that contain text. */
export const DOCUMENT_PARTS: ReadonlyMap<string, RegExp> = new Map([
  [
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    /^word\/(?:document|header\d*|footer\d*|footnotes|endnotes|comments)\.xml$/,
  ],
  ['application/vnd.oasis.opendocument.text', /^content\.xml$/],
]);

/** Extracts text from formats that need a parser, in a separate process. */
export interface DocumentReader {
  /** Returns the beginning of the text; null for damaged documents. @throws DomainError SERVER_BUSY */
  readDocument(document: Uint8Array, contentType: string, owner: WorkOwner): Promise<string | null>;
}

const isDocument = (contentType: string): boolean => contentType === PDF || DOCUMENT_PARTS.has(contentType);
const isPlain = (contentType: string): boolean => contentType.startsWith('text/') && !MARKUP.has(contentType);

/** Reads the texts of plain text files, such as Markdown, CSV and source code, and of documents. */
export class FileTexts implements FileTextReader {
  constructor(private readonly documents: Partial<DocumentReader> = {}) {}

  reads(contentType: string): boolean {
    return isPlain(contentType) || (isDocument(contentType) && this.documents.readDocument !== undefined);
  }

  async read(
    bytes: Uint8Array,
    { contentType, realmId, ownerId }: Pick<StoredFile, 'contentType' | 'realmId' | 'ownerId'>,
  ): Promise<string | null> {
    if (isPlain(contentType)) return decode(bytes);
    return (await this.documents.readDocument?.(bytes, contentType, { realmId, userId: ownerId })) ?? null;
  }
}

/** Decodes the beginning of a text in UTF-8, UTF-16 or else Latin-1. */
function decode(bytes: Uint8Array): string {
  const beginning = bytes.subarray(0, MAX_FILE_TEXT * MAX_BYTES_PER_UNIT);
  const encoding =
    utf16Of(beginning) ?? (isUtf8(beginning, beginning.length < bytes.length) ? 'utf-8' : 'windows-1252');
  return new TextDecoder(encoding).decode(beginning).slice(0, MAX_FILE_TEXT);
}

/** Bytes that show the encoding of a text without a byte order mark. */
const EXAMINED = 1000;

/** Recognizes a byte order mark, and zeros as every second byte of most letters. */
function utf16Of(bytes: Uint8Array): keyof typeof UTF_16 | undefined {
  for (const encoding of Object.keys(UTF_16) as (keyof typeof UTF_16)[]) {
    const [first, second] = UTF_16[encoding];
    if (bytes[0] === first && bytes[1] === second) return encoding;
  }
  const zeros = [0, 0];
  for (const [index, byte] of bytes.subarray(0, EXAMINED).entries()) if (byte === 0) zeros[index % 2]!++;
  const least = Math.min(bytes.length, EXAMINED) / 4;
  if (zeros[1]! > least && zeros[0] === 0) return 'utf-16le';
  return zeros[0]! > least && zeros[1] === 0 ? 'utf-16be' : undefined;
}

/** True for valid UTF-8; the last character may be cut only in the beginning of a longer text. */
function isUtf8(bytes: Uint8Array, isCut: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
    return true;
  } catch {
    return false;
  }
}
