import { type Block, type Inline, paragraph, plain } from '@parley/domain/markdown';
import type { ImportedContent } from '@parley/transfer/records';
import { cardBlocks } from '../cards.js';
import { parseCommonMark } from '../common-markdown.js';
import { References } from '../content.js';
import { field, listOf, textOf } from '../fields.js';
import { emojiOf, splitText } from '../text-tokens.js';

export interface RocketChatNames {
  /** Id of a person by user name. */
  personId(userName: string): string | null;
  personName(id: string): string | null;
  /** Id of a team by name. */
  teamId(name: string): string | null;
  /** Id of a channel by name. */
  channelId(name: string): string | null;
  channelName(id: string): string | null;
}

const EVERYONE: ReadonlySet<string> = new Set(['all', 'here']);

/** Mentions, channels, emoji, `~strike~` and formulas. */
const TOKEN =
  /(?<![\w@.-])@([a-z0-9][a-z0-9._-]{0,63})|(?<![\w#&])#([\p{L}\p{N}][\p{L}\p{N}._-]{0,99})|(?<!\w):([a-z0-9_+-]{1,64}):|(?<![\w~])~(?=\S)([^~\n]{1,1000})(?<=\S)~(?![\w~])/giu;

/** Links to quoted messages at the beginning, which the client hides. */
const QUOTED = /^(?:\[ ?\]\(([^()\s]{1,2000})\)\s*)+/;

/** Returns the id of the message that a message quotes, and the text without the link to it. */
export function quotationOf(text: string): { readonly quoted: string | null; readonly text: string } {
  const match = QUOTED.exec(text);
  if (!match) return { quoted: null, text };
  const quoted = /[?&]msg=([\w-]{1,64})/.exec(match[1]!)?.[1] ?? null;
  return quoted === null ? { quoted, text } : { quoted, text: text.slice(match[0].length) };
}

/** Converts the text of a message and its attachments other than files. */
export function rocketChatContent(message: unknown, text: string, names: RocketChatNames): ImportedContent {
  const references = new References();
  const parse = (markdown: string): readonly Block[] =>
    parseCommonMark(markdown, (piece) => textNodes(piece, names, references), 'rocketchat').map(spoilerBlock);
  return references.write([
    ...parse(text),
    ...listOf(message, 'attachments').flatMap((each) => attachmentBlocks(each, parse)),
    ...locationBlocks(message),
  ]);
}

function attachmentBlocks(attachment: unknown, parse: (text: string) => readonly Block[]): readonly Block[] {
  // The description of a file is its text.
  if (isFile(attachment)) return parse(textOf(attachment, 'description'));
  if (textOf(attachment, 'message_link') === '') return cardBlocks(attachment, parse);
  const author = textOf(attachment, 'author_name');
  const name: readonly Block[] = author === '' ? [] : [paragraph([{ type: 'strong', children: [plain(author)] }])];
  const children = [...name, ...parse(quotationOf(textOf(attachment, 'text')).text)];
  return children.length === 0 ? [] : [{ type: 'quote', children }];
}

/** Attachment that shows a file of the message. */
export const isFile = (attachment: unknown): boolean =>
  textOf(attachment, 'type') === 'file' || textOf(attachment, 'title_link').startsWith('/file-upload/');

function locationBlocks(message: unknown): readonly Block[] {
  const [longitude, latitude] = listOf(field(message, 'location'), 'coordinates').map(Number);
  if (!Number.isFinite(longitude) || !Number.isFinite(latitude)) return [];
  const url = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}`;
  return [paragraph([{ type: 'link', url, children: [plain(`${latitude}, ${longitude}`)] }])];
}

function textNodes(text: string, names: RocketChatNames, references: References): readonly Inline[] {
  return splitText(text, TOKEN, ([whole, mention, channel, emoji, struck]) => {
    if (mention !== undefined) return mentionNode(mention, names, references);
    if (channel !== undefined) {
      const id = names.channelId(channel);
      const name = id === null ? null : names.channelName(id);
      return id === null || name === null
        ? null
        : { node: references.add('channel', whole, { link: 'channel', id, label: `#${name}` }) };
    }
    if (struck !== undefined) return { node: { type: 'del', children: [plain(struck)] } };
    const node = emojiOf(emoji!);
    return node && { node };
  });
}

/** Takes the longest known name, since names may contain and end in punctuation. */
function mentionNode(mention: string, names: RocketChatNames, references: References) {
  for (let name = mention; name !== ''; name = name.slice(0, -1)) {
    const length = name.length + 1;
    if (EVERYONE.has(name)) return { node: references.add('everyone', name, { mention: 'everyone' }), length };
    const person = names.personId(name);
    if (person !== null) {
      const shown = names.personName(person) ?? name;
      return { node: references.add('user', shown, { mention: 'person', id: person, name: shown }), length };
    }
    const team = names.teamId(name);
    if (team !== null) return { node: references.add('group', name, { mention: 'group', id: team, name }), length };
    if (!/[._-]$/.test(name)) break;
  }
  return null;
}

/** Parley hides whole paragraphs only. */
function spoilerBlock(block: Block): Block {
  if (block.type !== 'paragraph') return block;
  const marks = block.children.reduce(
    (count, each) => count + (each.type === 'text' ? each.text.split('||').length - 1 : 0),
    0,
  );
  if (marks < 2) return block;
  const children = block.children.map((each) => (each.type === 'text' ? plain(each.text.replaceAll('||', '')) : each));
  return { type: 'spoiler', children: [{ ...block, children }] };
}
