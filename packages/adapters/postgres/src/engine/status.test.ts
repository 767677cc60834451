import { FixedClock } from '@parley/testkit';
import { openPostgresStorage, type PostgresStorage, statusOfCluster } from '../database.js';
import { createDatabase, type TestDatabase } from '../testing/databases.js';
import { openGate } from '../testing/gate.js';
import { findBinaries, startServer, startStandby } from '../testing/server.js';

const STATE = { undelivered: 2, bus: 'connected', usesReplica: true };

describe('status of a cluster', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  beforeEach(async () => {
    database = await createDatabase();
    storage = await openPostgresStorage({ url: database.url, clock: new FixedClock() });
  });
  afterEach(async () => {
    await storage.close();
    await database.drop();
  });

  it('contains the state and the leases of each running server only', async () => {
    await storage.reportPresence('1.0', 'one', STATE);
    const lease = { holder: 'one', until: 4_000_000_000 };
    await storage.uow.writeAcross(({ leases }) => leases.take('digests', lease, 0));
    await storage.uow.writeAcross(({ leases }) => leases.take('expired', { ...lease, until: 1 }, 0));
    const other = await openPostgresStorage({ url: database.url, clock: new FixedClock() });
    await other.reportPresence('1.1', 'two', STATE);
    await other.reportPresence('1.1', 'two');
    const { nodes } = await statusOfCluster(database.url, null);
    expect([...nodes!].sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
      { id: 'one', name: expect.any(String), release: '1.0', age: 0, state: STATE, leases: ['digests'] },
      { id: 'two', name: expect.any(String), release: '1.1', age: 0, state: STATE, leases: [] },
    ]);
    expect(await storage.clusterGauges('one')).toEqual({
      nodes: new Map([
        ['1.0', 1],
        ['1.1', 1],
      ]),
      leases: 1,
      standbys: new Map(),
    });
    await other.close();
    await database.run("INSERT INTO server_node VALUES ('old', 'old', '1.0', '2000-01-01')");
    await database.run("INSERT INTO server_fact VALUES ('node old', '{}')");
    await storage.reportPresence('1.0', 'one', STATE);
    expect((await statusOfCluster(database.url, null)).nodes).toMatchObject([{ id: 'one' }]);
    expect(await database.query("SELECT name FROM server_fact WHERE name LIKE 'node %'")).toEqual([
      { name: 'node one' },
    ]);
  });
});

it('the status of a cluster contains role and lag of each host', async () => {
  const primary = await startServer(findBinaries()!);
  const gates = [await openGate(primary.socket)];
  const standby = await startStandby(findBinaries()!, gates[0]!.port);
  gates.push(await openGate(standby.socket));
  const [one, two] = gates.map(({ port }) => `127.0.0.1:${port}`);
  await standby.query('SELECT pg_wal_replay_pause()');
  await primary.query('CREATE TABLE behind AS SELECT generate_series(1, 1000)');
  const { nodes, hosts } = await statusOfCluster(
    `postgres://parley@${one},127.0.0.1:9/postgres`,
    `postgres://parley@${two}/postgres`,
  );
  expect(nodes).toBeNull();
  expect(hosts).toEqual([
    { host: one, role: 'primary', problem: null, lagBytes: null },
    { host: '127.0.0.1:9', role: 'unavailable', problem: expect.stringContaining('ECONNREFUSED'), lagBytes: null },
    { host: two, role: 'standby', problem: null, lagBytes: expect.any(Number) },
  ]);
  expect(hosts[2]!.lagBytes).toBeGreaterThan(1000);
  for (const gate of gates) await gate.close();
  await standby.stop();
  await primary.stop();
});
