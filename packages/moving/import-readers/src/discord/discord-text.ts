import { type Block, type Inline, type List, paragraph, plain, plainText } from '@parley/domain/markdown';
import type { ImportedContent } from '@parley/transfer/records';
import { parseCommonMark } from '../common-markdown.js';
import { References } from '../content.js';
import { field, isObject, listOf, numberOf, textOf, timeOf } from '../fields.js';
import { emojiOf, splitText } from '../text-tokens.js';

export interface DiscordNames {
  personName(id: string): string | null;
  roleName(id: string): string | null;
  /** Name of an exported channel or thread. */
  channelName(id: string): string | null;
  /** Id of an exported channel by its name; null if several have it. */
  channelId(name: string): string | null;
}

/** Mentions, emoji and times. With its default settings, DiscordChatExporter writes names instead of the first kinds. */
const TOKEN =
  /<@!?(\d+)>|<@&(\d+)>|<#(\d+)>|<a?:(\w{1,64}):\d+>|<t:(\d{1,12})(?::[a-zA-Z])?>|<\/([^<>:\n]{1,100}):\d+>|@(everyone|here)\b|(?<!\w):([a-z0-9_+-]{1,64}):|(?<![\w])([@#])(?=\S)/gi;

/** Converts the text of a message, of an embed or of a field. */
export function discordBlocks(
  markdown: string,
  message: unknown,
  names: DiscordNames,
  references: References,
): readonly Block[] {
  const mentioned = mentionedNames(message);
  const parseText = (text: string): readonly Inline[] =>
    splitText(text, TOKEN, (match) => {
      const [whole, person, role, channel, custom, time, command, everyone, emoji, sign] = match;
      if (person !== undefined) return { node: personNode(person, names, references) };
      if (role !== undefined) {
        const name = names.roleName(role) ?? 'role';
        return { node: references.add('group', name, { mention: 'group', id: role, name }) };
      }
      if (channel !== undefined) return { node: channelNode(channel, names, references) };
      if (custom !== undefined) return { node: { type: 'emoji', name: custom, character: null } };
      if (time !== undefined) return { node: { type: 'time', at: Number(time) } };
      if (command !== undefined) return { node: { type: 'code', text: `/${command}` } };
      if (everyone !== undefined) return { node: references.add('everyone', everyone, { mention: 'everyone' }) };
      if (emoji !== undefined) {
        const node = emojiOf(emoji);
        return node && { node };
      }
      const rest = text.slice(match.index + whole.length);
      return sign === '@' ? namedPerson(rest, mentioned, names, references) : namedChannel(rest, names, references);
    });
  return parseCommonMark(markdown, parseText, 'discord').flatMap((block) => discordBlock(block, names, references));
}

const personNode = (id: string, names: DiscordNames, references: References): Inline => {
  const name = names.personName(id) ?? 'unknown';
  return references.add('user', name, { mention: 'person', id, name });
};

const channelNode = (id: string, names: DiscordNames, references: References): Inline => {
  const name = names.channelName(id) ?? 'unknown';
  return references.add('channel', name, { link: 'channel', id, label: `#${name}` });
};

/** Ids of the people whom a message mentions by their shown names, longest first. */
const mentionedNames = (message: unknown): readonly (readonly [name: string, id: string])[] =>
  listOf(message, 'mentions')
    .flatMap((each): (readonly [string, string])[] =>
      [textOf(each, 'nickname'), textOf(each, 'name')]
        .filter((name) => name !== '')
        .map((name) => [name, textOf(each, 'id')] as const),
    )
    .sort(([a], [b]) => b.length - a.length);

function namedPerson(
  rest: string,
  mentioned: readonly (readonly [string, string])[],
  names: DiscordNames,
  references: References,
) {
  const found = mentioned.find(([name]) => rest.startsWith(name));
  return found ? { node: personNode(found[1], names, references), length: 1 + found[0].length } : null;
}

function namedChannel(rest: string, names: DiscordNames, references: References) {
  const name = /^[\p{L}\p{N}_-]{1,100}/u.exec(rest)?.[0];
  const id = name === undefined ? null : names.channelId(name);
  return id === null ? null : { node: channelNode(id, names, references), length: 1 + name!.length };
}

/** Moves spoilers and small text to what Parley has. */
function discordBlock(block: Block, names: DiscordNames, references: References): readonly Block[] {
  switch (block.type) {
    case 'quote':
      return [{ ...block, children: block.children.flatMap((each) => discordBlock(each, names, references)) }];
    case 'paragraph':
    case 'heading': {
      const children = withMessageLinks(withoutSmallMark(block.children), names, references);
      return isSpoiler(children)
        ? [{ type: 'spoiler', children: [{ ...block, children: withoutMarks(children) }] }]
        : [{ ...block, children }];
    }
    case 'list':
      return hasSpoiler(block)
        ? [{ type: 'spoiler', children: [mapList(block, withoutMarks)] }]
        : [mapList(block, (children) => withMessageLinks(children, names, references))];
    default:
      return [block];
  }
}

const mapList = (list: List, map: (children: readonly Inline[]) => readonly Inline[]): List => ({
  ...list,
  items: list.items.map(({ children, lists }) => ({
    children: map(children),
    lists: lists.map((each) => mapList(each, map)),
  })),
});

/** Parley hides whole paragraphs only. */
const isSpoiler = (children: readonly Inline[]): boolean => (textOutsideCode(children).match(/\|\|/g)?.length ?? 0) > 1;
const hasSpoiler = ({ items }: List): boolean =>
  items.some(({ children, lists }) => isSpoiler(children) || lists.some(hasSpoiler));

