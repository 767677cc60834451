import { takeCodePoints } from '../kernel/text.js';
import { jsonText, listOfJson } from './foreign-json.js';
import {
  type Block,
  type Emphasis,
  type Inline,
  isTime,
  type List,
  type ListItem,
  paragraph,
  plain,
  plainText,
} from './rich-text.js';
import { dateNodes, emojiNode, parseInline, parseMrkdwn, parsePlain } from './slack-mrkdwn.js';

/** Lists nested deeper continue at this level. */
const MAX_LIST_DEPTH = 6;

export interface SlackMessageLimits {
  /** Maximum number of blocks, attachments, fields and elements. */
  readonly maxParts: number;
  /** Maximum length of all texts together. */
  readonly maxText: number;
}

/** Slack's own limits for one message are similar. */
const MESSAGE_LIMITS: SlackMessageLimits = { maxParts: 100, maxText: 40_000 };

/** Returns a copy within the limits; `left` is the remaining length of texts. */
function limited(value: Json, maxParts: number, budget: { left: number }): Json {
  if (typeof value === 'string') {
    const kept = takeCodePoints(value, Math.max(0, budget.left));
    budget.left -= kept.length;
    return kept;
  }
  if (Array.isArray(value)) {
    const kept = value.slice(0, maxParts).map((each) => limited(each, maxParts, budget));
    return value.length > maxParts ? [...kept, `… and ${value.length - maxParts} more`] : kept;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, limited(each, maxParts, budget)]));
}

/** Untrusted JSON. Values of a wrong type are shown as text. */
type Json = unknown;

const member = (value: Json, name: string): Json =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, Json>>)[name]
    : undefined;
const text = (value: Json, name: string): string => jsonText(member(value, name));
/** Name of a kind, style or language. */
const word = (value: Json, name: string): string => {
  const found = member(value, name);
  return typeof found === 'string' ? found : '';
};
const isObject = (value: Json): boolean => typeof value === 'object' && value !== null;
const number = (value: Json, name: string): number => {
  const found = member(value, name);
  return typeof found === 'number' || typeof found === 'string' ? Number(found) : Number.NaN;
};
const list = (value: Json, name: string): readonly Json[] => listOfJson(member(value, name));
const flag = (value: Json, name: string): boolean => member(value, name) === true;

/**
 * Parses a message for Slack: `text`, `blocks`, `attachments` and `icon_emoji`. Returns no blocks if no part of it can
 * be shown.
 */
export function parseSlackMessage(untrusted: Json, limits = MESSAGE_LIMITS): readonly Block[] {
  const message = limited(untrusted, limits.maxParts, { left: limits.maxText });
  const blocks = parseSlackBlocks(list(message, 'blocks'));
  // A message with blocks uses `text` only in notifications.
  const hasBlocks = blocks.length > 0 && list(message, 'blocks').some(isBlock);
  const body = hasBlocks
    ? blocks
    : [...textBlocks(text(message, 'text'), member(message, 'mrkdwn') !== false), ...blocks];
  const shown = [...body, ...list(message, 'attachments').flatMap(attachmentBlocks)];
  const icon = /^:([^:\s]{1,100}):$/.exec(text(message, 'icon_emoji'))?.[1];
  const emoji = icon === undefined ? null : emojiNode(icon);
  return emoji && shown.length > 0 ? withIcon(emoji, shown) : shown;
}

/** Shows the icon at the start of the first line. */
function withIcon(icon: Inline, blocks: readonly Block[]): readonly Block[] {
  const [first, ...others] = blocks;
  if (first?.type !== 'paragraph' && first?.type !== 'heading') return [paragraph([icon]), ...blocks];
  return [{ ...first, children: [icon, plain(' '), ...first.children] }, ...others];
}

/** False for other values, such as lists, which are shown as JSON. */
const isBlock = (value: Json): boolean => word(value, 'type') !== '' || sectionBlocks(value).length > 0;

const textBlocks = (content: string, isMrkdwn: boolean): readonly Block[] =>
  isMrkdwn ? parseMrkdwn(content) : nonEmpty(parseInline(content, false));

/** Returns a paragraph, or nothing for blank text. */
const nonEmpty = (children: readonly Inline[]): readonly Block[] =>
  plainText(children).trim() === '' ? [] : [paragraph(children)];

/** Parses blocks of Block Kit. Unknown kinds show their text. */
const parseSlackBlocks = (blocks: readonly Json[]): readonly Block[] => blocks.flatMap(blockOf);

