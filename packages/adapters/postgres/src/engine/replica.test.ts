import { setTimeout as sleep } from 'node:timers/promises';
import { ChangeSubscriptionParts, type ChannelCreator, ChannelUnsubscriber } from '@parley/domain/channels';
import type { MessageId } from '@parley/domain/kernel';
import { GetMessages, PLAIN_TEXTS } from '@parley/domain/messages';
import {
  aChannel,
  aMessage,
  aUser,
  createFixtureOn,
  DrivenTime,
  FixedClock,
  type Fixture,
  fakeRealmUrls,
  sending,
  until,
} from '@parley/testkit';
import pg from 'pg';
import { migratePostgres, openPostgresStorage, type PostgresStorage } from '../database.js';
import { type Gate, openGate } from '../testing/gate.js';
import { findBinaries, startServer, startStandby, type TestServer } from '../testing/server.js';

const binaries = findBinaries()!;

describe('read replica', () => {
  let primary: TestServer;
  let standby: TestServer;
  let gates: Gate[];
  let databases = 0;
  let name: string;
  let storage: PostgresStorage;
  let fixture: Fixture;
  let states: (string | null)[];
  let onPrimary: string[];
  /** Time of the checks, because other processes of a busy machine delay each response. */
  let time: DrivenTime;
  beforeAll(async () => {
    primary = await startServer(binaries);
    gates = [await openGate(primary.socket)];
    await primary.query('CREATE DATABASE template');
    await migratePostgres(urlOf(gates[0]!, 'template'));
    standby = await startStandby(binaries, gates[0]!.port);
    gates.push(await openGate(standby.socket));
  });
  afterAll(async () => {
    for (const gate of gates) await gate.close();
    await standby.stop();
    await primary.stop();
  });
  beforeEach(async () => {
    [states, onPrimary] = [[], []];
    time = new DrivenTime();
    name = `test${++databases}`;
    await primary.query(`CREATE DATABASE ${name} TEMPLATE template`);
    await caughtUp();
    const clock = new FixedClock();
    storage = await openPostgresStorage({
      url: urlOf(gates[0]!),
      clock,
      trace: (sql) => void onPrimary.push(sql),
      replica: {
        url: urlOf(gates[1]!),
        onState: (state) => void states.push(state),
        patience: { timers: time, connectMs: 60_000 },
      },
    });
    fixture = await createFixtureOn(
      storage.uow,
      clock,
      aUser({ name: 'a' }),
      aUser({ name: 'b' }),
      aChannel({ name: 'secret', privacy: 'privateSharedHistory', subscribers: ['a', 'b'] }),
      aMessage({ from: 'b', to: 'secret', topic: 'plans' }),
    );
    await isUsed();
  });
  afterEach(async () => {
    gates[1]!.thaw();
    await standby.query('SELECT pg_wal_replay_resume()');
    await storage.close();
  });

  const urlOf = ({ port }: Gate, database = name) => `postgres://parley@127.0.0.1:${port}/${database}`;
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: urlOf(gates[0]!) });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  const replica = () => storage.gauges().replica!;
  const isUsed = async () => {
    while (!replica().isUsed) await sleep(20);
  };
  const caughtUp = async () => {
    const [{ at }] = await primary.query('SELECT pg_current_wal_lsn() AS at');
    for (;;) {
      const [{ done }] = await standby.query(`SELECT pg_last_wal_replay_lsn() >= '${at}' AS done`);
      if (done) return;
      await sleep(20);
    }
  };
  /** Stops the replay of changes. */
  const pause = async () => {
    await caughtUp();
    await standby.query('SELECT pg_wal_replay_pause()');
    while ((await standby.query('SELECT pg_get_wal_replay_pause_state() AS state'))[0].state !== 'paused')
      await sleep(5);
  };
  const resume = () => standby.query('SELECT pg_wal_replay_resume()');
  const send = () => sending(fixture)('b', { kind: 'channelId', id: fixture.channel('secret').id });

  /** Ids of the messages in the channel, as user `a` may read them. */
  async function page(wait: () => Promise<void> = async () => {}): Promise<readonly MessageId[]> {
    const narrow = [{ operator: 'channel', operand: 'secret', negated: false }] as const;
    const select = { anchor: { kind: 'newest' }, before: 50, after: 0, includeAnchor: true } as const;
    return new GetMessages(fixture.uow, fakeRealmUrls, PLAIN_TEXTS).execute(
      fixture.caller('a'),
      { narrow, select },
      async ({ entries }, hydrate) => {
        await wait();
        return (await hydrate(entries.map(({ id }) => id))).map(({ message }) => message.id);
      },
    );
  }

  it('serves complete pages without any unit statement on the primary', async () => {
    const { id } = await send();
    await caughtUp();
    onPrimary.length = 0;
    expect(await page()).toContain(id);
    expect(onPrimary).toEqual([]);
    expect(replica()).toEqual({ isUsed: true, served: 1, behind: 0, failed: 0 });
  });

  it('leaves a page to the primary while it lacks a change of the organization', async () => {
    await pause();
    expect(await page()).toHaveLength(1);
    expect(replica()).toMatchObject({ served: 1, behind: 0 });
    const { id } = await send();
    expect(await page()).toContain(id);
    expect(replica()).toMatchObject({ served: 1, behind: 1 });
    await resume();
    await caughtUp();
    expect(await page()).toContain(id);
    expect(replica()).toMatchObject({ served: 2, behind: 1, failed: 0 });
  });

  it('never shows a channel after unsubscription, regardless of its lag', async () => {
    await pause();
    expect(await page()).toHaveLength(1);
    const remove = new ChannelUnsubscriber(
      fakeRealmUrls,
      new ChangeSubscriptionParts(fixture.uow, {} as ChannelCreator, fixture.clock),
    );
    await remove.unsubscribe(fixture.caller('a'), { channelNames: ['secret'], principals: null });
    expect(await page()).toEqual([]);
    expect(replica()).toMatchObject({ served: 1, behind: 1 });
    await resume();
    await caughtUp();
    expect(await page()).toEqual([]);
  });

  it('compares rights with the primary even if a change of them is not in the log', async () => {
    await pause();
    await run(
      `INSERT INTO cache_stamp VALUES (-${fixture.realm.id}, 9) ON CONFLICT (realm_id) DO UPDATE SET stamp = 9`,
    );
    await page();
    expect(replica()).toMatchObject({ served: 0, behind: 1 });
  });

  it('delays only one page, by at most 200 ms, when it stops responding', async () => {
    await caughtUp();
    await page();
    // Ends the checks of that page.
    await time.advance(0.1);
    gates[1]!.freeze();
    const delayed = page();
    await until(() => time.pending > 0);
    await time.advance(0.2);
    expect(await delayed).toHaveLength(1);
    expect(await page()).toHaveLength(1);
    expect([states, replica()]).toEqual([
      ['no response within 100 ms'],
      { isUsed: false, served: 1, behind: 0, failed: 1 },
    ]);
    gates[1]!.thaw();
    await isUsed();
    await caughtUp();
    await page();
    expect([states.at(-1), replica().served]).toEqual([null, 2]);
  });

  it('keeps a slow page on a replica that responds', async () => {
    await caughtUp();
    await page(async () => {
      for (let checks = 0; checks < 6; checks++) {
        await time.advance(0.1);
        // The response to the check starts the next interval, besides the patience with the response.
        await until(() => time.pending === 2);
      }
    });
    expect(replica()).toMatchObject({ served: 1, failed: 0 });
  });

  it('is skipped while its server is down', async () => {
    await caughtUp();
    await page();
    await standby.kill();
    const found = await page();
    const { isUsed: wasUsed, failed } = replica();
    await standby.start();
    expect([found.length, wasUsed, failed]).toEqual([1, false, 1]);
    await isUsed();
    expect(states).toEqual([expect.any(String), null]);
  });

  it('is never used if it belongs to another database', async () => {
    const found: (string | null)[] = [];
    const other = await openPostgresStorage({
      url: urlOf(gates[0]!),
      clock: new FixedClock(),
      replica: { url: urlOf(gates[1]!, 'template'), onState: (state) => found.push(state) },
    });
    while (found.length === 0) await sleep(20);
    expect([found, other.gauges().replica!.isUsed]).toEqual([['it is not a replica of this database'], false]);
    await other.close();
  });
});