const textOutsideCode = (inlines: readonly Inline[]): string =>
  inlines
    .map((inline) => {
      if (inline.type === 'text') return inline.text;
      return 'children' in inline ? textOutsideCode(inline.children) : ' ';
    })
    .join('');

const withoutMarks = (inlines: readonly Inline[]): readonly Inline[] =>
  inlines.map((inline): Inline => {
    if (inline.type === 'text') return plain(inline.text.replaceAll('||', ''));
    return 'children' in inline && inline.type !== 'link'
      ? { ...inline, children: withoutMarks(inline.children) }
      : inline;
  });

const withoutSmallMark = (inlines: readonly Inline[]): readonly Inline[] => {
  const [first, ...others] = inlines;
  return first?.type === 'text' && first.text.startsWith('-# ') ? [plain(first.text.slice(3)), ...others] : inlines;
};

const PERMALINK = /^https:\/\/(?:\w+\.)?discord(?:app)?\.com\/channels\/(?:\d+|@me)\/(\d+)\/(\d+)$/;

const withMessageLinks = (inlines: readonly Inline[], names: DiscordNames, references: References): readonly Inline[] =>
  inlines.map((inline): Inline => {
    if (inline.type !== 'link') {
      return 'children' in inline
        ? { ...inline, children: withMessageLinks(inline.children, names, references) }
        : inline;
    }
    const [, channel, id] = PERMALINK.exec(inline.url) ?? [];
    if (channel === undefined || names.channelName(channel) === null) return inline;
    const label = plainText(inline.children);
    const shown = label === '' || label === inline.url ? {} : { label };
    return references.add('channel', label || inline.url, { link: 'message', id: id!, url: inline.url, ...shown });
  });

/** Converts a message with its embeds. */
export function discordContent(message: unknown, more: readonly Block[], names: DiscordNames): ImportedContent {
  const references = new References();
  const text = textOf(message, 'content');
  const forwarded = field(message, 'forwardedMessage');
  const embedsOf = (holder: unknown): readonly Block[] =>
    listOf(holder, 'embeds')
      .filter((embed) => !isPreview(embed, textOf(holder, 'content')))
      .flatMap((embed) => embedBlocks(embed, message, names, references));
  const quotation = isObject(forwarded)
    ? [...discordBlocks(textOf(forwarded, 'content'), message, names, references), ...embedsOf(forwarded)]
    : [];
  const buttons = buttonsOf(message);
  const blocks = [
    ...discordBlocks(text, message, names, references),
    ...(quotation.length === 0 ? [] : [{ type: 'quote' as const, children: quotation }]),
    ...embedsOf(message),
    ...(buttons.length === 0 ? [] : [paragraph(buttons)]),
    ...more,
  ];
  return references.write(blocks);
}

/** Labels of buttons, which can be links. Other components of apps have no text in the export. */
function buttonsOf(holder: unknown): readonly Inline[] {
  const parts = listOf(holder, 'components').flatMap((component): (readonly Inline[])[] => {
    const [label, url] = [textOf(component, 'label'), textOf(component, 'url')];
    const inner = buttonsOf(component);
    const own: readonly Inline[] = label === '' ? [] : [url === '' ? plain(label) : linkTo(url, label)];
    return [own, inner].filter((each) => each.length > 0);
  });
  return parts.flatMap((part, index) => (index === 0 ? part : [plain(' · '), ...part]));
}

const linkTo = (url: string, label: string): Inline => ({ type: 'link', url, children: [plain(label)] });

/** Embed that Discord made for a link in the text. */
const isPreview = (embed: unknown, text: string): boolean => {
  const url = textOf(embed, 'url');
  return url !== '' && text.includes(url);
};

function embedBlocks(embed: unknown, message: unknown, names: DiscordNames, references: References): readonly Block[] {
  const parse = (text: string): readonly Block[] => discordBlocks(text, message, names, references);
  const linked = (text: string, url: string): readonly Inline[] =>
    text === '' ? [] : [url === '' ? plain(text) : linkTo(url, text)];
  const line = (inlines: readonly Inline[]): readonly Block[] => (inlines.length === 0 ? [] : [paragraph(inlines)]);
  const strong = (inlines: readonly Inline[]): readonly Inline[] =>
    inlines.length === 0 ? [] : [{ type: 'strong', children: inlines }];
  const author = field(embed, 'author');
  const images = [...listOf(embed, 'images'), field(embed, 'image'), field(embed, 'thumbnail'), field(embed, 'video')];
  // `url` is a path if the media were downloaded.
  const urls = new Set(
    images.map((image) => textOf(image, 'canonicalUrl') || textOf(image, 'url')).filter((url) => /^https?:/.test(url)),
  );
  const at = timeOf(Date.parse(textOf(embed, 'timestamp')) / 1000 || null);
  const footer = textOf(field(embed, 'footer'), 'text');
  const end: readonly Inline[] = [
    ...(footer === '' ? [] : [plain(footer)]),
    ...(at === null ? [] : [plain(footer === '' ? '' : ' · '), { type: 'time' as const, at }]),
  ];
  return [
    ...line(linked(textOf(author, 'name'), textOf(author, 'url'))),
    ...line(strong(linked(textOf(embed, 'title'), textOf(embed, 'url')))),
    ...parse(textOf(embed, 'description')),
    ...listOf(embed, 'fields').flatMap((each) => [
      ...line(strong(linked(textOf(each, 'name'), ''))),
      ...parse(textOf(each, 'value')),
    ]),
    ...[...urls].flatMap((url) => line(linked('image', url))),
    ...line(end.length === 0 ? [] : [{ type: 'em', children: end }]),
  ];
}

/** Time of a message; null if it is none. */
export const discordTime = (value: unknown, name: string): number | null =>
  timeOf(numberOf(value, name) ?? (Date.parse(textOf(value, name)) / 1000 || null));
