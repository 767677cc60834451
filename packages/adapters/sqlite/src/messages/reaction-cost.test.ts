import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UnicodeEmoji } from '@parley/domain/files';
import { AddReaction } from '@parley/domain/writing';
import { aChannel, aMessage, aUser, createFixtureOn, FixedClock, type Fixture } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { openSqliteStorage, type SqliteStorage } from '../index.js';

const directory = mkdtempSync(join(tmpdir(), 'parley-reactions-'));
const storages: SqliteStorage[] = [];
let statements: string[] = [];
afterAll(async () => {
  for (const storage of storages) await storage.close();
  rmSync(directory, { recursive: true });
});

const unicodeEmoji = (): UnicodeEmoji => ({
  namesByCode: new Map([['1f642', ['smile']]]),
  codesByName: new Map([['smile', '1f642']]),
});

/** False for checkpoints, which depend on the speed of the machine. */
const isOfUnit = (sql: string): boolean => !sql.startsWith('PRAGMA');

async function worldOf(subscribers: number): Promise<Fixture & { readonly path: string }> {
  const clock = new FixedClock();
  const path = join(directory, `${subscribers}.db`);
  const storage = openSqliteStorage({ path, clock, trace: (sql) => isOfUnit(sql) && statements.push(sql) });
  storages.push(storage);
  const names = Array.from({ length: subscribers }, (_, i) => `subscriber ${i}`);
  const fixture = await createFixtureOn(
    storage.uow,
    clock,
    aUser({ name: 'reader' }),
    ...names.map((name) => aUser({ name })),
    aChannel({ name: 'general', subscribers: names }),
    aMessage({ from: names[0]!, to: 'general' }),
  );
  return Object.assign(fixture, { path });
}

const react = (world: Fixture, who: string) =>
  new AddReaction(world.uow, unicodeEmoji, world.clock).execute(world.caller(who), {
    ...{ messageId: world.messages[0]!.id, name: 'smile', code: null, type: null },
  });

it('takes the same number of statements for few and many subscribers, and writes a row only for the reacting user', async () => {
  const taken: string[][] = [];
  for (const subscribers of [2, 60]) {
    const world = await worldOf(subscribers);
    // The first reaction fills the caches.
    await react(world, 'subscriber 1');
    statements = [];
    await react(world, 'reader');
    taken.push(statements.map((sql) => sql.replaceAll(/\d+/g, '#')));
    const database = new Sqlite(world.path, { readonly: true });
    const rows = database.prepare('SELECT count(*) FROM message_flag').pluck().get();
    database.close();
    expect(rows).toBe(1);
  }
  expect(taken[1]).toEqual(taken[0]);
});

it('uses only indexes for reactions', async () => {
  const { path } = await worldOf(3);
  const database = new Sqlite(path, { readonly: true });
  const planOf = (sql: string) =>
    (database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { readonly detail: string }[]).map(({ detail }) => detail);
  expect(planOf('SELECT count(*) FROM reaction WHERE message_id = 1 AND realm_id = 1')).toEqual([
    'SEARCH reaction USING COVERING INDEX reaction_by_emoji (message_id=?)',
  ]);
  const distinct = 'SELECT DISTINCT emoji_type, emoji_code FROM reaction WHERE message_id = 1 AND realm_id = 1';
  expect(planOf(distinct).filter((step) => /TEMP B-TREE|SCAN reaction/.test(step))).toEqual([]);
  const found = 'SELECT id, version FROM message m WHERE m.recipient_id = 1 AND m.property_bits & 128 ORDER BY id';
  expect(planOf(found)).toEqual([expect.stringContaining('USING COVERING INDEX message_with_reactions')]);
  database.close();
});
