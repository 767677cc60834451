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
import { idOf, type MessagePartReads, PROPERTY_BITS, toFlag } from '@parley/storage';
import type { Connection, Query } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { INDEXED_TEXT, type IndexedText, type SearchTerms } from './conditions.js';
import { MessageIndexRowsById } from './viewer-message-state.js';

export class PostgresMessageEditRepository implements MessageEditRepository {
  private readonly rowsOfMessage;
  private readonly insert;
  private readonly dropOldest;

  constructor(connection: Connection) {
    this.rowsOfMessage = connection.rows<MessageEditRow>(
      'SELECT * FROM message_edit WHERE message_id = $1 AND realm_id = $2 ORDER BY id DESC',
    );
    this.insert = connection.command(
      `INSERT INTO message_edit (message_id, realm_id, user_id, edited_at, previous_topic, topic, previous_channel_id,
                                 channel_id, previous_content, previous_rendered_content)
       SELECT m.id, m.realm_id, $1::bigint, $2::bigint, CASE WHEN $3::text IS NOT NULL THEN m.topic END, $3::text,
              CASE WHEN $4::bigint IS NOT NULL THEN m.channel_id END, $4::bigint,
              CASE WHEN m.id = $5 THEN m.content END, CASE WHEN m.id = $5 THEN m.rendered_content END
       FROM message m WHERE m.id = ANY($6::bigint[]) AND m.realm_id = $7`,
    );
    this.dropOldest = connection.command(
      `DELETE FROM message_edit WHERE id IN (
         SELECT id FROM (
           SELECT id, message_id, row_number() OVER newer AS place,
                  sum(length(previous_content) + length(previous_rendered_content)) OVER newer AS text_length
           FROM message_edit
           WHERE message_id = ANY($1::bigint[])
           WINDOW newer AS (PARTITION BY message_id ORDER BY id DESC)) e
         WHERE place > ${MAX_EDITS} OR (message_id = $2 AND place > 1 AND text_length > ${MAX_EDITED_TEXT}))`,
    );
  }

  async list(realmId: RealmId, messageId: MessageId): Promise<readonly MessageEdit[]> {
    return (await this.rowsOfMessage.all(messageId, realmId)).map(toMessageEdit);
  }

  async add(
    realmId: RealmId,
    { userId, editedAt, topic, channelId }: SharedEdit,
    ids: readonly MessageId[],
    edited: MessageId | null = null,
  ): Promise<void> {
    this.insert.defer(userId, editedAt, topic, channelId, edited, ids, realmId);
    this.dropOldest.defer(ids, edited);
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

/** Edit history shown with messages. */
export class MessageEditPartReads implements MessagePartReads {
  private readonly rows: Query<MessageEditRow>;

  constructor(connection: Connection) {
    this.rows = connection.rows('SELECT * FROM message_edit WHERE message_id = ANY($1::bigint[]) ORDER BY id DESC');
  }

  async list(messages: readonly Message[]): Promise<ReadonlyMap<MessageId, MessageParts>> {
    const ids = messages.filter(({ isEdited }) => isEdited).map(({ id }) => id);
    const found = new Map<MessageId, { readonly edits: MessageEdit[] }>();
    if (ids.length === 0) return found;
    for (const row of await this.rows.all(ids)) {
      const existing = found.get(row.message_id);
      if (existing) existing.edits.push(toMessageEdit(row));
      else found.set(row.message_id, { edits: [toMessageEdit(row)] });
    }
    return found;
  }
}

export class PostgresMessageMoves implements MessageMoves {
  private readonly indexRowsById: MessageIndexRowsById;

  private readonly addMove;
  private readonly changeChannel;
  private readonly changeTopic;
  private readonly keepTopic;
  private readonly forgetFlags;

  constructor(
    connection: Connection,
    private readonly searchTerms: SearchTerms,
  ) {
    this.indexRowsById = new MessageIndexRowsById(connection);

    this.addMove = connection.command(
      `WITH move AS (
         INSERT INTO channel_move (realm_id, target_recipient_id, is_history_protected) VALUES ($1, $2, $3) RETURNING id)
       INSERT INTO moved_message (message_id, move_id, realm_id)
       SELECT m.id, move.id, $1 FROM move CROSS JOIN unnest($4::bigint[]) m (id)`,
    );
    const change = (moved: string, bits: number) =>
      `UPDATE message m SET ${moved} last_moved_at = coalesce($2, last_moved_at), version = version + 1,
         property_bits = property_bits | ${bits}
       WHERE id = ANY($1::bigint[]) RETURNING ${INDEXED_TEXT}`;
    this.changeChannel = connection.tuples<IndexedText>(
      change(
        `recipient_id = $3, channel_id = $4, topic = coalesce($5, topic), topic_key = coalesce($6, topic_key),
         topic_links = CASE WHEN $5::text IS NULL THEN topic_links ELSE $7 END,`,
        PROPERTY_BITS.wasMoved | PROPERTY_BITS.isEdited,
      ),
    );
    this.changeTopic = connection.tuples<IndexedText>(
      change('topic = $3, topic_key = $4, topic_links = $5,', PROPERTY_BITS.isEdited),
    );
    this.keepTopic = connection.tuples<IndexedText>(change('', PROPERTY_BITS.isEdited));
    this.forgetFlags = connection.command(
      `DELETE FROM message_flag f
       WHERE f.message_id = ANY($1::bigint[]) AND NOT EXISTS (
         SELECT 1 FROM span s WHERE s.recipient_id = $2 AND s.user_id = f.user_id AND s.to_ordinal IS NULL)`,
    );
  }

  async move(realmId: RealmId, ids: readonly MessageId[], target: MoveTarget): Promise<void> {
    const { recipientId, channelId, topic, topicLinks = [], movedAt = null, isHistoryProtected } = target;
    const key = topic === null ? null : topicKey(topic);
    const links = topicLinks.length === 0 ? null : JSON.stringify(topicLinks);
    const indexRows = await this.indexRowsById.list(realmId, ids);
    const crossing = indexRows.filter((row) => row[2] !== recipientId).map(idOf);
    if (crossing.length > 0) {
      this.addMove.defer(realmId, recipientId, toFlag(isHistoryProtected), crossing);
      this.forgetFlags.defer(crossing, recipientId);
      this.searchTerms.put(await this.changeChannel.all(crossing, movedAt, recipientId, channelId, topic, key, links));
    }
    const staying = indexRows.filter((row) => row[2] === recipientId).map(idOf);
    if (staying.length === 0) return;
    if (topic === null) await this.keepTopic.all(staying, movedAt);
    else this.searchTerms.put(await this.changeTopic.all(staying, movedAt, topic, key, links));
  }
}

export const MESSAGE_EDIT_FEATURE = {
  repositories:
    () =>
    (connection, { searchTerms }) => ({
      moves: new PostgresMessageMoves(connection, searchTerms),
      edits: new PostgresMessageEditRepository(connection),
    }),
  messagePart: (connection: Connection) => new MessageEditPartReads(connection),
} satisfies PostgresFeature;
