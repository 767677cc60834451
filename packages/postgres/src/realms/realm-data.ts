import type { RealmId } from '@parley/domain/kernel';
import { DELETE_REALM_DATA, type RealmDataRepository, type RemovalCursor } from '@parley/domain/realms';
import type { FeatureTables } from '@parley/storage';
import type { Command, Connection, Query } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

/**
 * Tables whose rows belong to a realm, referencing tables first. `message_file` is removed with the messages, image data
 * with its files, and `realm` last.
 */
export const realmTablesOf = (features: readonly FeatureTables[]): readonly string[] =>
  [...features].reverse().flatMap(({ realmTables = [] }) => realmTables);

type Key = readonly (string | number)[];

interface TableStatements {
  /** Number of key columns. */
  readonly keyLength: number;
  /** Returns the key and whether the row belongs to the realm. */
  readonly first: Query<readonly (string | number)[]>;
  readonly next: Query<readonly (string | number)[]>;
  readonly remove: Command;
}

/** Rows examined per removable row, because rows of other realms lie in between. */
const LOOKS_PER_ROW = 10;

/**
 * Walks each table by primary key. The cost depends on all realms, but no index by realm is needed, which would slow
 * down every write.
 */
export class PostgresRealmData implements RealmDataRepository {
  private readonly keyColumns: Query<string>;
  private readonly removeWithFile: readonly Command[];
  private readonly removeJobs: Command;
  private readonly removeStamp: Command;
  private readonly remove: Command;
  /** Created on first use. */
  private readonly statements = new Map<string, TableStatements>();

  constructor(
    private readonly connection: Connection,
    private readonly tables: readonly string[],
  ) {
    this.keyColumns = connection.values(
      `SELECT a.attname FROM pg_index i
       CROSS JOIN unnest(i.indkey) WITH ORDINALITY k (attnum, place)
       JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
       WHERE i.indrelid = quote_ident($1)::regclass AND i.indisprimary ORDER BY k.place`,
    );
    this.removeWithFile = ['file_image', 'thumbnail', 'awaited_thumbnail'].map((table) =>
      connection.command(`DELETE FROM ${table} WHERE file_id = $1`),
    );
    this.removeJobs = connection.command('DELETE FROM job WHERE realm_id = $1');
    this.removeStamp = connection.command('DELETE FROM cache_stamp WHERE realm_id = -$1::bigint');
    this.remove = connection.command('DELETE FROM realm WHERE id = $1');
  }

  async removeSome(realmId: RealmId, from: RemovalCursor, limit: number): Promise<RemovalCursor | 'done'> {
    this.connection.disableCaching();
    this.connection.disableCaching('subscriptions');
    let at = from === null ? 0 : this.tables.indexOf(from.table);
    if (at < 0) at = 0;
    let key: Key = from?.key ?? [];
    let [rows, looks] = [limit, limit * LOOKS_PER_ROW];
    for (; at < this.tables.length; at++, key = []) {
      const table = this.tables[at]!;
      const { first, next, remove, keyLength } = await this.statementsOf(table);
      const seen = await (key.length === 0 ? first.all(realmId, looks) : next.all(realmId, ...key, looks));
      for (const row of seen) {
        if (rows === 0) return { table, key };
        key = row.slice(0, keyLength);
        if (row[keyLength] !== 1) continue;
        if (table === 'file') for (const command of this.removeWithFile) command.defer(...key);
        remove.defer(...key);
        rows--;
      }
      if (seen.length === looks) return { table, key };
      looks -= seen.length;
      await this.connection.yield();
    }
    return 'done';
  }

  async removeRealm(realmId: RealmId): Promise<void> {
    this.connection.disableCaching();
    this.removeJobs.defer(realmId);
    this.removeStamp.defer(realmId);
    this.remove.defer(realmId);
  }

  private async statementsOf(table: string): Promise<TableStatements> {
    const known = this.statements.get(table);
    if (known) return known;
    const columns = await this.keyColumns.all(table);
    const keys = columns.join(', ');
    // Keeps the deleting job until the work is done.
    const isMeant = table === 'job' ? `realm_id = $1 AND kind <> '${DELETE_REALM_DATA.name}'` : 'realm_id = $1';
    const select = `SELECT ${keys}, ${isMeant} FROM "${table}"`;
    const statements = {
      keyLength: columns.length,
      first: this.connection.tuples<readonly (string | number)[]>(`${select} ORDER BY ${keys} LIMIT $2`),
      next: this.connection.tuples<readonly (string | number)[]>(
        `${select} WHERE (${keys}) > (${columns.map((_, n) => `$${n + 2}`).join(', ')})
         ORDER BY ${keys} LIMIT $${columns.length + 2}`,
      ),
      remove: this.connection.command(
        `DELETE FROM "${table}" WHERE ${columns.map((column, n) => `${column} = $${n + 1}`).join(' AND ')}`,
      ),
    };
    this.statements.set(table, statements);
    return statements;
  }
}

export const REALM_DATA_FEATURE = {
  repositories: ({ features }) => {
    const tables = realmTablesOf(features);
    return (connection) => ({ realmData: new PostgresRealmData(connection, tables) });
  },
} satisfies PostgresFeature;
