import {
  type ChannelId,
  EMAIL_VISIBILITY,
  HISTORICAL,
  type Message,
  type MessageCondition,
  type MessageFilter,
  type MessageHead,
  type MessageId,
  type MessageRepository,
  type MessageView,
  type NewMessage,
  type Ordinal,
  type PersonView,
  type RealmId,
  type RecipientId,
  type Submessage,
  type TopicLink,
  type TopicSummary,
  topicKey,
  type UnixSeconds,
  USER_SETTINGS,
  type UserId,
  type Viewer,
} from '@parley/domain';
import type { Connection } from '../connection.js';
import type { Quarantine } from '../quarantine.js';
import { type Flag, jsonList, listColumn, settingsColumn, toFlag } from '../rows.js';
import { narrowingTo } from './message-filter.js';
import { MessagePages } from './message-pages.js';
import { idOf, type MessagePlace, PlacesById } from './message-place.js';
import type { Walk } from './message-series.js';
import { Spans } from './spans.js';
import { Standings } from './standing.js';
import { ORIGINS, TRAITS } from './stored-values.js';

const MAX_ID = Number.MAX_SAFE_INTEGER;
/** How many ids are looked through for one of a realm. */
const NEAR_IDS = 1000;

export class SqliteMessageRepository implements MessageRepository {
  private readonly standings: Standings;
  private readonly pages: MessagePages;
  private readonly spans: Spans;
  private readonly places: PlacesById;

  private readonly rows;
  private readonly conversationHeads;
  private readonly senderVersions;
  private readonly conversationNames;
  private readonly participants;
  private readonly submessages;
  private readonly insertSubmessage;
  private readonly renewVersion;
  private readonly dropSubmessages;
  private readonly people;
  private readonly anyMessage;
  private readonly anyInTopic;
  private readonly newestInTopics;
  private readonly topicSenders;
  private readonly topics;
  private readonly firstSince;
  private readonly firstInRealm;
  private readonly firstOfRecipients;
  private readonly sentSince;

  private readonly takeOrdinal;
  private readonly takenOrdinal;
  private readonly insert;
  private readonly noteDirect;
  private readonly mutersOf;
  private readonly insertFlags;

  private readonly addMove;
  private readonly noteMoved;
  private readonly changeChannel;
  private readonly changeTopic;
  private readonly forgetFlags;

  private readonly keepTombstones;
  private readonly keepHolders;
  private readonly dropFlags;
  private readonly drop;
  private readonly renewNewest;

