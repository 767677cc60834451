import { topicKey } from '@parley/domain/channels';
import type { ChannelId, MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '@parley/domain/kernel';
import {
  MAX_EDITS,
  MAX_HELD_EDITS,
  type Message,
  type MessageEdit,
  type MessageEditRepository,
  type MessageParts,
  type SharedEdit,
} from '@parley/domain/messages';
import type { MessageMoves, MoveTarget } from '@parley/domain/writing';
import type { MessagePartReads } from '../engine/feature.js';
import { toFlag } from '../engine/rows.js';
import type { Command, MaybePromise, Query, Statements } from '../engine/statements.js';
import { PROPERTY_BITS, RENEW_NEWEST } from './message-rows.js';
import { type IndexRowsById, idOf } from './viewer-message-state.js';

export abstract class SqlMessageEditRepository implements MessageEditRepository {
  private readonly rowsOfMessage: Query<MessageEditRow>;
  private readonly editCount;

  constructor(statements: Statements) {
    this.rowsOfMessage = statements.rows(
      `SELECT * FROM message_edit WHERE message_id = ? AND realm_id = ? ORDER BY id DESC LIMIT ${MAX_EDITS}`,
    );
    this.editCount = statements.values<number>(
      `SELECT count(*) FROM (
         SELECT 1 FROM message_edit WHERE message_id = ? AND realm_id = ? LIMIT ${MAX_HELD_EDITS}) kept`,
    );
  }

  abstract add(realmId: RealmId, edit: SharedEdit, ids: readonly MessageId[], edited?: MessageId | null): Promise<void>;

  async list(realmId: RealmId, messageId: MessageId): Promise<readonly MessageEdit[]> {
    return (await this.rowsOfMessage.all(messageId, realmId)).map(toMessageEdit);
  }

  async count(realmId: RealmId, messageId: MessageId): Promise<number> {
    return Number((await this.editCount.all(messageId, realmId))[0]);
  }
}

export interface MessageEditRow {
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

export const toMessageEdit = (row: MessageEditRow): MessageEdit => ({
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

  constructor(private readonly statements: Statements) {
    const { inSet } = statements.dialect;
    // Held messages have more edits. The index alone finds the newest.
    this.rows = statements.rows(
      `SELECT * FROM message_edit WHERE id IN (
         SELECT id FROM (
           SELECT id, row_number() OVER (PARTITION BY message_id ORDER BY id DESC) AS place
           FROM message_edit WHERE message_id ${inSet}) newest
         WHERE place <= ${MAX_EDITS})
       ORDER BY id DESC`,
    );
  }

  async list(messages: readonly Message[]): Promise<ReadonlyMap<MessageId, MessageParts>> {
    const ids = messages.filter(({ isEdited }) => isEdited).map(({ id }) => id);
    const found = new Map<MessageId, { readonly edits: MessageEdit[] }>();
    if (ids.length === 0) return found;
    for (const row of await this.rows.all(this.statements.dialect.set(ids))) {
      const existing = found.get(row.message_id);
      if (existing) existing.edits.push(toMessageEdit(row));
      else found.set(row.message_id, { edits: [toMessageEdit(row)] });
    }
    return found;
  }
}

export class SqlMessageMoves implements MessageMoves {
  private readonly addMove: Command;
  private readonly noteMoved: Command;
  private readonly changeChannel: Command;
  private readonly changeTopic: Command;
  private readonly keepTopic: Command;
  private readonly changeConversation: Command;
  private readonly forgetFlags: Command;
  private readonly renewNewest: Command;

  constructor(
    private readonly statements: Statements,
    private readonly indexRowsById: IndexRowsById,
  ) {
    const { inSet } = statements.dialect;
    this.addMove = statements.command(
      'INSERT INTO channel_move (realm_id, target_recipient_id, is_history_protected) VALUES (?, ?, ?)',
    );
    // The organization's newest move is the one just added, because only exclusive units move messages.
    this.noteMoved = statements.command(
      `INSERT INTO moved_message (message_id, move_id, realm_id)
       SELECT id, (SELECT id FROM channel_move WHERE realm_id = ? ORDER BY id DESC LIMIT 1), realm_id
       FROM message WHERE id ${inSet}`,
    );
    const change = (columns: string, bits: number) =>
      statements.command(
        `UPDATE message SET ${columns} last_moved_at = coalesce(?, last_moved_at), version = version + 1,
           property_bits = property_bits | ${bits}
         WHERE id ${inSet}`,
      );
    // Combined in one statement, because each update pays for the indexes, especially the search index.
    this.changeChannel = change(
      `recipient_id = ?, channel_id = ?, topic = coalesce(?, topic), topic_key = coalesce(?, topic_key),
       topic_links = CASE WHEN CAST(? AS text) IS NULL THEN topic_links ELSE ? END,`,
      PROPERTY_BITS.wasMoved | PROPERTY_BITS.isEdited,
    );
    this.changeTopic = change('topic = ?, topic_key = ?, topic_links = ?,', PROPERTY_BITS.isEdited);
    this.keepTopic = change('', PROPERTY_BITS.isEdited);
    this.changeConversation = statements.command(
      `UPDATE message SET recipient_id = ?, version = version + 1, property_bits = property_bits | ${PROPERTY_BITS.wasMoved}
       WHERE id ${inSet}`,
    );
    this.renewNewest = statements.command(`${RENEW_NEWEST} WHERE recipient_id ${inSet}`);
    this.forgetFlags = statements.command(
      `DELETE FROM message_flag
       WHERE message_id ${inSet} AND NOT EXISTS (
         SELECT 1 FROM span s
         WHERE s.recipient_id = ? AND s.user_id = message_flag.user_id AND s.to_ordinal IS NULL)`,
    );
  }

  /** Stores that the messages changed their channel or conversation together. */
  private recordMove(
    realmId: RealmId,
    recipientId: RecipientId,
    isProtected: boolean,
    ids: readonly MessageId[],
  ): void {
    this.addMove.defer(realmId, recipientId, toFlag(isProtected));
    this.noteMoved.defer(realmId, this.statements.dialect.set(ids));
  }

  /** Updates the search index after a change of topics. SQLite does so by triggers. */
  protected reindex(_ids: readonly MessageId[]): MaybePromise<void> {}

  async move(realmId: RealmId, ids: readonly MessageId[], target: MoveTarget): Promise<void> {
    const { recipientId, channelId, topic, topicLinks = [], movedAt = null, isHistoryProtected } = target;
    const { set } = this.statements.dialect;
    const key = topic === null ? null : topicKey(topic);
    const links = topicLinks.length === 0 ? null : JSON.stringify(topicLinks);
    const indexRows = await this.indexRowsById.list(realmId, ids);
    const crossing = indexRows.filter((row) => row[2] !== recipientId).map(idOf);
    if (crossing.length > 0) {
      this.recordMove(realmId, recipientId, isHistoryProtected, crossing);
      this.changeChannel.defer(recipientId, channelId, topic, key, topic, links, movedAt, set(crossing));
      this.forgetFlags.defer(set(crossing), recipientId);
      if (topic !== null) await this.reindex(crossing);
    }
    const staying = indexRows.filter((row) => row[2] === recipientId).map(idOf);
    if (staying.length === 0) return;
    if (topic === null) {
      this.keepTopic.defer(movedAt, set(staying));
      return;
    }
    this.changeTopic.defer(topic, key, links, movedAt, set(staying));
    await this.reindex(staying);
  }

  async moveDirect(realmId: RealmId, ids: readonly MessageId[], recipientId: RecipientId): Promise<void> {
    const { set } = this.statements.dialect;
    const crossing = (await this.indexRowsById.list(realmId, ids)).filter((row) => row[2] !== recipientId);
    if (crossing.length === 0) return;
    const moved = crossing.map(idOf);
    this.recordMove(realmId, recipientId, true, moved);
    this.changeConversation.defer(recipientId, set(moved));
    this.forgetFlags.defer(set(moved), recipientId);
    this.renewNewest.defer(set(new Set([recipientId, ...crossing.map(([, , former]) => former)])));
  }
}
