import { ROW_TABLES } from '@parley/storage';
import { storageContracts } from '@parley/testkit/contracts';
import type { Damage } from '@parley/testkit/memory';
import pg from 'pg';
import { openPostgresStorage } from '../database.js';
import { createDatabase } from '../testing/databases.js';

describe('PostgreSQL storage', () => {
  storageContracts(async (clock) => {
    const { url, drop } = await createDatabase();
    const { uow, close } = await openPostgresStorage({ url, clock });
    return {
      uow,
      damage: damageTo(url),
      async close() {
        await close();
        await drop();
      },
    };
  }, ROW_TABLES);
});

/** Damages data in the way another program would. */
function damageTo(url: string): Damage {
  const run = async (table: string, parts: object, key: Readonly<Record<string, unknown>>) => {
    const values: unknown[] = [];
    const equal = ([column, value]: [string, unknown]) => `${column} = $${values.push(value)}`;
    const changes = Object.entries(parts).map(equal);
    const conditions = Object.entries(key).map(equal);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`UPDATE ${table} SET ${changes.join(', ')} WHERE ${conditions.join(' AND ')}`, values);
    await client.end();
  };
  return {
    event: (realmId, seq, parts) => run('event', parts, { realm_id: realmId, seq }),
    queue: (id, parts) => run('event_queue', parts, { id }),
  };
}
