import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventQueue, EventSeq, Transaction, UnixSeconds } from '@parley/domain/kernel';
import { aUser, createFixtureOn, FixedClock, type Fixture } from '@parley/testkit';
import Sqlite, { type Database } from 'better-sqlite3';
import { openSqliteStorage, type SqliteStorage } from '../index.js';

const QUEUES = 50;

describe('event queue housekeeping', () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-queue-cost-'));
  let statements: string[] = [];
  let storage: SqliteStorage;
  let fixture: Fixture;
  let database: Database;

  beforeAll(async () => {
    const path = join(directory, 'queues.db');
    const clock = new FixedClock();
    storage = openSqliteStorage({ path, clock, trace: (sql) => statements.push(sql) });
    fixture = await createFixtureOn(storage.uow, clock, aUser({ name: 'owner' }));
    await fixture.uow.write(fixture.realm.id, async (tx) => {
      for (let n = 0; n < QUEUES; n++) await tx.queues.add(queue(n));
    });
    database = new Sqlite(path, { readonly: true });
  });
  afterAll(async () => {
    database.close();
    await storage.close();
    rmSync(directory, { recursive: true });
  });

  const queue = (n: number): EventQueue => ({
    id: `queue ${n}`,
    realmId: fixture.realm.id,
    ownerId: fixture.user('owner').id,
    filter: { allPublicChannels: false, narrow: [] },
    presentation: {},
    startSeq: 1 as EventSeq,
    acked: -1,
    floorSeq: 1 as EventSeq,
    lastPolledAt: 1 as UnixSeconds,
    idleTimeoutSeconds: 600,
  });
  const position = (n: number) => ({
    id: `queue ${n}`,
    acked: 1024,
    floorSeq: 1 as EventSeq,
    lastPolledAt: 2 as UnixSeconds,
  });

  it.each<[string, (tx: Transaction) => Promise<unknown>]>([
    ['stores queue positions', (tx) => tx.queues.savePositions(fixture.realm.id, [1, 2, 3].map(position))],
    [
      'removes idle queues',
      (tx) => tx.queues.removeIdle({ before: 100 as UnixSeconds, servedSince: 1 as UnixSeconds }, 10),
    ],
    ['removes lagging queues', (tx) => tx.queues.removeBehind(fixture.realm.id, 1, 10)],
    ['removes given queues', (tx) => tx.queues.remove(fixture.realm.id, ['queue 1', 'queue 2'])],
  ])('%s through an index to each queue instead of all rows of the realm', async (_, work) => {
    statements = [];
    await fixture.uow.writeAcross(work);
    const details = statements
      .filter((sql) => sql.includes('event_queue'))
      .flatMap((sql) => database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { readonly detail: string }[])
      .map(({ detail }) => detail)
      .filter((detail) => /^(SCAN|SEARCH) event_queue/.test(detail));
    expect(details.length).toBeGreaterThan(0);
    for (const detail of details) {
      expect(detail).toMatch(/^SEARCH/);
      expect(detail).not.toMatch(/\(realm_id=\?\)$/);
    }
  });
});
