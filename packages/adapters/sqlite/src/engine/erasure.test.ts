import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MessageId } from '@parley/domain/kernel';
import { aChannel, aMessage, aUser, createFixtureOn, FixedClock } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { openSqliteStorage, type SqliteStorage } from '../index.js';
import { administerDatabase } from '../maintenance.js';

let directory: string;
let path: string;
let storage: SqliteStorage;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parley-erasure-'));
  path = join(directory, 'parley.db');
});
afterEach(async () => {
  await storage.close();
  rmSync(directory, { recursive: true });
});

const CANARY = 'zvcanaryjxk';
const hasCanary = () => [path, `${path}-wal`].some((file) => readFileSync(file, 'latin1').includes('vcanaryjxk'));

/** Opens the database and sends messages of different lengths; the first one contains the canary. */
async function sendMessages(count: number) {
  const clock = new FixedClock();
  storage = openSqliteStorage({ path, clock });
  const fixture = await createFixtureOn(
    storage.uow,
    clock,
    aUser({ name: 'iago' }),
    aChannel({ name: 'general', creator: 'iago', subscribers: ['iago'] }),
  );
  const { id: realmId } = fixture.realm;
  const texts = Array.from(
    { length: count },
    (_, n) => `${n === 0 ? CANARY : 'word'} number${n} ${'x'.repeat(n % 3000)}`,
  );
  await storage.uow.write(realmId, async (tx) => {
    for (const content of texts) await aMessage({ from: 'iago', to: 'general', content })(fixture, tx);
    await tx.searchIndex.reset();
    while (await tx.searchIndex.indexSome(1000));
  });
  return {
    remove: (from: number, to: number) =>
      storage.uow.write(realmId, async (tx) => {
        const ids: readonly MessageId[] = fixture.messages.slice(from, to).map(({ id }) => id);
        await tx.messages.remove(realmId, ids);
        await tx.events.prune(realmId, await tx.events.lastSeq(realmId), (clock.now() + 1) as never, 1e6);
      }),
  };
}

/** Makes the database like those of releases that left deleted text in the file. */
function makeFormer(): void {
  const database = new Sqlite(path);
  database.pragma('journal_mode = DELETE');
  database.pragma('auto_vacuum = NONE');
  database.exec('VACUUM');
  database.pragma('secure_delete = OFF');
  database.exec(`CREATE TABLE former (text); INSERT INTO former VALUES ('${CANARY}'); DELETE FROM former`);
  database.exec(`INSERT INTO former VALUES ('${CANARY.repeat(2000)}'); DROP TABLE former`);
  database.close();
}

it('returns the space of deleted messages to the file system, except some free pages', async () => {
  const { remove } = await sendMessages(1500);
  await storage.eraseDeleted();
  const before = readFileSync(path).length;
  await remove(0, 1500);
  await storage.eraseDeleted();
  expect(hasCanary()).toBe(false);
  expect(readFileSync(path).length).toBeLessThan(before - 1_000_000);
  expect(readFileSync(`${path}-wal`)).toHaveLength(0);
});

it('ends early when it is aborted', async () => {
  const { remove } = await sendMessages(10);
  await remove(0, 1);
  await storage.eraseDeleted(AbortSignal.abort());
  expect(hasCanary()).toBe(true);
});

describe('compacting a database of a former release', () => {
  it('removes text that was deleted before', async () => {
    await sendMessages(10).then(({ remove }) => remove(0, 1));
    await storage.close();
    makeFormer();
    const administration = administerDatabase(path);
    expect(administration.inspect().isCompacted).toBe(false);
    expect(readFileSync(path, 'latin1')).toContain(CANARY);
    administration.compact();
    expect(administration.inspect().isCompacted).toBe(true);
    expect(readFileSync(path, 'latin1')).not.toContain('vcanaryjxk');
    storage = openSqliteStorage({ path, clock: new FixedClock() });
    const realms = await storage.uow.readAcross((reads) => reads.realms.list());
    expect(realms).toHaveLength(1);
  });

  it('is rejected while a server uses the database', async () => {
    await sendMessages(1);
    expect(() => administerDatabase(path).compact()).toThrow(
      `Cannot compact database ${path}: another process uses it. Stop the server first.`,
    );
  });
});
