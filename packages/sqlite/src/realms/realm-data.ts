import type { RealmId } from '@parley/domain/kernel';
import { DELETE_REALM_DATA, type RealmDataRepository, type RemovalCursor } from '@parley/domain/realms';
import type { FeatureTables } from '@parley/storage';
import { type Command, type Connection, LIMIT, type Query } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';

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
export class SqliteRealmData implements RealmDataRepository {
  private readonly keyColumns: Query<string>;
  private readonly removeWithFile: readonly Command[];
  private readonly removeJobs: Command;
  private readonly remove: Command;
  /** Created on first use. */
  private readonly statements = new Map<string, TableStatements>();

  constructor(
    private readonly connection: Connection,
    private readonly tables: readonly string[],
  ) {
    this.keyColumns = connection.values('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk');
    this.removeWithFile = ['file_image', 'thumbnail', 'awaited_thumbnail'].map((table) =>
      connection.command(`DELETE FROM ${table} WHERE file_id = ?`),
    );
    this.removeJobs = connection.command('DELETE FROM job WHERE realm_id = ?');
    this.remove = connection.command('DELETE FROM realm WHERE id = ?');
  }

  async removeSome(realmId: RealmId, from: RemovalCursor, limit: number): Promise<RemovalCursor | 'done'> {
    this.connection.disableCaching();
    let at = from === null ? 0 : this.tables.indexOf(from.table);
    if (at < 0) at = 0;
    let key: Key = from?.key ?? [];
    let [rows, looks] = [limit, limit * LOOKS_PER_ROW];
    for (; at < this.tables.length; at++, key = []) {
      const table = this.tables[at]!;
      const { first, next, remove, keyLength } = this.statementsOf(table);
      const seen = key.length === 0 ? first.all(realmId, looks) : next.all(realmId, ...key, looks);
      for (const row of seen) {
        if (rows === 0) return { table, key };
        key = row.slice(0, keyLength);
        if (row[keyLength] !== 1) continue;
        if (table === 'file') for (const command of this.removeWithFile) command.run(...key);
        remove.run(...key);
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
    this.removeJobs.run(realmId);
    this.remove.run(realmId);
  }

  private statementsOf(table: string): TableStatements {
    const known = this.statements.get(table);
    if (known) return known;
    const columns = this.keyColumns.all(table);
    const keys = columns.join(', ');
    // Keeps the deleting job until the work is done.
    const isMeant = table === 'job' ? `realm_id = ? AND kind <> '${DELETE_REALM_DATA.name}'` : 'realm_id = ?';
    const select = `SELECT ${keys}, ${isMeant} FROM ${table}`;
    const end = `ORDER BY ${keys} ${LIMIT}`;
    const statements = {
      keyLength: columns.length,
      first: this.connection.tuples<readonly (string | number)[]>(`${select} ${end}`),
      next: this.connection.tuples<readonly (string | number)[]>(
        `${select} WHERE (${keys}) > (${columns.map(() => '?').join(', ')}) ${end}`,
      ),
      remove: this.connection.command(
        `DELETE FROM ${table} WHERE ${columns.map((column) => `${column} = ?`).join(' AND ')}`,
      ),
    };
    this.statements.set(table, statements);
    return statements;
  }
}

export const REALM_DATA_FEATURE = {
  repositories: ({ features }) => {
    const tables = realmTablesOf(features);
    return (connection) => ({ realmData: new SqliteRealmData(connection, tables) });
  },
} satisfies SqliteFeature;
