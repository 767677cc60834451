import type { AppendedCopy, CopyRepository, FlagsCopy, IdKind } from '@parley/domain/exports';
import type { MessageId, Ordinal, RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import type { MessageEdit, OrdinalRange, Viewer } from '@parley/domain/messages';
import { OWNERSHIP_SOURCES, toFlag } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import type { SearchTerms } from '../messages/conditions.js';
import { MessageInsert, topicKeyOf } from '../messages/messages.js';
import { ReadSets, Spans } from '../messages/read-sets.js';

/** Table whose identity column allocates ids of the kind, as an identifier. */
const tableOf = (kind: IdKind): string =>
  kind === 'group' ? 'user_group' : `"${kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`;

const SEQUENCE = "pg_get_serial_sequence($1, 'id')::regclass";

const MESSAGES_BEFORE_YIELD = 50;

export class PostgresCopyRepository implements CopyRepository {
  private readonly inserts: MessageInsert;
  private readonly spans: Spans;
  private readonly readSets: ReadSets;
  private readonly messagesAfter;
  private readonly receivedRecipients;
  private readonly sentTo;
  private readonly flagging;
  private readonly lastOf;
  private readonly lastScheduled;
  private readonly raiseSequence;
  private readonly raiseScheduled;
  private readonly insertEdits;
  private readonly noteImported;
  private readonly insertSpans;
  private readonly insertFlags;

  constructor(
    private readonly connection: Connection,
    private readonly searchTerms: SearchTerms,
  ) {
    this.inserts = new MessageInsert(connection);
    this.spans = new Spans(connection);
    this.readSets = new ReadSets(connection);
    this.messagesAfter = connection.tuples<readonly [MessageId, RealmId]>(
      `SELECT id, realm_id FROM message WHERE id > $1 ORDER BY id LIMIT $2`,
    );
    this.receivedRecipients = connection.values<RecipientId>(
      'SELECT DISTINCT recipient_id FROM span WHERE user_id = $1 AND realm_id = $2 ORDER BY recipient_id',
    );
    this.sentTo = connection.values<number>(
      'SELECT coalesce(sum(last_ordinal), 0) FROM recipient WHERE id = ANY($1) AND realm_id = $2',
    );
    this.flagging = connection.tuples<readonly [MessageId, UserId]>(
      `SELECT message_id, user_id FROM message_flag WHERE message_id = ANY($1) AND realm_id = $2
       ORDER BY message_id, user_id`,
    );
    this.lastOf = connection.values<number | null>(`SELECT pg_sequence_last_value(${SEQUENCE})`);
    this.lastScheduled = connection.values<number>('SELECT last_id FROM scheduling_counter WHERE id = 1');
    this.raiseSequence = connection.command(
      `SELECT setval(${SEQUENCE}, $2) WHERE coalesce(pg_sequence_last_value(${SEQUENCE}), 0) < $2`,
    );
    this.raiseScheduled = connection.command(
      'UPDATE scheduling_counter SET last_id = $1 WHERE id = 1 AND last_id < $1',
    );
    this.insertEdits = connection.command(
      `INSERT INTO message_edit (message_id, realm_id, user_id, edited_at, previous_topic, topic, previous_channel_id,
                                 channel_id, previous_content, previous_rendered_content)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    );
    this.noteImported = connection.command(
      `INSERT INTO imported_messages (realm_id, first_id, last_id) VALUES ($1, $2, $3)
       ON CONFLICT (realm_id) DO UPDATE SET last_id = excluded.last_id`,
    );
    // Starts before all events and moves of the realm.
    this.insertSpans = connection.command(
      `INSERT INTO span (user_id, recipient_id, number, realm_id, from_ordinal, to_ordinal, from_move, to_move, from_seq, to_seq)
       VALUES ($1, $2, $3, $4, $5, $6, 0, 0, 0, 0)`,
    );
    this.insertFlags = connection.command(
      `INSERT INTO message_flag (user_id, message_id, realm_id, source, read, starred, collapsed, mentioned,
                                 topic_wildcard_mentioned, has_alert_word)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    );
  }

  async listMessageIds(realmId: RealmId, after: number, limit: number) {
    const rows = await this.messagesAfter.all(after, limit);
    const ids = rows.filter(([, realm]) => realm === realmId).map(([id]) => id);
    return { ids, reached: rows.length < limit ? null : rows.at(-1)![0] };
  }

  async listReceivedRecipients({ realmId, userId }: Viewer): Promise<readonly RecipientId[]> {
    return await this.receivedRecipients.all(userId, realmId);
  }

  async countSentTo(realmId: RealmId, recipientIds: readonly RecipientId[]): Promise<number> {
    return (await this.sentTo.get([...recipientIds], realmId))!;
  }

  async listFlagging(realmId: RealmId, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, readonly UserId[]>> {
    const flagging = new Map<MessageId, UserId[]>();
    for (const [messageId, userId] of await this.flagging.all([...ids], realmId)) {
      const existing = flagging.get(messageId);
      if (existing) existing.push(userId);
      else flagging.set(messageId, [userId]);
    }
    return flagging;
  }

  async lastId(kind: IdKind): Promise<number> {
    return (kind === 'scheduled' ? await this.lastScheduled.get() : await this.lastOf.get(tableOf(kind))) ?? 0;
  }

  async raiseIds(kind: IdKind, least: number): Promise<void> {
    const last = least - 1;
    if (kind === 'scheduled') this.raiseScheduled.defer(last);
    else this.raiseSequence.defer(tableOf(kind), last);
  }

  async appendMessages(messages: readonly AppendedCopy[]): Promise<readonly Ordinal[]> {
    const nextOrdinals = await this.takeOrdinals(messages);
    const ordinals: Ordinal[] = [];
    const newest = new Map<RecipientId, MessageId>();
    for (const [index, message] of messages.entries()) {
      const { id, recipientId, channelId } = message;
      const ordinal = nextOrdinals.get(recipientId)!;
      nextOrdinals.set(recipientId, (ordinal + 1) as Ordinal);
      this.inserts.add(message, id, ordinal, topicKeyOf(message));
      this.searchTerms.put([[id, message.realmId, message.topic, message.renderedContent]]);
      if (channelId === null) newest.set(recipientId, id);
      ordinals.push(ordinal);
      if (index % MESSAGES_BEFORE_YIELD === 0) await this.connection.yield();
    }
    for (const [recipientId, id] of newest) this.inserts.noteNewest(recipientId, id);
    const [first, last] = [messages[0], messages.at(-1)];
    if (first && last) this.noteImported.defer(first.realmId, first.id, last.id);
    return ordinals;
  }

  /** Returns the first ordinal per recipient. */
  private async takeOrdinals(messages: readonly AppendedCopy[]): Promise<Map<RecipientId, Ordinal>> {
    const counts = new Map<RecipientId, number>();
    for (const { recipientId } of messages) counts.set(recipientId, (counts.get(recipientId) ?? 0) + 1);
    const first = new Map<RecipientId, Ordinal>();
    for (const { realmId, recipientId } of messages) {
      if (first.has(recipientId)) continue;
      const count = counts.get(recipientId)!;
      const last = await this.inserts.takeOrdinals(realmId, recipientId, count);
      first.set(recipientId, (last - count + 1) as Ordinal);
    }
    return first;
  }

  async putEdits(realmId: RealmId, messageId: MessageId, edits: readonly MessageEdit[]): Promise<void> {
    for (const { userId, editedAt, topic, channel, previousContent } of [...edits].reverse()) {
      this.insertEdits.defer(
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
    if (!(await this.spans.isOpen(recipientId, userId))) {
      for (const [index, { first, last }] of received.entries())
        this.insertSpans.defer(userId, recipientId, index + 1, realmId, first, last + 1);
    }
    for (const range of read) await this.readSets.markRange(viewer, recipientId, range);
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

export const COPY_FEATURE = {
  repositories:
    () =>
    (connection, { searchTerms }) => ({ copies: new PostgresCopyRepository(connection, searchTerms) }),
} satisfies PostgresFeature;
