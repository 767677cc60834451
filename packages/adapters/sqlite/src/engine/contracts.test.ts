import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROW_TABLES } from '@parley/storage';
import { storageContracts } from '@parley/testkit/contracts';
import type { Damage } from '@parley/testkit/memory';
import Sqlite from 'better-sqlite3';
import { openNewStorage } from '../testing/new-storage.js';

describe('SQLite storage', () => {
  storageContracts((clock) => {
    const directory = mkdtempSync(join(tmpdir(), 'parley-sqlite-'));
    const path = join(directory, 'parley.db');
    const { uow, close } = openNewStorage({ path, clock });
    return {
      uow,
      damage: damageTo(path),
      refusesYielding: true,
      async close() {
        await close();
        rmSync(directory, { recursive: true });
      },
    };
  }, ROW_TABLES);
});

/** Damages data in the way another program would. */
function damageTo(path: string): Damage {
  const run = (table: string, parts: object, where: string, ...key: readonly unknown[]) => {
    const database = new Sqlite(path);
    const columns = Object.keys(parts).map((column) => `${column} = ?`);
    database.prepare(`UPDATE ${table} SET ${columns} WHERE ${where}`).run(...Object.values(parts), ...key);
    database.close();
  };
  return {
    event: async (realmId, seq, parts) => run('event', parts, 'realm_id = ? AND seq = ?', realmId, seq),
    queue: async (id, parts) => run('event_queue', parts, 'id = ?', id),
  };
}
