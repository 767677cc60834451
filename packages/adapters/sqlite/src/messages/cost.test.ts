import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Repositories, Transaction } from '@parley/domain/kernel';
import { type MessageCondition, type MessageFilter, not, PLAIN_TEXTS } from '@parley/domain/messages';
import { aChannel, aMessage, aUser, createFixtureOn, FixedClock, type Fixture } from '@parley/testkit';
import Sqlite, { type Database } from 'better-sqlite3';
import { openSqliteStorage, type SqliteStorage } from '../index.js';
import { defineSearchFunctions } from './conditions.js';

const directory = mkdtempSync(join(tmpdir(), 'parley-cost-'));
const opened: { close(): unknown }[] = [];
let statements: string[] = [];
let worlds = 0;

let openedBefore = 0;
beforeEach(() => {
  openedBefore = opened.length;
});
/** Open worlds add search terms in the background, which later tests would trace. */
afterEach(async () => {
  for (const each of opened.splice(openedBefore)) await each.close();
});
afterAll(async () => {
  for (const each of opened) await each.close();
  rmSync(directory, { recursive: true });
});

interface World extends Fixture {
  /** Database handle to inspect tables. */
  readonly database: Database;
}

const READERS = ['reader', 'writer'];

/** Every hundredth message matches each narrow; the oldest two hundred match none. */
const specialOf = (i: number): Partial<Parameters<typeof aMessage>[0]> =>
  i % 100 === 13 && i > 200
    ? {
        topic: '✔ done',
        content: 'hello and a rare word',
        hasLink: true,
        hasImage: true,
        hasAttachment: true,
        exceptions: { reader: { mentioned: true, hasAlertWord: true } },
      }
    : {};

/** Creates a channel with twenty interleaved topics, a quiet channel and a conversation, with `messages` in total. */
async function worldOf({ subscribers = 2, messages = 0 }): Promise<World> {
  const clock = new FixedClock();
  const path = join(directory, `${++worlds}.db`);
  // Checkpoints begin at any time.
  const trace = (sql: string) => (sql.startsWith('PRAGMA wal') ? 0 : statements.push(sql));
  const storage: SqliteStorage = openSqliteStorage({ path, clock, trace });
  const names = [...READERS, ...Array.from({ length: subscribers - 2 }, (_, i) => `follower ${i}`)];
  const fixture = await createFixtureOn(
    storage.uow,
    clock,
    ...names.map((name) => aUser({ name })),
    aChannel({ name: 'busy', subscribers: names }),
    aChannel({ name: 'quiet', subscribers: READERS }),
    ...Array.from({ length: messages }, (_, i) =>
      i % 10 === 8
        ? aMessage({ from: 'writer', to: 'quiet' })
        : i % 10 === 9
          ? aMessage({ from: 'writer', to: ['reader'] })
          : aMessage({ from: 'writer', to: 'busy', topic: `topic ${i % 20}`, ...specialOf(i) }),
    ),
  );
  // A search adds the terms of all messages, as later units would do.
  await storage.uow.read(fixture.realm.id, ({ pages }) =>
    pages.listEntriesUpTo(fixture.viewer('reader'), own(search('hello')), null, 1),
  );
  const database = new Sqlite(path, { readonly: true });
  defineSearchFunctions(database, PLAIN_TEXTS);
  opened.push(database, storage);
  return Object.assign(fixture, { database });
}

const count = (world: World, sql: string): number => world.database.prepare(sql).pluck().get() as number;
const rowsOf = (world: World, table: string): number => count(world, `SELECT count(*) FROM ${table}`);

async function traced(work: () => Promise<unknown>): Promise<string[]> {
  statements = [];
  await work();
  return statements;
}

const own = (...conditions: readonly MessageCondition[]): MessageFilter => ({
  conditions,
  scope: 'own',
});
const inChannel = (world: Fixture, name: string): MessageCondition => ({
  kind: 'recipient',
  recipientIds: [world.channel(name).recipientId],
});
const inTopic = (topicKey: string): MessageCondition => ({ kind: 'topic', topicKey });

const channelTopics = (world: Fixture, ...topics: readonly (readonly [name: string, topicKey: string])[]) =>
  ({
    kind: 'channelTopic',
    topics: topics.map(([name, topicKey]) => ({ recipientId: world.channel(name).recipientId, topicKey })),
  }) as const;

