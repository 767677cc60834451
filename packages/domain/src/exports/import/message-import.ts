import type { MessageId, Ordinal, RecipientId, UserId } from '../../kernel/ids.js';
import { slicesOf } from '../../kernel/slices.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { PersonalFlags } from '../../messages/message.js';
import type { MessageEdit } from '../../messages/message-edit.js';
import type { AppendedCopy, FlagsCopy } from '../copy-repository.js';
import type { MessageCopy, RealmCopy, RealmSource } from '../realm-copy.js';
import type { ImportedIds } from './imported-ids.js';
import type { OrdinalRuns, ReceiverRuns } from './ordinal-runs.js';
import type { TopicLinks } from './topic-links.js';

const MESSAGES_AT_A_TIME = 4000;
const MESSAGES_BEFORE_YIELD = 50;
const FLAGS_AT_A_TIME = 1000;

/** Messages with all that belongs to them; whoever received them is noted in `runs`. */
export class MessageImport {
  private readonly participants: ReadonlyMap<RecipientId, readonly UserId[]>;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly ids: ImportedIds,
    private readonly source: RealmSource,
    private readonly runs: OrdinalRuns,
    private readonly topicLinks: TopicLinks,
  ) {
    this.participants = new Map(source.realm.conversations.map(({ recipientId, userIds }) => [recipientId, userIds]));
  }

  /** Answers how many there are. */
  async run(onProgress: (messages: number) => void): Promise<number> {
    let count = 0;
    for await (const page of pagesOf(this.source.messages(), MESSAGES_AT_A_TIME)) {
      await this.uow.write((tx) => this.addPage(tx, page));
      count += page.length;
      onProgress(count);
    }
    return count;
  }

  private async addPage(tx: Transaction, page: readonly MessageCopy[]): Promise<void> {
    const ids = this.ids.messages.take(page.map(({ message }) => message.id));
    const rows: AppendedCopy[] = [];
    for (const [index, copy] of page.entries()) {
      rows.push(this.rowOf(copy, ids[index]!, await this.recipientOf(tx, copy)));
      if (index % MESSAGES_BEFORE_YIELD === 0) await tx.yield();
    }
    const ordinals = await tx.copies.appendMessages(rows);
    const special: FlagsCopy[] = [];
    for (const [index, copy] of page.entries()) {
      const { id, recipientId } = rows[index]!;
      await this.addParts(tx, copy, id);
      this.noteReceivers(copy, this.runs.to(recipientId), ordinals[index]!);
      for (const { userId, flags } of copy.holders) {
        if (isSpecial(flags)) special.push({ userId: this.ids.users.get(userId), messageId: id, flags });
      }
      if (index % MESSAGES_BEFORE_YIELD === 0) await tx.yield();
    }
    for (const slice of slicesOf(special, FLAGS_AT_A_TIME)) {
      await tx.copies.putFlags(this.ids.realmId, slice);
      await tx.yield();
    }
  }

  /** Spelt out: copying so many properties, to change some, makes objects that V8 handles several times as slowly. */
  private rowOf({ message }: MessageCopy, id: MessageId, recipientId: RecipientId): AppendedCopy {
    return {
      id,
      realmId: this.ids.realmId,
      recipientId,
      senderId: this.ids.users.get(message.senderId),
      channelId: this.ids.channels.orNull(message.channelId),
      topic: message.topic,
      content: this.ids.rewriter.markdown(message.content),
      renderedContent: this.ids.rewriter.html(message.renderedContent),
      sentAt: message.sentAt,
      clientName: message.clientName,
      isMeMessage: message.isMeMessage,
      mentionsChannel: message.mentionsChannel,
      hasLink: message.hasLink,
      hasImage: message.hasImage,
      hasAttachment: message.hasAttachment,
      topicLinks: message.topicLinks ?? this.topicLinks.of(message.topic),
      isReadByDefault: message.isReadByDefault,
      isEdited: message.isEdited,
      lastEditedAt: message.lastEditedAt,
      lastMovedAt: message.lastMovedAt,
    };
  }

  private async recipientOf(tx: Transaction, { message, conversation }: MessageCopy): Promise<RecipientId> {
    if (!conversation) return this.ids.recipients.get(message.recipientId);
    return tx.recipients.openDirect(this.ids.realmId, this.ids.users.list(conversation));
  }

  /** What few messages have. */
  private async addParts(
    tx: Transaction,
    { edits, reactions, submessages }: MessageCopy,
    id: MessageId,
  ): Promise<void> {
    const { realmId } = this.ids;
    if (edits.length > 0) {
      const rows = edits.map((edit) => this.editOf(edit));
      await tx.copies.putEdits(realmId, id, rows);
    }
    for (const { userId, ...emoji } of reactions) {
      await tx.reactions.add(realmId, id, { ...this.ids.emojiOf(emoji), userId: this.ids.users.get(userId) });
    }
    for (const { senderId, kind, content } of submessages) {
      await tx.messages.addSubmessage(realmId, {
        messageId: id,
        senderId: this.ids.users.get(senderId),
        kind,
        content,
      });
    }
  }

  private noteReceivers({ message, conversation, holders }: MessageCopy, runs: ReceiverRuns, ordinal: Ordinal): void {
    for (const { userId, flags } of holders) {
      if (!flags.historical) runs.add(this.ids.users.get(userId), ordinal, flags.read);
    }
    if (message.channelId !== null) return;
    // To people of a conversation of whom the export says nothing, what was said in it is read.
    const listed = new Set(holders.map(({ userId }) => userId));
    for (const userId of conversation ?? this.participants.get(message.recipientId) ?? []) {
      if (!listed.has(userId)) runs.add(this.ids.users.get(userId), ordinal, true);
    }
  }

  private editOf({ userId, channel, previousContent, ...edit }: MessageEdit): MessageEdit {
    return {
      ...edit,
      userId: this.ids.users.get(userId),
      channel: channel && { from: this.ids.channels.get(channel.from), to: this.ids.channels.get(channel.to) },
      previousContent: previousContent && {
        content: this.ids.rewriter.markdown(previousContent.content),
        rendered: this.ids.rewriter.html(previousContent.rendered),
      },
    };
  }

  /** After the messages. */
  async noteFirstMessages(tx: Transaction, { channels }: RealmCopy): Promise<void> {
    for (const { id, firstMessageId } of channels) {
      const found = firstMessageId === null ? undefined : this.ids.messages.find(firstMessageId);
      const channel = (await tx.channels.find(this.ids.realmId, this.ids.channels.get(id)))!;
      const [oldest = null] =
        found === undefined ? await tx.messages.listOldestIds(this.ids.realmId, channel.recipientId, 1) : [];
      const first = found ?? oldest;
      if (first !== null) await tx.channels.update({ ...channel, firstMessageId: first });
      await tx.yield();
    }
  }
}

/** Whether a message is anything to somebody but received, and read or not. */
const isSpecial = (flags: PersonalFlags): boolean =>
  flags.starred ||
  flags.collapsed ||
  flags.mentioned ||
  flags.topicWildcardMentioned ||
  flags.hasAlertWord ||
  flags.historical;

/** Those that come, put together to pages of at least so many messages, as far as there are so many. */
async function* pagesOf(
  source: AsyncIterable<readonly MessageCopy[]>,
  size: number,
): AsyncGenerator<readonly MessageCopy[]> {
  let page: MessageCopy[] = [];
  for await (const messages of source) {
    for (const message of messages) page.push(message);
    if (page.length < size) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
