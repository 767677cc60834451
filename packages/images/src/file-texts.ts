import { type FileTextReader, MAX_FILE_TEXT, type StoredFile } from '@parley/domain/files';

/** Types that begin with `text/` but consist of markup. */
const MARKUP: ReadonlySet<string> = new Set(['text/html', 'text/rtf', 'text/xml']);
/** Maximum number of bytes per UTF-16 unit of a text. */
const MAX_BYTES_PER_UNIT = 4;
const UTF_16 = { 'utf-16le': [0xff, 0xfe], 'utf-16be': [0xfe, 0xff] } as const;

const isPlain = (contentType: string): boolean => contentType.startsWith('text/') && !MARKUP.has(contentType);

/** Reads the texts of plain text files, such as Markdown, CSV and source code. */
export class FileTexts implements FileTextReader {
  reads(contentType: string): boolean {
    return isPlain(contentType);
  }

  async read(bytes: Uint8Array, { contentType }: Pick<StoredFile, 'contentType'>): Promise<string | null> {
    return isPlain(contentType) ? decode(bytes) : null;
  }
}

/** Decodes the beginning of a text in UTF-8, or in UTF-16 with a byte order mark. */
function decode(bytes: Uint8Array): string {
  const encodings = Object.entries(UTF_16);
  const [encoding = 'utf-8'] = encodings.find(([, [first, second]]) => bytes[0] === first && bytes[1] === second) ?? [];
  return new TextDecoder(encoding)
    .decode(bytes.subarray(0, MAX_FILE_TEXT * MAX_BYTES_PER_UNIT))
    .slice(0, MAX_FILE_TEXT);
}