/** Filters for narrow operators and some combinations. */
const NARROWS: Readonly<Record<string, (world: Fixture) => MessageFilter>> = {
  'is:starred': () => own({ kind: 'flag', flag: 'starred' }),
  'is:unread': () => own(not({ kind: 'flag', flag: 'read' })),
  'is:unread in a channel': (w) => own(not({ kind: 'flag', flag: 'read' }), inChannel(w, 'busy')),
  'is:mentioned': () =>
    own({
      kind: 'anyOf',
      conditions: [
        { kind: 'flag', flag: 'mentioned' },
        { kind: 'flag', flag: 'channelWildcardMentioned' },
        { kind: 'flag', flag: 'topicWildcardMentioned' },
      ],
    }),
  'is:alerted': () => own({ kind: 'flag', flag: 'hasAlertWord' }),
  'is:resolved': () => own({ kind: 'property', property: 'isResolved' }),
  'is:resolved in a channel': (w) => ({
    ...own({ kind: 'property', property: 'isResolved' }, inChannel(w, 'busy')),
    scope: 'shared',
  }),
  'is:dm': () => own({ kind: 'direct' }),
  '-is:dm': () => own(not({ kind: 'direct' })),
  'is:followed': (w) => own(channelTopics(w, ['busy', 'topic 3'], ['busy', 'topic 5'])),
  'in:home': (w) =>
    own(
      not({
        kind: 'anyOf',
        conditions: [
          channelTopics(w, ['quiet', 'greetings']),
          {
            kind: 'allOf',
            conditions: [inChannel(w, 'busy'), not(channelTopics(w, ['busy', 'topic 3']))],
          },
        ],
      }),
    ),
  'is:muted': (w) =>
    own({
      kind: 'anyOf',
      conditions: [
        channelTopics(w, ['quiet', 'greetings']),
        { kind: 'allOf', conditions: [inChannel(w, 'busy'), not(channelTopics(w, ['busy', 'topic 3']))] },
      ],
    }),
  'channels:public': () => ({ ...own({ kind: 'channelPrivacy', privacies: ['public'] }), scope: 'shared' }),
  'channels:public, received': () => own({ kind: 'channelPrivacy', privacies: ['public'] }),
  'has:link': () => own({ kind: 'property', property: 'hasLink' }),
  'has:image in a channel': (w) => ({
    ...own({ kind: 'property', property: 'hasImage' }, inChannel(w, 'busy')),
    scope: 'shared',
  }),
  'has:attachment from somebody': (w) => own({ kind: 'property', property: 'hasAttachment' }, byWriter(w)),
  search: () => own(search('hello')),
  'search by a rare word': () => own(search('rare')),
  'search in a channel': (w) => ({ ...own(search('hello'), inChannel(w, 'busy')), scope: 'shared' }),
  'search in a topic': (w) => ({ ...own(search('hello'), inChannel(w, 'busy'), inTopic('topic 3')), scope: 'shared' }),
  'search from somebody, by a phrase': (w) => own({ ...search('hello'), phrases: ['ello'] }, byWriter(w)),
  'search among starred messages': () => own(search('rare'), { kind: 'flag', flag: 'starred' }),
  'search among direct messages': () => own(search('hello'), { kind: 'direct' }),
  '-search': () => own(not(search('rare'))),
  '-mentions': (w) => own(not({ kind: 'mentions', userId: w.user('reader').id })),
  'id:': (w) => own({ kind: 'message', messageId: w.messages[1]!.id }),
};
const search = (term: string) => ({ kind: 'search', words: [[[term]]], phrases: [] as readonly string[] }) as const;
const byWriter = (world: Fixture): MessageCondition => ({ kind: 'sender', userId: world.user('writer').id });

