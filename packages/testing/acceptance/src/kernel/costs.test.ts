import { SendMessage } from '@parley/domain/writing';
import { until } from '@parley/testkit';
import Sqlite, { type Statement } from 'better-sqlite3';
import { fieldsOf } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import { TestServer } from '../testing/test-server.js';
import { isOnPostgres } from '../testing/test-storage.js';

let channelId: number;
/** Message of the past and a newer one, which nobody has read. */
let ids: readonly number[];

const request = (as: 'hamlet' | 'iago', method: string, path: string, params = {}) =>
  server.request(method, path, { as: server.people[as], params }).then(fieldsOf);

const send = async (content: string): Promise<number> =>
  (await request('hamlet', 'POST', '/messages', { type: 'stream', to: channelId, topic: 'lunch', content })).id;

const { server } = serverPerSuite();
beforeAll(async () => {
  const { hamlet, iago, cordelia } = server.people;
  channelId = await server.createChannel('town', [hamlet, iago, cordelia]);
  const contents = Array.from(
    { length: 120 },
    (_, n) => `Message ${n}: the build is green again, and lunch is at noon.`,
  );
  ids = await Promise.all(contents.map(send));
});

interface Cost {
  /** Pages that SQLite writes to its log, and their bytes there. */
  readonly pages: number;
  readonly bytes: number;
  readonly statements: number;
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const { storage } = server;
  const [before, statements] = [storage.loggedPages(), storage.statements.length];
  await work();
  const after = storage.loggedPages();
  const pages = after.count - (after.salt === before.salt ? before.count : 0);
  return {
    pages,
    bytes: pages * after.frameBytes,
    statements: storage.statements.length - statements,
  };
}

