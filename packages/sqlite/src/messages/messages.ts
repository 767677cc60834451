import { topicKey } from '@parley/domain/channels';
import type { MessageId, Ordinal, RealmId, RecipientId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import type {
  EditedText,
  Message,
  MessageRepository,
  NewMessage,
  Submessage,
  SubmessageSummary,
} from '@parley/domain/messages';
import {
  bitsOf,
  idOf,
  jsonList,
  MESSAGE_TABLES,
  messageTerms,
  OWNERSHIP_SOURCES,
  PROPERTY_BITS,
  type Quarantine,
  type SubmessageRow,
  TEXT_BITS,
  toFlag,
  toSubmessage,
} from '@parley/storage';
import { type Connection, LIMIT } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { lastSeqOf } from '../kernel/events.js';
import { MessageRows } from './message-rows.js';
import { ReadSets, Spans } from './read-sets.js';
import { MessageIndexRowsById } from './viewer-message-state.js';

/** Values of a new message row. */
export type InsertedMessage = Omit<NewMessage, 'readBy' | 'exceptions'>;

/** Inserts message rows without per-user data. */
export class MessageInsert {
  private readonly takeOrdinal;
  private readonly takenOrdinal;
  private readonly insert;
  private readonly noteDirect;

  constructor(connection: Connection) {
    // Two statements, because RETURNING makes SQLite use a statement journal, which is slow in units with many
    // messages.
    this.takeOrdinal = connection.command(
      'UPDATE recipient SET last_ordinal = last_ordinal + ? WHERE id = ? AND realm_id = ?',
    );
    this.takenOrdinal = connection.values<Ordinal>('SELECT last_ordinal FROM recipient WHERE id = ?');
    this.insert = connection.command(
      `INSERT INTO message (id, realm_id, sender_id, sent_recipient_id, ordinal, recipient_id, channel_id, property_bits,
                            version, sent_at, last_edited_at, last_moved_at, topic, topic_key, client_name, topic_links,
                            content, rendered_content)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.noteDirect = connection.command('UPDATE direct_participant SET last_message_id = ? WHERE recipient_id = ?');
  }

  /** Reserves `count` ordinals and returns the last one. */
  takeOrdinals(realmId: RealmId, recipientId: RecipientId, count: number): Ordinal {
    const { changes } = this.takeOrdinal.run(count, recipientId, realmId);
    if (changes === 0) throw new Error(`No recipient ${recipientId} in realm ${realmId}`);
    return this.takenOrdinal.get(recipientId)!;
  }

  /**
   * @param id null for the next id
   * @param key see `topicKeyOf`
   */
  add(message: InsertedMessage, id: MessageId | null, ordinal: Ordinal, key: string | null): MessageId {
    const { recipientId, channelId, topicLinks, lastEditedAt = null, lastMovedAt = null } = message;
    const { lastInsertRowid } = this.insert.run(
      id,
      message.realmId,
      message.senderId,
      recipientId,
      ordinal,
      recipientId,
      channelId,
      bitsOf(message),
      message.sentAt,
      lastEditedAt,
      lastMovedAt,
      message.topic,
      key,
      message.clientName,
      topicLinks.length === 0 ? null : JSON.stringify(topicLinks),
      message.content,
      message.renderedContent,
    );
    return Number(lastInsertRowid) as MessageId;
  }

  /** Records the newest message of a direct conversation. */
  noteNewest(recipientId: RecipientId, id: MessageId): void {
    this.noteDirect.run(id, recipientId);
  }
}

/** Null for direct messages. */
export const topicKeyOf = ({ channelId, topic }: Pick<NewMessage, 'channelId' | 'topic'>): string | null =>
  channelId === null ? null : topicKey(topic);

/** Inserts terms of existing messages without terms. */
const INSERT_TERMS = `
  INSERT INTO message_search (rowid, terms)
  SELECT m.id, due.value ->> 1 FROM json_each(?) due CROSS JOIN message m ON m.id = due.value ->> 0
  WHERE NOT EXISTS (SELECT 1 FROM message_search_docsize known WHERE known.id = m.id)`;

const NAMED_IN = 'WHERE message_id = ? AND (mentioned = 1 OR topic_wildcard_mentioned = 1 OR has_alert_word = 1)';

export class SqliteMessageRepository implements MessageRepository {
  private readonly rows: MessageRows;
  private readonly indexRowsById: MessageIndexRowsById;
  private readonly inserts: MessageInsert;
  private readonly spans: Spans;
  private readonly readSets: ReadSets;

  private readonly times;
  private readonly oldestIds;
  private readonly changeText;
  private readonly changeRendered;
  private readonly namesSomebody;
  private readonly nameNobody;
  private readonly nameSome;
  private readonly insertSubmessage;
  private readonly countSubmessages;
  private readonly firstSubmessage;
  private readonly renewVersion;
  private readonly dropSubmessages;
  private readonly mutersOf;
  private readonly insertFlags;
  private readonly keepTombstones;
  private readonly keepHolders;
  private readonly dropFlags;
  private readonly drop;
  private readonly renewNewest;

  constructor(
    private readonly connection: Connection,
    quarantine: Quarantine,
    private readonly words: SearchWords,
  ) {
    this.rows = new MessageRows(connection, quarantine);
    this.indexRowsById = new MessageIndexRowsById(connection);
    this.inserts = new MessageInsert(connection);
    this.spans = new Spans(connection);
    this.readSets = new ReadSets(connection);

    this.times = connection.tuples<readonly [MessageId, UnixSeconds]>(
      `SELECT m.id, m.sent_at FROM json_each(?) wanted CROSS JOIN message m ON m.id = wanted.value
       WHERE m.realm_id = ? ORDER BY m.id`,
    );
    this.oldestIds = connection.values<MessageId>(
      `SELECT id FROM message INDEXED BY message_by_recipient
       WHERE recipient_id = ? AND id < ? AND +realm_id = ? ORDER BY id ${LIMIT}`,
    );
    this.changeText = connection.command(
      `UPDATE message SET content = ?, rendered_content = ?, last_edited_at = ?, version = version + 1,
         property_bits = (property_bits & ~${TEXT_BITS}) | ${PROPERTY_BITS.isEdited} | ?
       WHERE id = ? AND realm_id = ?`,
    );
    this.changeRendered = connection.command(
      'UPDATE message SET rendered_content = ?, version = version + 1 WHERE id = ? AND realm_id = ?',
    );
    this.namesSomebody = connection.values<1>(`SELECT 1 FROM message_flag ${NAMED_IN} LIMIT 1`);
    this.nameNobody = connection.command(
      `UPDATE message_flag SET mentioned = 0, topic_wildcard_mentioned = 0, has_alert_word = 0 ${NAMED_IN}`,
    );
    this.nameSome = connection.command(
      `INSERT INTO message_flag (user_id, message_id, realm_id, mentioned, topic_wildcard_mentioned, has_alert_word)
       SELECT value ->> 0, ?, ?, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?) WHERE true
       ON CONFLICT DO UPDATE SET mentioned = excluded.mentioned, has_alert_word = excluded.has_alert_word,
         topic_wildcard_mentioned = excluded.topic_wildcard_mentioned`,
    );
    this.insertSubmessage = connection.command(
      'INSERT INTO submessage (message_id, sender_id, realm_id, kind, content) VALUES (?, ?, ?, ?, ?)',
    );
    this.countSubmessages = connection.tuples<readonly [number, number, 0 | 1]>(
      `SELECT count(*), coalesce(sum(length(content)), 0), coalesce(max(sender_id = ?), 0) FROM submessage INDEXED BY submessage_by_message
       WHERE message_id = ? AND +realm_id = ?`,
    );
    this.firstSubmessage = connection.rows<SubmessageRow>(
      `SELECT * FROM submessage INDEXED BY submessage_by_message
       WHERE message_id = ? AND +realm_id = ? ORDER BY id LIMIT 1`,
    );
    this.renewVersion = connection.command('UPDATE message SET version = version + 1 WHERE id = ? AND realm_id = ?');
    this.dropSubmessages = connection.command(
      'DELETE FROM submessage WHERE message_id IN (SELECT value FROM json_each(?))',
    );
    this.mutersOf = connection.values<UserId>(
      `SELECT user_id FROM muted_sender
       WHERE sender_id = ? AND until_message_id IS NULL AND realm_id = ? ORDER BY user_id`,
    );
    this.insertFlags = connection.command(
      `INSERT INTO message_flag (user_id, message_id, realm_id, source, read, mentioned, topic_wildcard_mentioned,
                                 has_alert_word)
       SELECT value ->> 0, ?, ?, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5 FROM json_each(?)`,
    );
    this.keepTombstones = connection.command(
      `INSERT INTO removed_message (id, realm_id, sender_id, sent_recipient_id, ordinal, removed_at_seq)
       SELECT m.id, m.realm_id, m.sender_id, m.sent_recipient_id, m.ordinal, ${lastSeqOf('m.realm_id')}
       FROM message m
       WHERE m.id IN (SELECT value FROM json_each(?))`,
    );
    this.keepHolders = connection.command(
      `INSERT INTO removed_message_holder (message_id, user_id, realm_id)
       SELECT message_id, user_id, realm_id FROM message_flag
       WHERE message_id IN (SELECT value FROM json_each(?)) AND source <> 0`,
    );
    this.dropFlags = connection.command(
      'DELETE FROM message_flag WHERE message_id IN (SELECT value FROM json_each(?))',
    );
    this.drop = connection.command('DELETE FROM message WHERE id IN (SELECT value FROM json_each(?))');
    this.renewNewest = connection.command(
      `UPDATE direct_participant
       SET last_message_id = (SELECT max(m.id) FROM message m WHERE m.recipient_id = direct_participant.recipient_id)
       WHERE recipient_id IN (SELECT value FROM json_each(?))`,
    );
  }

  async find(realmId: RealmId, id: MessageId): Promise<Message | null> {
    const row = this.rows.find(realmId, id);
    return row ? this.rows.toMessage(row) : null;
  }

  async list(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly Message[]> {
    return this.rows.list(realmId, ids).map((row) => this.rows.toMessage(row));
  }

  async summarizeSubmessages(realmId: RealmId, id: MessageId, authorId: UserId): Promise<SubmessageSummary> {
    const [count, length, hasOfAuthor] = this.countSubmessages.get(authorId, id, realmId)!;
    const first = count === 0 ? undefined : this.firstSubmessage.get(id, realmId);
    return { count, length, first: first ? toSubmessage(first) : null, hasOfAuthor: hasOfAuthor === 1 };
  }

  async listTimes(realmId: RealmId, ids: readonly MessageId[]) {
    return this.times.all(jsonList(new Set(ids)), realmId).map(([id, sentAt]) => ({ id, sentAt }));
  }

  async listOldestIds(
    realmId: RealmId,
    recipientId: RecipientId,
    limit: number,
    before: MessageId | null = null,
  ): Promise<readonly MessageId[]> {
    return this.oldestIds.all(recipientId, before ?? Number.MAX_SAFE_INTEGER, realmId, limit);
  }

  async listMuters(realmId: RealmId, senderId: UserId): Promise<readonly UserId[]> {
    return this.mutersOf.all(senderId, realmId);
  }

  async append(message: NewMessage): Promise<Message> {
    const { realmId, senderId, recipientId, channelId, lastEditedAt = null, lastMovedAt = null } = message;
    const ordinal = this.inserts.takeOrdinals(realmId, recipientId, 1);
    const topicKey = topicKeyOf(message);
    const id = this.inserts.add(message, null, ordinal, topicKey);
    const terms = messageTerms(this.words, message, topicKey);
    this.connection.batchEnd.add(INSERT_TERMS, id, [id, terms]);
    if (channelId === null) this.inserts.noteNewest(recipientId, id);
    if (message.exceptions.size > 0) this.addExceptions(id, message);
    for (const userId of message.readBy) {
      if (!this.spans.isOpen(recipientId, userId)) continue;
      this.readSets.markNewest({ realmId, userId }, recipientId, ordinal);
    }
    // Written out, because a rest pattern over so many members is much slower.
    return {
      id,
      realmId,
      senderId,
      sentRecipientId: recipientId,
      ordinal,
      recipientId,
      channelId,
      topic: message.topic,
      content: message.content,
      renderedContent: message.renderedContent,
      sentAt: message.sentAt,
      clientName: message.clientName,
      isMeMessage: message.isMeMessage,
      mentionsChannel: message.mentionsChannel,
      hasLink: message.hasLink,
      hasImage: message.hasImage,
      hasAttachment: message.hasAttachment,
      hasReactions: false,
      isReadByDefault: message.isReadByDefault,
      isEdited: message.isEdited ?? false,
      topicLinks: message.topicLinks,
      lastEditedAt,
      lastMovedAt,
      version: 1,
    };
  }

  async edit(realmId: RealmId, id: MessageId, text: EditedText): Promise<void> {
    const { content, renderedContent, editedAt, exceptions } = text;
    const { changes } = this.changeText.run(content, renderedContent, editedAt, bitsOf(text), id, realmId);
    if (changes === 0) return;
    // Few messages mention users, and a lookup is faster than an empty update.
    if (this.namesSomebody.get(id) !== undefined) this.nameNobody.run(id);
    const rows = [...exceptions].map(([userId, named]) => [
      userId,
      ...[named.mentioned, named.topicWildcardMentioned, named.hasAlertWord].map((on) => toFlag(on === true)),
    ]);
    if (rows.length > 0) this.nameSome.run(id, realmId, JSON.stringify(rows));
  }

  async rerender(realmId: RealmId, id: MessageId, renderedContent: string): Promise<void> {
    this.changeRendered.run(renderedContent, id, realmId);
  }

  async addSubmessage(realmId: RealmId, submessage: Omit<Submessage, 'id'>): Promise<Submessage> {
    const { messageId, senderId, kind, content } = submessage;
    const { lastInsertRowid } = this.insertSubmessage.run(messageId, senderId, realmId, kind, content);
    this.renewVersion.run(messageId, realmId);
    return { ...submessage, id: Number(lastInsertRowid) };
  }

  async remove(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]> {
    const indexRows = this.indexRowsById.list(realmId, ids);
    const removed = indexRows.map(idOf);
    const list = jsonList(removed);
    this.keepTombstones.run(list);
    this.keepHolders.run(list);
    this.dropFlags.run(list);
    this.dropSubmessages.run(list);
    this.drop.run(list);
    this.renewNewest.run(jsonList(new Set(indexRows.map(([, , recipientId]) => recipientId))));
    return removed;
  }

  /** Adds rows for users with a message state that differs from the default. */
  private addExceptions(id: MessageId, message: NewMessage): void {
    const { realmId, recipientId, senderId, exceptions } = message;
    const receivers = this.spans.withOpen(recipientId, exceptions.keys());
    const muters = new Set(this.mutersOf.all(senderId, realmId));
    const rows: (number | null)[][] = [];
    for (const [userId, sent] of exceptions) {
      const isRead =
        message.readBy.includes(userId) || muters.has(userId) || (message.isReadByDefault && sent.unread !== true);
      const receives = receivers.has(userId);
      const isUnreadNotice = message.isReadByDefault && !isRead;
      const marks = [sent.mentioned, sent.topicWildcardMentioned, sent.hasAlertWord].map((on) => toFlag(on === true));
      if (receives && !isUnreadNotice && !marks.includes(1)) continue;
      const read = receives ? (isUnreadNotice ? 0 : null) : toFlag(isRead);
      rows.push([userId, receives ? OWNERSHIP_SOURCES.spans : OWNERSHIP_SOURCES.sentWithoutSpan, read, ...marks]);
    }
    if (rows.length > 0) this.insertFlags.run(id, realmId, JSON.stringify(rows));
  }
}

export const MESSAGE_FEATURE = {
  ...MESSAGE_TABLES,
  repositories:
    ({ quarantine, words }) =>
    (connection) => ({ messages: new SqliteMessageRepository(connection, quarantine, words) }),
} satisfies SqliteFeature;
