import { createHash } from 'node:crypto';
import { type Block, type Inline, paragraph, plain } from '@parley/domain/markdown';
import type { ImportRecord, MessageRecord, UnsupportedPart } from '@parley/transfer/records';
import { References } from '../content.js';
import { field, isObject, listOf, present, textOf, timeOf } from '../fields.js';
import { parseTeamsHtml } from './teams-html.js';

/** State of one reading of an export. */
export interface TeamsContext {
  readonly source: string;
  personName(id: string): string | null;
  addPerson(id: string, name: string, isBot: boolean): void;
  /** Notes that a person could read a channel or chat. */
  addReader(place: TeamsPlace, person: string): void;
  /** Returns the id of the conversation of those who can read messages of this time in a chat. */
  conversationOf(chat: string, sentAt: number): string;
}

export interface TeamsPlace {
  readonly channel?: string;
  readonly conversation?: string;
}

/** Returns where a message is; null if it does not say so. `owner` is the person of its file, if any. */
export function placeOf(message: unknown, owner = ''): TeamsPlace | null {
  const channel = textOf(field(message, 'ChannelIdentity'), 'ChannelId');
  const chat = textOf(message, 'ChatId');
  if (channel !== '') return { channel };
  if (chat === '') return null;
  // Notes of a person to themselves have the same id for everyone.
  return { conversation: chat.startsWith('48:') ? `${chat}/${owner}` : chat };
}

/** Returns when a message was written, in Unix seconds. */
export const sentAtOf = (message: unknown): number =>
  timeAt(message, 'CreatedDateTime') ?? timeOf(Number(textOf(message, 'Id')) / 1000 || null) ?? 1;

const timeAt = (value: unknown, name: string): number | null => timeOf(Date.parse(textOf(value, name)) / 1000 || null);

/** Reactions of older messages have names. */
const REACTIONS: Readonly<Record<string, string>> = {
  like: '👍',
  heart: '❤️',
  laugh: '😆',
  surprised: '😮',
  sad: '🙁',
  angry: '😡',
};

export function* messageRecords(message: unknown, place: TeamsPlace, context: TeamsContext): Generator<ImportRecord> {
  const { source } = context;
  const where = place.channel ?? place.conversation!;
  const id = `${where}/${textOf(message, 'Id')}`;
  const event = eventOf(message);
  if (event !== null && (event === '' || /^Members|^ConversationMember/.test(event))) {
    const reason = 'Events without a text, and changes of membership, are not messages';
    yield { source, kind: 'skipped', id, type: `teams.event.${event || 'unknown'}`, reason, original: message };
    return;
  }
  const sender = senderOf(message);
  context.addPerson(sender.id, sender.name, sender.isBot);
  context.addReader(place, sender.id);
  const parent = textOf(message, 'ReplyToId');
  const subject = textOf(message, 'Subject').trim();
  if (place.channel !== undefined && parent === '' && subject !== '')
    yield { source, kind: 'thread', id, channel: place.channel, name: subject };
  const body = bodyOf(message, where, event, context);
  const sentAt = sentAtOf(message);
  yield* body.files;
  const record: MessageRecord = {
    source,
    kind: 'message',
    id,
    ...(place.conversation === undefined
      ? place
      : { conversation: context.conversationOf(place.conversation, sentAt) }),
    sender: sender.id,
    sentAt,
    content: body.content,
    ...present({
      thread:
        place.channel !== undefined && (parent !== '' || subject !== '')
          ? parent === ''
            ? id
            : `${where}/${parent}`
          : undefined,
      replyTo: body.quoted ?? (place.channel === undefined && parent !== '' ? `${where}/${parent}` : undefined),
      editedAt: timeAt(message, 'LastEditedDateTime'),
      isAutomatic: sender.isBot || undefined,
      isNotice: event !== null || textOf(message, 'DeletedDateTime') !== '' || undefined,
      unsupported: body.unsupported.length === 0 ? undefined : body.unsupported,
    }),
  };
  yield record;
  yield* reactionRecords(message, id, place, context);
}

/** Returns the kind of a system event, empty if the export does not say; null for messages. */
function eventOf(message: unknown): string | null {
  const detail = field(message, 'EventDetail');
  if (!isObject(detail) && !textOf(field(message, 'Body'), 'Content').includes('<systemEventMessage')) return null;
  const kinds = isObject(detail) ? Object.keys(detail).filter((key) => detail[key] !== null) : [];
  return kinds.find((kind) => /^[A-Z]\w{1,60}$/.test(kind) && kind !== 'EventType' && kind !== 'Initiator') ?? '';
}

