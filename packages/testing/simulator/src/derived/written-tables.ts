import { openDatabaseFile } from '@parley/sqlite';
import type { SimulatedDisk } from '../disk.js';

const WRITTEN = /^\s*(?:INSERT(?: OR \w+)? INTO|UPDATE(?: OR \w+)?|DELETE FROM|REPLACE INTO)\s+"?(\w+)/i;

/** Tables written by committed transactions, by the statements of the server and the counter of changes of the file. */
export class WrittenTables {
  private readonly reader;
  private version: unknown;
  private statements: string[] = [];
  private beforeUnit = 0;
  private tables = new Set<string>();

  constructor(private readonly disk: SimulatedDisk) {
    this.reader = openDatabaseFile(disk.path, { readonly: true });
    disk.onStatement = (sql) => this.note(sql);
    this.begin();
  }

  begin(): void {
    this.statements = [];
    this.tables.clear();
    this.version = this.reader.pragma('data_version', { simple: true });
  }

  /** Tables that the file may have other rows of since `begin`. */
  end(): readonly string[] {
    const isSame = this.version === this.reader.pragma('data_version', { simple: true });
    return isSame ? [] : [...this.tables].sort();
  }

  close(): void {
    this.disk.onStatement = () => {};
    this.reader.close();
  }

  private note(sql: string): void {
    if (sql === 'SAVEPOINT unit') this.beforeUnit = this.statements.length;
    else if (sql === 'ROLLBACK TO unit') this.statements.length = this.beforeUnit;
    else if (sql === 'ROLLBACK') this.statements = [];
    else if (sql === 'COMMIT') for (const table of this.statements.splice(0)) this.tables.add(table);
    else {
      const [, table] = WRITTEN.exec(sql) ?? [];
      if (table !== undefined) this.statements.push(table);
    }
  }
}
