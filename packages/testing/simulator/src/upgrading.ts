import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { migrate, openDatabaseFile, SQLITE_MIGRATIONS } from '@parley/sqlite';

/** Schema steps of the last release, 0.3.0. */
const LAST_RELEASE = SQLITE_MIGRATIONS.slice(0, 64);

/** Replaces the database by one with the schema of the last release and all rows and columns that it has. */
export function returnToLastRelease(path: string): void {
  const former = `${path}-former`;
  // Makes the tables of the search index writable.
  const database = openDatabaseFile(former).unsafeMode();
  migrate(database, LAST_RELEASE);
  database.pragma('foreign_keys = OFF');
  database.prepare('ATTACH ? AS present').run(path);
  const list = (sql: string) => database.prepare<[], string>(sql).pluck().all();
  const id = database.pragma('present.application_id', { simple: true });
  database.pragma(`application_id = ${id}`);
  // Copied rows already have the effects of triggers.
  const triggers = list("SELECT sql FROM sqlite_schema WHERE type = 'trigger'");
  for (const drop of list("SELECT 'DROP TRIGGER ' || name FROM sqlite_schema WHERE type = 'trigger'"))
    database.exec(drop);
  const tables = list("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name <> 'schema_step'");
  for (const table of tables) {
    const columns = list(`SELECT '"' || name || '"' FROM pragma_table_info('${table}')`).join();
    database.exec(`DELETE FROM main."${table}"`);
    database.exec(`INSERT INTO main."${table}" (${columns}) SELECT ${columns} FROM present."${table}"`);
  }
  for (const trigger of triggers) database.exec(trigger);
  database.close();
  // The file stays the same one, because the server checks its identity.
  writeFileSync(path, readFileSync(former));
  for (const file of [former, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
}
