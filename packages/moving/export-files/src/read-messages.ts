import { emojiShape } from '@parley/domain/files';
import { type ChannelId, hostDataShape, type MessageId, type RecipientId, type UserId } from '@parley/domain/kernel';
import { safeHtml } from '@parley/domain/markdown';
import type { MessageEdit } from '@parley/domain/messages';
import { canBeScript } from '@parley/domain/realms';
import type { HolderCopy, MessageCopy } from '@parley/transfer/exports';
import { FLAG_BITS, GROUP_MENTIONED_BIT } from './layout.js';
import {
  flag,
  id,
  integer,
  list,
  moment,
  object,
  orElse,
  orNull,
  parseJson,
  record,
  type Shape,
  text,
  time,
  wrong,
} from './parley-shapes.js';

const messageId = id<MessageId>();
const userId = id<UserId>();
const channelId = id<ChannelId>();

const MESSAGE = object({
  id: messageId,
  sender: userId,
  recipient: id<RecipientId>(),
  subject: text(1000),
  content: text(1_000_000),
  rendered_content: orNull(text(10_000_000)),
  date_sent: moment,
  sending_client: integer,
  last_edit_time: orNull(moment),
  edit_history: orNull(text(100_000_000)),
  has_attachment: orElse(flag, false),
  has_image: orElse(flag, false),
  has_link: orElse(flag, false),
});

interface UserMessageRow {
  readonly user_profile: UserId;
  readonly message: MessageId;
  readonly flags_mask: number;
}

const linkUrl: Shape<string> = (value, path) => {
  const url = text(10_000)(value, path);
  if (canBeScript(url)) throw wrong(path, 'is a script');
  return url;
};

const EXTRA = object({
  id: messageId,
  topicLinks: orElse(list(object({ text: text(10_000), url: linkUrl }), 10_000), []),
  mentionsChannel: orElse(flag, false),
  isReadByDefault: orElse(flag, false),
  isMeMessage: orElse(flag, false),
  isEdited: orElse(flag, false),
  lastMovedAt: orNull(time),
  reactions: orElse(
    list(
      (value, path) => ({
        ...emojiShape(value, path),
        userId: userId(record(value, path).userId, `${path}.userId`),
      }),
      10_000,
    ),
    [],
  ),
  submessages: orElse(list(object({ senderId: userId, kind: text(1000), content: text(1_000_000) }), 100_000), []),
  hostData: orNull(hostDataShape),
});

const CLIENT = object({ id: integer, name: text(1000) });

const EDIT = object({
  user_id: orNull(userId),
  timestamp: moment,
  prev_content: orNull(text(1_000_000)),
  prev_rendered_content: orNull(text(10_000_000)),
  prev_topic: orNull(text(1000)),
  prev_subject: orNull(text(1000)),
  topic: orNull(text(1000)),
  prev_stream: orNull(channelId),
  stream: orNull(channelId),
});

/** References in messages that the rest of the export resolves. */
export interface MessageContext {
  readonly channelOf: (recipient: RecipientId) => ChannelId | null;
  /** Returns the user of a personal recipient; null for other kinds of recipients. */
  readonly personOf: (recipient: RecipientId) => UserId | null;
  readonly clients: ReadonlyMap<number, string>;
  /** Reactions and submessages of a Zulip server, which exports them separately. */
  readonly reactionsOf: (message: MessageId) => MessageCopy['reactions'];
  readonly submessagesOf: (message: MessageId) => MessageCopy['submessages'];
  /** True for an export of Parley. */
  readonly isOwn: boolean;
}

const MESSAGE_HEAD = object({ id: messageId, sender: userId, recipient: id<RecipientId>() });

/** Id of a message with its sender and recipient. */
export type MessageHead = Pick<MessageCopy['message'], 'id' | 'senderId' | 'recipientId'>;

/** Reads only ids, senders and recipients of a message file, ascending. */
export function readMessageHeads(content: string, location: string): readonly MessageHead[] {
  const tables = record(parseJson(content, location), location);
  return list(MESSAGE_HEAD, 100_000)(tables.zerver_message, `${location}: zerver_message`)
    .map((row) => ({ id: row.id, senderId: row.sender, recipientId: row.recipient }))
    .sort((a, b) => a.id - b.id);
}

