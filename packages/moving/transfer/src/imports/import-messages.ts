import {
  type AppendedCopy,
  digestOfReactions,
  type FlagsCopy,
  type ImportBatch,
  rememberCreated,
} from '@parley/domain/exports';
import {
  type BlobKey,
  type FileImage,
  type FileLimits,
  newBlobKey,
  requireRoomForFile,
  type StoredFile,
  scheduleThumbnails,
} from '@parley/domain/files';
import {
  type FileId,
  getOrThrow,
  invalidImport,
  type MessageId,
  type Ordinal,
  type RealmCopy,
  type RecipientId,
  slicesOf,
  type Transaction,
  type UnitOfWork,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import { MAX_OLDER_RANGES, type MessageEdit, type PersonalFlags } from '@parley/domain/messages';
import type { FileCopy, MessageCopy, RealmSource } from '../exports/realm-copy.js';
import { IdMap, type ImportedIds, type TopicLinks } from './import-ids.js';
import type { ImportPorts } from './import-ports.js';
import type { OrdinalRuns, ReceiverRuns } from './ordinal-runs.js';

const FILES_AT_A_TIME = 100;

/** File with received bytes. */
interface ReceivedFile {
  readonly copy: FileCopy;
  readonly ownerId: UserId;
  readonly blob: BlobKey;
  readonly size: number;
  readonly image: FileImage | null;
}

/** Imports files with their bytes. */
export class FileImport {
  private readonly files = new IdMap<FileId>('file', 'file');
  /** Files that later messages may share, by id in the copy; only `prepare` fills it. */
  private readonly shared = new Map<FileId, StoredFile>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly ports: ImportPorts,
    /** Limits of uploads; null for imports by the operator. */
    private readonly limits: FileLimits | null,
    private readonly ids: ImportedIds,
    private readonly source: RealmSource,
  ) {}

  async run(): Promise<{ readonly files: number; readonly missingFiles: number }> {
    let files = 0;
    let missingFiles = 0;
    let received: ReceivedFile[] = [];
    const flush = async () => {
      const batch = received;
      received = [];
      await this.uow.write(this.ids.realmId, async (tx) => {
        for (const file of batch) await this.addFile(tx, file);
      });
      files += batch.length;
    };
    for await (const copy of this.source.files()) {
      if (copy.content) received.push(await this.receive(copy, copy.content));
      else missingFiles++;
      if (received.length >= FILES_AT_A_TIME) await flush();
    }
    await flush();
    return { files, missingFiles };
  }

  /**
   * Stores the files of a message batch; returns the step that records them in the batch's unit.
   * @throws DomainError SERVER_BUSY
   */
  async prepare(copies: AsyncIterable<FileCopy>): Promise<(tx: Transaction) => Promise<void>> {
    const received: ReceivedFile[] = [];
    const again: FileCopy[] = [];
    for await (const copy of copies) {
      if (this.shared.has(copy.file.id)) again.push(copy);
      else if (copy.content) received.push(await this.receive(copy, copy.content));
    }
    return async (tx) => {
      for (const file of received) this.shared.set(file.copy.file.id, await this.addFile(tx, file));
      for (const copy of again) {
        const file = getOrThrow(this.shared, copy.file.id);
        await this.attach(tx, copy, file);
        if (file.image) await scheduleThumbnails(tx, file, this.ports.clock);
      }
    };
  }

  private async receive(copy: FileCopy, content: AsyncIterable<Uint8Array>): Promise<ReceivedFile> {
    const { contentType } = copy.file;
    const ownerId = this.ids.users.get(copy.file.ownerId);
    const key = newBlobKey(this.ports.randomness);
    const size = await this.ports.blobs.put(key, content);
    const { realmId } = this.ids;
    const prepared = await this.ports.thumbnails.prepare({ realmId, ownerId, blob: key, size, contentType });
    return { copy, ownerId, size, ...prepared };
  }

  private async addFile(tx: Transaction, { copy, ...received }: ReceivedFile): Promise<StoredFile> {
    const { id, ...file } = copy.file;
    const pathId = this.ids.rewriter.pathId(file.pathId);
    if (pathId === null) throw invalidImport(`The file ${file.pathId} is of another organization.`);
    const { realmId } = this.ids;
    const row = { ...file, ...received, realmId, pathId };
    if (this.limits) {
      const usedBytes = await tx.files.usedBytes(realmId);
      requireRoomForFile(this.limits, row.size, usedBytes, await tx.files.spaceOf(realmId, row.ownerId));
    }
    const added = await this.files.add(tx, id, () => tx.files.add(row));
    await this.attach(tx, copy, added);
    if (added.image) await scheduleThumbnails(tx, added, this.ports.clock);
    return added;
  }

  private async attach(tx: Transaction, { messageIds }: FileCopy, { id, image }: StoredFile): Promise<void> {
    for (const messageId of messageIds) {
      await tx.files.attach(this.ids.realmId, this.ids.messages.get(messageId), [id]);
      // The message may have been sent shortly before the export, with thumbnails still pending.
      if (image) await tx.files.awaitThumbnails(this.ids.realmId, this.ids.messages.get(messageId), [id]);
    }
  }
}

