import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MessageFilter, PLAIN_TEXTS } from '@parley/domain/messages';
import { aChannel, aMessage, aUser, createFixtureOn, FixedClock, type Fixture } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { openSqliteStorage, type SqliteStorage } from '../index.js';
import { defineSearchFunctions } from './conditions.js';

/** More than the maximum number of function arguments. */
const MESSAGES = 150_000;

describe('marking very many messages as read', () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-unread-'));
  let storage: SqliteStorage;
  let fixture: Fixture;
  beforeAll(async () => {
    const clock = new FixedClock();
    const path = join(directory, 'parley.db');
    storage = openSqliteStorage({ path, clock });
    fixture = await createFixtureOn(
      storage.uow,
      clock,
      aUser({ name: 'reader' }),
      aUser({ name: 'writer' }),
      aUser({ name: 'other' }),
      aChannel({ name: 'busy', subscribers: ['reader', 'writer', 'other'] }),
      aMessage({ from: 'writer', to: 'busy' }),
    );
    copyMessage(path);
    await fixture.add(aMessage({ from: 'other', to: 'busy' }));
  });
  afterAll(async () => {
    await storage.close();
    rmSync(directory, { recursive: true });
  });

  /** Duplicates the only message repeatedly. */
  function copyMessage(path: string): void {
    const database = new Sqlite(path);
    defineSearchFunctions(database, PLAIN_TEXTS);
    const columns = database
      .prepare("SELECT name FROM pragma_table_info('message') WHERE name NOT IN ('id', 'ordinal')")
      .pluck()
      .all()
      .join();
    database
      .prepare(
        `WITH RECURSIVE number (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number WHERE n < ${MESSAGES})
         INSERT INTO message (ordinal, ${columns}) SELECT n, ${columns} FROM number, (SELECT ${columns} FROM message)`,
      )
      .run();
    database.prepare('UPDATE recipient SET last_ordinal = ? WHERE channel_id IS NOT NULL').run(MESSAGES);
    database.close();
  }

  it('marks more messages than a function accepts arguments', async () => {
    const viewer = { realmId: fixture.realm.id, userId: fixture.user('reader').id };
    const fromWriter = { kind: 'sender', userId: fixture.user('writer').id } as const;
    const filter: MessageFilter = { conditions: [fromWriter], scope: 'own' };
    expect(await storage.uow.write(viewer.realmId, ({ personal }) => personal.markRead(viewer, filter))).toHaveLength(
      MESSAGES,
    );
    expect(await storage.uow.read(viewer.realmId, ({ personal }) => personal.listUnread(viewer, 10))).toHaveLength(1);
  });
});
