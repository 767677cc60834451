import { getOrThrow, type MessageId, type RealmId } from '@parley/domain/kernel';
import { MAX_EDITED_TEXT, MAX_EDITS, type SharedEdit } from '@parley/domain/messages';
import {
  EDIT_NOT_HELD,
  jsonList,
  MessageEditPartReads,
  SqlMessageEditRepository,
  SqlMessageMoves,
} from '@parley/storage';
import { asStatements, type Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { MessageIndexRowsById } from './viewer-message-state.js';

/**
 * Counts edits before it removes any. PostgreSQL removes them in one statement to save round trips, which takes four to
 * six times as long here.
 */
export class SqliteMessageEditRepository extends SqlMessageEditRepository {
  private readonly insert;
  private readonly insertOfOne;
  private readonly editedMost;
  private readonly sizes;
  private readonly dropBeyondMost;
  private readonly dropBeyondMostOfOne;
  private readonly dropOldest;

  constructor(connection: Connection) {
    super(asStatements(connection));
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
           SELECT n.id FROM message_edit n WHERE n.message_id = wanted.value ORDER BY n.id DESC LIMIT 1 OFFSET ${MAX_EDITS})) AND ${EDIT_NOT_HELD}`,
    );
    this.dropBeyondMostOfOne = connection.command(
      `DELETE FROM message_edit WHERE message_id = ? AND id <= (
         SELECT id FROM message_edit WHERE message_id = ? ORDER BY id DESC LIMIT 1 OFFSET ${MAX_EDITS}) AND ${EDIT_NOT_HELD}`,
    );
    this.dropOldest = connection.command(
      `DELETE FROM message_edit WHERE id IN (
         SELECT id FROM (
           SELECT id, row_number() OVER newer AS place,
                  sum(length(previous_content) + length(previous_rendered_content)) OVER newer AS text_length
           FROM message_edit
           WHERE message_id = ?
           WINDOW newer AS (ORDER BY id DESC))
         WHERE place > ${MAX_EDITS} OR (place > 1 AND text_length > ${MAX_EDITED_TEXT})) AND ${EDIT_NOT_HELD}`,
    );
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
    const [count, bytes] = getOrThrow(this.sizes, id);
    if (bytes > MAX_EDITED_TEXT) this.dropOldest.run(id);
    else if (count > MAX_EDITS) this.dropBeyondMostOfOne.run(id, id);
  }
}

export const MESSAGE_EDIT_FEATURE = {
  repositories: () => (connection) => ({
    moves: new SqlMessageMoves(asStatements(connection), new MessageIndexRowsById(connection)),
    edits: new SqliteMessageEditRepository(connection),
  }),
  messagePart: (connection: Connection) => new MessageEditPartReads(asStatements(connection)),
} satisfies SqliteFeature;
