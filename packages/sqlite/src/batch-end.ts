import type { Database, Statement } from 'better-sqlite3';

/**
 * Rows that the units of a batch leave to its end, in their transaction but outside of savepoints: at every savepoint
 * FTS5 writes what it has gathered to its tables, and merges that with what is there, which costs several times what a
 * message does otherwise. Statements that name the table see the rows all the same: they are written before.
 */
export class BatchEnd {
  /** By statement, then by id. */
  private readonly rows = new Map<string, Map<number, readonly unknown[]>>();
  private readonly statements = new Map<string, Statement>();

  constructor(private readonly database: Database) {}

  /**
   * Leaves a row to a statement whose one parameter is a JSON list of rows. It may be run several times, and for rows of units
   * that have failed: it passes over what is written already, and over what it belongs to but is not there.
   */
  add(sql: string, id: number, row: readonly unknown[]): void {
    const rows = this.rows.get(sql);
    if (rows) rows.set(id, row);
    else this.rows.set(sql, new Map([[id, row]]));
  }

  write(): void {
    for (const [sql, rows] of this.rows) this.statementOf(sql).run(JSON.stringify([...rows.values()]));
  }

  clear(): void {
    this.rows.clear();
  }

  private statementOf(sql: string): Statement {
    const known = this.statements.get(sql);
    if (known) return known;
    const statement = this.database.prepare(sql);
    this.statements.set(sql, statement);
    return statement;
  }
}
