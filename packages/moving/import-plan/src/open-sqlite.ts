import { createRequire } from 'node:module';
import { loadBinary, requireLoadableDriver } from '@parley/domain/kernel';
import Sqlite, { type Database } from 'better-sqlite3';

const require = createRequire(import.meta.url);

/** Opens or creates a temporary file. @throws MissingLibrary if better-sqlite3 has no binary for this Node */
export function openSqlite(path: string): Database {
  requireLoadableDriver(require('better-sqlite3/package.json').version, process.versions.napi);
  return loadBinary('better-sqlite3', () => new Sqlite(path));
}
