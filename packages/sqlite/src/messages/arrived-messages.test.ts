import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { receivedMessagesIn } from '@parley/domain/messages';
import type { MessageId, Transaction } from '@parley/domain/shared';
import { aChannel, aMessage, aUser, createFixtureOn, FixedClock } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { Connection, REPLACES_MESSAGES } from '../connection.js';
import { openSqliteStorage, type SqliteStorage } from '../index.js';
import { ArrivedMessages } from './arrived-messages.js';

const WALK = /json_group_array\(ordinal\)/;

let directory: string;
let storages: SqliteStorage[];
let statements: string[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parley-arrived-'));
  storages = [];
  statements = [];
});
afterEach(async () => {
  for (const storage of storages) await storage.close();
  rmSync(directory, { recursive: true });
});

const open = (clock: FixedClock): SqliteStorage => {
  const storage = openSqliteStorage({
    path: join(directory, 'parley.db'),
    clock,
    trace: (sql) => statements.push(sql),
  });
  storages.push(storage);
  return storage;
};
const say = (to: string, topic: string) => aMessage({ from: 'writer', to, topic });

/** Two conversations that went on at the same time, of which nobody has read anything, and a channel beside. */
async function conversations() {
  const clock = new FixedClock();
  const readers = ['early', 'late', 'later'];
  const both = ['plans', 'lunch', 'plans', 'lunch', 'plans', 'lunch'];
  const fixture = await createFixtureOn(
    open(clock).uow,
    clock,
    ...['writer', ...readers].map((name) => aUser({ name })),
    aChannel({ name: 'busy', subscribers: ['writer', ...readers] }),
    aChannel({ name: 'quiet', subscribers: ['writer', ...readers] }),
    ...both.map((topic) => say('busy', topic)),
  );
  const { realm, uow } = fixture;
  const { recipientId } = fixture.channel('busy');
  const mark = (who: string, topic: string | null, tx: Pick<Transaction, 'personal'>) =>
    tx.personal.markRead(fixture.viewer(who), receivedMessagesIn(recipientId, topic));
  const idsIn = (topic: string | null) =>
    uow.read(async (r) =>
      (await r.pages.listEntriesUpTo(fixture.viewer('writer'), receivedMessagesIn(recipientId, topic), null, 100))
        .map(({ id }) => id)
        .sort((a, b) => a - b),
    );
  return {
    ...{ fixture, clock, realm, uow, idsIn, mark },
    ids: fixture.messages.map(({ id }) => id),
    marks: (who: string, topic: string | null) => uow.write((tx) => mark(who, topic, tx)),
    moveTo: (name: string, topic: string | null, ...ids: readonly MessageId[]) =>
      uow.write((tx) => {
        const { recipientId: target, id: channelId } = fixture.channel(name);
        const to = { recipientId: target, channelId, topic, movedAt: 9, isHistoryProtected: false };
        return tx.moves.move(realm.id, ids, to);
      }),
  };
}
type Scene = Awaited<ReturnType<typeof conversations>>;

it('walks once along a topic that several people mark', async () => {
  const { marks, ids } = await conversations();
  const plans = [ids[0]!, ids[2]!, ids[4]!];
  expect(await marks('early', 'plans')).toEqual(plans);
  expect(statements.filter((sql) => WALK.test(sql))).toHaveLength(1);
  statements = [];
  expect(await marks('late', 'plans')).toEqual(plans);
  expect(await marks('late', 'plans')).toEqual([]);
  expect(statements.filter((sql) => WALK.test(sql))).toEqual([]);
});

it('walks along what is new alone', async () => {
  const { marks, ids, fixture } = await conversations();
  await marks('early', 'plans');
  await fixture.add(say('busy', 'lunch'), say('busy', 'plans'));
  statements = [];
  expect(await marks('late', 'plans')).toEqual([ids[0]!, ids[2]!, ids[4]!, fixture.messages.at(-1)!.id]);
  expect(statements.filter((sql) => WALK.test(sql))).toHaveLength(1);
  expect(statements.find((sql) => WALK.test(sql))).toMatch(/f\.ordinal >= 7\b/);
  statements = [];
  expect(await marks('later', 'plans')).toHaveLength(4);
  expect(statements.filter((sql) => WALK.test(sql))).toEqual([]);
});

it('walks again for who has more to read than whoever marked before', async () => {
  const { uow, fixture, marks, ids } = await conversations();
  await uow.write((tx) => tx.personal.setRead(fixture.viewer('early'), ids.slice(0, 4), true));
  expect(await marks('early', 'plans')).toEqual([ids[4]]);
  expect(await marks('late', 'plans')).toEqual([ids[0], ids[2], ids[4]]);
  // And less of what is known for who has less.
  await uow.write((tx) => tx.personal.setRead(fixture.viewer('later'), ids.slice(0, 2), true));
  expect(await marks('later', 'plans')).toEqual([ids[2], ids[4]]);
});