export function senderOf(message: unknown): { readonly id: string; readonly name: string; readonly isBot: boolean } {
  const from = field(message, 'From');
  for (const [kind, isBot] of [
    ['User', false],
    ['Application', true],
    ['Device', true],
  ] as const) {
    const found = field(from, kind);
    if (textOf(found, 'Id') !== '') return { id: textOf(found, 'Id'), name: textOf(found, 'DisplayName'), isBot };
  }
  return { id: 'unknown', name: 'Unknown sender', isBot: true };
}

interface Body extends Pick<MessageRecord, 'content'> {
  readonly unsupported: readonly UnsupportedPart[];
  readonly files: readonly ImportRecord[];
  /** Id of the quoted message. */
  readonly quoted: string | undefined;
}

function bodyOf(message: unknown, where: string, event: string | null, context: TeamsContext): Body {
  const references = new References();
  const files = new Map<string, ImportRecord>();
  const parse = (html: string): readonly Block[] =>
    parseTeamsHtml(html, {
      mention: (id, text) => mentionNode(message, id, text, context, references),
      picture: (url, name) => pictureNode(url, name, context.source, files, references),
    }).map(joinMentions);
  const body = field(message, 'Body');
  const text = textOf(body, 'Content');
  const shown = textOf(body, 'ContentType') === 'text' ? [paragraph([plain(text)])] : parse(text);
  const attachments = listOf(message, 'Attachments').map((each) => attachmentOf(each, where, parse));
  const isDeleted = textOf(message, 'DeletedDateTime') !== '';
  const blocks = [...subjectOf(message), ...shown, ...attachments.flatMap((each) => each.blocks)];
  const notice = isDeleted ? 'This message was deleted' : event === null ? 'Message without text' : `Event: ${event}`;
  const isEmpty = blocks.length === 0 && attachments.every(({ quoted }) => quoted === undefined);
  const unsupported = attachments.flatMap((each) => each.unsupported);
  return {
    content: references.write(isEmpty ? [paragraph([{ type: 'em', children: [plain(notice)] }])] : blocks),
    unsupported:
      event !== null || (isEmpty && !isDeleted)
        ? [{ type: `teams.${event ?? 'empty_message'}`, original: message }, ...unsupported]
        : unsupported,
    files: [...files.values()],
    quoted: attachments.find((each) => each.quoted !== undefined)?.quoted,
  };
}

/** The subject of a first message in a channel names the topic; others would be lost. */
const subjectOf = (message: unknown): readonly Block[] => {
  const subject = textOf(message, 'Subject').trim();
  const isTopic = placeOf(message)?.channel !== undefined && textOf(message, 'ReplyToId') === '';
  return subject === '' || isTopic ? [] : [paragraph([{ type: 'strong', children: [plain(subject)] }])];
};

function mentionNode(
  message: unknown,
  id: string,
  text: string,
  context: TeamsContext,
  references: References,
): Inline {
  const mentioned = field(
    listOf(message, 'Mentions').find((each) => String(field(each, 'Id')) === id),
    'Mentioned',
  );
  const person = textOf(field(mentioned, 'User'), 'Id');
  if (person !== '') {
    const name = context.personName(person) ?? text;
    return references.add('user', name, { mention: 'person', id: person, name });
  }
  const conversation = field(mentioned, 'Conversation');
  if (isObject(conversation)) return references.add('everyone', text, { mention: 'everyone' });
  return plain(text === '' ? '' : `@${text}`);
}

/** Teams has one mention for each word of a name. */
function joinMentions(block: Block): Block {
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return { ...block, children: joined(block.children) };
    case 'quote':
      return { ...block, children: block.children.map(joinMentions) };
    case 'list':
      return {
        ...block,
        items: block.items.map(({ children, lists }) => ({
          children: joined(children),
          lists: lists.map((each) => joinMentions(each) as typeof each),
        })),
      };
    default:
      return block;
  }
}

