import { topicKey } from '@parley/domain/channels';
import type { ChannelId, MessageId, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import {
  MAX_EDITED_TEXT,
  MAX_EDITS,
  type Message,
  type MessageEdit,
  type MessageEditRepository,
  type MessageMoves,
  type MessageParts,
  type MoveTarget,
  type SharedEdit,
} from '@parley/domain/messages';
import { idOf, jsonList, type MessagePartReads, PROPERTY_BITS, toFlag } from '@parley/storage';
import type { Connection, Query } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { MessageIndexRowsById } from './viewer-message-state.js';

export class SqliteMessageEditRepository implements MessageEditRepository {
  private readonly rowsOfMessage;
  private readonly insert;
  private readonly insertOfOne;
  private readonly editedMost;
  private readonly sizes;
  private readonly dropBeyondMost;
  private readonly dropBeyondMostOfOne;
  private readonly dropOldest;

  constructor(connection: Connection) {
    this.rowsOfMessage = connection.rows<MessageEditRow>(
      'SELECT * FROM message_edit WHERE message_id = ? AND realm_id = ? ORDER BY id DESC',
    );
    this.insert = connection.command(
      `INSERT INTO message_edit (message_id, realm_id, user_id, edited_at, previous_topic, topic, previous_channel_id,
                                 channel_id, previous_content, previous_rendered_content)
       SELECT m.id, m.realm_id, e.value ->> 0, e.value ->> 1, CASE WHEN e.value ->> 2 IS NOT NULL THEN m.topic END,
              e.value ->> 2, CASE WHEN e.value ->> 3 IS NOT NULL THEN m.channel_id END, e.value ->> 3,
              CASE WHEN m.id = e.value ->> 4 THEN m.content END,
              CASE WHEN m.id = e.value ->> 4 THEN m.rendered_content END
       FROM json_each(?) e CROSS JOIN json_each(?) wanted CROSS JOIN message m ON m.id = wanted.value
       WHERE m.realm_id = ?`,
    );
    // Edits usually affect one message, for which a list is unnecessary.
    this.insertOfOne = connection.command(
      `INSERT INTO message_edit (message_id, realm_id, user_id, edited_at, previous_content, previous_rendered_content)
       SELECT id, realm_id, ?, ?, content, rendered_content FROM message WHERE id = ? AND realm_id = ?`,
    );
    this.editedMost = connection.values<MessageId>(
      `SELECT message_id FROM message_edit WHERE message_id IN (SELECT value FROM json_each(?))
       GROUP BY message_id HAVING count(*) > ${MAX_EDITS}`,
    );
    // Byte lengths are in row headers, so no text is read; they are never below the number of code points.
    this.sizes = connection.tuples<readonly [count: number, bytes: number]>(
      `SELECT count(*), coalesce(sum(octet_length(previous_content) + octet_length(previous_rendered_content)), 0)
       FROM message_edit WHERE message_id = ?`,
    );
    this.dropBeyondMost = connection.command(
      `DELETE FROM message_edit WHERE id IN (
         SELECT e.id FROM json_each(?) wanted CROSS JOIN message_edit e ON e.message_id = wanted.value AND e.id <= (
           SELECT n.id FROM message_edit n WHERE n.message_id = wanted.value ORDER BY n.id DESC LIMIT 1 OFFSET ${MAX_EDITS}))`,
    );
    this.dropBeyondMostOfOne = connection.command(
      `DELETE FROM message_edit WHERE message_id = ? AND id <= (
         SELECT id FROM message_edit WHERE message_id = ? ORDER BY id DESC LIMIT 1 OFFSET ${MAX_EDITS})`,
    );
    this.dropOldest = connection.command(
      `DELETE FROM message_edit WHERE id IN (
         SELECT id FROM (
           SELECT id, row_number() OVER newer AS place,
                  sum(length(previous_content) + length(previous_rendered_content)) OVER newer AS text_length
           FROM message_edit
           WHERE message_id = ?
           WINDOW newer AS (ORDER BY id DESC))
         WHERE place > ${MAX_EDITS} OR (place > 1 AND text_length > ${MAX_EDITED_TEXT}))`,
    );
  }

  async list(realmId: RealmId, messageId: MessageId): Promise<readonly MessageEdit[]> {
    return this.rowsOfMessage.all(messageId, realmId).map(toMessageEdit);
  }

  async add(
    realmId: RealmId,
    { userId, editedAt, topic, channelId }: SharedEdit,
    ids: readonly MessageId[],
    edited: MessageId | null = null,
  ): Promise<void> {
    if (edited !== null && ids.length === 1 && topic === null && channelId === null) {
      this.insertOfOne.run(userId, editedAt, edited, realmId);
    } else {
      const edit = JSON.stringify([[userId, editedAt, topic, channelId, edited]]);
      this.insert.run(edit, jsonList(ids), realmId);
    }
    // Only one message can gain a text, and summing lengths is slower than counting.
    if (edited !== null) this.makeRoom(edited);
    const full = ids.length === 1 && edited !== null ? [] : this.editedMost.all(jsonList(ids));
    if (full.length > 0) this.dropBeyondMost.run(jsonList(full));
  }

  private makeRoom(id: MessageId): void {
    const [count, bytes] = this.sizes.get(id)!;
    if (bytes > MAX_EDITED_TEXT) this.dropOldest.run(id);
    else if (count > MAX_EDITS) this.dropBeyondMostOfOne.run(id, id);
  }
}

interface MessageEditRow {
  readonly message_id: MessageId;
  readonly user_id: UserId;
  readonly edited_at: UnixSeconds;
  readonly previous_topic: string | null;
  readonly topic: string | null;
  readonly previous_channel_id: ChannelId | null;
  readonly channel_id: ChannelId | null;
  readonly previous_content: string | null;
  readonly previous_rendered_content: string | null;
}

const toMessageEdit = (row: MessageEditRow): MessageEdit => ({
  userId: row.user_id,
  editedAt: row.edited_at,
  topic: row.topic === null ? null : { from: row.previous_topic!, to: row.topic },
  channel: row.channel_id === null ? null : { from: row.previous_channel_id!, to: row.channel_id },
  previousContent:
    row.previous_content === null ? null : { content: row.previous_content, rendered: row.previous_rendered_content! },
});

/** Edit history for presentation with messages. */
export class MessageEditPartReads implements MessagePartReads {
  private readonly rows: Query<MessageEditRow>;

  constructor(connection: Connection) {
    this.rows = connection.rows(
      'SELECT * FROM message_edit WHERE message_id IN (SELECT value FROM json_each(?)) ORDER BY id DESC',
    );
  }

  async list(messages: readonly Message[]): Promise<ReadonlyMap<MessageId, MessageParts>> {
    const ids = messages.filter(({ isEdited }) => isEdited).map(({ id }) => id);
    const found = new Map<MessageId, { readonly edits: MessageEdit[] }>();
    if (ids.length === 0) return found;
    for (const row of this.rows.all(jsonList(ids))) {
      const existing = found.get(row.message_id);
      if (existing) existing.edits.push(toMessageEdit(row));
      else found.set(row.message_id, { edits: [toMessageEdit(row)] });
    }
    return found;
  }
}

export class SqliteMessageMoves implements MessageMoves {
  private readonly indexRowsById: MessageIndexRowsById;

  private readonly addMove;
  private readonly noteMoved;
  private readonly changeChannel;
  private readonly changeTopic;
  private readonly keepTopic;
  private readonly forgetFlags;

  constructor(connection: Connection) {
    this.indexRowsById = new MessageIndexRowsById(connection);

    this.addMove = connection.values<number>(
      'INSERT INTO channel_move (realm_id, target_recipient_id, is_history_protected) VALUES (?, ?, ?) RETURNING id',
    );
    this.noteMoved = connection.command(
      'INSERT INTO moved_message (message_id, move_id, realm_id) SELECT value, ?, ? FROM json_each(?)',
    );
    const moved = `last_moved_at = coalesce(?, last_moved_at), version = version + 1`;
    const thoseListed = 'WHERE id IN (SELECT value FROM json_each(?))';
    // Combined in one statement, because each update pays for the indexes, especially the search index.
    this.changeChannel = connection.command(
      `UPDATE message SET recipient_id = ?, channel_id = ?, topic = coalesce(?, topic), topic_key = coalesce(?, topic_key),
         topic_links = iif(? IS NULL, topic_links, ?), ${moved},
         property_bits = property_bits | ${PROPERTY_BITS.wasMoved | PROPERTY_BITS.isEdited}
       ${thoseListed}`,
    );
    this.changeTopic = connection.command(
      `UPDATE message SET topic = ?, topic_key = ?, topic_links = ?, ${moved},
         property_bits = property_bits | ${PROPERTY_BITS.isEdited}
       ${thoseListed}`,
    );
    this.keepTopic = connection.command(
      `UPDATE message SET ${moved}, property_bits = property_bits | ${PROPERTY_BITS.isEdited} ${thoseListed}`,
    );
    this.forgetFlags = connection.command(
      `DELETE FROM message_flag
       WHERE message_id IN (SELECT value FROM json_each(?)) AND NOT EXISTS (
         SELECT 1 FROM span s
         WHERE s.recipient_id = ? AND s.user_id = message_flag.user_id AND s.to_ordinal IS NULL)`,
    );
  }

  async move(realmId: RealmId, ids: readonly MessageId[], target: MoveTarget): Promise<void> {
    const { recipientId, channelId, topic, topicLinks = [], movedAt = null, isHistoryProtected } = target;
    const key = topic === null ? null : topicKey(topic);
    const links = topicLinks.length === 0 ? null : JSON.stringify(topicLinks);
    const indexRows = this.indexRowsById.list(realmId, ids);
    const crossing = indexRows.filter((row) => row[2] !== recipientId).map(idOf);
    if (crossing.length > 0) {
      const list = jsonList(crossing);
      const move = this.addMove.get(realmId, recipientId, toFlag(isHistoryProtected))!;
      this.noteMoved.run(move, realmId, list);
      this.changeChannel.run(recipientId, channelId, topic, key, topic, links, movedAt, list);
      this.forgetFlags.run(list, recipientId);
    }
    const staying = indexRows.filter((row) => row[2] === recipientId).map(idOf);
    if (staying.length === 0) return;
    if (topic === null) this.keepTopic.run(movedAt, jsonList(staying));
    else this.changeTopic.run(topic, key, links, movedAt, jsonList(staying));
  }
}

export const MESSAGE_EDIT_FEATURE = {
  repositories: () => (connection) => ({
    moves: new SqliteMessageMoves(connection),
    edits: new SqliteMessageEditRepository(connection),
  }),
  messagePart: (connection: Connection) => new MessageEditPartReads(connection),
} satisfies SqliteFeature;
