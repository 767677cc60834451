import { firstOf } from '@parley/domain/kernel';
import { type Block, type Inline, type ListItem, paragraph, parseSlackMessage, plain } from '@parley/domain/markdown';
import type { ImportedContent, UnsupportedPart } from '@parley/transfer/records';
import { References } from '../content.js';
import { field, flagOf, isObject, listOf, textOf } from '../fields.js';

/** Names of the export's people and channels, for text and for links. */
export interface SlackNames {
  personName(id: string): string | null;
  /** Returns an empty name for private channels, whose names are secret outside of them. */
  channelName(id: string): string | null;
}

/** Far above Slack's limits. A longer message keeps its original. */
const LIMITS = { maxParts: 10_000, maxText: 2_000_000 };

/** Id of a message record. */
export const messageId = (channel: string, ts: string): string => `${channel}/${ts}`;

export interface SlackText {
  readonly blocks: readonly Block[];
  readonly unsupported: readonly UnsupportedPart[];
}

/** Parses the text, blocks and attachments of a message; `size` is the length of its JSON. */
export function parseSlackText(message: unknown, size: number): SlackText {
  const attachments = listOf(message, 'attachments');
  const parsed = parseSlackMessage(
    {
      text: field(message, 'text'),
      mrkdwn: field(message, 'mrkdwn'),
      blocks: listOf(message, 'blocks'),
      attachments: attachments.filter((each) => !isPreview(each) && !isQuotation(each)),
    },
    LIMITS,
  );
  const text = textOf(message, 'text');
  // Slack repeats the text of unknown block types in the message.
  const body = parsed.length > 0 ? parsed : parseSlackMessage({ text }, LIMITS);
  const quotations = attachments.filter(isQuotation).flatMap((each) => quotationBlocks(each, text));
  const blocks = [...body, ...quotations];
  // Previews are the message if it has no other content.
  const previews = blocks.length > 0 ? [] : parseSlackMessage({ attachments: attachments.filter(isPreview) }, LIMITS);
  const unsupported = unsupportedParts(message);
  const long = size > LIMITS.maxText ? [{ type: 'slack.long_message', original: withoutTokens(message) }] : [];
  return { blocks: [...blocks, ...previews], unsupported: [...unsupported, ...long] };
}

/** Preview that Slack made for a link in the text. */
const isPreview = (attachment: unknown): boolean =>
  !isQuotation(attachment) &&
  (textOf(attachment, 'from_url') !== '' || textOf(attachment, 'original_url') !== '') &&
  textOf(attachment, 'bot_id') === '';

/** Message shown inside another one, which shares it or links to it. */
const isQuotation = (attachment: unknown): boolean =>
  flagOf(attachment, 'is_msg_unfurl') || flagOf(attachment, 'is_share');

function quotationBlocks(attachment: unknown, text: string): readonly Block[] {
  const author = textOf(attachment, 'author_name') || textOf(attachment, 'author_subname');
  const url = textOf(attachment, 'from_url');
  const quoted = listOf(attachment, 'message_blocks').flatMap((each) => listOf(field(each, 'message'), 'blocks'));
  const shown = parseSlackMessage(
    { text: textOf(attachment, 'text') || textOf(attachment, 'fallback'), blocks: quoted },
    LIMITS,
  );
  // Slack does not show a private message to others until the sender agrees.
  const isHidden = flagOf(attachment, 'private_channel_prompt');
  const quotation: readonly Block[] =
    author === '' ? shown : [paragraph([{ type: 'strong', children: [plain(author)] }]), ...shown];
  const children = isHidden ? [] : quotation;
  const link: readonly Block[] =
    url === '' || text.includes(firstOf(url.split('?'))) ? [] : [paragraph([{ type: 'link', url, children: [] }])];
  return children.length === 0 ? link : [...link, { type: 'quote', children }];
}

const BLOCKS: ReadonlySet<string> = new Set(
  'rich_text,header,context,actions,divider,image,video,table,markdown,section,input,context_actions'.split(','),
);
const RICH_TEXT: ReadonlySet<string> = new Set(
  'rich_text_section,rich_text_list,rich_text_quote,rich_text_preformatted,text,link,emoji,user,usergroup,channel,broadcast,color,date'.split(
    ',',
  ),
);

function unsupportedParts(message: unknown): readonly UnsupportedPart[] {
  const blocks = [
    ...listOf(message, 'blocks'),
    ...listOf(message, 'attachments').flatMap((each) => listOf(each, 'blocks')),
  ];
  return blocks.flatMap((block): UnsupportedPart[] => {
    const type = textOf(block, 'type');
    if (!BLOCKS.has(type)) return [{ type: `slack.block.${typeName(type)}`, original: withoutTokens(block) }];
    return type === 'rich_text' ? unknownElements(listOf(block, 'elements')) : [];
  });
}