describe('cost of sending messages', () => {
  it('writes the same rows for few subscribers and for many', async () => {
    const written: (readonly string[])[] = [];
    for (const subscribers of [2, 200]) {
      const world = await worldOf({ subscribers });
      const before = ['message_flag', 'read_segment', 'span'].map((table) => rowsOf(world, table));
      const sql = await traced(() => world.add(aMessage({ from: 'writer', to: 'busy' })));
      const after = ['message_flag', 'read_segment', 'span'].map((table) => rowsOf(world, table));
      expect(after.map((rows, i) => rows - before[i]!)).toEqual([0, 1, 0]);
      written.push(sql.map((text) => text.replaceAll(/\d+/g, '#')));
    }
    expect(written[1]).toEqual(written[0]);
  });

  it('keeps one read segment for a sender who has read everything', async () => {
    const world = await worldOf({ messages: 200 });
    const writer = world.user('writer').id;
    expect(count(world, `SELECT count(*) FROM read_segment WHERE user_id = ${writer}`)).toBe(3);
  });
});

describe('cost of marking messages as read', () => {
  it('writes one row for thousands of channel messages when one topic of twenty is read', async () => {
    const world = await worldOf({ messages: 2500 });
    const ids = world.messages.filter(({ topic }) => topic === 'topic 3').map(({ id }) => id);
    const before = rowsOf(world, 'read_segment');
    const flagsBefore = rowsOf(world, 'message_flag');
    const sql = await traced(() =>
      world.uow.write(world.realm.id, async (tx) => {
        expect(await tx.personal.setRead(world.viewer('reader'), ids, true)).toEqual(ids);
      }),
    );
    expect(rowsOf(world, 'read_segment') - before).toBe(1);
    expect(rowsOf(world, 'message_flag') - flagsBefore).toBe(0);
    expect(sql.length).toBeLessThan(25);
  });

  it('reads a topic with the same number of statements for any history and without other topics', async () => {
    const sqlOf = async (world: World) => {
      const topic = own(inChannel(world, 'busy'), inTopic('topic 3'));
      const expected = world.messages.filter((message) => message.topic === 'topic 3').map(({ id }) => id);
      const sql = await traced(() =>
        world.uow.write(world.realm.id, async (tx) => {
          expect(await tx.personal.markRead(world.viewer('reader'), topic)).toEqual(expected);
        }),
      );
      return sql.filter((text) => !text.includes('read_segment'));
    };
    const few = await sqlOf(await worldOf({ messages: 100 }));
    const long = await worldOf({ messages: 2500 });
    const many = await sqlOf(long);
    expect(many.length).toBe(few.length);
    const search = many.filter((text) => text.includes('INDEXED BY message_by_topic'));
    expect(search).toHaveLength(1);
    const steps = long.database.prepare(`EXPLAIN QUERY PLAN ${search[0]!}`).all() as { readonly detail: string }[];
    expect(steps.map(({ detail }) => detail)).toContainEqual(
      expect.stringContaining(
        'USING COVERING INDEX message_by_topic (recipient_id=? AND topic_key=? AND id>? AND id<?)',
      ),
    );
  });

  it('searches no more of a topic than is unread in its channel', async () => {
    const world = await worldOf({ messages: 200 });
    const busy = world.messages.filter(({ channelId }) => channelId === world.channel('busy').id);
    const viewer = world.viewer('reader');
    // Leaves unread the oldest message and the newest of another topic.
    const [oldest, newest] = [busy[0]!, busy.at(-1)!];
    const read = busy.filter((message) => message !== oldest && message !== newest).map(({ id }) => id);
    await world.uow.write(viewer.realmId, (tx) => tx.personal.setRead(viewer, read, true));
    const sql = await traced(() =>
      world.uow.write(newest.realmId, async (tx) => {
        const topic = own(inChannel(world, 'busy'), inTopic(newest.topic));
        expect(await tx.personal.markRead(viewer, topic)).toEqual([newest.id]);
      }),
    );
    const [search] = sql.filter((text) => text.includes('INDEXED BY message_by_topic'));
    expect(search).toMatch(/LIMIT \+3(\.0)? \+ 0\)/);
  });

  it('finds unread messages moved into a channel', async () => {
    const world = await worldOf({ messages: 400 });
    const busy = world.messages.filter(({ channelId }) => channelId === world.channel('busy').id).map(({ id }) => id);
    const { id: channelId, recipientId } = world.channel('quiet');
    const quiet = world.messages.filter((message) => message.channelId === channelId).map(({ id }) => id);
    await world.uow.write(world.realm.id, async (tx) => {
      await tx.moves.move(world.realm.id, busy, { channelId, recipientId, topic: null, isHistoryProtected: false });
      const changed = await tx.personal.markRead(world.viewer('reader'), own(inChannel(world, 'quiet')));
      expect(changed).toEqual([...busy, ...quiet].sort((a, b) => a - b));
    });
  });

  it('leaves one segment per conversation when everything is read', async () => {
    const world = await worldOf({ messages: 300 });
    const odd = world.messages.filter((_, i) => i % 2 === 1).map(({ id }) => id);
    await world.uow.write(world.realm.id, (tx) => tx.personal.setRead(world.viewer('reader'), odd, true));
    await world.uow.write(world.realm.id, (tx) => tx.personal.markAllRead(world.viewer('reader')));
    const reader = world.user('reader').id;
    expect(count(world, `SELECT count(*) FROM read_segment WHERE user_id = ${reader}`)).toBe(3);
  });

  it('closes gaps without remaining unread messages', async () => {
    const world = await worldOf({ messages: 40 });
    const busy = world.messages.filter(({ channelId }) => channelId === world.channel('busy').id);
    const viewer = world.viewer('reader');
    const [first, second, third, fourth] = busy.map(({ id }) => id);
    await world.uow.write(world.realm.id, async (tx) => {
      await tx.messages.remove(world.realm.id, [first!, third!]);
      await tx.personal.setRead(viewer, [second!], true);
      await tx.personal.setRead(viewer, [fourth!], true);
    });
    const { recipientId } = world.channel('busy');
    const segments = world.database
      .prepare('SELECT first, last FROM read_segment WHERE user_id = ? AND recipient_id = ?')
      .all(viewer.userId, recipientId);
    expect(segments).toEqual([{ first: 1, last: 4 }]);
  });

  it('writes nothing per subscriber when messages move', async () => {
    const world = await worldOf({ subscribers: 100, messages: 20 });
    const ids = world.messages.filter(({ channelId }) => channelId === world.channel('busy').id).map(({ id }) => id);
    const { id: channelId, recipientId } = world.channel('quiet');
    const tables = ['message_flag', 'read_segment', 'span', 'moved_message'];
    const before = tables.map((table) => rowsOf(world, table));
    await world.uow.write(world.realm.id, (tx) =>
      tx.moves.move(world.realm.id, ids, { channelId, recipientId, topic: null, isHistoryProtected: true }),
    );
    expect(tables.map((table, i) => rowsOf(world, table) - before[i]!)).toEqual([0, 0, 0, ids.length]);
  });
});

