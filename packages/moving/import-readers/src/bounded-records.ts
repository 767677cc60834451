import { createHash } from 'node:crypto';
import type { ContentPart, Gap, ImportedContent, ImportRecord, UnsupportedPart } from '@parley/transfer/records';

/** Limits of import records (docs/import-record.schema.json), in UTF-16 units. */
const MAX_ID_LENGTH = 500;
const MAX_NAME_LENGTH = 1000;
const MAX_TEXT_LENGTH = 1_000_000;
const MAX_URL_LENGTH = 4000;
const MAX_PARTS = 50_000;
const MAX_FILES = 1000;
const MAX_UNSUPPORTED = 1000;

const IDS: ReadonlySet<string> = new Set(
  'id,channel,conversation,thread,sender,replyTo,message,person,creator,owner,avatar,file,externalId'.split(','),
);
const TEXTS: ReadonlySet<string> = new Set(['description']);
const URLS: ReadonlySet<string> = new Set(['url', 'path']);
const OTHERS: ReadonlySet<string> = new Set(['original', 'content', 'previous', 'unsupported']);

/** Brings what forged exports contain within the limits of records, which would otherwise end the import. */
export async function* boundedRecords(records: AsyncIterable<ImportRecord>): AsyncGenerator<ImportRecord> {
  for await (const record of records) yield bounded(record);
}

function bounded(record: ImportRecord): ImportRecord {
  const found: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(record)) found[key] = OTHERS.has(key) ? value : boundedValue(key, value);
  if (record.kind === 'message') boundMessage(record.content, record.unsupported ?? [], found);
  else if (record.kind === 'edit') found.previous = boundedContent(record.previous);
  else if (record.kind === 'file') boundFile(found);
  else if (record.kind === 'skipped' && record.gap) found.gap = boundedGap(record.gap);
  return found as unknown as ImportRecord;
}

function boundedValue(key: string, value: unknown): unknown {
  if (typeof value === 'string') {
    if (IDS.has(key)) return boundedId(value);
    return URLS.has(key) ? value : cut(value, TEXTS.has(key) ? MAX_TEXT_LENGTH : MAX_NAME_LENGTH);
  }
  if (!Array.isArray(value)) return value;
  return (key === 'files' ? value.slice(0, MAX_FILES) : value).map((each) => boundedId(String(each)));
}

/**
 * Replaces an id by its hash if it is too long or contains null characters, and names a missing one. The same id always
 * gets the same replacement.
 */
function boundedId(id: string): string {
  if (id === '') return 'unknown';
  return id.length <= MAX_ID_LENGTH && !id.includes('\0')
    ? id
    : `hash:${createHash('sha256').update(id).digest('hex')}`;
}

/** Cuts between characters. */
const cut = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');

/** The whole text of a long message is kept as an original. */
function boundMessage(
  content: ImportedContent,
  unsupported: readonly UnsupportedPart[],
  found: Record<string, unknown>,
) {
  found.content = boundedContent(content);
  const isCut = found.content !== content && lengthOf(found.content as ImportedContent) < lengthOf(content);
  const parts = isCut ? [{ type: 'long_text', original: content }, ...unsupported] : unsupported;
  const files = 'files' in found ? (found.files as readonly string[]) : [];
  if (files.length === 0) delete found.files;
  if (parts.length === 0) return;
  found.unsupported = parts
    .slice(0, MAX_UNSUPPORTED)
    .map((part, index) =>
      index === MAX_UNSUPPORTED - 1 && parts.length > MAX_UNSUPPORTED
        ? { type: 'many_parts', original: parts.slice(index) }
        : part,
    );
}

const lengthOf = (content: ImportedContent): number =>
  typeof content === 'string'
    ? content.length
    : content.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : 1), 0);

function boundedContent(content: ImportedContent): ImportedContent {
  if (typeof content === 'string') return cut(content, MAX_TEXT_LENGTH);
  const parts: ContentPart[] = [];
  let left = MAX_TEXT_LENGTH;
  for (const part of content.slice(0, MAX_PARTS)) {
    if (left <= 0) break;
    if (typeof part === 'string') {
      parts.push(cut(part, left));
      left -= part.length;
    } else parts.push(boundedPart(part));
  }
  return parts;
}

function boundedPart(part: Exclude<ContentPart, string>): ContentPart {
  if ('mention' in part) {
    if (part.mention === 'everyone') return part;
    return {
      ...part,
      id: boundedId(part.id),
      ...(part.name === undefined ? {} : { name: cut(part.name, MAX_NAME_LENGTH) }),
    };
  }
  const { url, ...others } = part;
  return {
    ...others,
    id: boundedId(part.id),
    ...(part.label === undefined ? {} : { label: cut(part.label, MAX_NAME_LENGTH) }),
    ...(url === undefined || url.length > MAX_URL_LENGTH ? {} : { url }),
  };
}

const boundedGap = ({ channel, conversation, ...span }: Gap): Gap => ({
  ...span,
  ...(channel !== undefined && { channel: boundedId(channel) }),
  ...(conversation !== undefined && { conversation: boundedId(conversation) }),
});

function boundFile(found: Record<string, unknown>): void {
  for (const key of URLS) {
    if (typeof found[key] !== 'string' || found[key].length <= MAX_URL_LENGTH) continue;
    delete found[key];
    found.missing = `the export has a ${key} that is too long`;
  }
  if (typeof found.size === 'number' && found.size < 0) delete found.size;
}