function blockOf(block: Json): readonly Block[] {
  if (!isObject(block)) return valueBlocks(block);
  switch (word(block, 'type')) {
    case 'rich_text':
      return parseRichText(list(block, 'elements'));
    case 'header': {
      const children = textInlines(member(block, 'text'));
      return plainText(children).trim() === '' ? [] : [{ type: 'heading', children }];
    }
    case 'context':
    case 'actions':
      return nonEmpty(spaced(list(block, 'elements').map(elementInlines)));
    case 'divider':
      return [{ type: 'rule' }];
    case 'image':
      return imageBlocks(block);
    case 'video':
      return [
        ...nonEmpty(linked(textInlines(member(block, 'title')), text(block, 'title_url') || text(block, 'video_url'))),
        ...textObjectBlocks(member(block, 'description')),
        ...nonEmpty(imageLink(text(block, 'thumbnail_url'), text(block, 'alt_text'))),
      ];
    case 'table':
      return tableBlocks(block);
    case 'markdown':
      return text(block, 'text').trim() === '' ? [] : [{ type: 'markdown', text: text(block, 'text') }];
    default: {
      const shown = sectionBlocks(block);
      return shown.length === 0 && word(block, 'type') === '' ? valueBlocks(block) : shown;
    }
  }
}

const sectionBlocks = (section: Json): readonly Block[] => [
  ...textObjectBlocks(member(section, 'text')),
  ...fieldList(list(section, 'fields').map(textInlines)),
  ...nonEmpty(elementInlines(member(section, 'accessory'))),
];

/** Blocks of a value that should be another one. */
const valueBlocks = (value: Json): readonly Block[] => nonEmpty(parsePlain(jsonText(value)));

/** Blocks of a text object, `{ type: 'mrkdwn', text }` or `{ type: 'plain_text', text }`. */
const textObjectBlocks = (object: Json): readonly Block[] =>
  word(object, 'type') === 'mrkdwn' ? parseMrkdwn(jsonText(object)) : nonEmpty(textInlines(object));

const textInlines = (object: Json): readonly Inline[] => {
  const content = jsonText(object);
  return word(object, 'type') === 'mrkdwn'
    ? parseInline(content)
    : parsePlain(content, member(object, 'emoji') !== false);
};

/** Elements of contexts, actions and accessories. Menus and inputs show nothing, since nobody can use them. */
function elementInlines(element: Json): readonly Inline[] {
  if (!isObject(element) || word(element, 'type') === '') return textInlines(element);
  switch (word(element, 'type')) {
    case 'mrkdwn':
    case 'plain_text':
      return textInlines(element);
    case 'image':
      return imageLink(imageUrl(element), text(element, 'alt_text'));
    case 'button':
      return linked(textInlines(member(element, 'text')), text(element, 'url'));
    default:
      return [];
  }
}

const spaced = (parts: readonly (readonly Inline[])[]): readonly Inline[] =>
  parts.filter((part) => part.length > 0).flatMap((part, index) => (index === 0 ? part : [plain(SEPARATOR), ...part]));
const SEPARATOR = ' · ';

/** An address without a scheme is not a link. */
const linked = (children: readonly Inline[], url: string): readonly Inline[] => {
  if (url === '' || children.length === 0) return children;
  return /^[a-z][\w+.-]*:/i.test(url) ? [{ type: 'link', url, children }] : [...children, plain(` (${url})`)];
};

const imageUrl = (image: Json): string => text(image, 'image_url') || text(member(image, 'slack_file'), 'url');
/** Clients show a preview of a link to an image. */
const imageLink = (url: string, name: string): readonly Inline[] =>
  url === '' ? [] : linked([plain(name.trim() || 'image')], url);

function imageBlocks(image: Json): readonly Block[] {
  const title = textInlines(member(image, 'title'));
  const url = imageUrl(image);
  return nonEmpty(url === '' ? title : imageLink(url, plainText(title) || text(image, 'alt_text')));
}

/** Fields as items. A separate line with a bold name is joined with its value. */
function fieldList(fields: readonly (readonly Inline[])[]): readonly Block[] {
  const items = fields
    .filter((field) => plainText(field).trim() !== '')
    .map(
      (children): ListItem => ({
        children: children.map((node, i) => (i === 1 && isBreakAfterName(children) ? plain(' ') : node)),
        lists: [],
      }),
    );
  return items.length === 0 ? [] : [{ type: 'list', start: null, items }];
}

const isBreakAfterName = ([name, lineBreak]: readonly Inline[]): boolean =>
  name?.type === 'strong' && lineBreak?.type === 'text' && lineBreak.text === '\n';

function tableBlocks(table: Json): readonly Block[] {
  const rows = list(table, 'rows').map((row) =>
    (Array.isArray(row) ? row : [row]).map((cell: Json) =>
      word(cell, 'type') === 'rich_text'
        ? list(cell, 'elements').flatMap((section) => sectionInlines(section))
        : parsePlain(jsonText(cell)),
    ),
  );
  return rows.length === 0 ? [] : [{ type: 'table', rows }];
}

