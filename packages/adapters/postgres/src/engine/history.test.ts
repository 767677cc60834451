import type { EventSeq, LogEnd, RealmId, StoredEvent, UnitOfWork } from '@parley/domain/kernel';
import { LocalBus, LogFollower } from '@parley/domain/kernel';
import { idsToSkip } from '@parley/storage';
import { appendEvent, FixedClock, immediateTimers } from '@parley/testkit';
import pg from 'pg';
import { openPostgresStorage, type PostgresStorage } from '../database.js';
import { createDatabase, type TestDatabase } from '../testing/databases.js';

const REALM = 1 as RealmId;
/** Numbers skipped if no time is lost. */
const SKIPPED = idsToSkip(0);
const HISTORY = "SELECT value FROM server_fact WHERE name = 'history'";

let databases: TestDatabase[];
let opened: PostgresStorage[];
beforeEach(() => {
  databases = [];
  opened = [];
});
afterEach(async () => {
  for (const storage of opened) await storage.close();
  for (const database of databases) await database.drop();
});

async function run(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}

async function open({ url }: TestDatabase, onState?: (state: string) => void): Promise<PostgresStorage> {
  const storage = await openPostgresStorage({ url, clock: new FixedClock(), ...(onState && { onState }) });
  opened.push(storage);
  return storage;
}

const append = (uow: UnitOfWork): Promise<EventSeq> =>
  uow.write(REALM, (tx) => appendEvent(tx, REALM, { event: { type: 'blank' }, audience: { kind: 'nobody' } }));
const endOf = async (uow: UnitOfWork): Promise<LogEnd> =>
  (await uow.readAcross(({ events }) => events.listLastSeqs()))[0]!;

/** Creates a database with two events, and a copy like that of a standby. */
async function withCopy(): Promise<readonly [TestDatabase, TestDatabase]> {
  const database = await createDatabase();
  databases.push(database);
  await run(
    database.url,
    `INSERT INTO realm (version, groups_version, string_id, uuid, name, is_deactivated, created_at, settings,
                        rendered_description, permissions, user_defaults)
     VALUES (1, 1, 'a', '', '', 0, 0, '{}', '', '{}', '{}');
     INSERT INTO event_log_head VALUES (1, 0, 0, 0)`,
  );
  const { uow, close } = await openPostgresStorage({ url: database.url, clock: new FixedClock() });
  for (let count = 0; count < 2; count++) await append(uow);
  await close();
  // Later than now, so that no time is lost.
  await run(database.url, 'UPDATE event SET at = extract(epoch FROM now())::bigint + 3600');
  const copy = await createDatabase({ copyOf: database.name });
  databases.push(copy);
  const [fact] = await run(database.url, HISTORY);
  await run(copy.url, `INSERT INTO server_fact VALUES ('history', '${fact!.value}')`);
  return [database, copy];
}

