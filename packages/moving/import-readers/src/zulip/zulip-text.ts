import type { ChannelId } from '@parley/domain/kernel';
import { channelUrl } from '@parley/domain/messages';
import type { ContentPart, ImportedContent } from '@parley/transfer/records';

/** References in the text of one message that the archive resolves. */
export interface ZulipNames {
  /** Returns the only person with the full name. */
  personNamed(name: string): string | null;
  /** Returns null for an unknown id. */
  nameOfPerson(id: string): string | null;
  groupNamed(name: string): string | null;
  channelNamed(name: string): string | null;
  /** Returns null for an unknown id. */
  nameOfChannel(id: string): string | null;
  /** True if the file is attached to the message. Texts can name files that their author cannot read. */
  hasFile(pathId: string): boolean;
}

/** Opening fence, as in packages/markdown. */
const FENCE =
  /^(?<fence>~{3,}|`{3,})(?=[^~`]*$)[ ]*(?:\{?\.?(?<language>[a-zA-Z0-9_+-./#]+)[ ]*(?<header>[^ ~`][^~`]*)?\}?)?$/;
/** Fenced blocks with Markdown inside. */
const MARKDOWN_BLOCKS: ReadonlySet<string> = new Set(['quote', 'quoted', 'spoiler']);
const EVERYONE: ReadonlySet<string> = new Set(['all', 'everyone', 'channel', 'stream', 'topic']);

/** Characters before a mention or channel link, besides the start of the text. */
const BOUNDARY = `(?<![^\\s'"({\\[/<])`;
const REFERENCE = new RegExp(
  [
    `${BOUNDARY}@_?\\*\\*(?<person>[^*]{1,300})\\*\\*`,
    `${BOUNDARY}@_?\\*(?<group>[^*]{1,300})\\*`,
    `${BOUNDARY}#\\*\\*(?<place>[^*]{1,300})\\*\\*`,
    '!?\\[(?<label>[^[\\]]{0,1000})\\]\\((?<target>[^()\\s]{1,2000})\\)',
    `(?<url>https?://[^\\s<>()[\\]*\`]{1,2000})`,
  ].join('|'),
  'g',
);
const POSSIBLE_REFERENCE = /[@#_]\*|\]\(|https?:/;
const UPLOAD = /^(?:https?:\/\/[^/?#]+)?\/?user_uploads\/(?<path>[^?#]+)$/;
const NARROW =
  /^(?<host>https?:\/\/[^/?#]+)?\/?#narrow\/(?:channel|stream)\/(?<id>\d+)(?:-(?<slug>[^/]*))?(?:\/(?:topic|subject)\/[^/]*)?(?:\/(?:near|with)\/(?<message>\d+))?$/;
/** Relative link to a conversation, which would lead to another one in Parley. */
const CONVERSATION =
  /^\/?#narrow\/(?:dm|pm-with|group-pm-with|channel|stream)\/[^/]*(?:\/(?:topic|subject)\/[^/]*)?(?:\/(?:near|with)\/(?<message>\d+))?$/;

/** Converts the references in a text. All other Markdown and all code stay as they are. */
export function zulipContent(markdown: string, names: ZulipNames): ImportedContent {
  if (!POSSIBLE_REFERENCE.test(markdown)) return markdown;
  const parts: ContentPart[] = [];
  const add = (part: ContentPart) => {
    const last = parts.at(-1);
    if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part;
    else if (part !== '') parts.push(part);
  };
  for (const { text, isCode } of blocksOf(markdown)) {
    if (isCode) add(text);
    else for (const piece of spansOf(text)) for (const part of partsOf(piece, names)) add(part);
  }
  const [only = ''] = parts;
  return parts.length <= 1 && typeof only === 'string' ? only : parts;
}

interface Piece {
  readonly text: string;
  readonly isCode: boolean;
}

/** Splits a text into paragraphs and fenced code. */
function* blocksOf(markdown: string): Generator<Piece> {
  const open: { readonly fence: string; readonly isCode: boolean }[] = [];
  let paragraph = '';
  let hasText = false;
  for (const line of markdown.split(/(?<=\n)/)) {
    const bare = line.replace(/\n$/, '');
    const current = open.at(-1);
    const opened = current?.isCode ? null : FENCE.exec(bare);
    const isEnd = current !== undefined && bare.trimEnd() === current.fence;
    if (isEnd) open.pop();
    else if (opened) {
      const { fence = '', language = '' } = opened.groups!;
      open.push({ fence, isCode: !MARKDOWN_BLOCKS.has(language.toLowerCase()) });
    }
    if (!isEnd && !opened && !current?.isCode) {
      const isBlank = bare.trim() === '';
      paragraph += line;
      if (isBlank && hasText) {
        yield { text: paragraph, isCode: false };
        paragraph = '';
      }
      hasText = !isBlank;
      continue;
    }
    yield { text: paragraph, isCode: false };
    paragraph = '';
    hasText = false;
    // A header of a spoiler may contain references.
    yield { text: line, isCode: opened?.groups?.header === undefined || open.at(-1)?.isCode === true };
  }
  yield { text: paragraph, isCode: false };
}

/** Splits a paragraph at its code spans: text between runs of as many backticks. */
function* spansOf(text: string): Generator<Piece> {
  if (!text.includes('`')) {
    yield { text, isCode: false };
    return;
  }
  const runs = [...text.matchAll(/`+/g)].map(({ index, 0: run }) => ({ start: index, length: run.length }));
  const byLength = new Map<number, number[]>();
  for (const { start, length } of runs) {
    const starts = byLength.get(length);
    if (starts) starts.push(start);
    else byLength.set(length, [start]);
  }
  const passed = new Map<number, number>();
  const nextRun = (length: number, after: number): number | undefined => {
    const starts = byLength.get(length);
    let index = passed.get(length) ?? 0;
    while (starts !== undefined && index < starts.length && starts[index]! < after) index++;
    passed.set(length, index);
    return starts?.[index];
  };
  let done = 0;
  for (const { start, length } of runs) {
    if (start < done) continue;
    const isEscaped = (/\\+$/.exec(text.slice(Math.max(done, start - 100), start))?.[0].length ?? 0) % 2 === 1;
    for (let size = isEscaped ? length - 1 : length; size > 0; size--) {
      const closing = nextRun(size, start + length);
      if (closing === undefined) continue;
      yield { text: text.slice(done, start), isCode: false };
      yield { text: text.slice(start, closing + size), isCode: true };
      done = closing + size;
      break;
    }
  }
  yield { text: text.slice(done), isCode: false };
}

function* partsOf({ text, isCode }: Piece, names: ZulipNames): Generator<ContentPart> {
  let done = 0;
  for (const match of isCode ? [] : text.matchAll(REFERENCE)) {
    const found = partOf(match.groups!, names);
    if (found === null) continue;
    yield text.slice(done, match.index);
    yield found;
    done = match.index + match[0].length;
  }
  yield text.slice(done);
}

type Groups = Readonly<Record<string, string | undefined>>;

function partOf({ person, group, place, label, target, url }: Groups, names: ZulipNames): ContentPart | null {
  if (person !== undefined) return personPart(person, names);
  if (group !== undefined) {
    const id = names.groupNamed(group);
    return id === null ? null : { mention: 'group', id, name: group };
  }
  if (place !== undefined) return placePart(place, names);
  return linkPart(target ?? url!, label === undefined || label === '' ? undefined : label, names);
}

function personPart(text: string, names: ZulipNames): ContentPart | null {
  if (EVERYONE.has(text)) return { mention: 'everyone' };
  const [, withId] = /\|(\d+)$/.exec(text) ?? [];
  const id = withId ?? names.personNamed(text);
  const name = id === null ? null : names.nameOfPerson(id);
  return name === null ? null : { mention: 'person', id: id!, name };
}

/** `channel`, `channel>topic` or `channel>topic@message`. */
function placePart(text: string, names: ZulipNames): ContentPart | null {
  const [, channel = '', topic, message] = /^([^>]+)(?:>(.*?)(?:@(\d+))?)?$/s.exec(text) ?? [];
  const id = names.channelNamed(channel);
  if (id === null) return null;
  const label = `#${channel}${topic ? ` > ${topic}` : ''}`;
  return message === undefined ? { link: 'channel', id, label } : { link: 'message', id: message, label };
}

function linkPart(target: string, label: string | undefined, names: ZulipNames): ContentPart | null {
  const path = UPLOAD.exec(target)?.groups?.path;
  if (path !== undefined) {
    const id = [path, decoded(path)].find((each) => names.hasFile(each));
    return id === undefined ? null : { link: 'file', id, ...(label !== undefined && { label }) };
  }
  const { host, id, slug = '', message } = NARROW.exec(target.replace(/[.,;:!?'"]+$/, ''))?.groups ?? {};
  const name = id === undefined ? null : names.nameOfChannel(id);
  if (name === null) return unknownPlace(target, label);
  // An address with another channel name is probably that of another server.
  const isOwn = host === undefined || channelUrl({ id: Number(id) as ChannelId, name }).endsWith(`/${id}-${slug}`);
  if (!isOwn) return null;
  const shown = label ?? `#${name}`;
  return message === undefined
    ? { link: 'channel', id: id!, label: shown }
    : { link: 'message', id: message, label: shown };
}

/** Returns the label of a link without a target in Parley, and null for other links. */
function unknownPlace(target: string, label: string | undefined): ContentPart | null {
  const found = CONVERSATION.exec(target)?.groups;
  if (!found || label === undefined) return null;
  return found.message === undefined ? label : { link: 'message', id: found.message, label };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
