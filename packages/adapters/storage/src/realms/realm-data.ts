import type { RealmId } from '@parley/domain/kernel';
import { DELETE_REALM_DATA, type RealmDataRepository, type RemovalCursor } from '@parley/domain/realms';
import type { FeatureTables } from '../engine/feature.js';
import type { Command, Query, Statements } from '../engine/statements.js';

/**
 * Returns tables with rows of a realm, referencing tables first. `message_file` is removed with the messages, image
 * data with its files, and `realm` last.
 */
export const realmTablesOf = (features: readonly FeatureTables[]): readonly string[] =>
  [...features].reverse().flatMap(({ realmTables = [] }) => realmTables);

/** Returns tables with rows that are archived with a message. */
export const messageTablesOf = (features: readonly FeatureTables[]): readonly string[] =>
  features.flatMap(({ messageTables = [] }) => messageTables);

type Key = readonly (string | number)[];

interface TableStatements {
  /** Number of key columns. */
  readonly keyLength: number;
  /** Returns the first keys and whether each row belongs to the realm. */
  readonly first: Query<readonly (string | number)[]>;
  readonly next: Query<readonly (string | number)[]>;
  readonly remove: Command;
}

/** Rows examined per removable row, since rows of other realms lie in between. */
const LOOKS_PER_ROW = 10;

/**
 * Walks each table by primary key. The cost depends on all realms, but no index by realm is needed, which would slow
 * down every write.
 */
export class SqlRealmData implements RealmDataRepository {
  private readonly keyColumns;
  private readonly removeWithFile;
  private readonly removeLate;
  private readonly remove;
  /** Created on first use. */
  private readonly ofTables = new Map<string, TableStatements>();

  /** @param keyColumns statement that returns a table's primary key columns in order */
  constructor(
    private readonly statements: Statements,
    private readonly tables: readonly string[],
    keyColumns: string,
  ) {
    this.keyColumns = statements.values<string>(keyColumns);
    this.removeWithFile = ['file_image', 'thumbnail', 'awaited_thumbnail'].map((table) =>
      statements.command(`DELETE FROM ${table} WHERE file_id = ?`),
    );
    // The job of the deletion, and positions of consumers that store them in between.
    this.removeLate = ['job', 'event_consumer_position'].map((table) =>
      statements.command(`DELETE FROM ${table} WHERE realm_id = ?`),
    );
    this.remove = statements.command('DELETE FROM realm WHERE id = ?');
  }

  async removeSome(realmId: RealmId, from: RemovalCursor, limit: number): Promise<RemovalCursor | 'done'> {
    this.statements.disableCaching();
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
      await this.statements.yield();
    }
    return 'done';
  }

  async removeRealm(realmId: RealmId): Promise<void> {
    this.statements.disableCaching();
    for (const command of this.removeLate) command.defer(realmId);
    this.remove.defer(realmId);
  }

  private async statementsOf(table: string): Promise<TableStatements> {
    const known = this.ofTables.get(table);
    if (known) return known;
    const columns = await this.keyColumns.all(table);
    const keys = columns.join(', ');
    // Keeps the job that deletes the data until the work is done.
    const isMeant = table === 'job' ? `realm_id = ? AND kind <> '${DELETE_REALM_DATA.name}'` : 'realm_id = ?';
    const select = `SELECT ${keys}, ${isMeant} FROM "${table}"`;
    const end = `ORDER BY ${keys} LIMIT ? + 0`;
    const statements = {
      keyLength: columns.length,
      first: this.statements.tuples<readonly (string | number)[]>(`${select} ${end}`),
      next: this.statements.tuples<readonly (string | number)[]>(
        `${select} WHERE (${keys}) > (${columns.map(() => '?').join(', ')}) ${end}`,
      ),
      remove: this.statements.command(
        `DELETE FROM "${table}" WHERE ${columns.map((column) => `${column} = ?`).join(' AND ')}`,
      ),
    };
    this.ofTables.set(table, statements);
    return statements;
  }
}
