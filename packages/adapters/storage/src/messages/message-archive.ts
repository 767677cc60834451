import type { ChannelId, HoldId, MessageId, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { ArchivedMessage, ArchiveSelection, MessageArchive, PurgedCopies } from '@parley/domain/writing';
import type { Command, MaybePromise, Statements } from '../engine/statements.js';
import { holdOfCopy } from './held-condition.js';
import { PROPERTY_BITS, RENEW_NEWEST } from './message-rows.js';

interface ArchivedRow {
  readonly id: MessageId;
  readonly channel_id: ChannelId | null;
  readonly deleted_at: UnixSeconds;
  readonly deleted_by: UserId | null;
}

/**
 * Deleted messages as JSON rows of all related tables, by table and column. New columns are archived automatically,
 * and archives of older versions can be restored. Each database has its own functions for such JSON.
 */
export abstract class SqlMessageArchive implements MessageArchive {
  private readonly selected;
  private readonly kept;
  private readonly afterRestore: readonly Command[];
  private readonly unmark;
  private readonly due;
  private readonly mark;
  private readonly sendersAfter;
  private readonly purgeIds;
  private readonly answered;
  private readonly replace;

  /** @param json Rows of a message as a JSON value */
  constructor(
    private readonly statements: Statements,
    json: string,
  ) {
    const { inSet, indexedBy } = statements.dialect;
    this.selected = statements.rows<ArchivedRow>(
      `SELECT id, channel_id, deleted_at, deleted_by FROM archived_message
       WHERE held_by IS NULL AND realm_id = ? AND id > ? AND id BETWEEN ? AND ?
         AND (CAST(? AS bigint) IS NULL OR channel_id = ?) AND (CAST(? AS text) IS NULL OR topic_key = ?)
         AND deleted_at >= ?
       ORDER BY id LIMIT ? + 0`,
    );
    this.kept = statements.values<MessageId>(
      `SELECT id FROM archived_message WHERE id ${inSet} AND realm_id = ? AND held_by IS NULL ORDER BY id`,
    );
    this.afterRestore = [
      `${RENEW_NEWEST} WHERE recipient_id IN (SELECT recipient_id FROM message WHERE id ${inSet})`,
      `DELETE FROM removed_message_holder WHERE message_id ${inSet}`,
      `DELETE FROM removed_message WHERE id ${inSet}`,
      `DELETE FROM archived_message WHERE id ${inSet}`,
    ].map((sql) => statements.command(sql));
    const { dialect } = statements;
    this.unmark = statements.command(
      `UPDATE archived_message SET held_by = NULL WHERE id IN (
         SELECT a.id FROM hold h CROSS JOIN archived_message a ${indexedBy('archived_message_held')}
         WHERE h.released_at IS NOT NULL AND a.held_by = h.id LIMIT ? + 0)`,
    );
    this.due = statements.tuples<readonly [id: MessageId, holdId: HoldId | null]>(
      `SELECT a.id, ${holdOfCopy(dialect, 'a')}
       FROM archived_message a ${indexedBy('archived_message_to_purge')}
       WHERE a.held_by IS NULL AND a.deleted_at < ? ORDER BY a.deleted_at, a.id LIMIT ? + 0`,
    );
    this.mark = statements.command('UPDATE archived_message SET held_by = ? WHERE id = ?');
    this.sendersAfter = statements.tuples<readonly [id: MessageId, isOfSender: 0 | 1, holdId: HoldId | null]>(
      `SELECT id, CASE WHEN realm_id = ? AND CAST(${json} -> 'message' -> 0 ->> 'sender_id' AS bigint) = ?
         THEN 1 ELSE 0 END, ${holdOfCopy(dialect, 'archived_message')}
       FROM archived_message WHERE id > ? ORDER BY id LIMIT ? + 0`,
    );
    this.purgeIds = statements.command(`DELETE FROM archived_message WHERE id ${inSet}`);
    this.answered = statements.tuples<readonly [id: MessageId, rows: string]>(
      `SELECT id, rows FROM archived_message
       WHERE id ${inSet} AND realm_id = ?
         AND (CAST(${json} -> 'submessage' AS text) LIKE ? OR CAST(${json} -> 'reaction' AS text) LIKE ?)`,
    );
    this.replace = statements.command('UPDATE archived_message SET rows = ? WHERE id = ?');
  }

  abstract keep(
    realmId: RealmId,
    ids: readonly MessageId[],
    deletion: Pick<ArchivedMessage, 'deletedAt' | 'deletedBy'>,
  ): Promise<void>;

  /**
   * Inserts the archived rows and indexes their texts. Ignores existing rows, because moves may remain until the event
   * of the deletion is delivered.
   */
  protected abstract putBack(ids: readonly MessageId[]): MaybePromise<void>;

  async list(
    realmId: RealmId,
    { messageId, channelId, topicKey, since }: ArchiveSelection,
    after: number,
    limit: number,
  ): Promise<readonly ArchivedMessage[]> {
    const range = [messageId ?? 0, messageId ?? Number.MAX_SAFE_INTEGER];
    const place = [channelId, channelId, topicKey, topicKey];
    const rows = await this.selected.all(realmId, after, ...range, ...place, since ?? 0, limit);
    return rows.map((row) => ({
      id: row.id,
      channelId: row.channel_id,
      deletedAt: row.deleted_at,
      deletedBy: row.deleted_by,
    }));
  }

  async restore(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]> {
    const { set } = this.statements.dialect;
    const kept = await this.kept.all(set(ids), realmId);
    if (kept.length === 0) return kept;
    await this.putBack(kept);
    for (const command of this.afterRestore) command.defer(set(kept));
    return kept;
  }

  async purge(before: UnixSeconds, limit: number): Promise<PurgedCopies> {
    const released = (await this.unmark.run(limit)).changes;
    const due = await this.due.all(before, limit);
    const count = await this.remove(due);
    return { count, hasMore: released === limit || due.length === limit };
  }

  async purgeOfSender(realmId: RealmId, senderId: UserId, after: number, limit: number) {
    const examined = await this.sendersAfter.all(realmId, senderId, after, limit);
    const own = examined.flatMap(([id, isOfSender, holdId]) => (isOfSender === 1 ? [[id, holdId] as const] : []));
    const count = await this.remove(own);
    const ofOthers = examined.flatMap(([id, isOfSender]) => (isOfSender === 1 ? [] : [id]));
    await this.removeAnswers(realmId, senderId, ofOthers);
    return { count, held: own.length - count, next: examined.length < limit ? null : examined.at(-1)![0] };
  }

  /** Deletes copies without a hold and marks the others. Returns the number of deleted copies. */
  private async remove(copies: readonly (readonly [id: MessageId, holdId: HoldId | null])[]): Promise<number> {
    for (const [id, holdId] of copies) if (holdId !== null) this.mark.defer(holdId, id);
    const ids = copies.flatMap(([id, holdId]) => (holdId === null ? [id] : []));
    if (ids.length > 0) await this.purgeIds.run(this.statements.dialect.set(ids));
    return ids.length;
  }

  private async removeAnswers(realmId: RealmId, userId: UserId, ids: readonly MessageId[]): Promise<void> {
    if (ids.length === 0) return;
    const patterns = [`%"sender_id":${userId},%`, `%"user_id":${userId},%`];
    for (const [id, json] of await this.answered.all(this.statements.dialect.set(ids), realmId, ...patterns)) {
      const rows: ArchivedTables = JSON.parse(json);
      const submessage = rows.submessage.filter((row) => row.sender_id !== userId);
      const reaction = rows.reaction.filter((row) => row.user_id !== userId);
      const message = rows.message.map((row) => ({
        ...row,
        property_bits: reaction.length > 0 ? row.property_bits : row.property_bits & ~PROPERTY_BITS.hasReactions,
      }));
      await this.replace.run(JSON.stringify({ ...rows, message, submessage, reaction }), id);
    }
  }
}

/** Rows of a copy, by table. */
interface ArchivedTables {
  readonly message: readonly { readonly property_bits: number }[];
  readonly submessage: readonly { readonly sender_id: UserId }[];
  readonly reaction: readonly { readonly user_id: UserId }[];
}