const sectionInlines = (section: Json): readonly Inline[] =>
  isElement(section) ? list(section, 'elements').flatMap(richInlines) : parsePlain(jsonText(section));

const isElement = (value: Json): boolean => word(value, 'type') !== '' || Array.isArray(member(value, 'elements'));

/** Parses the elements of a `rich_text` block: sections, nested lists, quotes and code. */
function parseRichText(elements: readonly Json[]): readonly Block[] {
  const blocks: Block[] = [];
  for (const element of elements) {
    const added = richBlocks(element, blocks);
    // A border shows a list or code inside the quote before it.
    if (number(element, 'border') === 1 && word(element, 'type') !== 'rich_text_quote') addToQuote(blocks, added);
    else blocks.push(...added);
  }
  return blocks;
}

function addToQuote(blocks: Block[], added: readonly Block[]): void {
  const last = blocks.at(-1);
  if (last?.type === 'quote') blocks[blocks.length - 1] = { type: 'quote', children: [...last.children, ...added] };
  else if (added.length > 0) blocks.push({ type: 'quote', children: added });
}

/** Returns the new blocks; a further item of an open list is added to the last block. */
function richBlocks(element: Json, blocks: Block[]): readonly Block[] {
  const elements = list(element, 'elements');
  if (!isElement(element)) return valueBlocks(element);
  switch (word(element, 'type')) {
    case 'rich_text_list':
      return addList(blocks, element);
    case 'rich_text_quote': {
      const children = nonEmpty(withoutLineBreaks(elements.flatMap(richInlines)));
      return children.length === 0 ? [] : [{ type: 'quote', children }];
    }
    case 'rich_text_preformatted':
      return [{ type: 'code', text: plainText(elements.flatMap(richInlines)), language: word(element, 'language') }];
    default:
      return nonEmpty(withoutLineBreaks(elements.flatMap(richInlines)));
  }
}

/** Slack ends a section before a list or quote with a line break. */
function withoutLineBreaks(inlines: readonly Inline[]): readonly Inline[] {
  const last = inlines.at(-1);
  return last?.type === 'text' ? [...inlines.slice(0, -1), plain(last.text.replace(/(?<!\n)\n+$/, ''))] : inlines;
}

/** List under construction. */
interface OpenList extends List {
  readonly items: OpenItem[];
}
interface OpenItem extends ListItem {
  readonly lists: OpenList[];
}

/** Slack sends each run of items of one level as a list with the level as `indent`. */
function addList(blocks: Block[], element: Json): readonly Block[] {
  const items = list(element, 'elements').map(
    (section): OpenItem => ({ children: withoutLineBreaks(sectionInlines(section)), lists: [] }),
  );
  if (items.length === 0) return [];
  const start = word(element, 'style') === 'ordered' ? 1 + (number(element, 'offset') || 0) : null;
  const last = blocks.at(-1);
  if (last?.type !== 'list') return [{ type: 'list', start, items }];
  let siblings = [last as OpenList];
  const depth = Math.min(number(element, 'indent') || 0, MAX_LIST_DEPTH);
  for (let level = 0; level < depth; level++) {
    const parent = siblings.at(-1)?.items.at(-1);
    if (!parent) break;
    siblings = parent.lists;
  }
  const sibling = siblings.at(-1);
  if (sibling && (sibling.start === null) === (start === null)) sibling.items.push(...items);
  else if (siblings.length > 0 && sibling === last) return [{ type: 'list', start, items }];
  else siblings.push({ type: 'list', start, items });
  return [];
}

const STYLES: readonly (readonly [string, Emphasis])[] = [
  ['bold', 'strong'],
  ['italic', 'em'],
  ['strike', 'del'],
];

function richInlines(element: Json): readonly Inline[] {
  const style = member(element, 'style');
  const nodes = richNodes(element, flag(style, 'code'));
  return STYLES.reduce((inner, [name, type]) => (flag(style, name) ? [{ type, children: inner }] : inner), nodes);
}

function richNodes(element: Json, isCode: boolean): readonly Inline[] {
  const content = text(element, 'text');
  const mention = (of: 'user' | 'group' | 'channel', id: string): readonly Inline[] => [
    { type: 'mention', of, id, name: id },
  ];
  switch (word(element, 'type')) {
    case 'link': {
      const url = text(element, 'url');
      return linked([isCode ? { type: 'code', text: content || url } : plain(content || url)], url);
    }
    case 'emoji':
      return [richEmoji(element)];
    case 'user':
      return mention('user', text(element, 'user_id'));
    case 'usergroup':
      return mention('group', text(element, 'usergroup_id'));
    case 'channel':
      return mention('channel', text(element, 'channel_id'));
    case 'broadcast':
      return [{ type: 'mention', of: 'everyone', id: text(element, 'range'), name: text(element, 'range') }];
    case 'color':
      return [{ type: 'code', text: text(element, 'value') }];
    case 'date':
      return dateNodes(
        number(element, 'timestamp'),
        text(element, 'format'),
        text(element, 'url'),
        text(element, 'fallback'),
      );
    default:
      if (word(element, 'type') === '') return [plain(jsonText(element))];
      return [isCode ? { type: 'code', text: content } : plain(content || text(element, 'fallback'))];
  }
}

