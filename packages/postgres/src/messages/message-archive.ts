import type { ChannelId, MessageId, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { ArchivedMessage, ArchiveSelection, MessageArchive } from '@parley/domain/messages';
import { messageTablesOf } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { INDEXED_TEXT, type IndexedText, type SearchTerms } from './conditions.js';

/**
 * Deleted messages as JSON rows of all related tables, by table and column. New columns are archived automatically, and
 * archives from older versions can be restored.
 */
export class PostgresMessageArchive implements MessageArchive {
  private readonly selected;
  private readonly store;
  private readonly kept;
  private readonly columns;
  private readonly restored;
  private readonly afterRestore;
  private readonly purgeOldest;

  constructor(
    private readonly connection: Connection,
    private readonly searchTerms: SearchTerms,
    private readonly tables: readonly string[],
  ) {
    this.selected = connection.rows<ArchivedRow>(
      `SELECT id, channel_id, deleted_at, deleted_by FROM archived_message
       WHERE realm_id = $1 AND id > $2 AND ($3::bigint IS NULL OR id = $3) AND ($4::bigint IS NULL OR channel_id = $4)
         AND ($5::text IS NULL OR topic_key = $5) AND deleted_at >= $6
       ORDER BY id LIMIT $7`,
    );
    const parts = tables.map(
      (table) => `'${table}', (SELECT coalesce(json_agg(t), '[]') FROM ${table} t WHERE t.message_id = m.id)`,
    );
    this.store = connection.command(
      `INSERT INTO archived_message (id, realm_id, deleted_at, deleted_by, channel_id, topic_key, rows)
       SELECT m.id, m.realm_id, $1::bigint, $2::bigint, m.channel_id, m.topic_key,
              json_build_object('message', json_build_array(row_to_json(m)), ${parts.join(', ')})::text
       FROM message m WHERE m.id = ANY($3::bigint[]) AND m.realm_id = $4
       ON CONFLICT (id) DO UPDATE SET deleted_at = excluded.deleted_at, deleted_by = excluded.deleted_by,
         channel_id = excluded.channel_id, topic_key = excluded.topic_key, rows = excluded.rows`,
    );
    this.kept = connection.values<MessageId>(
      'SELECT id FROM archived_message WHERE id = ANY($1::bigint[]) AND realm_id = $2 ORDER BY id',
    );
    this.columns = connection.tuples<readonly [table: string, column: string, byDefault: string | null]>(
      `SELECT table_name, column_name, column_default FROM information_schema.columns
       WHERE table_schema = current_schema() AND table_name = ANY($1::text[]) ORDER BY table_name, ordinal_position`,
    );
    this.restored = connection.tuples<IndexedText>(
      `UPDATE message m SET version = version + 1 WHERE id = ANY($1::bigint[]) RETURNING ${INDEXED_TEXT}`,
    );
    this.afterRestore = [
      `UPDATE direct_participant p
       SET last_message_id = (SELECT max(m.id) FROM message m WHERE m.recipient_id = p.recipient_id)
       WHERE recipient_id IN (SELECT recipient_id FROM message WHERE id = ANY($1::bigint[]))`,
      'DELETE FROM removed_message_holder WHERE message_id = ANY($1::bigint[])',
      'DELETE FROM removed_message WHERE id = ANY($1::bigint[])',
      'DELETE FROM archived_message WHERE id = ANY($1::bigint[])',
    ].map((sql) => connection.command(sql));
    this.purgeOldest = connection.command(
      `DELETE FROM archived_message WHERE id IN (
         SELECT id FROM archived_message WHERE deleted_at < $1 ORDER BY deleted_at, id LIMIT $2)`,
    );
  }

  async list(
    realmId: RealmId,
    { messageId, channelId, topicKey, since }: ArchiveSelection,
    after: number,
    limit: number,
  ): Promise<readonly ArchivedMessage[]> {
    const rows = await this.selected.all(realmId, after, messageId, channelId, topicKey, since ?? 0, limit);
    return rows.map((row) => ({
      id: row.id,
      channelId: row.channel_id,
      deletedAt: row.deleted_at,
      deletedBy: row.deleted_by,
    }));
  }

  async keep(
    realmId: RealmId,
    ids: readonly MessageId[],
    { deletedAt, deletedBy }: Pick<ArchivedMessage, 'deletedAt' | 'deletedBy'>,
  ): Promise<void> {
    this.store.defer(deletedAt, deletedBy, ids, realmId);
  }

  async restore(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]> {
    const kept = await this.kept.all(ids, realmId);
    if (kept.length === 0) return kept;
    const columns = await this.columns.all(['message', ...this.tables]);
    for (const table of ['message', ...this.tables]) this.putBackInto(table, columns, kept);
    this.searchTerms.put(await this.restored.all(kept));
    for (const command of this.afterRestore) command.defer(kept);
    return kept;
  }

  async purge(before: UnixSeconds, limit: number): Promise<number> {
    return (await this.purgeOldest.run(before, limit)).changes;
  }

  /** Ignores existing rows, because moves may remain until the deletion event is delivered. */
  private putBackInto(
    table: string,
    columns: readonly (readonly [table: string, column: string, byDefault: string | null])[],
    ids: readonly MessageId[],
  ): void {
    const own = columns.filter(([name]) => name === table);
    const values = own.map(([, name, byDefault]) =>
      byDefault === null ? `r.${name}` : `coalesce(r.${name}, ${byDefault})`,
    );
    this.connection
      .command(
        `INSERT INTO ${table} (${own.map(([, name]) => name).join(', ')})
         SELECT ${values.join(', ')} FROM archived_message a
         CROSS JOIN json_populate_recordset(NULL::${table}, a.rows::json -> '${table}') r
         WHERE a.id = ANY($1::bigint[])
         ON CONFLICT DO NOTHING`,
      )
      .defer(ids);
  }
}

interface ArchivedRow {
  readonly id: MessageId;
  readonly channel_id: ChannelId | null;
  readonly deleted_at: UnixSeconds;
  readonly deleted_by: UserId | null;
}

export const MESSAGE_ARCHIVE_FEATURE = {
  repositories: ({ features }) => {
    const tables = messageTablesOf(features);
    return (connection, { searchTerms }) => ({
      archive: new PostgresMessageArchive(connection, searchTerms, tables),
    });
  },
} satisfies PostgresFeature;
