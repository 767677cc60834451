import { topicKey } from '@parley/domain/channels';
import type { MessageId, RealmId } from '@parley/domain/kernel';
import type { MessageMoves, MoveTarget } from '@parley/domain/messages';
import type { Connection } from '../engine/connection.js';
import { jsonList, toFlag } from '../engine/rows.js';
import { idOf, MessageIndexRowsById } from './message-index-row.js';
import { PROPERTY_BITS } from './stored-values.js';

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
    // In one statement, since each pays for indexes, that of searches above all.
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
    const places = this.indexRowsById.list(realmId, ids);
    const crossing = places.filter((place) => place[2] !== recipientId).map(idOf);
    if (crossing.length > 0) {
      const list = jsonList(crossing);
      const move = this.addMove.get(realmId, recipientId, toFlag(isHistoryProtected))!;
      this.noteMoved.run(move, realmId, list);
      this.changeChannel.run(recipientId, channelId, topic, key, topic, links, movedAt, list);
      this.forgetFlags.run(list, recipientId);
    }
    const staying = places.filter((place) => place[2] === recipientId).map(idOf);
    if (staying.length === 0) return;
    if (topic === null) this.keepTopic.run(movedAt, jsonList(staying));
    else this.changeTopic.run(topic, key, links, movedAt, jsonList(staying));
  }
}
