import type { MessageEdit } from '@parley/domain/messages';
import type { MessageCopy } from '@parley/transfer/exports';
import { FLAG_BITS, PRIVATE_BIT } from './layout.js';

/** Settings of a registry with the names and values of Zulip's tables. */
export interface SettingColumns {
  present(values: object): Readonly<Record<string, unknown>>;
  /** Returns the columns that exist, with values of any type. */
  read(columns: object): Readonly<Record<string, unknown>>;
}

/** Column names that match API names; the API adapter provides them. */
export interface ColumnNames {
  readonly realm: SettingColumns;
  readonly user: SettingColumns;
  /** Column name of a permission, such as `can_subscribe_group` for `canSubscribe`. */
  permission(name: string): string;
}

/** Numbers client names in order of appearance. */
export class ClientNumbers {
  private readonly numbers = new Map<string, number>();

  numberOf(name: string): number {
    const existing = this.numbers.get(name);
    if (existing !== undefined) return existing;
    this.numbers.set(name, this.numbers.size + 1);
    return this.numbers.size;
  }

  rows(): readonly { readonly id: number; readonly name: string }[] {
    return [...this.numbers].map(([name, id]) => ({ id, name }));
  }
}

/** Returns a row of `zerver_message`. */
export function messageRow({ message, edits }: MessageCopy, realmId: number, clients: ClientNumbers) {
  return {
    id: message.id,
    sender: message.senderId,
    recipient: message.recipientId,
    realm: realmId,
    is_channel_message: message.channelId !== null,
    subject: message.channelId === null ? '\u0007' : message.topic,
    content: message.content,
    rendered_content: message.renderedContent,
    rendered_content_version: 1,
    date_sent: message.sentAt,
    sending_client: clients.numberOf(message.clientName),
    last_edit_time: message.lastEditedAt,
    edit_history: edits.length === 0 ? null : JSON.stringify(edits.map(editEntry)),
    has_attachment: message.hasAttachment,
    has_image: message.hasImage,
    has_link: message.hasLink,
    search_tsvector: null,
    type: 1,
  };
}

const editEntry = ({ userId, editedAt, previousContent, topic, channel }: MessageEdit) => ({
  user_id: userId,
  timestamp: editedAt,
  ...(previousContent && {
    prev_content: previousContent.content,
    prev_rendered_content: previousContent.rendered,
    prev_rendered_content_version: 1,
  }),
  ...(topic && { prev_topic: topic.from, topic: topic.to }),
  ...(channel && { prev_stream: channel.from, stream: channel.to }),
});

/** Returns rows of `zerver_usermessage` as JSON without brackets. Built as text for speed, since there may be many. */
export function userMessageRows({ message, holders }: MessageCopy, nextId: () => number): string {
  const isDirect = message.channelId === null ? PRIVATE_BIT : 0;
  const rows: string[] = [];
  for (const { userId, flags } of holders) {
    let mask = isDirect;
    for (const flag in FLAG_BITS) {
      if (flags[flag as keyof typeof FLAG_BITS]) mask |= FLAG_BITS[flag as keyof typeof FLAG_BITS];
    }
    rows.push(`{"id":${nextId()},"user_profile":${userId},"message":${message.id},"flags_mask":${mask}}`);
  }
  return rows.join(',');
}

/** Returns data without a column in `zerver_message`; null if there is none. */
export function extraRow({ message, reactions, submessages, hostData }: MessageCopy): object | null {
  const extra = {
    ...(message.topicLinks && message.topicLinks.length > 0 && { topicLinks: message.topicLinks }),
    ...(message.mentionsChannel && { mentionsChannel: true }),
    ...(message.isReadByDefault && { isReadByDefault: true }),
    ...(message.isMeMessage && { isMeMessage: true }),
    ...(message.isEdited && { isEdited: true }),
    ...(message.lastMovedAt !== null && { lastMovedAt: message.lastMovedAt }),
    ...(reactions.length > 0 && { reactions }),
    ...(submessages.length > 0 && { submessages }),
    ...(hostData && { hostData }),
  };
  return Object.keys(extra).length === 0 ? null : { id: message.id, ...extra };
}

/** Maximum content of a file, whichever limit is reached first, since readers load whole files. */
const MESSAGES_IN_A_FILE = 1000;
const HOLDERS_IN_A_FILE = 200_000;

/** Chunk size in bytes. */
export const CHUNK = 32_768;

/**
 * Buffer of a message file, reused for the next file after `clear`. Messages are serialized at once, since keeping a
 * thousand message objects would require a major garbage collection.
 */
export class MessageFile {
  private readonly messages = new Rows();
  private readonly userMessages = new Rows();
  private readonly extras = new Rows();
  private count = 0;
  private holderCount = 0;
  private lastUserMessage = 0;

  constructor(
    private readonly realmId: number,
    private readonly clients: ClientNumbers,
  ) {}

  get messageCount(): number {
    return this.count;
  }

  get isFull(): boolean {
    return this.count >= MESSAGES_IN_A_FILE || this.holderCount >= HOLDERS_IN_A_FILE;
  }

  add(copy: MessageCopy): void {
    this.messages.add(JSON.stringify(messageRow(copy, this.realmId, this.clients)));
    this.userMessages.add(userMessageRows(copy, () => ++this.lastUserMessage));
    const extra = extraRow(copy);
    if (extra) this.extras.add(JSON.stringify(extra));
    this.count++;
    this.holderCount += copy.holders.length;
  }

  /** Length in bytes. */
  get length(): number {
    return this.pieces().reduce((sum, { length }) => sum + length, 0);
  }

  /** Yields copies, which may be compressed while the next file is written. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    for (const piece of this.pieces()) {
      for (let start = 0; start < piece.length; start += CHUNK) yield Buffer.from(piece.subarray(start, start + CHUNK));
    }
  }

  clear(): void {
    for (const rows of [this.messages, this.userMessages, this.extras]) rows.clear();
    this.count = 0;
    this.holderCount = 0;
  }

  private pieces(): readonly Buffer[] {
    return [
      Buffer.from('{"zerver_message":['),
      this.messages.bytes,
      Buffer.from('],\n"zerver_usermessage":['),
      this.userMessages.bytes,
      Buffer.from('],\n"parley_message":['),
      this.extras.bytes,
      Buffer.from(`],\n"parley_client":${JSON.stringify(this.clients.rows())}}\n`),
    ];
  }
}

/** Maximum UTF-8 bytes per unit of a JavaScript string. */
const MOST_BYTES_A_UNIT = 3;

/** Sequence of JSON rows. */
class Rows {
  private buffer = Buffer.allocUnsafeSlow(CHUNK);
  private length = 0;

  get bytes(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  /** Adds one row or several separated ones; ignores empty text. */
  add(rows: string): void {
    if (rows === '') return;
    const text = this.length === 0 ? rows : `,\n${rows}`;
    this.makeRoomFor(text.length * MOST_BYTES_A_UNIT);
    this.length += this.buffer.write(text, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  private makeRoomFor(added: number): void {
    const needed = this.length + added;
    if (needed <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.buffer.length));
    this.bytes.copy(larger);
    this.buffer = larger;
  }
}