describe('cost of reads', () => {
  let short: World;
  let long: World;
  beforeAll(async () => {
    short = await worldOf({ messages: 500 });
    long = await worldOf({ messages: 3000 });
    for (const world of [short, long]) {
      const starred = world.messages.filter((_, i) => i % 100 === 13).map(({ id }) => id);
      await world.uow.write(world.realm.id, (tx) =>
        tx.personal.setFlag(world.viewer('reader'), starred, 'starred', true),
      );
    }
  });

  const reads: [string, (r: Repositories | Transaction, world: World) => Promise<unknown>][] = [
    [
      'a page of a channel',
      (r, w) => r.pages.listEntriesUpTo(w.viewer('reader'), own(inChannel(w, 'busy')), null, 100),
    ],
    [
      'a page of shared history',
      (r, w) =>
        r.pages.listEntriesFrom(w.viewer('reader'), { ...own(inChannel(w, 'busy')), scope: 'shared' }, 150, 100),
    ],
    [
      'a page of a topic',
      (r, w) => r.pages.listEntriesUpTo(w.viewer('reader'), own(inChannel(w, 'busy'), inTopic('topic 3')), null, 100),
    ],
    ['the home view', (r, w) => r.pages.listEntriesUpTo(w.viewer('reader'), own(), null, 100)],
    [
      'messages of a sender',
      (r, w) =>
        r.pages.listEntriesUpTo(w.viewer('reader'), own({ kind: 'sender', userId: w.user('writer').id }), null, 10),
    ],
    ...Object.entries(NARROWS).map(
      ([title, filterIn]): [string, (r: Repositories | Transaction, world: World) => Promise<unknown>] => [
        title,
        async (r, w) => {
          const entries = await r.pages.listEntriesUpTo(w.viewer('reader'), filterIn(w), null, 10);
          expect(entries.length).toBeGreaterThan(0);
          await r.pages.listEntriesFrom(w.viewer('reader'), filterIn(w), entries[0]!.id, 5);
        },
      ],
    ),
    ['a topic everywhere', (r, w) => r.pages.listEntriesUpTo(w.viewer('reader'), own(inTopic('topic 3')), null, 10)],
    [
      'views',
      (r, w) =>
        r.pages.listViews(
          w.realm.id,
          w.messages.slice(-50).map(({ id }) => id),
        ),
    ],
    [
      'flags',
      (r, w) =>
        r.personal.listFlags(
          w.viewer('reader'),
          w.messages.slice(-200).map(({ id }) => id),
        ),
    ],
    ['the newest unread messages', (r, w) => r.personal.listUnread(w.viewer('reader'), 10)],
    ['the first unread message', (r, w) => r.personal.findFirstUnread(w.viewer('reader'), own(inChannel(w, 'busy')))],
    ['the unread messages of one who has read all', (r, w) => r.personal.listUnread(w.viewer('writer'), 50_000)],
    ['topics', (r, w) => r.topics.listTopics(w.realm.id, w.channel('busy').recipientId)],
    ['own topics', (r, w) => r.topics.listOwnTopics(w.viewer('reader'), w.channel('busy').recipientId)],
    ['traffic', (r, w) => r.topics.countSince(w.realm.id, [w.channel('busy').recipientId], w.clock.now() - 10)],
    ['the messages of a day', (r, w) => r.pages.listIdsSince(w.realm.id, w.clock.now() - 10)],
    ['the newest message', (r, w) => r.personal.newestId(w.viewer('reader'))],
    ['channels left', (r, w) => r.personal.listUnsubscribedChannelIdsWithMessages(w.viewer('reader'))],
    ['starred messages', (r, w) => r.personal.listStarred(w.viewer('reader'))],
    [
      'holders',
      (r, w) =>
        r.personal.filterHolders(
          w.realm.id,
          w.messages.slice(0, 2).map(({ id }) => id),
          [...w.users.values()].map(({ id }) => id),
        ),
    ],
    [
      'flags of several people',
      (r, w) =>
        r.personal.listFlagsOf(
          w.realm.id,
          [...w.users.values()].map(({ id }) => id),
          w.messages.slice(0, 2).map(({ id }) => id),
        ),
    ],
    ['recent conversations', (r, w) => r.recipients.listRecentDirect(w.realm.id, w.user('reader').id, 100)],
  ];

  it.each(reads)('reads %s with the same number of statements for any history', async (_, read) => {
    const few = await traced(() => short.uow.read(short.realm.id, (r) => read(r, short)));
    const many = await traced(() => long.uow.read(long.realm.id, (r) => read(r, long)));
    // More statements than BEGIN and COMMIT, which shows that counting works.
    expect(few.length).toBeGreaterThan(2);
    expect(many.length).toBe(few.length);
  });

  it.each(reads)('finds %s by an index without scanning a table', async (_, read) => {
    const sql = await traced(() => long.uow.read(long.realm.id, (r) => read(r, long)));
    const plans = sql
      .filter((text) => /^\s*(SELECT|WITH)/.test(text))
      .map((text) => {
        const steps = long.database.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { readonly detail: string }[];
        return steps.map(({ detail }) => detail);
      });
    expect(plans.length).toBeGreaterThan(0);
    const tables = long.database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .pluck()
      .all() as string[];
    const aliases = ['m', 'n', 's', 'g', 'f', 'r', 'o', 'moved', 'move'];
    const scans = plans.flat().filter((detail) => {
      const [, name] = /^SCAN (\w+)/.exec(detail) ?? [];
      return name !== undefined && !detail.includes('VIRTUAL TABLE') && [...tables, ...aliases].includes(name);
    });
    expect(scans).toEqual([]);
  });

  it.each(['a page of a channel', 'a page of shared history', 'a page of a topic'])(
    'reads the index rows of %s from a covering index',
    async (title) => {
      const read = reads.find(([name]) => name === title)![1];
      const sql = await traced(() => long.uow.read(long.realm.id, (r) => read(r, long)));
      const page = sql.filter((text) => /FROM message m INDEXED BY message_by_(recipient|topic)/.test(text));
      expect(page).toHaveLength(1);
      const steps = long.database.prepare(`EXPLAIN QUERY PLAN ${page[0]!}`).all() as { readonly detail: string }[];
      expect(steps.map(({ detail }) => detail)).toContainEqual(expect.stringContaining('USING COVERING INDEX'));
    },
  );

  it.each(['search', 'search by a rare word', 'search in a channel'])(
    'reads %s in order, without sorting',
    async (title) => {
      const read = reads.find(([name]) => name === title)![1];
      const sql = await traced(() => long.uow.read(long.realm.id, (r) => read(r, long)));
      const pages = sql.filter((text) => text.includes('FROM message_search s'));
      expect(pages.length).toBeGreaterThan(0);
      for (const page of pages) {
        const steps = long.database.prepare(`EXPLAIN QUERY PLAN ${page}`).all() as { readonly detail: string }[];
        expect(steps.filter(({ detail }) => detail.includes('TEMP B-TREE'))).toEqual([]);
      }
    },
  );

  it.each([1, 700])(
    'searches %d conversations with the same statements for words of unreadable messages and for absent words',
    async (count) => {
      const world = await worldOf({});
      const names = Array.from({ length: count }, (_, i) => `channel ${i}`);
      await world.add(aUser({ name: 'outsider' }), aChannel({ name: 'vault', subscribers: ['outsider'] }));
      await world.add(...names.map((name) => aChannel({ name, subscribers: ['reader'] })));
      await world.add(
        ...Array.from({ length: 600 }, () => aMessage({ from: 'outsider', to: 'vault', content: 'secret' })),
      );
      const find = (word: string) =>
        traced(() =>
          world.uow.read(world.realm.id, ({ pages }) =>
            pages.listEntriesUpTo(world.viewer('reader'), own(search(word)), null, 10),
          ),
        );
      await find('any');
      const [secret, absent] = [await find('secret'), await find('absent')];
      expect(secret.map((text) => text.replaceAll('secret', 'absent'))).toEqual(absent);
    },
  );

  it('reads the search index only from the lower bound', async () => {
    const [, ...ids] = long.messages.slice(-4).map(({ id }) => id);
    const sql = await traced(() =>
      long.uow.read(long.realm.id, async ({ pages }) => {
        await pages.listEntries(long.viewer('reader'), ids, [search('hello')]);
        await pages.listEntriesUpTo(long.viewer('reader'), own(search('hello')), ids[0]!, 10);
      }),
    );
    const searches = sql.filter((text) => text.includes('FROM message_search s'));
    expect(searches).toHaveLength(2);
    for (const text of searches) {
      const plan = long.database.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { readonly detail: string }[];
      expect(plan.map(({ detail }) => detail)).toContainEqual(expect.stringMatching(/VIRTUAL TABLE.*M1[<>]{2}/));
      // FTS5 ignores bounds of any other type.
      const bounds = /BETWEEN (.+?\)) AND (.+?\))/.exec(text)!.slice(1);
      expect(bounds.map((bound) => count(long, `SELECT typeof(${bound})`))).toEqual(['integer', 'integer']);
    }
  });

  it('returns the same results in large channels and topics as in small ones', async () => {
    const isRare = ({ content }: { readonly content: string }) => content.includes('rare');
    const busy = long.messages.filter(({ channelId }) => channelId === long.channel('busy').id);
    const find = (...conditions: readonly MessageCondition[]) =>
      long.uow.read(long.realm.id, async ({ pages }) => {
        const ids = [];
        for (const scope of ['own', 'shared'] as const) {
          const filter = { conditions: [...conditions, inChannel(long, 'busy')], scope };
          ids.push((await pages.listEntriesFrom(long.viewer('reader'), filter, 0, 5000)).map(({ id }) => id));
        }
        expect(ids[0]).toEqual(ids[1]);
        return ids[0];
      });
    const idsOf = (messages: typeof busy) => messages.map(({ id }) => id);
    expect(await find(search('rare'))).toEqual(idsOf(busy.filter(isRare)));
    expect(await find(not(search('rare')))).toEqual(idsOf(busy.filter((message) => !isRare(message))));
    expect(await find(search('hello'), byWriter(long))).toEqual(idsOf(busy));
    expect(await find(search('hello'), { kind: 'property', property: 'isResolved' })).toEqual(
      idsOf(busy.filter(isRare)),
    );
    expect(await find(search('hello'), search('absent'))).toEqual([]);
  });
});
