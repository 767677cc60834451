import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWriter } from '../database.js';
import { openSqliteStorage, type SqliteStorage, type SqliteStorageOptions } from '../index.js';

/** Database with only the schema. */
let empty: Buffer | undefined;

/** Opens a storage at a path without a file. Copies the schema, which takes far less time than the migrations. */
export function openNewStorage(options: SqliteStorageOptions): SqliteStorage {
  empty ??= makeEmpty();
  writeFileSync(options.path, empty, { flag: 'wx' });
  return openSqliteStorage(options);
}

function makeEmpty(): Buffer {
  const directory = mkdtempSync(join(tmpdir(), 'parley-empty-'));
  const path = join(directory, 'parley.db');
  openWriter(path).close();
  const contents = readFileSync(path);
  rmSync(directory, { recursive: true });
  return contents;
}
