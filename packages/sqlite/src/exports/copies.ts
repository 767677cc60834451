import type { AppendedCopy, CopyRepository, FlagsCopy, IdKind } from '@parley/domain/exports';
import type { MessageId, Ordinal, RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import type { MessageEdit, OrdinalRange, Viewer } from '@parley/domain/messages';
import { jsonList, messageTerms, OWNERSHIP_SOURCES, toFlag } from '@parley/storage';
import { type Connection, LIMIT } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { MessageInsert, topicKeyOf } from '../messages/messages.js';
import { ReadSets, Spans } from '../messages/read-sets.js';

/** Table whose `AUTOINCREMENT` allocates ids of the kind. */
const tableOf = (kind: IdKind): string =>
  kind === 'group' ? 'user_group' : kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const MESSAGES_BEFORE_YIELD = 50;

export class SqliteCopyRepository implements CopyRepository {
  private readonly inserts: MessageInsert;
  private readonly spans: Spans;
  private readonly readSets: ReadSets;
  private readonly messagesAfter;
  private readonly receivedRecipients;
  private readonly sentTo;
  private readonly flagging;
  private readonly lastOf;
  private readonly lastScheduled;
  private readonly insertTerms;
  private readonly beginSequence;
  private readonly raiseSequence;
  private readonly raiseScheduled;
  private readonly insertEdits;
  private readonly noteImported;
  private readonly insertSpans;
  private readonly insertFlags;

  constructor(
    private readonly connection: Connection,
    private readonly words: SearchWords,
  ) {
    this.inserts = new MessageInsert(connection);
    this.spans = new Spans(connection);
    this.readSets = new ReadSets(connection);
    this.messagesAfter = connection.tuples<readonly [MessageId, RealmId]>(
      `SELECT id, realm_id FROM message WHERE id > ? ORDER BY id ${LIMIT}`,
    );
    this.receivedRecipients = connection.values<RecipientId>(
      'SELECT DISTINCT recipient_id FROM span WHERE user_id = ? AND +realm_id = ? ORDER BY recipient_id',
    );
    this.sentTo = connection.values<number>(
      `SELECT coalesce(sum(r.last_ordinal), 0) FROM json_each(?) wanted CROSS JOIN recipient r ON r.id = wanted.value
       WHERE +r.realm_id = ?`,
    );
    this.flagging = connection.tuples<readonly [MessageId, UserId]>(
      `SELECT f.message_id, f.user_id FROM json_each(?) wanted
       CROSS JOIN message_flag f INDEXED BY message_flag_by_message ON f.message_id = wanted.value
       WHERE f.realm_id = ? ORDER BY f.message_id, f.user_id`,
    );
    this.lastOf = connection.values<number>('SELECT seq FROM sqlite_sequence WHERE name = ?');
    this.lastScheduled = connection.values<number>('SELECT last_id FROM scheduling_counter WHERE id = 1');
    this.insertTerms = connection.command('INSERT INTO message_search (rowid, terms) VALUES (?, ?)');
    this.beginSequence = connection.command(
      `INSERT INTO sqlite_sequence (name, seq)
       SELECT t.value, 0 FROM json_each(json_array(?)) t
       WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence s WHERE s.name = t.value)`,
    );
    this.raiseSequence = connection.command('UPDATE sqlite_sequence SET seq = ? WHERE name = ? AND seq < ?');
    this.raiseScheduled = connection.command('UPDATE scheduling_counter SET last_id = ? WHERE id = 1 AND last_id < ?');
    this.insertEdits = connection.command(
      `INSERT INTO message_edit (message_id, realm_id, user_id, edited_at, previous_topic, topic, previous_channel_id,
                                 channel_id, previous_content, previous_rendered_content)
       SELECT ?, ?, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7
       FROM json_each(?) ORDER BY key`,
    );
    this.noteImported = connection.command(
      `INSERT INTO imported_messages (realm_id, first_id, last_id) VALUES (?, ?, ?)
       ON CONFLICT (realm_id) DO UPDATE SET last_id = excluded.last_id`,
    );
    // Starts before all events and moves of the realm.
    this.insertSpans = connection.command(
      `INSERT INTO span (user_id, recipient_id, number, realm_id, from_ordinal, to_ordinal, from_move, to_move, from_seq, to_seq)
       SELECT ?, ?, key + 1, ?, value ->> 0, value ->> 1, 0, 0, 0, 0 FROM json_each(?)`,
    );
    this.insertFlags = connection.command(
      `INSERT INTO message_flag (user_id, message_id, realm_id, source, read, starred, collapsed, mentioned,
                                 topic_wildcard_mentioned, has_alert_word)
       SELECT value ->> 0, value ->> 1, ?, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7,
              value ->> 8
       FROM json_each(?)`,
    );
  }

  async listMessageIds(realmId: RealmId, after: number, limit: number) {
    const rows = this.messagesAfter.all(after, limit);
    const ids = rows.filter(([, realm]) => realm === realmId).map(([id]) => id);
    return { ids, reached: rows.length < limit ? null : rows.at(-1)![0] };
  }

  async listReceivedRecipients({ realmId, userId }: Viewer): Promise<readonly RecipientId[]> {
    return this.receivedRecipients.all(userId, realmId);
  }

  async countSentTo(realmId: RealmId, recipientIds: readonly RecipientId[]): Promise<number> {
    return this.sentTo.get(jsonList(recipientIds), realmId)!;
  }

  async listFlagging(realmId: RealmId, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, readonly UserId[]>> {
    const flagging = new Map<MessageId, UserId[]>();
    for (const [messageId, userId] of this.flagging.all(jsonList(ids), realmId)) {
      const existing = flagging.get(messageId);
      if (existing) existing.push(userId);
      else flagging.set(messageId, [userId]);
    }
    return flagging;
  }

  async lastId(kind: IdKind): Promise<number> {
    return (kind === 'scheduled' ? this.lastScheduled.get() : this.lastOf.get(tableOf(kind))) ?? 0;
  }

  async raiseIds(kind: IdKind, least: number): Promise<void> {
    const last = least - 1;
    if (kind === 'scheduled') this.raiseScheduled.run(last, last);
    else {
      this.beginSequence.run(tableOf(kind));
      this.raiseSequence.run(last, tableOf(kind), last);
    }
  }

  async appendMessages(messages: readonly AppendedCopy[]): Promise<readonly Ordinal[]> {
    const nextOrdinals = this.takeOrdinals(messages);
    const ordinals: Ordinal[] = [];
    const newest = new Map<RecipientId, MessageId>();
    for (const [index, message] of messages.entries()) {
      const { id, recipientId, channelId } = message;
      const ordinal = nextOrdinals.get(recipientId)!;
      nextOrdinals.set(recipientId, (ordinal + 1) as Ordinal);
      const topicKey = topicKeyOf(message);
      this.inserts.add(message, id, ordinal, topicKey);
      this.insertTerms.run(id, messageTerms(this.words, message, topicKey));
      if (channelId === null) newest.set(recipientId, id);
      ordinals.push(ordinal);
      if (index % MESSAGES_BEFORE_YIELD === 0) await this.connection.yield();
    }
    for (const [recipientId, id] of newest) this.inserts.noteNewest(recipientId, id);
    const [first, last] = [messages[0], messages.at(-1)];
    if (first && last) this.noteImported.run(first.realmId, first.id, last.id);
    return ordinals;
  }

  /** Returns the first ordinal per recipient. */
  private takeOrdinals(messages: readonly AppendedCopy[]): Map<RecipientId, Ordinal> {
    const counts = new Map<RecipientId, number>();
    for (const { recipientId } of messages) counts.set(recipientId, (counts.get(recipientId) ?? 0) + 1);
    const first = new Map<RecipientId, Ordinal>();
    for (const { realmId, recipientId } of messages) {
      if (first.has(recipientId)) continue;
      const count = counts.get(recipientId)!;
      const last = this.inserts.takeOrdinals(realmId, recipientId, count);
      first.set(recipientId, (last - count + 1) as Ordinal);
    }
    return first;
  }

  async putEdits(realmId: RealmId, messageId: MessageId, edits: readonly MessageEdit[]): Promise<void> {
    const rows = edits.map(({ userId, editedAt, topic, channel, previousContent }) => [
      userId,
      editedAt,
      topic?.from ?? null,
      topic?.to ?? null,
      channel?.from ?? null,
      channel?.to ?? null,
      previousContent?.content ?? null,
      previousContent?.rendered ?? null,
    ]);
    this.insertEdits.run(messageId, realmId, JSON.stringify(rows.reverse()));
  }

  async putReceived(
    viewer: Viewer,
    recipientId: RecipientId,
    received: readonly OrdinalRange[],
    read: readonly OrdinalRange[],
  ): Promise<void> {
    const { realmId, userId } = viewer;
    if (!this.spans.isOpen(recipientId, userId)) {
      const rows = received.map(({ first, last }) => [first, last + 1]);
      this.insertSpans.run(userId, recipientId, realmId, JSON.stringify(rows));
    }
    for (const range of read) this.readSets.markRange(viewer, recipientId, range);
  }

  async putFlags(realmId: RealmId, rows: readonly FlagsCopy[]): Promise<void> {
    const values = rows.map(({ userId, messageId, flags }) => [
      userId,
      messageId,
      flags.historical ? OWNERSHIP_SOURCES.historical : OWNERSHIP_SOURCES.spans,
      flags.historical ? toFlag(flags.read) : null,
      ...[flags.starred, flags.collapsed, flags.mentioned, flags.topicWildcardMentioned, flags.hasAlertWord].map(
        toFlag,
      ),
    ]);
    this.insertFlags.run(realmId, JSON.stringify(values));
  }
}

export const COPY_FEATURE = {
  repositories:
    ({ words }) =>
    (connection) => ({ copies: new SqliteCopyRepository(connection, words) }),
} satisfies SqliteFeature;
