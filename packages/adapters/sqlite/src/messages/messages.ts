import {
  getOrThrow,
  type MessageId,
  type Ordinal,
  type RealmId,
  type RecipientId,
  type UserId,
} from '@parley/domain/kernel';
import type { EditedText, Message, NewMessage, SubmessageSummary } from '@parley/domain/messages';
import {
  bitsOf,
  exceptionRows,
  type InsertedMessage,
  jsonList,
  MESSAGE_TABLES,
  PROPERTY_BITS,
  type Quarantine,
  SqlMessageRepository,
  type SubmessageRow,
  TEXT_BITS,
  toFlag,
  topicKeyOf,
  toSubmessage,
} from '@parley/storage';
import { asStatements, type Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { lastSeqOf } from '../kernel/events.js';
import { INSERT_MESSAGE_TERMS } from './conditions.js';
import { newSpans, ReadSets } from './read-sets.js';
import { MessageIndexRowsById } from './viewer-message-state.js';

/** Ids taken from the sequence at once. SQLite changes its table, which costs a page per message, only for a higher id. */
const IDS_AT_ONCE = 16;

/** Inserts message rows without per-user data. */
export class MessageInsert {
  /** Last id taken from the sequence; -1 if none is. */
  private lastTaken = -1;
  private nextId = 0;
  private readonly takeOrdinal;
  private readonly taken;
  private readonly raiseSequence;
  private readonly beginSequence;
  private readonly insert;
  private readonly noteDirect;

  constructor(private readonly connection: Connection) {
    // Two statements, because RETURNING makes SQLite use a statement journal, which is slow in units with many
    // messages.
    this.takeOrdinal = connection.command(
      'UPDATE recipient SET last_ordinal = last_ordinal + ? WHERE id = ? AND realm_id = ?',
    );
    this.taken = connection.tuples<[Ordinal, sequence: number | null]>(
      `SELECT last_ordinal, (SELECT seq FROM sqlite_sequence WHERE name = 'message') FROM recipient WHERE id = ?`,
    );
    this.raiseSequence = connection.command(
      "UPDATE sqlite_sequence SET seq = CAST(? AS INTEGER) WHERE name = 'message'",
    );
    this.beginSequence = connection.command(
      "INSERT INTO sqlite_sequence (name, seq) VALUES ('message', CAST(? AS INTEGER))",
    );
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
    return this.take(realmId, recipientId, count)[0];
  }

  /** Reserves an ordinal and an id, which is higher than all earlier ids. */
  takeOrdinalAndId(realmId: RealmId, recipientId: RecipientId): readonly [Ordinal, MessageId] {
    const [ordinal, sequence] = this.take(realmId, recipientId, 1);
    const { lastTaken, nextId } = this;
    this.connection.record.onRollback(() => {
      this.lastTaken = lastTaken;
      this.nextId = nextId;
    });
    // Another process or an import may have changed the sequence.
    if (sequence !== lastTaken || nextId > lastTaken) this.takeIds(sequence);
    return [ordinal, this.nextId++ as MessageId];
  }

  private take(realmId: RealmId, recipientId: RecipientId, count: number): readonly [Ordinal, number | null] {
    const { changes } = this.takeOrdinal.run(count, recipientId, realmId);
    if (changes === 0) throw new Error(`No recipient ${recipientId} in realm ${realmId}`);
    return getOrThrow(this.taken, recipientId);
  }

  private takeIds(sequence: number | null): void {
    this.nextId = (sequence ?? 0) + 1;
    this.lastTaken = (sequence ?? 0) + IDS_AT_ONCE;
    (sequence === null ? this.beginSequence : this.raiseSequence).run(this.lastTaken);
  }

  /** @param key see `topicKeyOf` */
  add(message: InsertedMessage, id: MessageId, ordinal: Ordinal, key: string | null): void {
    const { recipientId, channelId, topicLinks, lastEditedAt = null, lastMovedAt = null } = message;
    this.insert.run(
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
  }

  /** Records the newest message of a direct conversation. */
  noteNewest(recipientId: RecipientId, id: MessageId): void {
    this.noteDirect.run(id, recipientId);
  }
}

const NAMED_IN = 'WHERE message_id = ? AND (mentioned = 1 OR topic_wildcard_mentioned = 1 OR has_alert_word = 1)';

export class SqliteMessageRepository extends SqlMessageRepository {
  private readonly inserts: MessageInsert;
  private readonly spans;
  private readonly readSets: ReadSets;

  private readonly changeText;
  private readonly changeRendered;
  private readonly namesSomebody;
  private readonly nameNobody;
  private readonly nameSome;
  private readonly countSubmessages;
  private readonly firstSubmessage;
  private readonly insertFlags;
  private readonly renewTerms;

  constructor(
    private readonly connection: Connection,
    quarantine: Quarantine,
  ) {
    super(asStatements(connection), quarantine, {
      indexRowsById: new MessageIndexRowsById(connection),
      lastSeqOf,
      derivedTables: [],
    });
    this.inserts = new MessageInsert(connection);
    this.spans = newSpans(connection);
    this.readSets = new ReadSets(connection);

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
    this.countSubmessages = connection.tuples<readonly [number, number, 0 | 1]>(
      `SELECT count(*), coalesce(sum(length(content)), 0), coalesce(max(sender_id = ?), 0) FROM submessage INDEXED BY submessage_by_message
       WHERE message_id = ? AND +realm_id = ?`,
    );
    this.firstSubmessage = connection.rows<SubmessageRow>(
      `SELECT * FROM submessage INDEXED BY submessage_by_message
       WHERE message_id = ? AND +realm_id = ? ORDER BY id LIMIT 1`,
    );
    // The triggers of the index ignore senders, which no other write changes.
    this.renewTerms = [
      connection.command('DELETE FROM message_search WHERE rowid IN (SELECT value FROM json_each(?))'),
      connection.command(INSERT_MESSAGE_TERMS),
    ];
    this.insertFlags = connection.command(
      `INSERT INTO message_flag (user_id, message_id, realm_id, source, read, mentioned, topic_wildcard_mentioned,
                                 has_alert_word)
       SELECT value ->> 0, ?, ?, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5 FROM json_each(?)`,
    );
  }

  async summarizeSubmessages(realmId: RealmId, id: MessageId, authorId: UserId): Promise<SubmessageSummary> {
    const [count, length, hasOfAuthor] = this.countSubmessages.one(authorId, id, realmId);
    const first = count === 0 ? undefined : this.firstSubmessage.get(id, realmId);
    return { count, length, first: first ? toSubmessage(first) : null, hasOfAuthor: hasOfAuthor === 1 };
  }

  async append(message: NewMessage): Promise<Message> {
    const { realmId, senderId, recipientId, channelId, lastEditedAt = null, lastMovedAt = null } = message;
    const [ordinal, id] = this.inserts.takeOrdinalAndId(realmId, recipientId);
    const topicKey = topicKeyOf(message);
    this.inserts.add(message, id, ordinal, topicKey);
    this.connection.terms.note(message.renderedContent);
    if (channelId === null) this.inserts.noteNewest(recipientId, id);
    if (message.exceptions.size > 0) await this.addExceptions(id, message);
    for (const userId of message.readBy) {
      if (!(await this.spans.isOpen(recipientId, userId))) continue;
      await this.readSets.markNewest({ realmId, userId }, recipientId, ordinal);
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
      hasData: false,
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

  override async changeSender(realmId: RealmId, ids: readonly MessageId[], from: UserId, to: UserId): Promise<void> {
    const changed = (await this.list(realmId, ids)).filter(({ senderId }) => senderId === from).map(({ id }) => id);
    await super.changeSender(realmId, changed, from, to);
    for (const command of this.renewTerms) command.run(jsonList(changed));
  }

  private async addExceptions(id: MessageId, message: NewMessage): Promise<void> {
    const { realmId, recipientId, senderId, exceptions } = message;
    const receivers = await this.spans.withOpen(recipientId, exceptions.keys());
    const rows = exceptionRows(message, receivers, new Set(await this.mutersOf.all(senderId, realmId)));
    if (rows.length > 0) this.insertFlags.run(id, realmId, JSON.stringify(rows));
  }
}

export const MESSAGE_FEATURE = {
  ...MESSAGE_TABLES,
  repositories:
    ({ quarantine }) =>
    (connection) => ({ messages: new SqliteMessageRepository(connection, quarantine) }),
} satisfies SqliteFeature;
