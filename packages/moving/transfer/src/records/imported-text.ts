import { isLongerThan, takeCodePoints, trimEnd } from '@parley/domain/kernel';
import { paragraph, plain, writeMarkdown } from '@parley/domain/markdown';
import { MAX_MESSAGE_LENGTH } from '@parley/domain/messages';
import type { ContentPart, ImportedContent, MessageRecord } from './records.js';

/** Markdown for references in texts; null if the record is missing. */
export interface ReferenceTexts {
  /** Returns a silent mention. */
  person(id: string): string | null;
  /** Returns a silent mention. */
  group(id: string): string | null;
  channel(id: string, label: string | undefined): string | null;
  message(id: string, label: string | undefined): string | null;
  /** Returns a link, or a note if the bytes are missing. */
  file(id: string, label: string | undefined): string | null;
}

/** Returns Markdown that shows the text literally on one line. */
export const literal = (text: string): string => writeMarkdown([paragraph([plain(text.replace(/\s+/gu, ' '))])]);

/** Returns a Markdown link to a path on this server. */
export const linkTo = (label: string, path: string): string =>
  `[${literal(label).replaceAll(/[[\]]/g, ' ').trim() || 'link'}](${path})`;

/** Silent mention of everybody in a conversation. */
const EVERYONE = '@_**all**';

/** Joins the parts of a text into Markdown. */
export function markdownOf(content: ImportedContent, texts: ReferenceTexts): string {
  if (typeof content === 'string') return content;
  return content.map((part) => partText(part, texts)).join('');
}

function partText(part: ContentPart, texts: ReferenceTexts): string {
  if (typeof part === 'string') return part;
  if ('mention' in part) {
    switch (part.mention) {
      case 'everyone':
        return EVERYONE;
      case 'person':
        return texts.person(part.id) ?? literal(`@${part.name ?? 'unknown'}`);
      case 'group':
        return texts.group(part.id) ?? literal(`@${part.name ?? 'unknown'}`);
    }
  }
  return texts[part.link](part.id, part.label) ?? missingLink(part.label, part.url);
}

function missingLink(label: string | undefined, url: string | undefined): string {
  if (url === undefined) return literal(label ?? 'missing link');
  return writeMarkdown([paragraph([{ type: 'link', url, children: label === undefined ? [] : [plain(label)] }])]);
}

/** Room for the link to the whole text. */
const NOTE_LENGTH = 1000;

/** True if the text, with a note that needs `room` more code points than a link, does not fit into a message. */
export const isTooLong = (markdown: string, room?: number): boolean =>
  isLongerThan(markdown, room === undefined ? MAX_MESSAGE_LENGTH : MAX_MESSAGE_LENGTH - NOTE_LENGTH - room);

/**
 * Returns a text or its beginning, with open fences closed, followed by `note`. `room`: code points for the note, if it
 * needs more than a link.
 */
export function beginningOf(markdown: string, note: string, room = 0): string {
  const kept = takeCodePoints(markdown, MAX_MESSAGE_LENGTH - NOTE_LENGTH - room);
  const whole = trimEnd(kept === markdown ? markdown : withoutLastLine(kept));
  return [whole, ...openFences(whole).reverse(), '', note].join('\n');
}

function withoutLastLine(text: string): string {
  const line = text.lastIndexOf('\n');
  return line > text.length / 2 ? text.slice(0, line) : text.replaceAll('`', "'");
}

/** Returns the fences of the text without an end, outermost first. */
function openFences(markdown: string): string[] {
  const open: string[] = [];
  for (const text of markdown.split('\n')) {
    const [, fence, info] = /^\s*(`{3,}|~{3,})(.*)$/.exec(text) ?? [];
    if (fence === undefined) continue;
    if (info!.trim() === '' && open.at(-1) === fence) open.pop();
    else if (open.length === 0 || info!.trim() !== '') open.push(fence);
  }
  return open;
}

export interface FileReference {
  readonly id: string;
  readonly label?: string;
}

/** Returns the files in the text of a message, then its other files. */
export function fileReferences({ content, files = [] }: MessageRecord): readonly FileReference[] {
  const parts = typeof content === 'string' ? [] : content;
  const inText = parts.flatMap((part) =>
    typeof part !== 'string' && 'link' in part && part.link === 'file' ? part : [],
  );
  return [...inText, ...files.map((id) => ({ id }))];
}
