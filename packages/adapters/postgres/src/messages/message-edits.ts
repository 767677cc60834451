import type { MessageId, RealmId } from '@parley/domain/kernel';
import { MAX_EDITED_TEXT, MAX_EDITS, type SharedEdit } from '@parley/domain/messages';
import { EDIT_NOT_HELD, MessageEditPartReads, SqlMessageEditRepository, SqlMessageMoves } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { INDEXED_TEXT, type IndexedText, type SearchTerms } from './conditions.js';
import { MessageIndexRowsById } from './viewer-message-state.js';

export class PostgresMessageEditRepository extends SqlMessageEditRepository {
  private readonly insert;
  private readonly dropOldest;

  constructor(connection: Connection) {
    super(connection);
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
         WHERE place > ${MAX_EDITS} OR (message_id = $2 AND place > 1 AND text_length > ${MAX_EDITED_TEXT}))
         AND ${EDIT_NOT_HELD}`,
    );
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

export class PostgresMessageMoves extends SqlMessageMoves {
  private readonly texts;

  constructor(
    connection: Connection,
    private readonly searchTerms: SearchTerms,
  ) {
    super(connection, new MessageIndexRowsById(connection));
    this.texts = connection.tuples<IndexedText>(`SELECT ${INDEXED_TEXT} FROM message m WHERE m.id = ANY($1::bigint[])`);
  }

  protected override async reindex(ids: readonly MessageId[]): Promise<void> {
    this.searchTerms.put(await this.texts.all(ids));
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
