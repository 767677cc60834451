import { setTimeout as sleep } from 'node:timers/promises';
import { FixedClock } from '@parley/testkit';
import pg from 'pg';
import { finishUpgradeOfPostgres, openPostgresStorage } from '../database.js';
import { MIGRATIONS } from '../features.js';
import { createDatabase, type TestDatabase } from '../testing/databases.js';
import { finishUpgrade, migrate, pendingSteps } from './migrate.js';

const NEXT = [
  ...MIGRATIONS,
  { name: 'realms.900', sql: '-- contract: test\nALTER TABLE realm DROP COLUMN former', isContract: true },
  { name: 'realms.901', sql: '-- expand: test\nALTER TABLE realm ADD COLUMN next text' },
];
const [FORMER, NEWER] = ['1.0.0', '1.1.0'];

let database: TestDatabase;
let client: pg.Client;
beforeEach(async () => {
  database = await createDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('ALTER TABLE realm ADD COLUMN former text');
});
afterEach(async () => {
  await client.end();
  await database.drop();
});

const names = async (migrations: typeof NEXT) => {
  const { expand, contract } = await pendingSteps(client, migrations);
  return { expand: expand.map(({ name }) => name), contract: contract.map(({ name }) => name) };
};
const open = () => openPostgresStorage({ url: database.url, clock: new FixedClock() });

describe('upgrade of several servers', () => {
  it('runs the steps compatible with the previous release, which can still start', async () => {
    expect(await migrate(client, NEXT)).toEqual(['realms.901']);
    expect(await migrate(client, NEXT)).toEqual([]);
    expect(await names(NEXT)).toEqual({ expand: [], contract: ['realms.900'] });
    const { gauges, reportPresence, close } = await open();
    await reportPresence(FORMER, 'former');
    expect(gauges().hasOwnSchema).toBe(true);
    await close();
  });

  it('retries a step while a long transaction locks its table, so that other statements run in between', async () => {
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT FROM realm');
    const waits = async () => (await other.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount! > 0;
    const migrated = migrate(client, NEXT);
    while (!(await waits())) await sleep(20);
    while (await waits()) await sleep(20);
    await other.query('COMMIT');
    expect(await migrated).toEqual(['realms.901']);
    await other.end();
  });

  it('finishes only after no server with another release is running, and then rejects such servers', async () => {
    await migrate(client, NEXT);
    const former = await open();
    await former.reportPresence(FORMER, 'former');
    expect(await finishUpgrade(client, NEXT, NEWER)).toEqual({
      others: [{ name: expect.stringContaining(`process ${process.pid}`), release: FORMER, age: 0 }],
      done: [],
    });
    expect((await names(NEXT)).contract).toEqual(['realms.900']);
    await former.close();
    expect(await finishUpgrade(client, NEXT, NEWER)).toEqual({ others: [], done: ['realms.900'] });
    expect(await names(NEXT)).toEqual({ expand: [], contract: [] });
    await expect(open()).rejects.toThrow('written by a newer version of Parley');
    await expect(finishUpgradeOfPostgres(database.url, FORMER)).rejects.toThrow('written by a newer version');
  });

  it('forgets a killed server after a minute', async () => {
    const killed = await open();
    await killed.reportPresence(FORMER, 'killed');
    await client.query("UPDATE server_node SET seen_at = now() - interval '61 s'");
    expect((await finishUpgrade(client, MIGRATIONS, NEWER)).others).toEqual([]);
    await killed.close();
  });

  it('reports stopped servers to one of the others', async () => {
    const [killed, one, other] = [await open(), await open(), await open()];
    await killed.reportPresence(FORMER, 'killed');
    expect(await one.reportPresence(FORMER, 'one')).toEqual([]);
    await client.query("UPDATE server_node SET seen_at = now() - interval '61 s' WHERE id = 'killed'");
    expect(await one.reportPresence(FORMER, 'one')).toEqual(['killed']);
    expect(await other.reportPresence(FORMER, 'other')).toEqual([]);
    for (const storage of [killed, one, other]) await storage.close();
  });

  it('makes a running server with the previous release not ready after it is finished', async () => {
    const late = await open();
    await finishUpgrade(client, NEXT.slice(0, -2), NEWER);
    await late.reportPresence(FORMER, 'late');
    expect(late.gauges().hasOwnSchema).toBe(true);
    await client.query("UPDATE server_node SET seen_at = now() - interval '61 s'");
    await migrate(client, NEXT);
    await finishUpgrade(client, NEXT, NEWER);
    const isUsable = () => {
      try {
        late.verify();
        return true;
      } catch {
        return false;
      }
    };
    while (isUsable()) await sleep(50);
    expect(late.gauges().hasOwnSchema).toBe(false);
    await late.close();
  });

  it('runs every step on a new database, regardless of its kind', async () => {
    await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const steps = [
      { name: 'baseline', sql: 'CREATE TABLE server_fact (name text PRIMARY KEY, value text); CREATE TABLE a (x int)' },
      { name: 'b', sql: '-- contract: test\nALTER TABLE a DROP COLUMN x', isContract: true },
    ];
    expect(await names(steps)).toEqual({ expand: ['baseline', 'b'], contract: [] });
    expect(await migrate(client, steps)).toEqual(['baseline', 'b']);
    expect(await names(steps)).toEqual({ expand: [], contract: [] });
  });
});