/** Replaces the database by the copy and ends its connections. */
async function replace(database: TestDatabase, copy: TestDatabase): Promise<void> {
  const server = process.env.PARLEY_TEST_POSTGRES!;
  await run(server, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${database.name}'`);
  await run(server, `ALTER DATABASE ${database.name} RENAME TO ${database.name}_former`);
  await run(server, `ALTER DATABASE ${copy.name} RENAME TO ${database.name}`);
  await run(server, `ALTER DATABASE ${database.name}_former RENAME TO ${copy.name}`);
}

describe('database replaced by another one', () => {
  it('skips once the numbers and ids that lost rows may have had', async () => {
    const [, copy] = await withCopy();
    const ids = "SELECT nextval(pg_get_serial_sequence('realm', 'id')) AS next";
    const [before] = await run(copy.url, ids);
    for (let start = 0; start < 2; start++) expect((await endOf((await open(copy)).uow)).seq).toBe(2 + SKIPPED);
    const { uow } = opened[0]!;
    const listed = await uow.read(REALM, ({ events }) => events.listAfter(REALM, 2 as EventSeq, 9));
    expect(listed).toMatchObject([{ seq: 2 + SKIPPED, event: { type: 'forked', after: 2 } }]);
    expect(await append(uow)).toBe(3 + SKIPPED);
    const [after] = await run(copy.url, ids);
    expect(Number(after!.next) - Number(before!.next)).toBe(SKIPPED + 1);
    expect(await uow.read(REALM, ({ events }) => events.seqBeyond(REALM, 50))).toBe(2 + SKIPPED);
  });

  it('skips more ids of all tables and counters the longer ago the last event was', async () => {
    const [, copy] = await withCopy();
    const lost = 86_400;
    await run(copy.url, `UPDATE event SET at = extract(epoch FROM now())::bigint - ${lost}`);
    await run(copy.url, 'INSERT INTO presence_counter (realm_id, last_id) VALUES (1, 7)');
    await run(copy.url, 'DELETE FROM server_node');
    await open(copy).then(({ uow }) => endOf(uow));
    const [least] = await run(
      copy.url,
      `SELECT (SELECT min(last_value) FROM pg_sequences WHERE schemaname = current_schema()) AS sequence,
         (SELECT count(*) FROM pg_sequences WHERE schemaname = current_schema() AND last_value IS NULL) AS unused,
         (SELECT min(last_id) FROM scheduling_counter) AS scheduled, (SELECT min(last_id) - 7 FROM presence_counter) AS presence,
         (SELECT min(last_seq) - 2 FROM event_log_head) AS events`,
    );
    const { unused, ...skipped } = least!;
    expect(Number(unused)).toBe(0);
    for (const count of Object.values(skipped)) expect(Number(count)).toBeGreaterThanOrEqual(idsToSkip(lost));
    for (const count of Object.values(skipped)) expect(Number(count)).toBeLessThan(idsToSkip(lost + 60));
  });

  it('measures the lost time from the last report of a server, which is newer than the events', async () => {
    const [, copy] = await withCopy();
    await run(copy.url, 'UPDATE event SET at = 0');
    await run(copy.url, "INSERT INTO server_node VALUES ('a', 'a', '0', now() - interval '1 hour')");
    const { seq } = await endOf((await open(copy)).uow);
    expect(seq).toBeGreaterThanOrEqual(2 + idsToSkip(3600));
    expect(seq).toBeLessThan(2 + idsToSkip(3660));
  });

  /** Follows a server's log and records the notifications of its listeners. */
  async function follow(uow: UnitOfWork): Promise<readonly [LogFollower, unknown[]]> {
    const follower = new LogFollower({
      ...{ uow, bus: new LocalBus().connect(), clock: new FixedClock(), timers: immediateTimers },
      onListenerFailure: (error) => {
        throw error;
      },
    });
    await follower.open(REALM);
    const known: unknown[] = [];
    follower.subscribe({
      onEvents: (events: readonly StoredEvent[]) => known.push(...events.map(({ seq }) => seq)),
      onForked: (_, after, before) => known.push(`lost between ${after} and ${before}`),
    });
    return [follower, known];
  }

  it('makes servers discard lost events and follow the new log', async () => {
    const [database, copy] = await withCopy();
    const states: string[] = [];
    const { uow } = await open(database, (state) => states.push(state));
    const [follower, known] = await follow(uow);
    for (let count = 0; count < 3; count++) await append(uow);
    await follower.catchUp();
    await replace(database, copy);
    // The pool may not have noticed yet that its connections have ended.
    await follower.catchUp().catch(() => {});
    const next = await append(uow);
    await follower.catchUp();
    const fork = 2 + SKIPPED;
    expect(next).toBe(fork + 1);
    expect(known).toEqual([3, 4, 5, `lost between 2 and ${fork}`, fork, next]);
    expect(states).toContain('replaced');
  });

  it("creates new realm objects, because the database's versions may repeat lost ones", async () => {
    const [database, copy] = await withCopy();
    const { uow } = await open(database);
    const find = () => uow.read(REALM, ({ realms }) => realms.get(REALM));
    const former = await find();
    expect(await find()).toBe(former);
    await replace(database, copy);
    await find().catch(() => {});
    expect(await find()).not.toBe(former);
  });

  it('makes servers discard more lost events than skipped numbers', async () => {
    const [database, copy] = await withCopy();
    // Lost events need no rows, since only their numbers are known.
    const lost = SKIPPED + 1000;
    await run(database.url, `UPDATE event_log_head SET last_seq = last_seq + ${lost}`);
    const { uow } = await open(database);
    const [follower, known] = await follow(uow);
    const last = await append(uow);
    await follower.catchUp();
    await replace(database, copy);
    await follower.catchUp().catch(() => {});
    await follower.catchUp();
    const next = await append(uow);
    await follower.catchUp();
    const fork = 2 + SKIPPED;
    expect([last, next]).toEqual([2 + lost + 1, fork + 1]);
    expect(known).toEqual([last, `lost between ${fork} and Infinity`, next]);
  });
});

describe('database that was put back', () => {
  it('skips ids, ends queues and keeps marks once, whichever of several servers notices first', async () => {
    const [database] = await withCopy();
    const { history, uow } = await open(database);
    await endOf(uow);
    await run(database.url, "INSERT INTO server_fact VALUES ('history marks', '[\"a\"]')");
    const from = await history.readHistory();
    expect(from).toEqual({ marks: ['a'], messages: 0, events: 2 });
    const skips = await Promise.all(['b', 'c'].map((mark) => history.continueHistory(from, ['z', mark], 10)));
    expect(skips.filter((removed) => removed === null)).toHaveLength(1);
    const { marks, ...numbers } = await history.readHistory();
    expect(marks).toEqual(['a', 'z', expect.stringMatching(/^[bc]$/)]);
    expect(numbers).toEqual({ messages: SKIPPED + 10, events: 2 + SKIPPED + 10 });
    await Promise.all(['d', 'e'].map((mark) => history.addMarks([mark])));
    expect((await history.readHistory()).marks.slice(3).sort()).toEqual(['d', 'e']);
    await history.addMarks(['f'], ['d', 'z']);
    expect((await history.readHistory()).marks.slice(2)).toEqual(['e', 'f']);
  });

  it('has no marks after a failover, which has skipped ids already', async () => {
    const [, copy] = await withCopy();
    await run(copy.url, "INSERT INTO server_fact VALUES ('history marks', '[\"a\"]')");
    const { history } = await open(copy);
    expect((await history.readHistory()).marks).toEqual([]);
  });
});