/** Reads a message file. Skips messages of channels and conversations outside the export. */
export function readMessageFile(content: string, location: string, context: MessageContext): readonly MessageCopy[] {
  const tables = record(parseJson(content, location), location);
  const messages = list(MESSAGE, 100_000)(tables.zerver_message, `${location}: zerver_message`);
  const extras = new Map(
    list(EXTRA, 100_000)(tables.parley_message ?? [], `${location}: parley_message`).map((extra) => [extra.id, extra]),
  );
  const ownClients = list(CLIENT, 100_000)(tables.parley_client ?? [], `${location}: parley_client`);
  const clients = new Map([...context.clients, ...ownClients.map(({ id: client, name }) => [client, name] as const)]);
  const holders = new Map<MessageId, HolderCopy[]>();
  for (const row of list(record)(tables.zerver_usermessage ?? [], `${location}: zerver_usermessage`)) {
    // Positions are formatted only for invalid rows, since a file may contain thousands.
    const { user_profile, message, flags_mask } = row as unknown as UserMessageRow;
    if (!Number.isSafeInteger(user_profile) || !Number.isSafeInteger(message) || !Number.isSafeInteger(flags_mask)) {
      throw wrong(`${location}: zerver_usermessage`, 'has an invalid row');
    }
    const existing = holders.get(message);
    const holder = { userId: user_profile, flags: flagsOf(flags_mask) };
    if (existing) existing.push(holder);
    else holders.set(message, [holder]);
  }
  return messages
    .sort((a, b) => a.id - b.id)
    .map((row) => {
      const extra = extras.get(row.id);
      const renderedContent = safeHtml(row.rendered_content ?? '', row.content);
      const edits = row.edit_history === null ? [] : editsOf(row, location);
      const channel = context.channelOf(row.recipient);
      const person = context.personOf(row.recipient);
      return {
        message: {
          id: row.id,
          senderId: row.sender,
          recipientId: row.recipient,
          channelId: channel,
          topic: channel === null ? '' : row.subject,
          content: row.content,
          renderedContent,
          sentAt: Math.floor(row.date_sent),
          clientName: clients.get(row.sending_client) ?? 'unknown',
          isMeMessage: context.isOwn ? (extra?.isMeMessage ?? false) : row.content.startsWith('/me '),
          mentionsChannel: context.isOwn ? (extra?.mentionsChannel ?? false) : CHANNEL_MENTION.test(renderedContent),
          hasLink: row.has_link,
          hasImage: row.has_image,
          hasAttachment: row.has_attachment,
          topicLinks: context.isOwn ? (extra?.topicLinks ?? []) : null,
          isReadByDefault: extra?.isReadByDefault ?? false,
          isEdited: context.isOwn ? (extra?.isEdited ?? false) : edits.length > 0,
          lastEditedAt: contentEditedAt(row.last_edit_time, edits, context.isOwn),
          lastMovedAt: context.isOwn ? (extra?.lastMovedAt ?? null) : movedAt(edits),
        },
        ...(person !== null && { conversation: [...new Set([row.sender, person])] }),
        edits,
        reactions: extra?.reactions ?? context.reactionsOf(row.id),
        submessages: extra?.submessages ?? context.submessagesOf(row.id),
        ...(extra?.hostData && { hostData: extra.hostData }),
        holders: holders.get(row.id) ?? [],
      };
    });
}

/** Bounded repetition prevents a scan to the end of the text from each false start. */
const CHANNEL_MENTION = /class="user-mention[^"]{0,100}"[^>]{0,100}data-user-id="\*"/;

/** Flags by mask, limited to known bits; a million messages share few masks. */
const flagsByMask: HolderCopy['flags'][] = [];
const MEANING_BITS = Object.values(FLAG_BITS).reduce((all, bit) => all | bit, GROUP_MENTIONED_BIT);

function flagsOf(mask: number): HolderCopy['flags'] {
  const bits = mask & MEANING_BITS;
  flagsByMask[bits] ??= readFlags(bits);
  return flagsByMask[bits]!;
}

function readFlags(mask: number): HolderCopy['flags'] {
  const has = (flagName: keyof typeof FLAG_BITS) => (mask & FLAG_BITS[flagName]) !== 0;
  return {
    read: has('read'),
    starred: has('starred'),
    collapsed: has('collapsed'),
    mentioned: has('mentioned') || (mask & GROUP_MENTIONED_BIT) !== 0,
    channelWildcardMentioned: has('channelWildcardMentioned'),
    topicWildcardMentioned: has('topicWildcardMentioned'),
    hasAlertWord: has('hasAlertWord'),
    historical: has('historical'),
  };
}

const editList: Shape<ReturnType<typeof EDIT>[]> = list(EDIT, 10_000);

function editsOf(row: ReturnType<typeof MESSAGE>, location: string): MessageEdit[] {
  const where = `${location}: edit_history of message ${row.id}`;
  const entries = editList(parseJson(row.edit_history!, where), where);
  // The next newer entry's previous topic is the topic after this one.
  let topicAfter = row.subject;
  return entries.map((entry) => {
    const from = entry.prev_topic ?? entry.prev_subject;
    const to = entry.topic ?? topicAfter;
    if (from !== null) topicAfter = from;
    return {
      userId: entry.user_id ?? row.sender,
      editedAt: Math.floor(entry.timestamp),
      previousContent:
        entry.prev_content === null
          ? null
          : {
              content: entry.prev_content,
              rendered: safeHtml(entry.prev_rendered_content ?? '', entry.prev_content),
            },
      topic: from === null ? null : { from, to },
      channel:
        entry.prev_stream === null || entry.stream === null ? null : { from: entry.prev_stream, to: entry.stream },
    };
  });
}

/** Zulip's column also covers other kinds of edits. */
function contentEditedAt(lastEdit: number | null, edits: readonly MessageEdit[], isOwn: boolean): number | null {
  if (isOwn) return lastEdit === null ? null : Math.floor(lastEdit);
  return edits.find(({ previousContent }) => previousContent !== null)?.editedAt ?? null;
}

const movedAt = (edits: readonly MessageEdit[]): number | null =>
  edits.find(({ topic, channel }) => topic !== null || channel !== null)?.editedAt ?? null;
