import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MessageId, UnixSeconds } from '@parley/domain/kernel';
import { aChannel, aMessage, aUser, createFixtureOn, FixedClock } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { openSqliteStorage } from '../index.js';

/** One more than a unit may append before the removal event. */
const EVENTS = 1001;

const directory = mkdtempSync(join(tmpdir(), 'parley-tombstones-'));
afterAll(() => rmSync(directory, { recursive: true }));

it('prunes traces of deleted messages together with their events', async () => {
  const path = join(directory, 'a.db');
  const clock = new FixedClock();
  const { uow, close } = openSqliteStorage({ path, clock });
  const fixture = await createFixtureOn(
    uow,
    clock,
    aUser({ name: 'iago' }),
    aUser({ name: 'hamlet' }),
    aChannel({ name: 'general', creator: 'iago', subscribers: ['iago'] }),
  );
  const { realm } = fixture;
  const userId = fixture.user('hamlet').id;
  const say = async (content: string): Promise<MessageId> => {
    const exceptions = { hamlet: { mentioned: true } };
    await uow.write(fixture.realm.id, (tx) =>
      aMessage({ from: 'iago', to: 'general', content, exceptions })(fixture, tx),
    );
    return fixture.messages.at(-1)!.id;
  };
  const remove = (id: MessageId) => uow.write(realm.id, (tx) => tx.messages.remove(realm.id, [id]));
  const tell = (count: number) =>
    uow.write(realm.id, async (tx) => {
      const event = { type: 'user.role_changed', userId, role: 'member' } as const;
      for (let n = 0; n < count; n++) await tx.events.append(realm.id, { event, audience: { kind: 'users', ids: [] } });
    });
  const left = () => {
    const db = new Sqlite(path, { readonly: true });
    const count = (table: string) => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get()!;
    const counts = [count('removed_message'), count('removed_message_holder')];
    db.close();
    return counts;
  };
  const pruneAll = () =>
    uow.write(realm.id, async (tx) =>
      tx.events.prune(realm.id, await tx.events.lastSeq(realm.id), (clock.now() + 1) as UnixSeconds, 1e6),
    );

  await remove(await say('first'));
  await tell(EVENTS);
  await remove(await say('second'));
  await tell(1);
  expect(left()).toEqual([2, 2]);
  await pruneAll();
  // The event about the second removal may still follow.
  expect(left()).toEqual([1, 1]);
  await tell(EVENTS);
  await pruneAll();
  expect(left()).toEqual([0, 0]);
  await close();
});
