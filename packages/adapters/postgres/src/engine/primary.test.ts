import { setTimeout as sleep } from 'node:timers/promises';
import type { EventSeq, RealmId } from '@parley/domain/kernel';
import { appendEvent, FixedClock } from '@parley/testkit';
import { inspectPostgres, migratePostgres, openPostgresStorage, type PostgresStorage } from '../database.js';
import { type Gate, openGate } from '../testing/gate.js';
import { findBinaries, startServer, startStandby, type TestServer } from '../testing/server.js';

const binaries = findBinaries()!;
const REALM = 1 as RealmId;

describe('database address with several hosts', () => {
  let servers: TestServer[];
  let gates: Gate[];
  let storages: PostgresStorage[];
  let states: string[];
  let url: string;
  beforeEach(async () => {
    [servers, gates, storages, states] = [[], [], [], []];
    // A standby that can be promoted, and its primary.
    const primary = await startServer(binaries);
    gates.push(await openGate(primary.socket));
    const [gate] = gates as [Gate];
    await migratePostgres(`postgres://parley@127.0.0.1:${gate.port}/postgres`);
    await primary.query(
      `INSERT INTO realm (version, groups_version, string_id, uuid, name, is_deactivated, created_at, settings,
                          rendered_description, permissions, user_defaults)
       VALUES (1, 1, 'a', '', '', 0, 0, '{}', '', '{}', '{}');
       INSERT INTO event_log_head VALUES (1, 0, 0, 0)`,
    );
    const standby = await startStandby(binaries, gate.port);
    gates.push(await openGate(standby.socket));
    servers.push(primary, standby);
    url = `postgres://parley@127.0.0.1:${gates[1]!.port},127.0.0.1:${gate.port}/postgres`;
  });
  afterEach(async () => {
    for (const storage of storages) await storage.close();
    for (const gate of gates) await gate.close();
    for (const server of servers) await server.stop();
  });

  async function open(): Promise<PostgresStorage> {
    const onState = (state: string) => void states.push(state);
    const storage = await openPostgresStorage({ url, clock: new FixedClock(), onState });
    storages.push(storage);
    return storage;
  }

  const append = ({ uow }: PostgresStorage): Promise<EventSeq> =>
    uow.write(REALM, (tx) => appendEvent(tx, REALM, { event: { type: 'blank' }, audience: { kind: 'nobody' } }));

  /** Returns the number of seconds until a write succeeds. */
  async function secondsUntilBack(storage: PostgresStorage): Promise<number> {
    const startedAt = performance.now();
    for (;;) {
      storage.verify();
      const isBack = await Promise.race([
        append(storage).then(
          () => true,
          (error) => {
            expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
            return false;
          },
        ),
        sleep(1000).then(() => false),
      ]);
      if (isBack) return (performance.now() - startedAt) / 1000;
      await sleep(100);
    }
  }

  const caughtUp = async () => {
    const [{ at }] = await servers[0]!.query('SELECT pg_current_wal_lsn() AS at');
    for (;;) {
      const [{ done }] = await servers[1]!.query(`SELECT pg_last_wal_replay_lsn() >= '${at}' AS done`);
      if (done) return;
      await sleep(20);
    }
  };

  it('uses the primary regardless of its position', async () => {
    expect((await inspectPostgres(url)).pendingSteps).toEqual([]);
    expect(await append(await open())).toBe(1);
  });

  it('reports a reason for each host if none is a primary', async () => {
    await servers[0]!.kill();
    const [one, two] = gates.map(({ port }) => port);
    await expect(open()).rejects.toThrow(
      new RegExp(`no host is a primary \\(127.0.0.1:${two}: it is a standby; 127.0.0.1:${one}: .+\\)$`),
    );
  });

  it('follows a promoted standby after its primary ends, and not the former primary', async () => {
    const storage = await open();
    await append(storage);
    await caughtUp();
    await servers[0]!.kill();
    await expect(append(storage)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    await servers[1]!.query('SELECT pg_promote()');
    expect(await secondsUntilBack(storage)).toBeLessThan(10);
    expect(states).toContain('replaced');
    const { timeline, ...installation } = storage.installation;
    expect(timeline).toBe('00000001');
    expect(await storage.identify()).toEqual({ ...installation, timeline: '00000002' });
    // Nobody has fenced the former primary.
    await servers[0]!.start();
    const before = await servers[1]!.query('SELECT count(*)::int AS count FROM event');
    await append(await open());
    const after = await servers[1]!.query('SELECT count(*)::int AS count FROM event');
    expect(after[0].count).toBe(before[0].count + 1);
  });

  it('follows a promoted standby while its primary no longer responds', async () => {
    const storage = await open();
    await append(storage);
    await caughtUp();
    gates[0]!.freeze();
    const lost = append(storage);
    lost.catch(() => {});
    await servers[1]!.query('SELECT pg_promote()');
    expect(await secondsUntilBack(storage)).toBeLessThan(20);
    await expect(lost).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  });
});