(isOnPostgres ? describe.skip : describe)('SQLite', () => {
  beforeEach(async () => {
    // Log-ins are checked again 5 seconds after the log was read last.
    await server.catchUp();
    // A search adds the terms of new messages, which a timer would do otherwise.
    await request('iago', 'GET', '/messages', {
      anchor: 'newest',
      num_before: 1,
      num_after: 0,
      narrow: [{ operator: 'search', operand: 'lunch' }],
    });
  });

  it.each([
    ['a send', 7, 12, () => send('Can somebody look at PR 4182 before lunch?')],
    ['an edit', 13, 19, () => request('hamlet', 'PATCH', `/messages/${ids[5]}`, { content: 'The build is red.' })],
    ['a reaction', 7, 29, () => request('iago', 'POST', `/messages/${ids[9]}/reactions`, { emoji_name: 'tada' })],
    [
      'reading 50 messages',
      2,
      25,
      () => request('iago', 'POST', '/messages/flags', { messages: ids.slice(0, 50), op: 'add', flag: 'read' }),
    ],
    ['a registration', 4, 90, () => request('iago', 'POST', '/register')],
    [
      'a page of 100 messages',
      0,
      29,
      () => request('iago', 'GET', '/messages', { anchor: 'newest', num_before: 100, num_after: 0 }),
    ],
  ])('limits %s to %d pages and %d statements', async (_, pages, statements, work) => {
    const cost = await costOf(work);
    expect(cost.pages).toBeLessThanOrEqual(pages);
    expect(cost.statements).toBeLessThanOrEqual(statements);
  });

  it.each([
    ['a sentence', 'Can somebody look at PR 4182 before lunch?', 29_000],
    ['2,000 characters', 'lunch '.repeat(333), 42_000],
  ])('limits the log of half of the sends of %s', async (_, content, bytes) => {
    const costs: Cost[] = [];
    for (let n = 0; n < 15; n++) costs.push(await costOf(() => send(content)));
    const ascending = costs.map((cost) => cost.bytes).sort((a, b) => a - b);
    expect(ascending[7]).toBeLessThanOrEqual(bytes);
  });

  it('does not let the cost of a new order grow with the number of orders', async () => {
    const { parley } = server;
    const realm = 'shop';
    const staff = ['sam', 'sue'];
    await parley.realms.ensure({ name: realm, preset: 'customers' });
    const users = staff.map((externalId) => ({ realm, externalId, name: externalId, role: 'owner' as const }));
    await parley.users.upsertMany(users);
    const { channels } = parley.as({ realm, externalId: 'sam' });
    const customer = (n: number) => ({
      realm,
      externalId: `customer ${n}`,
      name: `Customer ${n}`,
      role: 'guest' as const,
    });
    const channel = (n: number) => ({ name: `Order ${n}`, isPrivate: true, subscribers: [`customer ${n}`, ...staff] });
    const costOfOrder = async (n: number) => {
      const reads = readsOfSqlite();
      const { statements } = await costOf(async () => {
        await parley.users.upsert(customer(n));
        await channels.ensure(channel(n));
        await parley.as(customer(n)).messages.send({ channel: `Order ${n}`, topic: 'Support', content: 'Hello' });
      });
      return { statements, ...reads.stop() };
    };
    // Workers may run statements during one of the orders.
    const leastCostOfOrder = async (from: number) => {
      const [first, ...others] = [await costOfOrder(from), await costOfOrder(from + 1), await costOfOrder(from + 2)];
      return others.reduce(
        (least, cost) => ({
          statements: Math.min(least.statements, cost.statements),
          rows: Math.min(least.rows, cost.rows),
          length: Math.min(least.length, cost.length),
        }),
        first,
      );
    };
    const place = async (from: number, to: number) => {
      const numbers = Array.from({ length: to - from }, (_, n) => from + n);
      await parley.users.upsertMany(numbers.map(customer));
      await channels.ensureMany(numbers.map(channel));
    };
    // Members of staff have all 24 colors from here on.
    await place(100, 130);
    await costOfOrder(130);
    const few = await leastCostOfOrder(131);
    await place(134, 332);
    await costOfOrder(332);
    const many = await leastCostOfOrder(333);
    expect(many.statements).toBeLessThanOrEqual(few.statements + 2);
    expect(many.rows).toBeLessThanOrEqual(few.rows + 2);
    // The length of two more rows.
    expect(many.length).toBeLessThanOrEqual(few.length + 100);
  }, 60_000);

  it('does not let the cost of a start grow with the number of subscriptions', async () => {
    const shop = await TestServer.start();
    const { hamlet, iago } = shop.people;
    const { channels, messages } = shop.parley.as({ realm: 'zulip', userId: iago.id });
    const place = async (from: number, to: number) => {
      const names = Array.from({ length: to - from }, (_, n) => `Order ${from + n}`);
      await channels.ensureMany(names.map((name) => ({ name, isPrivate: true, subscribers: [hamlet.id] })));
      const sends = names.flatMap((channel) =>
        ['Hello', 'Where is my parcel?'].map((content) => messages.send({ channel, topic: 'Support', content })),
      );
      await Promise.all(sends);
      await shop.catchUp();
    };
    const capabilities = { notification_settings_null: true, archived_channels: true, lean_state: true };
    const narrow = [{ operator: 'is', operand: 'unread' }];
    const page = { anchor: 'newest', num_before: 100, num_after: 0 };
    const calls = {
      register: ['POST', '/register', { client_capabilities: { ...capabilities, partial_state: true } }],
      inbox: ['GET', '/messages', page],
      unread: ['GET', '/messages', { ...page, narrow }],
      firstUnread: ['GET', '/messages', { anchor: 'first_unread', num_before: 50, num_after: 50 }],
      unreadFromFirst: ['GET', '/messages', { anchor: 'first_unread', num_before: 50, num_after: 50, narrow }],
    } as const;
    const costs = async () => {
      const all: Record<string, { readonly statements: number; readonly rows: number }> = {};
      // Workers may run statements during one of the later rounds; the first round fills caches.
      for (const _ of [1, 2, 3]) {
        for (const [name, [method, path, params]] of Object.entries(calls)) {
          const [reads, before] = [readsOfSqlite(), shop.storage.statements.length];
          fieldsOf(await shop.request(method, path, { as: hamlet, params: { ...params } }));
          const found = { statements: shop.storage.statements.length - before, rows: reads.stop().rows };
          const least = all[name] ?? found;
          all[name] = {
            statements: Math.min(least.statements, found.statements),
            rows: Math.min(least.rows, found.rows),
          };
        }
      }
      return all;
    };
    // The state of more than 500 channels is a part, with at most 1,000 unread messages.
    await place(0, 520);
    const few = await costs();
    await place(520, 600);
    const many = await costs();
    await shop.close();
    for (const [name, { statements, rows }] of Object.entries(many)) {
      const before = few[name]!;
      expect([name, statements]).toEqual([name, Math.min(statements, before.statements + 2)]);
      expect([name, rows]).toEqual([name, Math.min(rows, before.rows + 10)]);
    }
  }, 120_000);

  it('wakes followers, consumers and polls once for all sends of a commit', async () => {
    const { parley, people, realmId } = server;
    const [followed, consumed]: [number[], number[]] = [[], []];
    parley.part('follower').subscribe({ onEvents: (events) => void followed.push(events.length) });
    const consumer = await parley.consume('counter', (events) => void consumed.push(events.length));
    const { queue_id } = await request('iago', 'POST', '/register', { event_types: ['message'] });
    const poll = request('iago', 'GET', '/events', { queue_id, last_event_id: -1 });
    await until(() => parley.part('hub').liveQueues.some(({ isWaitedFor }) => isWaitedFor));
    const { statements } = server.storage;
    const before = statements.length;

    const caller = { realmId, userId: people.hamlet.id, clientName: 'test' };
    const to = { kind: 'channelName', name: 'town' } as const;
    const sends = Array.from({ length: 10 }, (_, n) => ({
      ...{ to, topic: 'lunch', content: `Message ${n}`, isReadBySender: true, echo: null },
    }));
    await Promise.all(sends.map((each) => parley.useCase(SendMessage).execute(caller, each)));
    const { events } = await poll;
    await until(() => sum(consumed) === sends.length);
    await consumer.stop();

    const own = statements.slice(before);
    const commits = own
      .join('\n')
      .split('COMMIT')
      .filter((unit) => /INSERT INTO event\b/.test(unit));
    expect(commits.length).toBeLessThan(sends.length);
    expect({ calls: followed.length, sum: sum(followed) }).toEqual({ calls: commits.length, sum: sends.length });
    expect(consumed.length).toBeLessThanOrEqual(commits.length);
    expect(events).toHaveLength(followed[0]!);
    // Consumers get the events from memory.
    expect(own.filter((sql) => /^SELECT.*FROM event\b/s.test(sql))).toEqual([]);
  });
});

/** Counts the rows that statements return, and the length of their values. */
function readsOfSqlite(): { stop(): { readonly rows: number; readonly length: number } } {
  const database = new Sqlite(':memory:');
  const prototype = Object.getPrototypeOf(database.prepare('SELECT 1')) as Statement;
  database.close();
  let [rows, length] = [0, 0];
  const all = prototype.all;
  prototype.all = function counted(this: Statement, ...parameters: unknown[]) {
    const found = all.apply(this, parameters);
    rows += found.length;
    length += JSON.stringify(found).length;
    return found;
  };
  return {
    stop() {
      prototype.all = all;
      return { rows, length };
    },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
