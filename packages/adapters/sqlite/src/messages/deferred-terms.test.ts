import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MessageId } from '@parley/domain/kernel';
import { type MessageCondition, not } from '@parley/domain/messages';
import { aChannel, aMessage, aUser, createFixtureOn, FixedClock, type Fixture } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { openSqliteStorage, type SqliteStorage } from '../index.js';

const directory = mkdtempSync(join(tmpdir(), 'parley-following-'));
const storages: SqliteStorage[] = [];
let path: string;
let fixture: Fixture;

const open = (file: string): SqliteStorage => {
  const storage = openSqliteStorage({ path: file, clock: new FixedClock() });
  storages.push(storage);
  return storage;
};

beforeEach(async () => {
  path = join(directory, `${storages.length}.db`);
  fixture = await createFixtureOn(
    open(path).uow,
    new FixedClock(),
    aUser({ name: 'ann' }),
    aChannel({ name: 'general', subscribers: ['ann'] }),
    aMessage({ from: 'ann', to: 'general', content: 'first' }),
  );
});

afterAll(async () => {
  for (const storage of storages) await storage.close();
  rmSync(directory, { recursive: true });
});

const send = (content: string) =>
  fixture.uow.write(fixture.realm.id, (tx) => aMessage({ from: 'ann', to: 'general', content })(fixture, tx));

const word = (text: string): MessageCondition => ({ kind: 'search', words: [[[text]]], phrases: [] });

const read = (conditions: readonly MessageCondition[], uow = fixture.uow) =>
  uow.read(fixture.realm.id, async ({ pages, searchIndex }) => {
    const found = await pages.listEntriesUpTo(fixture.viewer('ann'), { conditions, scope: 'own' }, null, 100);
    return { found: found.map(({ id }) => id), unindexedUpTo: await searchIndex.unindexedUpTo(fixture.realm.id) };
  });

const find = async (condition: MessageCondition, uow?: Fixture['uow']): Promise<readonly MessageId[]> =>
  (await read([condition], uow)).found;

/** Number of messages with terms. */
function indexed(): number {
  const database = new Sqlite(path, { readonly: true });
  try {
    return database.prepare<[], number>('SELECT count(*) FROM message_search_docsize').pluck().get()!;
  } finally {
    database.close();
  }
}

const newest = () => fixture.messages.at(-1)!.id;

it('finds and excludes a message right after it was sent', async () => {
  await send('second');
  expect(indexed()).toBe(0);
  expect(await find(word('second'))).toEqual([newest()]);
  expect(await find(not(word('first')))).toEqual([newest()]);
  expect(indexed()).toBe(2);
});

it('finds messages that are sent while others are searched', async () => {
  const searches = Array.from({ length: 20 }, async (_, n) => {
    await send(`number ${n}`);
    expect(await find(word(`${n}`))).toHaveLength(1);
  });
  await Promise.all(searches);
});

it('finds the present text of a message that was edited before its terms were added', async () => {
  await send('mistake');
  const text = { hasLink: false, hasImage: false, hasAttachment: false, mentionsChannel: false, exceptions: new Map() };
  await fixture.uow.write(fixture.realm.id, (tx) =>
    tx.messages.edit(fixture.realm.id, newest(), {
      ...fixture.messages.at(-1)!,
      ...text,
      content: 'correct',
      renderedContent: '<p>correct</p>',
      editedAt: 1,
    } as never),
  );
  expect(await find(word('mistake'))).toEqual([]);
  expect(await find(word('correct'))).toEqual([newest()]);
});

it('adds terms within two seconds without a search', async () => {
  await send('second');
  for (let waited = 0; indexed() < 2 && waited < 20_000; waited += 100) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(indexed()).toBe(2);
});

it('finds messages that had no terms when the process was killed', async () => {
  await send('second');
  const copy = join(directory, 'copy.db');
  for (const end of ['', '-wal']) copyFileSync(`${path}${end}`, `${copy}${end}`);
  expect(await find(word('second'), open(copy).uow)).toEqual([newest()]);
});

it('reads without the newest messages, and reports that they are missing, while another process holds the write lock', async () => {
  await send('second');
  const storage = open(path);
  const other = new Sqlite(path);
  other.exec('BEGIN IMMEDIATE');
  try {
    expect(await read([word('second')], storage.uow)).toEqual({ found: [], unindexedUpTo: newest() });
  } finally {
    other.exec('ROLLBACK');
    other.close();
  }
  expect(await find(word('second'), storage.uow)).toEqual([newest()]);
});

it('does not report missing terms if the messages of a short conversation are searched without the index', async () => {
  await send('second');
  const { recipientId } = fixture.channel('general');
  expect(await read([{ kind: 'recipient', recipientIds: [recipientId] }, word('second')])).toEqual({
    found: [newest()],
    unindexedUpTo: 0,
  });
  expect(indexed()).toBe(0);
});