const unknownElements = (elements: readonly unknown[]): UnsupportedPart[] =>
  elements.flatMap((element) => {
    const type = textOf(element, 'type');
    return RICH_TEXT.has(type)
      ? unknownElements(listOf(element, 'elements'))
      : [{ type: `slack.element.${typeName(type)}`, original: withoutTokens(element) }];
  });

/** Types become keys of the report. */
export const typeName = (type: string): string => (/^[\w.-]{1,60}$/.test(type) ? type : 'unknown');

/** Token that Slack adds to the URLs of files. */
const TOKEN = /([?&](?:t|token)=)xox[\w-]+/g;

/** Copy of a JSON value for the report, without the tokens of file URLs. */
export function withoutTokens(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(TOKEN, '$1');
  if (Array.isArray(value)) return value.map(withoutTokens);
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutTokens(each)]))
    : value;
}

/** Writes blocks as content, with references to people, groups, channels and messages. */
export function writeSlackContent(blocks: readonly Block[], names: SlackNames): ImportedContent {
  const references = new References();
  return references.write(blocks.map((block) => referringBlock(block, { names, references })));
}

interface Context {
  readonly names: SlackNames;
  readonly references: References;
}

function referringBlock(block: Block, context: Context): Block {
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return { ...block, children: referring(block.children, context) };
    case 'quote':
      return { ...block, children: block.children.map((each) => referringBlock(each, context)) };
    case 'list':
      return { ...block, items: block.items.map((item) => referringItem(item, context)) };
    case 'table':
      return { ...block, rows: block.rows.map((row) => row.map((cell) => referring(cell, context))) };
    case 'code':
      return { ...block, text: codeText(block.text, context) };
    default:
      return block;
  }
}

const referringItem = ({ children, lists }: ListItem, context: Context): ListItem => ({
  children: referring(children, context),
  lists: lists.map((list) => ({ ...list, items: list.items.map((item) => referringItem(item, context)) })),
});

const referring = (inlines: readonly Inline[], context: Context): readonly Inline[] =>
  inlines.map((inline) => referringInline(inline, context));

function referringInline(inline: Inline, context: Context): Inline {
  const { names, references } = context;
  switch (inline.type) {
    case 'mention':
      return referringMention(inline, context);
    case 'link': {
      const message = messageOfLink(inline.url);
      const children = referring(inline.children, context);
      if (message === null || names.channelName(message.channel) === null) return { ...inline, children };
      const label = labelOf(inline.children);
      return references.add('channel', label || inline.url, {
        link: 'message',
        id: messageId(message.channel, message.ts),
        url: inline.url,
        ...(label === '' || label === inline.url ? {} : { label }),
      });
    }
    case 'code':
      return { ...inline, text: codeText(inline.text, context) };
    case 'strong':
    case 'em':
    case 'del':
      return { ...inline, children: referring(inline.children, context) };
    default:
      return inline;
  }
}

function referringMention({ of, id, name }: Inline & { type: 'mention' }, { names, references }: Context): Inline {
  switch (of) {
    case 'user': {
      const shown = names.personName(id) ?? name;
      return references.add(of, shown, { mention: 'person', id, name: shown });
    }
    case 'group':
      return references.add(of, name, { mention: 'group', id, name });
    case 'everyone':
      return references.add(of, name, { mention: 'everyone' });
    case 'channel': {
      const shown = names.channelName(id) ?? name;
      return references.add(of, shown, { link: 'channel', id, ...(shown !== '' && { label: `#${shown}` }) });
    }
  }
}

const labelOf = (inlines: readonly Inline[]): string =>
  inlines
    .map((inline) => ('text' in inline ? inline.text : 'children' in inline ? labelOf(inline.children) : ''))
    .join('');

/** Code shows ids of people and channels, which nobody could read. */
const codeText = (text: string, { names }: Context): string =>
  text.replace(/([@#])([UWC][A-Z0-9]{1,20})\b/g, (whole, sign: string, id: string) => {
    const name = sign === '@' ? names.personName(id) : names.channelName(id);
    return name ? sign + name : whole;
  });

const PERMALINK = /^https:\/\/[\w.-]+\.slack\.com\/archives\/([A-Z0-9]+)\/p(\d{10,})(\d{6})(?:[?#]|$)/;

function messageOfLink(url: string): { readonly channel: string; readonly ts: string } | null {
  const match = PERMALINK.exec(url);
  return match && { channel: match[1]!, ts: `${match[2]}.${match[3]}` };
}
