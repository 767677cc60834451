import type { AppendedCopy, CopyRepository, FlagsCopy } from '@parley/domain/exports';
import {
  firstOf,
  getOrThrow,
  type IdKind,
  lastOf,
  type MessageId,
  type Ordinal,
  type RealmId,
  type RecipientId,
  type UserId,
} from '@parley/domain/kernel';
import type { MessageEdit, MessageIdRange, OrdinalRange, Viewer } from '@parley/domain/messages';
import { grouped, snakeCase, toFlag } from '../engine/rows.js';
import type { Statements } from '../engine/statements.js';
import { OWNERSHIP_SOURCES } from '../messages/message-rows.js';

/** Returns the table that allocates ids of the kind. */
const tableOf = (kind: IdKind): string => (kind === 'group' ? 'user_group' : snakeCase(kind));

const MESSAGES_BEFORE_YIELD = 50;

/** Message writes that differ between the databases. */
export interface CopyWrites {
  /** Reserves `count` ordinals and returns the last one. */
  takeOrdinals(realmId: RealmId, recipientId: RecipientId, count: number): Ordinal | Promise<Ordinal>;
  /** Adds a message and its search terms. `settings`: JSON of the realm's settings. */
  add(message: AppendedCopy, ordinal: Ordinal, settings: string): void;
  /** Records the newest message of a direct conversation. */
  noteNewest(recipientId: RecipientId, id: MessageId): void;
  isOpen(recipientId: RecipientId, userId: UserId): boolean | Promise<boolean>;
  markRange(viewer: Viewer, recipientId: RecipientId, range: OrdinalRange): void | Promise<void>;
  /** Makes the table allocate higher ids only. */
  raiseSequence(table: string, last: number): void;
}

export class SqlCopyRepository implements CopyRepository {
  private readonly messagesAfter;
  private readonly settingsOf;
  private readonly receivedRecipients;
  private readonly sentTo;
  private readonly flagging;
  private readonly lastOf;
  private readonly lastScheduled;
  private readonly raiseScheduled;
  private readonly insertEdit;
  private readonly rangesOf;
  private readonly noteImported;
  private readonly insertSpan;
  private readonly insertFlags;

  /** @param lastOf statement that returns the last id allocated by a table */
  constructor(
    private readonly statements: Statements,
    private readonly writes: CopyWrites,
    lastOf: string,
  ) {
    const { inSet, elements, indexedBy } = statements.dialect;
    this.messagesAfter = statements.tuples<readonly [MessageId, RealmId]>(
      'SELECT id, realm_id FROM message WHERE id > ? ORDER BY id LIMIT ? + 0',
    );
    this.settingsOf = statements.values<string>('SELECT settings FROM realm WHERE id = ?');
    this.receivedRecipients = statements.values<RecipientId>(
      'SELECT DISTINCT recipient_id FROM span WHERE user_id = ? AND +realm_id = ? ORDER BY recipient_id',
    );
    this.sentTo = statements.values<number>(
      `SELECT coalesce(sum(last_ordinal), 0) FROM recipient WHERE id ${inSet} AND +realm_id = ?`,
    );
    this.flagging = statements.tuples<readonly [MessageId, UserId]>(
      `SELECT f.message_id, f.user_id
       FROM ${elements('bigint')} CROSS JOIN message_flag f ${indexedBy('message_flag_by_message')}
       WHERE f.message_id = value AND f.realm_id = ? ORDER BY f.message_id, f.user_id`,
    );
    this.lastOf = statements.values<number | null>(lastOf);
    this.lastScheduled = statements.values<number>('SELECT last_id FROM scheduling_counter WHERE id = 1');
    this.raiseScheduled = statements.command('UPDATE scheduling_counter SET last_id = ? WHERE id = 1 AND last_id < ?');
    this.insertEdit = statements.command(
      `INSERT INTO message_edit (message_id, realm_id, user_id, edited_at, previous_topic, topic, previous_channel_id,
                                 channel_id, previous_content, previous_rendered_content)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.rangesOf = statements.rows<MessageIdRange>(
      'SELECT first_id AS first, last_id AS last FROM imported_messages WHERE realm_id = ? ORDER BY first_id',
    );
    this.noteImported = statements.command(
      `INSERT INTO imported_messages (first_id, last_id, realm_id) VALUES (?, ?, ?)
       ON CONFLICT (first_id) DO UPDATE SET last_id = excluded.last_id`,
    );
    // Starts before all events and moves of the realm.
    this.insertSpan = statements.command(
      `INSERT INTO span (user_id, recipient_id, number, realm_id, from_ordinal, to_ordinal, from_move, to_move, from_seq, to_seq)
       VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, 0)`,
    );
    this.insertFlags = statements.command(
      `INSERT INTO message_flag (user_id, message_id, realm_id, source, read, starred, collapsed, mentioned,
                                 topic_wildcard_mentioned, has_alert_word)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
  }