function joined(inlines: readonly Inline[]): readonly Inline[] {
  const kept: Inline[] = [];
  let last: Inline | undefined;
  let gap: Inline[] = [];
  for (const inline of inlines) {
    if (inline.type === 'mention' && last?.type === 'mention' && last.of === 'user' && last.name === inline.name)
      gap = [];
    else if (last?.type === 'mention' && inline.type === 'text' && inline.text.trim() === '') gap.push(inline);
    else {
      kept.push(
        ...gap,
        'children' in inline && inline.type !== 'link' ? { ...inline, children: joined(inline.children) } : inline,
      );
      last = inline;
      gap = [];
    }
  }
  return [...kept, ...gap];
}

/** Pictures of Microsoft Graph become files; others are links. */
function pictureNode(
  url: string,
  name: string,
  source: string,
  files: Map<string, ImportRecord>,
  references: References,
): Inline | null {
  if (!url.startsWith('https://')) return null;
  if (!url.startsWith('https://graph.microsoft.com/')) return { type: 'link', url, children: [plain(name)] };
  const id = `picture/${createHash('sha256').update(url).digest('hex')}`;
  files.set(id, { source, kind: 'file', id, name, url });
  return references.add('channel', name, { link: 'file', id, label: name });
}

interface Attachment {
  readonly blocks: readonly Block[];
  readonly quoted?: string;
  readonly unsupported: readonly UnsupportedPart[];
}

function attachmentOf(attachment: unknown, where: string, parse: (html: string) => readonly Block[]): Attachment {
  const type = textOf(attachment, 'ContentType');
  const content = jsonOf(textOf(attachment, 'Content'));
  if (type === 'messageReference' && textOf(content, 'messageId') !== '')
    return { blocks: [], quoted: `${where}/${textOf(content, 'messageId')}`, unsupported: [] };
  if (type === 'forwardedMessageReference') {
    const children = parse(textOf(content, 'originalMessageContent'));
    return { blocks: children.length === 0 ? [] : [{ type: 'quote', children }], unsupported: [] };
  }
  const url = textOf(attachment, 'ContentUrl');
  const name = textOf(attachment, 'Name') || url;
  const link: readonly Block[] = /^https?:/.test(url)
    ? [paragraph([{ type: 'link', url, children: [plain(name)] }])]
    : [];
  if (type === 'reference' || /^(?:image|video|audio)\//.test(type)) return { blocks: link, unsupported: [] };
  const texts = textsIn(content).map((each) => paragraph([plain(each)]));
  const kind = /^[\w./-]{1,80}$/.test(type) ? type : 'unknown';
  return { blocks: [...link, ...texts], unsupported: [{ type: `teams.attachment.${kind}`, original: attachment }] };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const CARD_TEXTS: ReadonlySet<string> = new Set(['title', 'subtitle', 'text', 'value']);
const MAX_CARD_NODES = 10_000;

/** Texts of a card, in order. */
function textsIn(card: unknown): readonly string[] {
  const texts: string[] = [];
  const left: unknown[] = [card];
  for (let count = 0; left.length > 0 && count < MAX_CARD_NODES; count++) {
    const node = left.pop();
    if (Array.isArray(node)) left.push(...node.slice(0, MAX_CARD_NODES).reverse());
    else if (isObject(node)) {
      for (const [key, value] of Object.entries(node))
        if (CARD_TEXTS.has(key) && typeof value === 'string' && value.trim() !== '') texts.push(value);
      left.push(
        ...Object.values(node)
          .filter((value) => typeof value === 'object')
          .reverse(),
      );
    }
  }
  return texts;
}

function* reactionRecords(
  message: unknown,
  id: string,
  place: TeamsPlace,
  context: TeamsContext,
): Generator<ImportRecord> {
  const { source } = context;
  for (const reaction of listOf(message, 'Reactions')) {
    const type = textOf(reaction, 'ReactionType');
    const emoji = REACTIONS[type] ?? (type === 'custom' ? textOf(reaction, 'DisplayName') : type);
    const user = field(reaction, 'User');
    const person = textOf(field(user, 'User'), 'Id') || textOf(field(user, 'Application'), 'Id') || 'unknown';
    context.addPerson(person, textOf(field(user, 'User'), 'DisplayName'), false);
    context.addReader(place, person);
    const at = timeAt(reaction, 'CreatedDateTime');
    yield {
      source,
      kind: 'reaction',
      id: `${id}/${emoji}/${person}`,
      message: id,
      person,
      emoji: emoji || 'unknown',
      ...present({ at }),
    };
  }
}