const MESSAGES_AT_A_TIME = 4000;
/** Maximum number of messages whose texts are rewritten without a repository call. */
const REWRITTEN_AT_ONCE = 500;
/** Maximum difference between the clocks of the original servers. */
const CLOCK_SKEW_SECONDS = 3600;

/** Message that was added, with its copy. */
export interface AddedMessage {
  readonly id: MessageId;
  readonly recipientId: RecipientId;
  readonly ordinal: Ordinal;
  readonly copy: MessageCopy;
}

export interface PageOptions {
  /** Number of messages per unit of work. */
  readonly pageSize: number;
  /** Runs before the unit of a page. Returns a step that completes the unit. */
  prepare(page: readonly MessageCopy[]): Promise<(tx: Transaction, added: readonly AddedMessage[]) => Promise<void>>;
}

const WHOLE_PAGES: PageOptions = { pageSize: MESSAGES_AT_A_TIME, prepare: async () => async () => {} };

/** Imports messages with all dependent data and records their receivers in `runs`. */
export class MessageImport {
  /** Id of the last imported message; 0 before the first. */
  lastId = 0;
  private readonly participants: ReadonlyMap<RecipientId, readonly UserId[]>;
  /** Current range of ids in which times ascend. */
  private range: { readonly first: MessageId; readonly newest: UnixSeconds } | null = null;
  /** Number of ranges. */
  private ranges = 1;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly ids: ImportedIds,
    private readonly source: RealmSource,
    private readonly runs: OrdinalRuns,
    private readonly topicLinks: TopicLinks,
    private readonly batch: ImportBatch | null,
  ) {
    this.participants = new Map(source.realm.conversations.map(({ recipientId, userIds }) => [recipientId, userIds]));
  }

  /** Returns the number of messages. */
  async run(onProgress: (messages: number) => void, { pageSize, prepare }: PageOptions = WHOLE_PAGES): Promise<number> {
    let count = 0;
    for await (const page of pagesOf(this.source.messages(), pageSize)) {
      const ids = this.ids.messages.take(page.map(({ message }) => message.id));
      const complete = await prepare(page);
      const added = await this.uow.write(this.ids.realmId, async (tx) => {
        const rows = await this.addPage(tx, page, ids);
        await complete(tx, rows);
        return rows;
      });
      for (const { copy, recipientId, ordinal } of added) this.noteReceivers(copy, this.runs.to(recipientId), ordinal);
      count += page.length;
      onProgress(count);
    }
    return count;
  }

  private async addPage(
    tx: Transaction,
    page: readonly MessageCopy[],
    ids: readonly MessageId[],
  ): Promise<readonly AddedMessage[]> {
    const { range, ranges } = this;
    tx.onRollback(() => Object.assign(this, { range, ranges }));
    const rows: AppendedCopy[] = [];
    const ordinals: Ordinal[] = [];
    for (const copies of slicesOf(page, REWRITTEN_AT_ONCE)) {
      const some: AppendedCopy[] = [];
      for (const copy of copies) {
        some.push(this.rowOf(copy, ids[rows.length + some.length]!, await this.recipientOf(tx, copy)));
      }
      rows.push(...some);
      for (const { first, messages } of this.byRange(some)) {
        ordinals.push(...(await tx.copies.appendMessages(messages, first)));
      }
    }
    const special: FlagsCopy[] = [];
    for (const [index, copy] of page.entries()) {
      const { id } = rows[index]!;
      await this.addParts(tx, copy, id);
      for (const { userId, flags } of copy.holders) {
        if (isSpecial(flags)) special.push({ userId: this.ids.users.get(userId), messageId: id, flags });
      }
    }
    if (special.length > 0) await tx.copies.putFlags(this.ids.realmId, special);
    await this.remember(tx, page, rows);
    this.lastId = rows.at(-1)?.id ?? this.lastId;
    return rows.map(({ id, recipientId }, index) => {
      return { id, recipientId, ordinal: ordinals[index]!, copy: page[index]! };
    });
  }

  /**
   * Begins a new range where times go back, as in archives of organizations with a merged history. The last of
   * `MAX_OLDER_RANGES` takes all remaining messages, where searches by time may then miss some.
   */
  private byRange(rows: readonly AppendedCopy[]) {
    const parts: { readonly first: MessageId; readonly messages: AppendedCopy[] }[] = [];
    for (const row of rows) {
      const { first, newest } = this.range ?? { first: row.id, newest: row.sentAt };
      const isEarlier = row.sentAt < newest - CLOCK_SKEW_SECONDS && this.ranges < MAX_OLDER_RANGES;
      if (isEarlier) this.ranges++;
      this.range = isEarlier ? { first: row.id, newest: row.sentAt } : { first, newest: Math.max(newest, row.sentAt) };
      const part = parts.at(-1);
      if (part?.first === this.range.first) part.messages.push(row);
      else parts.push({ first: this.range.first, messages: [row] });
    }
    return parts;
  }

  private async remember(tx: Transaction, page: readonly MessageCopy[], rows: readonly AppendedCopy[]): Promise<void> {
    const { batch } = this;
    if (!batch) return;
    const created = page.flatMap(({ origin, reactions, pins = [] }, index) => {
      const { id: targetId, lastEditedAt: editedAt = null } = rows[index]!;
      const digest = digestOfReactions(reactions.map((each) => this.ids.emojiOf(each)));
      return [origin, ...pins].map((each) => ({ origin: each, targetId, editedAt, reactions: digest }));
    });
    await rememberCreated(tx, batch, created);
  }

  /** Lists all properties explicitly, because V8 makes objects spread from this many properties slow. */
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

  /** Imports rare parts of messages. */
  private async addParts(
    tx: Transaction,
    { edits, reactions, submessages, hostData }: MessageCopy,
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
    if (hostData) await tx.hostData.put(realmId, { kind: 'message', id }, hostData);
  }

  private noteReceivers(copy: MessageCopy, runs: ReceiverRuns, ordinal: Ordinal): void {
    const { message, conversation, holders, isForSubscribers = false } = copy;
    for (const { userId, flags } of holders) {
      if (!flags.historical) runs.add(this.ids.users.get(userId), ordinal, flags.read);
    }
    if (isForSubscribers) runs.addForSubscribers(ordinal);
    if (message.channelId !== null) return;
    // Participants of a conversation without read state in the export get the message as read.
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

  /** Runs after the messages were imported. */
  async noteFirstMessages(tx: Transaction, { channels }: RealmCopy): Promise<void> {
    for (const { id, firstMessageId } of channels) {
      const found = firstMessageId === null ? undefined : this.ids.messages.find(firstMessageId);
      const channel = await tx.channels.get(this.ids.realmId, this.ids.channels.get(id));
      const [oldest = null] =
        found === undefined ? await tx.messages.listOldestIds(this.ids.realmId, channel.recipientId, 1) : [];
      const first = found ?? oldest;
      if (first !== null) await tx.channels.update({ ...channel, firstMessageId: first });
    }
  }
}

/** True if the flags contain more than received and read. */
const isSpecial = (flags: PersonalFlags): boolean =>
  flags.starred ||
  flags.collapsed ||
  flags.mentioned ||
  flags.topicWildcardMentioned ||
  flags.hasAlertWord ||
  flags.historical;

/** Regroups batches into pages of one size; the last page may be smaller. */
async function* pagesOf(
  source: AsyncIterable<readonly MessageCopy[]>,
  size: number,
): AsyncGenerator<readonly MessageCopy[]> {
  let page: MessageCopy[] = [];
  for await (const messages of source) {
    for (const message of messages) {
      page.push(message);
      if (page.length < size) continue;
      yield page;
      page = [];
    }
  }
  if (page.length > 0) yield page;
}