  async listMessageIds(realmId: RealmId, after: number, limit: number) {
    const rows = await this.messagesAfter.all(after, limit);
    const ids = rows.filter(([, realm]) => realm === realmId).map(([id]) => id);
    return { ids, reached: rows.length < limit ? null : lastOf(rows)[0] };
  }

  async listReceivedRecipients({ realmId, userId }: Viewer): Promise<readonly RecipientId[]> {
    return await this.receivedRecipients.all(userId, realmId);
  }

  async countSentTo(realmId: RealmId, recipientIds: readonly RecipientId[]): Promise<number> {
    return await this.sentTo.one(this.statements.dialect.set(recipientIds), realmId);
  }

  async listRanges(realmId: RealmId): Promise<readonly MessageIdRange[]> {
    return await this.rangesOf.all(realmId);
  }

  async listFlagging(realmId: RealmId, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, readonly UserId[]>> {
    const rows = await this.flagging.all(this.statements.dialect.set(ids), realmId);
    return new Map([...grouped(rows, ([id]) => id)].map(([id, found]) => [id, found.map(([, userId]) => userId)]));
  }

  async lastId(kind: IdKind): Promise<number> {
    return (await (kind === 'scheduled' ? this.lastScheduled.get() : this.lastOf.get(tableOf(kind)))) ?? 0;
  }

  async raiseIds(kind: IdKind, least: number): Promise<void> {
    const last = least - 1;
    if (kind === 'scheduled') this.raiseScheduled.defer(last, last);
    else this.writes.raiseSequence(tableOf(kind), last);
  }

  async appendMessages(messages: readonly AppendedCopy[], rangeStart: MessageId): Promise<readonly Ordinal[]> {
    if (messages.length === 0) return [];
    const { realmId } = firstOf(messages);
    const settings = await this.settingsOf.one(realmId);
    const nextOrdinals = await this.takeOrdinals(messages);
    const ordinals: Ordinal[] = [];
    const newest = new Map<RecipientId, MessageId>();
    for (const [index, message] of messages.entries()) {
      const { id, recipientId, channelId } = message;
      const ordinal = getOrThrow(nextOrdinals, recipientId);
      nextOrdinals.set(recipientId, (ordinal + 1) as Ordinal);
      this.writes.add(message, ordinal, settings);
      if (channelId === null) newest.set(recipientId, id);
      ordinals.push(ordinal);
      if (index % MESSAGES_BEFORE_YIELD === 0) await this.statements.yield();
    }
    for (const [recipientId, id] of newest) this.writes.noteNewest(recipientId, id);
    await this.noteRange(realmId, { first: rangeStart, last: lastOf(messages).id });
    return ordinals;
  }

  async noteRange(realmId: RealmId, { first, last }: MessageIdRange): Promise<void> {
    this.noteImported.defer(first, last, realmId);
  }

  /** Returns the first ordinal per recipient. */
  private async takeOrdinals(messages: readonly AppendedCopy[]): Promise<Map<RecipientId, Ordinal>> {
    const counts = new Map<RecipientId, number>();
    for (const { recipientId } of messages) counts.set(recipientId, (counts.get(recipientId) ?? 0) + 1);
    const first = new Map<RecipientId, Ordinal>();
    for (const { realmId, recipientId } of messages) {
      if (first.has(recipientId)) continue;
      const count = getOrThrow(counts, recipientId);
      const last = await this.writes.takeOrdinals(realmId, recipientId, count);
      first.set(recipientId, (last - count + 1) as Ordinal);
    }
    return first;
  }

  async putEdits(realmId: RealmId, messageId: MessageId, edits: readonly MessageEdit[]): Promise<void> {
    for (const { userId, editedAt, topic, channel, previousContent } of [...edits].reverse()) {
      this.insertEdit.defer(
        messageId,
        realmId,
        userId,
        editedAt,
        topic?.from ?? null,
        topic?.to ?? null,
        channel?.from ?? null,
        channel?.to ?? null,
        previousContent?.content ?? null,
        previousContent?.rendered ?? null,
      );
    }
  }

  async putReceived(
    viewer: Viewer,
    recipientId: RecipientId,
    received: readonly OrdinalRange[],
    read: readonly OrdinalRange[],
  ): Promise<void> {
    const { realmId, userId } = viewer;
    if (!(await this.writes.isOpen(recipientId, userId))) {
      for (const [index, { first, last }] of received.entries())
        this.insertSpan.defer(userId, recipientId, index + 1, realmId, first, last + 1);
    }
    for (const range of read) await this.writes.markRange(viewer, recipientId, range);
  }

  async putFlags(realmId: RealmId, rows: readonly FlagsCopy[]): Promise<void> {
    for (const { userId, messageId, flags } of rows) {
      this.insertFlags.defer(
        userId,
        messageId,
        realmId,
        flags.historical ? OWNERSHIP_SOURCES.historical : OWNERSHIP_SOURCES.spans,
        flags.historical ? toFlag(flags.read) : null,
        toFlag(flags.starred),
        toFlag(flags.collapsed),
        toFlag(flags.mentioned),
        toFlag(flags.topicWildcardMentioned),
        toFlag(flags.hasAlertWord),
      );
    }
  }
}