/** The code points of an emoji are part of the element, except for custom emoji. */
function richEmoji(element: Json): Inline {
  const name = text(element, 'name');
  const codes = text(element, 'unicode');
  // Keycaps begin with an ASCII character and are found by name.
  if (/^[0-9a-f]{4,5}(?:-[0-9a-f]{4,5}){0,10}$/i.test(codes) && !/\b00[0-7]/.test(codes)) {
    const character = codes.split('-').map((code) => String.fromCodePoint(Number.parseInt(code, 16)));
    return { type: 'emoji', name, character: character.join('') };
  }
  const tone = number(element, 'skin_tone');
  return emojiNode(name, Number.isInteger(tone) ? String(tone) : undefined) ?? plain(`:${name}:`);
}

/** Parses a legacy attachment: texts, fields, image, footer and blocks. Shows `fallback` if there is nothing else. */
function attachmentBlocks(attachment: Json): readonly Block[] {
  if (!isObject(attachment)) return valueBlocks(attachment);
  const formatted = list(attachment, 'mrkdwn_in');
  const isFormatted = (name: string): boolean => formatted.length === 0 || formatted.includes(name);
  const title = linked(parsePlain(text(attachment, 'title')), text(attachment, 'title_link'));
  const fields = list(attachment, 'fields').map((field): readonly Inline[] => {
    if (member(field, 'title') === undefined && member(field, 'value') === undefined)
      return parsePlain(jsonText(field));
    const name = parsePlain(text(field, 'title').trim());
    const value = parseInline(text(field, 'value'), isFormatted('fields'));
    return [{ type: 'strong', children: name }, plain(plainText(name) === '' ? '' : ': '), ...value];
  });
  const blocks = [
    ...textBlocks(text(attachment, 'pretext'), isFormatted('pretext')),
    ...nonEmpty(linked(parsePlain(text(attachment, 'author_name')), text(attachment, 'author_link'))),
    ...nonEmpty(plainText(title) === '' ? [] : [{ type: 'strong', children: title }]),
    ...textBlocks(text(attachment, 'text'), isFormatted('text')),
    ...fieldList(fields),
    ...nonEmpty(imageLink(text(attachment, 'image_url'), '')),
    ...nonEmpty(text(attachment, 'image_url') === '' ? imageLink(text(attachment, 'thumb_url'), '') : []),
    ...nonEmpty(spaced(list(attachment, 'actions').map(actionInlines))),
    ...parseSlackBlocks(list(attachment, 'blocks')),
    ...footerBlocks(attachment),
  ];
  if (blocks.length > 0) return mergeParagraphs(blocks);
  const isUnknown = !Object.keys(attachment as object).some((name) => WITHOUT_TEXT.has(name));
  return isUnknown ? valueBlocks(attachment) : nonEmpty(parsePlain(text(attachment, 'fallback')));
}

/** Members of attachments that show nothing by themselves. */
const WITHOUT_TEXT: ReadonlySet<string> = new Set(
  'id,color,ts,fallback,callback_id,attachment_type,mrkdwn_in,text,title,title_link,pretext,author_name,author_link,author_icon,footer,footer_icon,fields,actions,blocks,image_url,thumb_url'.split(
    ',',
  ),
);

const actionInlines = (action: Json): readonly Inline[] =>
  word(action, 'type') === ''
    ? parsePlain(jsonText(action))
    : word(action, 'type') === 'button'
      ? linked(parsePlain(text(action, 'text')), text(action, 'url'))
      : [];

function footerBlocks(attachment: Json): readonly Block[] {
  const at = number(attachment, 'ts');
  const children = spaced([
    text(attachment, 'footer').trim() === '' ? [] : parsePlain(text(attachment, 'footer').trim()),
    isTime(at) ? [{ type: 'time', at }] : [],
  ]);
  return children.length === 0 ? [] : [paragraph([{ type: 'em', children }])];
}

/** Shows neighbouring paragraphs as lines of one. */
function mergeParagraphs(blocks: readonly Block[]): readonly Block[] {
  const merged: Block[] = [];
  for (const block of blocks) {
    const last = merged.at(-1);
    if (last?.type !== 'paragraph' || block.type !== 'paragraph') merged.push(block);
    else merged[merged.length - 1] = paragraph([...last.children, plain('\n'), ...block.children]);
  }
  return merged;
}
