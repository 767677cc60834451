import type { MessageId, Ordinal, RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import {
  type EditedText,
  extendLatest,
  type Message,
  type NewMessage,
  type SubmessageSummary,
} from '@parley/domain/messages';
import {
  bitsOf,
  exceptionRows,
  type InsertedMessage,
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
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { lastSeqOf } from '../kernel/events.js';
import { INDEXED_TEXT, type IndexedText, SearchTerms } from './conditions.js';
import { newSpans, ReadSets } from './read-sets.js';
import { MessageIndexRowsById } from './viewer-message-state.js';

const COLUMNS = `realm_id, sender_id, sent_recipient_id, recipient_id, channel_id, property_bits, sent_at, last_edited_at,
  last_moved_at, topic, topic_key, client_name, topic_links, content, rendered_content`;

/** Inserts message rows without per-user data. */
export class MessageInsert {
  private readonly takeMany;
  private readonly insertNext;
  private readonly insert;
  private readonly noteDirect;

  constructor(connection: Connection) {
    this.takeMany = connection.values<Ordinal>(
      'UPDATE recipient SET last_ordinal = last_ordinal + $1 WHERE id = $2 AND realm_id = $3 RETURNING last_ordinal',
    );
    // The recipient's row stays locked until the commit, so ids ascend with ordinals.
    this.insertNext = connection.tuples<readonly [MessageId, Ordinal, string]>(
      `WITH taken AS (
         UPDATE recipient SET last_ordinal = last_ordinal + 1 WHERE id = $3 AND realm_id = $1 RETURNING last_ordinal)
       INSERT INTO message (${COLUMNS}, ordinal, version)
       SELECT $1::bigint, $2::bigint, $3::bigint, $3::bigint, $4::bigint, $5::bigint, $6::bigint, $7::bigint, $8::bigint,
              $9::text, $10::text, $11::text, $12::text, $13::text, $14::text, taken.last_ordinal, 1 FROM taken
       RETURNING id, ordinal, (SELECT settings FROM realm WHERE id = $1)`,
    );
    this.insert = connection.command(
      `INSERT INTO message (${COLUMNS}, ordinal, version, id)
       VALUES ($1, $2, $3, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 1, $16)`,
    );
    this.noteDirect = connection.command('UPDATE direct_participant SET last_message_id = $1 WHERE recipient_id = $2');
  }

  /** Reserves `count` ordinals and returns the last one. */
  async takeOrdinals(realmId: RealmId, recipientId: RecipientId, count: number): Promise<Ordinal> {
    const last = await this.takeMany.get(count, recipientId, realmId);
    if (last === undefined) throw new Error(`No recipient ${recipientId} in realm ${realmId}`);
    return last;
  }

  /**
   * Adds a message with the next id and ordinal, and returns them with the JSON of the realm's settings.
   * @param key see `topicKeyOf`
   */
  async addNext(message: InsertedMessage, key: string | null): Promise<readonly [MessageId, Ordinal, string]> {
    const added = await this.insertNext.get(...valuesOf(message, key));
    if (!added) throw new Error(`No recipient ${message.recipientId} in realm ${message.realmId}`);
    return added;
  }

  /** Adds a message before the next statement. @param key see `topicKeyOf` */
  add(message: InsertedMessage, id: MessageId, ordinal: Ordinal, key: string | null): void {
    this.insert.defer(...valuesOf(message, key), ordinal, id);
  }

  /** Records the newest message of a direct conversation. */
  noteNewest(recipientId: RecipientId, id: MessageId): void {
    this.noteDirect.defer(id, recipientId);
  }
}

/** Values in the order of `COLUMNS`, the recipient once. */
const valuesOf = (message: InsertedMessage, key: string | null) =>
  [
    message.realmId,
    message.senderId,
    message.recipientId,
    message.channelId,
    bitsOf(message),
    message.sentAt,
    message.lastEditedAt ?? null,
    message.lastMovedAt ?? null,
    message.topic,
    key,
    message.clientName,
    message.topicLinks.length === 0 ? null : JSON.stringify(message.topicLinks),
    message.content,
    message.renderedContent,
  ] as const;

export class PostgresMessageRepository extends SqlMessageRepository {
  private readonly inserts: MessageInsert;
  private readonly spans;
  private readonly readSets: ReadSets;

  private readonly changeText;
  private readonly changeRendered;
  private readonly nameNobody;
  private readonly nameSome;
  private readonly summary;
  private readonly insertFlags;

  constructor(
    private readonly connection: Connection,
    quarantine: Quarantine,
    private readonly searchTerms: SearchTerms,
  ) {
    super(connection, quarantine, {
      indexRowsById: new MessageIndexRowsById(connection),
      lastSeqOf,
      derivedTables: ['message_search'],
    });
    this.inserts = new MessageInsert(connection);
    this.spans = newSpans(connection);
    this.readSets = new ReadSets(connection);

    this.changeText = connection.tuples<IndexedText>(
      `UPDATE message m SET content = $1, rendered_content = $2, last_edited_at = $3, version = version + 1,
         property_bits = (property_bits & ~${TEXT_BITS}::bigint) | ${PROPERTY_BITS.isEdited} | $4
       WHERE id = $5 AND realm_id = $6 RETURNING ${INDEXED_TEXT}`,
    );
    this.changeRendered = connection.tuples<IndexedText>(
      `UPDATE message m SET rendered_content = $1, version = version + 1 WHERE id = $2 AND realm_id = $3
       RETURNING ${INDEXED_TEXT}`,
    );
    this.nameNobody = connection.command(
      `UPDATE message_flag SET mentioned = 0, topic_wildcard_mentioned = 0, has_alert_word = 0
       WHERE message_id = $1 AND (mentioned = 1 OR topic_wildcard_mentioned = 1 OR has_alert_word = 1)`,
    );
    this.nameSome = connection.command(
      `INSERT INTO message_flag (user_id, message_id, realm_id, mentioned, topic_wildcard_mentioned, has_alert_word)
       SELECT f.user_id, $1::bigint, $2::bigint, f.mentioned, f.topic_wildcard_mentioned, f.has_alert_word
       FROM unnest($3::bigint[], $4::smallint[], $5::smallint[], $6::smallint[])
         f (user_id, mentioned, topic_wildcard_mentioned, has_alert_word)
       ON CONFLICT (user_id, message_id) DO UPDATE SET mentioned = excluded.mentioned,
         has_alert_word = excluded.has_alert_word, topic_wildcard_mentioned = excluded.topic_wildcard_mentioned`,
    );
    this.summary = connection.rows<
      SubmessageRow & { readonly count: number; readonly length: number; readonly own: 0 | 1 }
    >(
      `SELECT s.*, t.count, t.length, t.own FROM (
         SELECT count(*), coalesce(sum(length(content)), 0) AS length, coalesce(bool_or(sender_id = $1), false) AS own,
                min(id) AS first
         FROM submessage WHERE message_id = $2 AND realm_id = $3) t
       LEFT JOIN submessage s ON s.id = t.first`,
    );
    this.insertFlags = connection.command(
      `INSERT INTO message_flag (user_id, message_id, realm_id, source, read, mentioned, topic_wildcard_mentioned,
                                 has_alert_word)
       SELECT f.user_id, $1::bigint, $2::bigint, f.source, f.read, f.mentioned, f.topic_wildcard_mentioned, f.has_alert_word
       FROM unnest($3::bigint[], $4::bigint[], $5::smallint[], $6::smallint[], $7::smallint[], $8::smallint[])
         f (user_id, source, read, mentioned, topic_wildcard_mentioned, has_alert_word)`,
    );
  }

  async summarizeSubmessages(realmId: RealmId, id: MessageId, authorId: UserId): Promise<SubmessageSummary> {
    const row = await this.summary.one(authorId, id, realmId);
    const { count, length, own } = row;
    return { count, length, first: count > 0 ? toSubmessage(row) : null, hasOfAuthor: own === 1 };
  }

  async append(message: NewMessage): Promise<Message> {
    const { readBy, exceptions, ...values } = message;
    const { realmId, senderId, recipientId, channelId } = message;
    if (readBy.some((userId) => userId !== this.connection.sharing?.userId)) this.connection.requireAlone();
    const key = topicKeyOf(message);
    const named = [...exceptions.keys()];
    const considered = [...new Set([...readBy, ...named])];
    // Sent in one packet, since none depends on the result of another.
    const [[id, ordinal, settings], receivers, muters, latest] = await Promise.all([
      this.inserts.addNext(message, key),
      considered.length === 0 ? NOBODY : this.spans.withOpen(recipientId, considered),
      named.length === 0 ? [] : this.mutersOf.all(senderId, realmId),
      readBy.length === 0 ? NOTHING_READ : this.readSets.latest(readBy, recipientId),
    ]);
    this.searchTerms.put([[id, realmId, message.topic, message.renderedContent, settings]]);
    if (channelId === null) this.inserts.noteNewest(recipientId, id);
    if (exceptions.size > 0) this.addExceptions(id, message, receivers, new Set(muters));
    for (const userId of readBy) {
      if (!receivers.has(userId)) continue;
      const segment = latest.get(userId);
      const extended = segment && extendLatest(segment, ordinal);
      if (extended) this.readSets.write({ realmId, userId }, recipientId, extended);
      else await this.readSets.markAll({ realmId, userId }, new Map([[recipientId, [ordinal]]]), true);
    }
    return {
      ...values,
      id,
      sentRecipientId: recipientId,
      ordinal,
      hasReactions: false,
      hasData: false,
      isEdited: message.isEdited ?? false,
      lastEditedAt: message.lastEditedAt ?? null,
      lastMovedAt: message.lastMovedAt ?? null,
      version: 1,
    };
  }

  async edit(realmId: RealmId, id: MessageId, text: EditedText): Promise<void> {
    const { content, renderedContent, editedAt, exceptions } = text;
    const changed = await this.changeText.all(content, renderedContent, editedAt, bitsOf(text), id, realmId);
    if (changed.length === 0) return;
    this.searchTerms.put(changed);
    this.nameNobody.defer(id);
    const named = [...exceptions];
    if (named.length === 0) return;
    this.nameSome.defer(
      id,
      realmId,
      named.map(([userId]) => userId),
      named.map(([, { mentioned }]) => toFlag(mentioned === true)),
      named.map(([, { topicWildcardMentioned }]) => toFlag(topicWildcardMentioned === true)),
      named.map(([, { hasAlertWord }]) => toFlag(hasAlertWord === true)),
    );
  }

  async rerender(realmId: RealmId, id: MessageId, renderedContent: string): Promise<void> {
    this.searchTerms.put(await this.changeRendered.all(renderedContent, id, realmId));
  }

  private addExceptions(
    id: MessageId,
    message: NewMessage,
    receivers: ReadonlySet<UserId>,
    muters: ReadonlySet<UserId>,
  ): void {
    const rows = exceptionRows(message, receivers, muters);
    if (rows.length === 0) return;
    const columns = [0, 1, 2, 3, 4, 5].map((column) => rows.map((row) => row[column]!));
    this.insertFlags.defer(id, message.realmId, ...columns);
  }
}

const NOBODY: ReadonlySet<UserId> = new Set();
const NOTHING_READ = new Map();

declare module '../engine/feature.js' {
  interface SharedObjects {
    readonly searchTerms: SearchTerms;
  }
}

export const MESSAGE_FEATURE = {
  ...MESSAGE_TABLES,
  realmTables: ['message_search', ...MESSAGE_TABLES.realmTables],
  notExported: { ...MESSAGE_TABLES.notExported, message_search: 'Derives from the messages.' },
  shared:
    ({ words }) =>
    (connection) => ({ searchTerms: new SearchTerms(connection, words) }),
  repositories:
    ({ quarantine }) =>
    (connection, { searchTerms }) => ({
      messages: new PostgresMessageRepository(connection, quarantine, searchTerms),
    }),
} satisfies PostgresFeature;