describe('what somebody marks after another one', () => {
  it.each<[string, (scene: Scene) => Promise<unknown>]>([
    ['is removed', ({ uow, realm, ids }) => uow.write((tx) => tx.messages.remove(realm.id, [ids[2]!]))],
    ['goes to another topic', ({ moveTo, ids }) => moveTo('busy', 'lunch', ids[2]!)],
    ['comes from another topic', ({ moveTo, ids }) => moveTo('busy', 'Plans', ids[1]!, ids[3]!)],
    ['goes to another channel', ({ moveTo, ids }) => moveTo('quiet', null, ids[2]!)],
    [
      'is removed and put back',
      async ({ uow, realm, ids, marks }) => {
        await uow.write(async (tx) => {
          await tx.archive.keep(realm.id, [ids[2]!], { deletedAt: 5, deletedBy: null });
          await tx.messages.remove(realm.id, [ids[2]!]);
        });
        expect(await marks('early', 'plans')).toEqual([]);
        expect(await marks('later', 'plans')).toHaveLength(2);
        await uow.write((tx) => tx.archive.restore(realm.id, [ids[2]!]));
      },
    ],
    [
      'is removed by another process',
      ({ clock, realm, ids }) => open(clock).uow.write((tx) => tx.messages.remove(realm.id, [ids[2]!])),
    ],
  ])('%s', async (_, change) => {
    const scene = await conversations();
    for (const topic of ['plans', 'lunch', null]) await scene.marks('early', topic);
    await change(scene);
    const [plans, lunch] = [await scene.idsIn('plans'), await scene.idsIn('lunch')];
    expect(await scene.marks('late', 'plans')).toEqual(plans);
    expect(await scene.marks('late', null)).toEqual(lunch);
  });

  // Without savepoints, and with them, as after a batch that had to begin anew.
  it.each([false, true])('was never sent (savepoints: %s)', async (hasSavepoints) => {
    const { uow, fixture, mark, marks, ids, idsIn } = await conversations();
    const failing = (work: (tx: Transaction) => Promise<unknown>) =>
      expect(
        uow.write(async (tx) => {
          await work(tx);
          throw new Error('given up');
        }),
      ).rejects.toThrow('given up');
    const seen: (readonly MessageId[])[] = [];
    const sendAndMark = () =>
      failing(async (tx) => {
        await say('busy', 'plans')(fixture, tx);
        seen.push(await mark('early', 'plans', tx));
      });
    const nothing = () => uow.write(async () => {});
    if (hasSavepoints) {
      await Promise.all([nothing(), failing((tx) => say('quiet', 'x')(fixture, tx))]);
      await Promise.all([nothing(), sendAndMark()]);
    } else {
      await sendAndMark();
    }
    expect(seen[0]).toHaveLength(4);
    const lost = seen[0]![3]!;
    // Takes the place that the other one had.
    await fixture.add(say('busy', 'lunch'));
    expect(await idsIn('lunch')).toEqual([ids[1], ids[3], ids[5], lost]);
    expect(await marks('late', 'plans')).toEqual([ids[0], ids[2], ids[4]]);
    expect(await marks('early', 'plans')).toEqual([ids[0], ids[2], ids[4]]);
  });
});

/** What may change of a message that stays where it is. */
const STAYING = /^(content|rendered_content|last_edited_at|last_moved_at|version|property_bits)$/;

it('no statement moves or removes messages without being known for it', () => {
  const prepared: string[] = [];
  for (const shape of ['rows', 'values', 'tuples', 'command'] as const) {
    const original = Connection.prototype[shape] as (sql: string) => never;
    jest.spyOn(Connection.prototype, shape).mockImplementation(function (this: Connection, sql: string) {
      prepared.push(sql);
      return original.call(this, sql);
    });
  }
  open(new FixedClock());
  jest.restoreAllMocks();
  const writing = prepared.filter((sql) => /\b(UPDATE|DELETE FROM|INTO) message\b/.test(sql));
  const known = writing.filter((sql) => REPLACES_MESSAGES.test(sql));
  const others = writing.filter((sql) => !REPLACES_MESSAGES.test(sql));
  expect(known.length).toBeGreaterThanOrEqual(3);
  expect(others.length).toBeGreaterThanOrEqual(4);
  for (const sql of others.filter((each) => !/INSERT INTO message\b/.test(each))) {
    const [, changes = ''] = /UPDATE message\s+SET\s+(.*?)\s+WHERE/s.exec(sql) ?? [];
    const columns = [...changes.matchAll(/(?:^|,)\s*(\w+) = /g)].map(([, column]) => column!);
    expect([sql, columns.length > 0, columns.filter((column) => !STAYING.test(column))]).toEqual([sql, true, []]);
  }
});

describe('what is kept', () => {
  /** Which of the lists, asked for one after the other, took a walk. */
  async function walksOf(limits: ConstructorParameters<typeof ArrivedMessages>[1], topics: readonly (string | null)[]) {
    const { fixture } = await conversations();
    const { recipientId } = fixture.channel('busy');
    let walks = 0;
    const count = (sql: unknown) => {
      if (WALK.test(String(sql))) walks++;
    };
    const database = new Sqlite(join(directory, 'parley.db'), { readonly: true, verbose: count });
    const connection = new Connection(database, async () => {});
    connection.enterUnit();
    const arrived = new ArrivedMessages(connection, limits);
    const walked = topics.filter((topicKey) => {
      const before = walks;
      const { ids } = arrived.list({ recipientId, topicKey }, { first: 1, last: 6 });
      expect(ids).toHaveLength(topicKey === null ? 6 : 3);
      return walks > before;
    });
    database.close();
    return walked;
  }

  it.each`
    what                                  | limits                                              | walked
    ${'is found again'}                   | ${{ messages: 12, messagesOfSeries: 6, series: 3 }} | ${['plans', 'lunch', null]}
    ${'are so many messages in all'}      | ${{ messages: 9, messagesOfSeries: 6, series: 3 }}  | ${['plans', 'lunch', null, 'plans', 'lunch', null]}
    ${'are so many messages of a series'} | ${{ messages: 12, messagesOfSeries: 5, series: 3 }} | ${['plans', 'lunch', null, null]}
    ${'are so many series'}               | ${{ messages: 12, messagesOfSeries: 6, series: 2 }} | ${['plans', 'lunch', null, 'plans', 'lunch', null]}
  `('$what', async ({ limits, walked }) => {
    const round = ['plans', 'lunch', null];
    expect(await walksOf(limits, [...round, ...round])).toEqual(walked);
  });
});