  constructor(
    connection: Connection,
    private readonly quarantine: Quarantine,
  ) {
    this.standings = new Standings(connection);
    this.pages = new MessagePages(connection, this.standings);
    this.spans = new Spans(connection);
    this.places = new PlacesById(connection);

    this.rows = connection.rows<MessageRow>(
      'SELECT * FROM message WHERE id IN (SELECT value FROM json_each(?)) AND realm_id = ? ORDER BY id',
    );
    this.conversationHeads = connection.tuples<readonly [RecipientId, ChannelId | null, number]>(
      `SELECT r.id, r.channel_id,
              CASE WHEN r.channel_id IS NULL
                   THEN (SELECT sum(u.version) FROM direct_participant p JOIN user u ON u.id = p.user_id
                         WHERE p.recipient_id = r.id)
                   ELSE (SELECT c.version FROM channel c WHERE c.id = r.channel_id) END
       FROM recipient r WHERE r.id IN (SELECT value FROM json_each(?)) AND r.realm_id = ?`,
    );
    this.senderVersions = connection.tuples<readonly [UserId, number]>(
      'SELECT id, version FROM user WHERE id IN (SELECT value FROM json_each(?))',
    );
    this.conversationNames = connection.tuples<readonly [RecipientId, ChannelId | null, string | null]>(
      `SELECT r.id, r.channel_id, c.name FROM recipient r LEFT JOIN channel c ON c.id = r.channel_id
       WHERE r.id IN (SELECT value FROM json_each(?))`,
    );
    this.participants = connection.tuples<readonly [RecipientId, UserId]>(
      `SELECT recipient_id, user_id FROM direct_participant
       WHERE recipient_id IN (SELECT value FROM json_each(?)) ORDER BY recipient_id, user_id`,
    );
    this.submessages = connection.rows<SubmessageRow>(
      'SELECT * FROM submessage WHERE message_id IN (SELECT value FROM json_each(?)) ORDER BY id',
    );
    this.insertSubmessage = connection.command(
      'INSERT INTO submessage (message_id, sender_id, realm_id, kind, content) VALUES (?, ?, ?, ?, ?)',
    );
    this.renewVersion = connection.command('UPDATE message SET version = version + 1 WHERE id = ? AND realm_id = ?');
    this.dropSubmessages = connection.command(
      'DELETE FROM submessage WHERE message_id IN (SELECT value FROM json_each(?))',
    );
    this.people = connection.rows<PersonRow>(
      `SELECT id, full_name, email, settings, avatar_source, avatar_version, bot_kind IS NOT NULL AS is_bot,
              system_kind IS NOT NULL AS is_system_bot
       FROM user WHERE id IN (SELECT value FROM json_each(?))`,
    );
    const inRealm = 'AND EXISTS (SELECT 1 FROM recipient r WHERE r.id = m.recipient_id AND r.realm_id = ?)';
    this.anyMessage = connection.values<1>(`SELECT 1 FROM message m WHERE m.recipient_id = ? ${inRealm} LIMIT 1`);
    this.anyInTopic = connection.values<1>(
      `SELECT 1 FROM message m INDEXED BY message_by_topic
       WHERE m.recipient_id = ? AND m.topic_key = ? ${inRealm} LIMIT 1`,
    );
    this.newestInTopics = connection.tuples<readonly [key: string, id: MessageId]>(
      `SELECT key, id FROM (
         SELECT topic.value AS key, (
           SELECT max(m.id) FROM message m INDEXED BY message_by_topic
           WHERE m.recipient_id = r.id AND m.topic_key = topic.value) AS id
         FROM recipient r CROSS JOIN json_each(?) topic WHERE r.id = ? AND r.realm_id = ?)
       WHERE id IS NOT NULL`,
    );
    this.topicSenders = connection.values<UserId>(
      `SELECT DISTINCT m.sender_id FROM message m INDEXED BY message_by_topic
       WHERE m.recipient_id = ? AND m.topic_key = ? ${inRealm} ORDER BY m.sender_id`,
    );
    // From each topic straight to the next one, and to the last message of each.
    this.topics = connection.tuples<readonly [key: string, id: MessageId, topic: string]>(
      `WITH RECURSIVE topic (key) AS (
         SELECT min(topic_key) FROM message WHERE recipient_id = ? AND topic_key IS NOT NULL
         UNION ALL
         SELECT (SELECT min(n.topic_key) FROM message n WHERE n.recipient_id = ? AND n.topic_key > topic.key)
         FROM topic WHERE topic.key IS NOT NULL
       )
       SELECT m.topic_key, m.id, m.topic FROM topic CROSS JOIN message m ON m.id = (
         SELECT max(n.id) FROM message n WHERE n.recipient_id = ? AND n.topic_key = topic.key)
       WHERE m.realm_id = ?
       ORDER BY m.id DESC`,
    );
    // Ids are given in the order of time, so a few probes find where a time begins.
    this.firstSince = connection.values<number>(
      `WITH RECURSIVE bounds (low, high) AS (
         SELECT 1, 1 + coalesce(max(id), 0) FROM message
         UNION ALL
         SELECT CASE WHEN m.sent_at < ? THEN m.id + 1 ELSE low END,
                CASE WHEN m.sent_at < ? THEN high ELSE (low + high) / 2 END
         FROM bounds CROSS JOIN message m ON m.id = (SELECT min(id) FROM message WHERE id >= (low + high) / 2)
         WHERE low < high
       )
       SELECT low FROM bounds WHERE low = high`,
    );
    // In most realms the next message is near; a quiet one among busy ones asks its own recipients.
    this.firstInRealm = connection.values<MessageId>(
      `SELECT id FROM message WHERE id >= ? AND id < ? AND realm_id = ? ORDER BY id LIMIT 1`,
    );
    this.firstOfRecipients = connection.values<MessageId | null>(
      `SELECT min((SELECT m.id FROM message m INDEXED BY message_by_recipient
                   WHERE m.recipient_id = r.id AND m.id >= ? ORDER BY m.id LIMIT 1))
       FROM recipient r WHERE r.realm_id = ?`,
    );
    this.sentSince = connection.tuples<readonly [RecipientId, number]>(
      `SELECT id, last_ordinal - first + 1 FROM (
         SELECT r.id, r.last_ordinal, (
           SELECT m.ordinal FROM message m INDEXED BY message_by_recipient
           WHERE m.recipient_id = r.id AND m.sent_recipient_id = r.id AND m.id >= ? ORDER BY m.id LIMIT 1) AS first
         FROM recipient r WHERE r.id IN (SELECT value FROM json_each(?)) AND r.realm_id = ?
       ) WHERE first IS NOT NULL`,
    );

    // Two statements: with RETURNING, SQLite journals the statement apart, which gets slow in a unit of many messages.
    this.takeOrdinal = connection.command(
      'UPDATE recipient SET last_ordinal = last_ordinal + 1 WHERE id = ? AND realm_id = ?',
    );
    this.takenOrdinal = connection.values<Ordinal>('SELECT last_ordinal FROM recipient WHERE id = ?');
    this.insert = connection.command(
      `INSERT INTO message (realm_id, sender_id, sent_recipient_id, ordinal, recipient_id, channel_id, traits, version,
                            sent_at, topic, topic_key, client_name, topic_links, content, rendered_content)
       VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.noteDirect = connection.command('UPDATE direct_participant SET last_message_id = ? WHERE recipient_id = ?');
    this.mutersOf = connection.values<UserId>(
      `SELECT user_id FROM muted_sender
       WHERE user_id IN (SELECT value FROM json_each(?)) AND sender_id = ? AND until_message_id IS NULL`,
    );
    this.insertFlags = connection.command(
      `INSERT INTO message_flag (user_id, message_id, realm_id, origin, read, mentioned, topic_wildcard_mentioned,
                                 has_alert_word)
       SELECT value ->> 0, ?, ?, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5 FROM json_each(?)`,
    );

    this.addMove = connection.values<number>(
      'INSERT INTO channel_move (realm_id, target_recipient_id, is_history_protected) VALUES (?, ?, ?) RETURNING id',
    );
    this.noteMoved = connection.command(
      'INSERT INTO moved_message (message_id, move_id, realm_id) SELECT value, ?, ? FROM json_each(?)',
    );
    this.changeChannel = connection.command(
      `UPDATE message SET recipient_id = ?, channel_id = ?, traits = traits | ${TRAITS.wasMoved}
       WHERE id IN (SELECT value FROM json_each(?))`,
    );
    this.changeTopic = connection.command(
      `UPDATE message SET topic = coalesce(?, topic), topic_key = coalesce(?, topic_key), version = version + 1
       WHERE id IN (SELECT value FROM json_each(?))`,
    );
    this.forgetFlags = connection.command(
      `DELETE FROM message_flag
       WHERE message_id IN (SELECT value FROM json_each(?)) AND NOT EXISTS (
         SELECT 1 FROM span s
         WHERE s.recipient_id = ? AND s.user_id = message_flag.user_id AND s.to_ordinal IS NULL)`,
    );

    this.keepTombstones = connection.command(
      `INSERT INTO removed_message (id, realm_id, sender_id, sent_recipient_id, ordinal, removed_at_seq)
       SELECT m.id, m.realm_id, m.sender_id, m.sent_recipient_id, m.ordinal, e.head_seq
       FROM message m JOIN event_counter e ON e.realm_id = m.realm_id
       WHERE m.id IN (SELECT value FROM json_each(?))`,
    );
    this.keepHolders = connection.command(
      `INSERT INTO removed_message_holder (message_id, user_id, realm_id)
       SELECT message_id, user_id, realm_id FROM message_flag
       WHERE message_id IN (SELECT value FROM json_each(?)) AND origin <> 0`,
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
    const row = this.rows.get(jsonList([id]), realmId);
    return row ? this.toMessage(row) : null;
  }

  async list(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly Message[]> {
    return this.rows.all(jsonList(ids), realmId).map(this.toMessage);
  }

  async listHeadsUpTo(
    viewer: Viewer,
    filter: MessageFilter,
    atMost: number | null,
    limit: number,
  ): Promise<readonly MessageHead[]> {
    const walk: Walk = { direction: 'older', first: 0, last: Math.min(atMost ?? MAX_ID, MAX_ID) };
    return this.toHeads(viewer, this.pages.page(viewer, filter, walk, limit).reverse());
  }

  async listHeadsFrom(
    viewer: Viewer,
    filter: MessageFilter,
    atLeast: number,
    limit: number,
  ): Promise<readonly MessageHead[]> {
    const walk: Walk = { direction: 'newer', first: atLeast, last: MAX_ID };
    return this.toHeads(viewer, this.pages.page(viewer, filter, walk, limit));
  }

  async listHeads(
    viewer: Viewer,
    ids: readonly MessageId[],
    conditions: readonly MessageCondition[] = [],
  ): Promise<readonly MessageHead[]> {
    return this.toHeads(viewer, this.pages.among(viewer, this.places.list(viewer.realmId, ids), conditions));
  }

  async listViews(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageView[]> {
    const rows = this.rows.all(jsonList(ids), realmId);
    const recipientIds = jsonList(new Set(rows.map((row) => row.recipient_id)));
    const conversations = new Map(this.conversationNames.all(recipientIds).map((each) => [each[0], each]));
    const userIds = new Map<RecipientId, UserId[]>();
    for (const [recipientId, userId] of this.participants.all(recipientIds)) {
      const known = userIds.get(recipientId);
      if (known) known.push(userId);
      else userIds.set(recipientId, [userId]);
    }
    const named = new Set([...rows.map((row) => row.sender_id), ...[...userIds.values()].flat()]);
    const people = new Map(this.people.all(jsonList(named)).map((row) => [row.id, this.toPerson(row)]));
    const submessages = this.submessagesOf(rows.map((row) => row.id));
    return rows.map((row) => {
      const [, channelId, name] = conversations.get(row.recipient_id)!;
      return {
        message: this.toMessage(row),
        sender: people.get(row.sender_id)!,
        submessages: submessages.get(row.id) ?? [],
        conversation:
          channelId !== null
            ? { kind: 'channel', channelId, name: name! }
            : { kind: 'direct', people: userIds.get(row.recipient_id)!.map((id) => people.get(id)!) },
      };
    });
  }

  private submessagesOf(ids: readonly MessageId[]): ReadonlyMap<MessageId, readonly Submessage[]> {
    const found = new Map<MessageId, Submessage[]>();
    for (const row of this.submessages.all(jsonList(ids))) {
      const known = found.get(row.message_id);
      if (known) known.push(toSubmessage(row));
      else found.set(row.message_id, [toSubmessage(row)]);
    }
    return found;
  }

  async findFirstIdSince(realmId: RealmId, since: UnixSeconds): Promise<MessageId | null> {
    const first = this.firstSince.get(since, since)!;
    const near = this.firstInRealm.get(first, first + NEAR_IDS, realmId);
    return near ?? this.firstOfRecipients.get(first + NEAR_IDS, realmId) ?? null;
  }

  async hasMessages(realmId: RealmId, recipientId: RecipientId, key?: string): Promise<boolean> {
    const found =
      key === undefined ? this.anyMessage.get(recipientId, realmId) : this.anyInTopic.get(recipientId, key, realmId);
    return found !== undefined;
  }

  async listNewestInTopics(
    realmId: RealmId,
    recipientId: RecipientId,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, MessageId>> {
    return new Map(this.newestInTopics.all(jsonList(keys), recipientId, realmId));
  }

  async listNewestOwnInTopics(
    viewer: Viewer,
    recipientId: RecipientId,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, MessageId>> {
    return this.newestOwn(viewer, recipientId, this.newestInTopics.all(jsonList(keys), recipientId, viewer.realmId));
  }

  async listTopicSenders(realmId: RealmId, recipientId: RecipientId, key: string): Promise<readonly UserId[]> {
    return this.topicSenders.all(recipientId, key, realmId);
  }

  async listTopics(realmId: RealmId, recipientId: RecipientId): Promise<readonly TopicSummary[]> {
    const rows = this.topics.all(recipientId, recipientId, recipientId, realmId);
    return rows.map(([, maxMessageId, name]) => ({ name, maxMessageId }));
  }

  async listOwnTopics(viewer: Viewer, recipientId: RecipientId): Promise<readonly TopicSummary[]> {
    const topics = this.topics.all(recipientId, recipientId, recipientId, viewer.realmId);
    const newestOwn = this.newestOwn(
      viewer,
      recipientId,
      topics.map(([key, id]) => [key, id]),
    );
    const summaries: TopicSummary[] = [];
    const older: MessageId[] = [];
    for (const [key, id, name] of topics) {
      const maxMessageId = newestOwn.get(key);
      if (maxMessageId === id) summaries.push({ name, maxMessageId });
      else if (maxMessageId !== undefined) older.push(maxMessageId);
    }
    for (const row of this.rows.all(jsonList(older), viewer.realmId)) {
      summaries.push({ name: row.topic, maxMessageId: row.id });
    }
    return summaries.sort((a, b) => b.maxMessageId - a.maxMessageId);
  }

  async countSince(
    realmId: RealmId,
    recipientIds: readonly RecipientId[],
    since: number,
  ): Promise<ReadonlyMap<RecipientId, number>> {
    const first = this.firstSince.get(since, since)!;
    return new Map(this.sentSince.all(first, jsonList(recipientIds), realmId));
  }

  async append(message: NewMessage): Promise<Message> {
    const { realmId, senderId, recipientId, channelId } = message;
    const { changes } = this.takeOrdinal.run(recipientId, realmId);
    if (changes === 0) throw new Error(`No recipient ${recipientId} in realm ${realmId}`);
    const ordinal = this.takenOrdinal.get(recipientId)!;
    const { lastInsertRowid } = this.insert.run(
      realmId,
      senderId,
      recipientId,
      ordinal,
      recipientId,
      channelId,
      traitsOfNew(message),
      message.sentAt,
      message.topic,
      channelId === null ? null : topicKey(message.topic),
      message.clientName,
      message.topicLinks.length === 0 ? null : JSON.stringify(message.topicLinks),
      message.content,
      message.renderedContent,
    );
    const id = Number(lastInsertRowid) as MessageId;
    if (channelId === null) this.noteDirect.run(id, recipientId);
    if (message.exceptions.size > 0) this.addExceptions(id, message);
    for (const userId of message.readBy) {
      if (!this.spans.isOpen(recipientId, userId)) continue;
      this.standings.readSets.markNewest({ realmId, userId }, recipientId, ordinal);
    }
    const { readBy: _, exceptions: __, ...content } = message;
    return { ...content, id, sentRecipientId: recipientId, ordinal, lastEditedAt: null, lastMovedAt: null, version: 1 };
  }

  async addSubmessage(realmId: RealmId, submessage: Omit<Submessage, 'id'>): Promise<Submessage> {
    const { messageId, senderId, kind, content } = submessage;
    const { lastInsertRowid } = this.insertSubmessage.run(messageId, senderId, realmId, kind, content);
    this.renewVersion.run(messageId, realmId);
    return { ...submessage, id: Number(lastInsertRowid) };
  }

  async move(
    realmId: RealmId,
    ids: readonly MessageId[],
    target: Parameters<MessageRepository['move']>[2],
  ): Promise<void> {
    const places = this.places.list(realmId, ids);
    const crossing = places.filter(([, , recipientId]) => recipientId !== target.recipientId).map(idOf);
    if (crossing.length > 0) {
      const list = jsonList(crossing);
      const move = this.addMove.get(realmId, target.recipientId, toFlag(target.isHistoryProtected))!;
      this.noteMoved.run(move, realmId, list);
      this.changeChannel.run(target.recipientId, target.channelId, list);
      this.forgetFlags.run(list, target.recipientId);
    }
    const key = target.topic === null ? null : topicKey(target.topic);
    this.changeTopic.run(target.topic, key, jsonList(places.map(idOf)));
  }

  async remove(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]> {
    const places = this.places.list(realmId, ids);
    const removed = places.map(idOf);
    const list = jsonList(removed);
    this.keepTombstones.run(list);
    this.keepHolders.run(list);
    this.dropFlags.run(list);
    this.dropSubmessages.run(list);
    this.drop.run(list);
    this.renewNewest.run(jsonList(new Set(places.map(([, , recipientId]) => recipientId))));
    return removed;
  }

  /** `places` ascend. Those of another realm's conversations are left out. */
  private toHeads(viewer: Viewer, places: readonly MessagePlace[]): MessageHead[] {
    if (places.length === 0) return [];
    const recipientIds = jsonList(new Set(places.map((place) => place[2])));
    const conversations = new Map(
      this.conversationHeads.all(recipientIds, viewer.realmId).map((each) => [each[0], each]),
    );
    if (conversations.size === 0) return [];
    const senders = new Map(this.senderVersions.all(jsonList(new Set(places.map((place) => place[1])))));
    const standing = this.standings.load(viewer, places);
    const heads: MessageHead[] = [];
    for (const place of places) {
      const [id, senderId, recipientId, , , , version] = place;
      const conversation = conversations.get(recipientId);
      if (!conversation) continue;
      heads.push({
        id,
        senderId,
        recipientId,
        channelId: conversation[1],
        versions: { message: version, sender: senders.get(senderId)!, conversation: conversation[2] },
        flags: standing.flags(place) ?? HISTORICAL,
      });
    }
    return heads;
  }

  /** By topic key; `newest` is the last message of each topic. Most often that one is the viewer's own already. */
  private newestOwn(
    viewer: Viewer,
    recipientId: RecipientId,
    newest: readonly (readonly [key: string, id: MessageId])[],
  ): ReadonlyMap<string, MessageId> {
    const places = this.places.list(
      viewer.realmId,
      newest.map(([, id]) => id),
    );
    const standing = this.standings.load(viewer, places);
    const own = new Set(places.filter((place) => standing.isOwn(place)).map(idOf));
    const found = new Map<string, MessageId>();
    for (const [key, id] of newest) {
      const [newestOwn] = own.has(id) ? [id] : this.ownInTopic(viewer, recipientId, key, id - 1);
      if (newestOwn !== undefined) found.set(key, newestOwn);
    }
    return found;
  }

  /** At most one: the newest up to `last`. */
  private ownInTopic(viewer: Viewer, recipientId: RecipientId, key: string, last: number): MessageId[] {
    const narrowing = narrowingTo(recipientId, key);
    return this.pages.ownHistory.page(viewer, narrowing, { direction: 'older', first: 0, last }, 1).map(idOf);
  }

  /** Rows for those to whom the message is something else than to everybody. */
  private addExceptions(id: MessageId, message: NewMessage): void {
    const { realmId, recipientId, senderId, exceptions } = message;
    const receivers = this.spans.withOpen(recipientId, exceptions.keys());
    const muters = new Set(this.mutersOf.all(jsonList(exceptions.keys()), senderId));
    const rows: (number | null)[][] = [];
    for (const [userId, sent] of exceptions) {
      const isRead =
        message.readBy.includes(userId) || muters.has(userId) || (message.isReadByDefault && sent.unread !== true);
      const receives = receivers.has(userId);
      const isUnreadNotice = message.isReadByDefault && !isRead;
      const marks = [sent.mentioned, sent.topicWildcardMentioned, sent.hasAlertWord].map((on) => toFlag(on === true));
      if (receives && !isUnreadNotice && !marks.includes(1)) continue;
      const read = receives ? (isUnreadNotice ? 0 : null) : toFlag(isRead);
      rows.push([userId, receives ? ORIGINS.spans : ORIGINS.sentWithoutSpan, read, ...marks]);
    }
    if (rows.length > 0) this.insertFlags.run(id, realmId, JSON.stringify(rows));
  }

  private readonly toMessage = (row: MessageRow): Message => {
    return {
      id: row.id,
      realmId: row.realm_id,
      senderId: row.sender_id,
      sentRecipientId: row.sent_recipient_id,
      ordinal: row.ordinal,
      recipientId: row.recipient_id,
      channelId: row.channel_id,
      topic: row.topic,
      content: row.content,
      renderedContent: row.rendered_content,
      sentAt: row.sent_at,
      clientName: row.client_name,
      isMeMessage: (row.traits & TRAITS.isMeMessage) !== 0,
      mentionsChannel: (row.traits & TRAITS.mentionsChannel) !== 0,
      hasLink: (row.traits & TRAITS.hasLink) !== 0,
      hasImage: (row.traits & TRAITS.hasImage) !== 0,
      hasAttachment: (row.traits & TRAITS.hasAttachment) !== 0,
      topicLinks: row.topic_links === null ? [] : topicLinks(row.topic_links, row.id, this.quarantine),
      isReadByDefault: (row.traits & TRAITS.isReadByDefault) !== 0,
      lastEditedAt: row.last_edited_at,
      lastMovedAt: row.last_moved_at,
      version: row.version,
    };
  };

  private toPerson(row: PersonRow): PersonView {
    return {
      id: row.id,
      fullName: row.full_name,
      email: row.email,
      emailVisibility:
        row.is_bot === 1
          ? EMAIL_VISIBILITY.everyone
          : userSettings.fromJson(row.settings, row.id, this.quarantine).emailAddressVisibility,
      avatar: { source: row.avatar_source, version: row.avatar_version },
      isSystemBot: row.is_system_bot === 1,
    };
  }
}

interface MessageRow {
  readonly id: MessageId;
  readonly realm_id: RealmId;
  readonly sender_id: UserId;
  readonly sent_recipient_id: RecipientId;
  readonly ordinal: Ordinal;
  readonly recipient_id: RecipientId;
  readonly channel_id: ChannelId | null;
  readonly traits: number;
  readonly version: number;
  readonly sent_at: UnixSeconds;
  readonly last_edited_at: UnixSeconds | null;
  readonly last_moved_at: UnixSeconds | null;
  readonly topic: string;
  readonly client_name: string;
  readonly topic_links: string | null;
  readonly content: string;
  readonly rendered_content: string;
}

interface PersonRow {
  readonly id: UserId;
  readonly full_name: string;
  readonly email: string;
  readonly settings: string;
  readonly avatar_source: PersonView['avatar']['source'];
  readonly avatar_version: number;
  readonly is_bot: Flag;
  readonly is_system_bot: Flag;
}

const userSettings = settingsColumn(USER_SETTINGS, 'user', 'settings');
const isTopicLink = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as TopicLink).text === 'string' &&
  typeof (value as TopicLink).url === 'string';
const topicLinks = listColumn<TopicLink>('message', 'topic_links', isTopicLink);

function traitsOfNew(message: NewMessage): number {
  return (
    (message.isMeMessage ? TRAITS.isMeMessage : 0) |
    (message.mentionsChannel ? TRAITS.mentionsChannel : 0) |
    (message.hasLink ? TRAITS.hasLink : 0) |
    (message.hasImage ? TRAITS.hasImage : 0) |
    (message.hasAttachment ? TRAITS.hasAttachment : 0) |
    (message.isReadByDefault ? TRAITS.isReadByDefault : 0)
  );
}

interface SubmessageRow {
  readonly id: number;
  readonly message_id: MessageId;
  readonly sender_id: UserId;
  readonly kind: Submessage['kind'];
  readonly content: string;
}

function toSubmessage(row: SubmessageRow): Submessage {
  return { id: row.id, messageId: row.message_id, senderId: row.sender_id, kind: row.kind, content: row.content };
}
