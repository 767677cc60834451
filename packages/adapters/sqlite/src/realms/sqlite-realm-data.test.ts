import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RemovalCursor } from '@parley/domain/realms';
import { realmTablesOf } from '@parley/storage';
import { aChannel, aMessage, anotherRealm, aUser, createFixtureOn, FixedClock } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { migrate } from '../engine/migrate.js';
import { FEATURES, MIGRATIONS } from '../features.js';
import { openSqliteStorage } from '../index.js';

const TABLES_OF_REALMS = realmTablesOf(FEATURES);

it('removes the rows of every table with a realm column', () => {
  const database = new Sqlite(':memory:');
  migrate(database, MIGRATIONS);
  const tables = database
    .prepare<[], string>(
      `SELECT DISTINCT t.name FROM sqlite_schema t JOIN pragma_table_xinfo(t.name) c
       WHERE t.type = 'table' AND c.name = 'realm_id' ORDER BY t.name`,
    )
    .pluck()
    .all();
  expect(tables).toEqual([...TABLES_OF_REALMS].sort());
});

it('removes the given number of rows per step and finally all rows of the realm but no others', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-realm-data-'));
  const path = join(directory, 'a.db');
  const clock = new FixedClock();
  const storage = openSqliteStorage({ path, clock });
  const pieces = (who: string) => [
    aChannel({ name: 'general', subscribers: [who] }),
    ...Array.from({ length: 10 }, () => aMessage({ from: who, to: 'general' })),
  ];
  const fixture = await createFixtureOn(storage.uow, clock, aUser({ name: 'iago' }), ...pieces('iago'));
  await anotherRealm(fixture, ...pieces('otherRealmUser'));
  const reader = new Sqlite(path, { readonly: true });
  const counts = TABLES_OF_REALMS.map((table) =>
    reader.prepare<[number], number>(`SELECT count(*) FROM ${table} WHERE realm_id = ?`).pluck(),
  );
  const rowsOf = (realmId: number) => counts.reduce((sum, count) => sum + count.get(realmId)!, 0);
  const [own, others] = await storage.uow.readAcross((r) => r.realms.list());
  const othersBefore = rowsOf(others!.id);
  let left = rowsOf(own!.id);
  expect(left).toBeGreaterThan(40);
  for (let cursor: RemovalCursor | 'done' = null; cursor !== 'done'; ) {
    const from: RemovalCursor = cursor;
    cursor = await storage.uow.write(own!.id, (tx) => tx.realmData.removeSome(own!.id, from, 7));
    const now = rowsOf(own!.id);
    expect(left - now).toBeLessThanOrEqual(7);
    left = now;
  }
  expect([left, rowsOf(others!.id)]).toEqual([0, othersBefore]);
  reader.close();
  await storage.close();
  rmSync(directory, { recursive: true });
});
