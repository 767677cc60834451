import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { loadBinary, requireLoadableDriver } from '@parley/domain/kernel';
import Sqlite, { type Database, type Options } from 'better-sqlite3';

const require = createRequire(import.meta.url);

const binaryPath = () =>
  join(dirname(require.resolve('better-sqlite3/package.json')), 'build/Release/better_sqlite3.node');

/**
 * True if better-sqlite3 was compiled with the headers of Node 24.19 or later, which make it end the process
 * (nodejs/node#65446). Prebuilt binaries are safe.
 */
export const isUnsafeBinary = (path = binaryPath()): boolean =>
  existsSync(path) && readFileSync(path).includes('RemoveEnvironmentCleanupHook');

/** Opens a file. @throws MissingLibrary if better-sqlite3 has no binary for this Node; SqliteError */
export function openDatabaseFile(path: string, options?: Options): Database {
  requireLoadableDriver(require('better-sqlite3/package.json').version, process.versions.napi);
  return loadBinary('better-sqlite3', () => new Sqlite(path, options));
}
