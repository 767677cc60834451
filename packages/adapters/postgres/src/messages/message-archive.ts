import type { MessageId, RealmId } from '@parley/domain/kernel';
import type { ArchivedMessage } from '@parley/domain/writing';
import { messageTablesOf, SqlMessageArchive } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { INDEXED_TEXT, type IndexedText, type SearchTerms } from './conditions.js';

export class PostgresMessageArchive extends SqlMessageArchive {
  private readonly store;
  private readonly columns;
  private readonly restored;

  constructor(
    private readonly connection: Connection,
    private readonly searchTerms: SearchTerms,
    private readonly tables: readonly string[],
  ) {
    super(connection, 'rows::json');
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
    this.columns = connection.tuples<readonly [table: string, column: string, byDefault: string | null]>(
      `SELECT table_name, column_name, column_default FROM information_schema.columns
       WHERE table_schema = current_schema() AND table_name = ANY($1::text[]) ORDER BY table_name, ordinal_position`,
    );
    this.restored = connection.tuples<IndexedText>(
      `UPDATE message m SET version = version + 1 WHERE id = ANY($1::bigint[]) RETURNING ${INDEXED_TEXT}`,
    );
  }

  async keep(
    realmId: RealmId,
    ids: readonly MessageId[],
    { deletedAt, deletedBy }: Pick<ArchivedMessage, 'deletedAt' | 'deletedBy'>,
  ): Promise<void> {
    this.store.defer(deletedAt, deletedBy, ids, realmId);
  }

  protected async putBack(ids: readonly MessageId[]): Promise<void> {
    const columns = await this.columns.all(['message', ...this.tables]);
    for (const table of ['message', ...this.tables]) this.putBackInto(table, columns, ids);
    this.searchTerms.put(await this.restored.all(ids));
  }

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

export const MESSAGE_ARCHIVE_FEATURE = {
  repositories: ({ features }) => {
    const tables = messageTablesOf(features);
    return (connection, { searchTerms }) => ({
      archive: new PostgresMessageArchive(connection, searchTerms, tables),
    });
  },
} satisfies PostgresFeature;
