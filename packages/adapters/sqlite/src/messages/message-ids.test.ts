import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MessageId } from '@parley/domain/kernel';
import { PLAIN_TEXTS } from '@parley/domain/messages';
import { aChannel, aMessage, aUser, createFixtureOn, FixedClock } from '@parley/testkit';
import { openSqliteStorage, type SqliteStorage } from '../index.js';

const directory = mkdtempSync(join(tmpdir(), 'parley-ids-'));
const path = join(directory, 'parley.db');
const clock = new FixedClock();
const statements: string[] = [];
const storages: SqliteStorage[] = [];
const open = (): SqliteStorage => {
  const storage = openSqliteStorage({ path, clock, words: PLAIN_TEXTS, trace: (sql) => statements.push(sql) });
  storages.push(storage);
  return storage;
};
afterAll(async () => {
  for (const storage of storages) await storage.close();
  rmSync(directory, { recursive: true });
});

it('gives ids that ascend across processes, restarts, deletions and rollbacks', async () => {
  const first = open();
  const fixture = await createFixtureOn(
    first.uow,
    clock,
    aUser({ name: 'a' }),
    aChannel({ name: 'town', subscribers: ['a'] }),
  );
  const { realm } = fixture;
  const ids: MessageId[] = [];
  const send = async ({ uow }: SqliteStorage, fails = false) => {
    const sending = uow.write(realm.id, async (tx) => {
      await aMessage({ from: 'a', to: 'town' })(fixture, tx);
      if (fails) throw new Error('refused');
    });
    if (fails) await expect(sending).rejects.toThrow('refused');
    else {
      await sending;
      ids.push(fixture.messages.at(-1)!.id);
    }
  };
  const other = open();
  await send(first, true);
  await send(other);
  for (let n = 0; n < 3; n++) await send(first);
  await send(other);
  await send(first);
  await send(first, true);
  for (let n = 0; n < 150; n++) await send(first);
  const last = ids.at(-1)!;
  await first.uow.write(realm.id, (tx) => tx.messages.remove(realm.id, [last]));
  await send(first);
  await first.uow.write(realm.id, (tx) => tx.messages.remove(realm.id, [ids.at(-1)!]));
  await send(open());
  expect(ids.every((id, n) => n === 0 || id > ids[n - 1]!)).toBe(true);
  const raised = statements.filter((sql) => /^UPDATE sqlite_sequence/.test(sql)).length;
  expect(raised).toBeGreaterThan(3);
  expect(raised).toBeLessThan(20);
});
