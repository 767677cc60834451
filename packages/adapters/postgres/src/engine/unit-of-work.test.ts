import type { EventSeq, RealmId, Transaction, UserId } from '@parley/domain/kernel';
import type { WritableRepositories } from '@parley/storage';
import { FixedClock } from '@parley/testkit';
import pg from 'pg';
import { PostgresEventLog } from '../kernel/events.js';
import { type CuttingProxy, startCuttingProxy } from '../testing/cutting-proxy.js';
import { createDatabase, type TestDatabase } from '../testing/databases.js';
import { findBinaries, startServer } from '../testing/server.js';
import type { Connection } from './connection.js';
import { DEFAULT_LIMITS, type PoolLimits, poolConfig, SessionPool } from './sessions.js';
import { PostgresUnitOfWork } from './unit-of-work.js';

const FIRST = 1 as RealmId;
const SECOND = 2 as RealmId;
/** COMMIT statement in the wire protocol; does not match `READ COMMITTED`. */
const COMMIT = '\0COMMIT\0';
const unavailable = expect.objectContaining({ code: 'STORAGE_UNAVAILABLE' });

let database: TestDatabase;
let proxy: CuttingProxy | undefined;
const opened: PostgresUnitOfWork[] = [];

beforeEach(async () => {
  database = await createDatabase();
  await run('CREATE TABLE counter (id bigint PRIMARY KEY, value bigint NOT NULL)');
  await run('INSERT INTO counter VALUES (1, 0), (2, 0)');
});

afterEach(async () => {
  for (const uow of opened.splice(0)) await uow.close();
  await proxy?.close();
  proxy = undefined;
  await database.drop();
});

async function run(sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}

/** Opens a unit of work that passes the connection itself to units. */
function open(
  url = database.url,
  limits: Partial<PoolLimits> = {},
  onState?: (state: string, reason?: unknown) => void,
): PostgresUnitOfWork {
  const pool = new pg.Pool(poolConfig(url, { ...DEFAULT_LIMITS, ...limits }, pg.types));
  const create = (connection: Connection) => ({ connection }) as unknown as WritableRepositories;
  const sessions = new SessionPool(pool, () => create, undefined, onState);
  const uow = new PostgresUnitOfWork(sessions);
  opened.push(uow);
  return uow;
}

const connectionOf = (tx: unknown): Connection => (tx as { readonly connection: Connection }).connection;

const raise = (tx: unknown, code: string) =>
  connectionOf(tx).command(`DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$`).run();

/** Reads and writes in two statements, which loses updates unless units run sequentially. */
const increase = (id: number) => async (tx: Transaction) => {
  const connection = connectionOf(tx);
  const value = await connection.values<number>('SELECT value FROM counter WHERE id = $1').get(id);
  await connection.command('UPDATE counter SET value = $1 WHERE id = $2').run(value! + 1, id);
};

const counted = async (id: number): Promise<number> =>
  Number((await run(`SELECT value FROM counter WHERE id = ${id}`))[0]!.value);

describe('PostgresUnitOfWork', () => {
  it('runs units of one organization sequentially, even on two servers', async () => {
    const servers = [open(), open()];
    await Promise.all(Array.from({ length: 40 }, (_, n) => servers[n % 2]!.write(FIRST, increase(1))));
    expect(await counted(1)).toBe(40);
  });

  it('runs units of two organizations concurrently', async () => {
    const uow = open();
    let finish = () => {};
    const other = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const first = uow.write(FIRST, async (tx) => {
      await increase(1)(tx);
      await other;
    });
    await uow.write(SECOND, increase(2));
    finish();
    await first;
    expect([await counted(1), await counted(2)]).toEqual([1, 1]);
  });

  it('runs units across organizations exclusively, even on two servers', async () => {
    const servers = [open(), open()];
    const writes = Array.from({ length: 30 }, (_, n) =>
      n % 3 === 0
        ? servers[n % 2]!.writeAcross(increase(1))
        : servers[n % 2]!.write(n % 3 === 1 ? FIRST : SECOND, increase(n % 3)),
    );
    await Promise.all(writes);
    expect(await counted(1)).toBe(20);
  });

  const byUser = (userId: number) => ({ shared: { kind: 'send', userId: userId as UserId } }) as const;

  it('runs shared units of different users in one organization concurrently, even on two servers', async () => {
    const servers = [open(), open(), open()];
    let [arrived, arrive] = [0, () => {}];
    const all = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const units = servers.map((uow, n) =>
      uow.write(
        FIRST,
        async (tx) => {
          await connectionOf(tx).values('SELECT 1').get();
          if (++arrived === servers.length) arrive();
          await all;
        },
        byUser(n + 1),
      ),
    );
    await Promise.all(units);
    expect(arrived).toBe(3);
  });

  it('runs units of one user and exclusive units sequentially', async () => {
    const servers = [open(), open()];
    const writes = Array.from({ length: 60 }, (_, n) =>
      servers[n % 2]!.write(FIRST, increase(1), n % 3 === 0 ? {} : byUser(7)),
    );
    const across = Array.from({ length: 6 }, (_, n) => servers[n % 2]!.writeAcross(increase(1)));
    await Promise.all([...writes, ...across]);
    expect(await counted(1)).toBe(66);
  });

  it('runs units of one kind without a user sequentially, even across organizations', async () => {
    const servers = [open(), open()];
    const write = (n: number) => servers[n % 2]!.writeAcross(increase(1), { shared: { kind: 'calls' } });
    await Promise.all(Array.from({ length: 20 }, (_, n) => write(n)));
    expect(await counted(1)).toBe(20);
  });

  it.each([
    ['it changes cached data', (connection: Connection) => connection.disableCaching()],
    ['a row exists already', (connection: Connection) => connection.command('INSERT INTO counter VALUES (1, 5)').run()],
  ])('reruns a shared unit exclusively if %s', async (_, change) => {
    const shares: boolean[] = [];
    await open().write(
      FIRST,
      async (tx) => {
        await increase(1)(tx);
        const connection = connectionOf(tx);
        shares.push(connection.sharing !== null);
        if (connection.sharing) await change(connection);
      },
      byUser(7),
    );
    expect(shares).toEqual([true, false]);
    expect(await counted(1)).toBe(1);
  });

  it('reruns a unit exclusively even if its work has caught the error that requires it', async () => {
    let runs = 0;
    await open().write(
      FIRST,
      async (tx) => {
        runs++;
        await increase(1)(tx);
        try {
          connectionOf(tx).requireAlone();
        } catch {}
      },
      byUser(7),
    );
    expect([runs, await counted(1)]).toEqual([2, 1]);
  });

  it.each(['40001', '40P01'])('reruns a unit after SQLSTATE %s and undoes its in-memory counts', async (code) => {
    const uow = open();
    const steps: string[] = [];
    await uow.write(FIRST, async (tx) => {
      steps.push('run');
      tx.onRollback(() => void steps.push('undo'));
      await increase(1)(tx);
      if (steps.length === 1) await raise(tx, code);
    });
    expect(steps).toEqual(['run', 'undo', 'run']);
    expect(await counted(1)).toBe(1);
  });

  it('rejects a unit as busy after three conflicting runs', async () => {
    let runs = 0;
    const write = open().write(FIRST, async (tx) => {
      runs++;
      await raise(tx, '40001');
    });
    await expect(write).rejects.toMatchObject({ code: 'SERVER_BUSY' });
    expect(runs).toBe(3);
  });

  it('fails a unit with a failed statement even if its work has caught the error', async () => {
    const write = open().write(FIRST, async (tx) => {
      await increase(1)(tx);
      await raise(tx, '23505').catch(() => {});
    });
    await expect(write).rejects.toThrow('no');
    expect(await counted(1)).toBe(0);
  });

  it('fails a unit with a deferred statement, without its parameters in the error', async () => {
    const write = open().write(FIRST, async (tx) => {
      connectionOf(tx).command('INSERT INTO counter (id, value) VALUES ($1, $2)').defer(1, 4711);
    });
    const error: Error = await write.then(
      () => new Error('committed'),
      (reason) => reason,
    );
    expect(error.message).toContain('INSERT INTO counter');
    expect(error.message).not.toContain('4711');
  });

  it('sends deferred statements in order before the next one', async () => {
    const seen = await open().write(FIRST, async (tx) => {
      const connection = connectionOf(tx);
      const set = connection.command('UPDATE counter SET value = $1 WHERE id = 1');
      set.defer(7);
      set.defer(8);
      return connection.values<number>('SELECT value FROM counter WHERE id = 1').get();
    });
    expect(seen).toBe(8);
  });

  it('keeps a limited number of prepared statements', async () => {
    const count = await open().read(FIRST, async (repositories) => {
      const connection = connectionOf(repositories);
      for (let n = 0; n < 2100; n++) expect(await connection.values<number>(`SELECT ${n}`).get()).toBe(n);
      return connection.values<number>('SELECT count(*) FROM pg_prepared_statements').get();
    });
    expect(count).toBeLessThanOrEqual(2000);
  });

  it('commits a unit that only defers statements', async () => {
    await open().write(FIRST, async (tx) => connectionOf(tx).command('UPDATE counter SET value = 9').defer());
    expect(await counted(2)).toBe(9);
  });

  it('rejects the use of a repository after its unit has ended', async () => {
    let kept: Transaction | undefined;
    await open().write(FIRST, async (tx) => {
      kept = tx;
    });
    await expect(increase(1)(kept!)).rejects.toThrow('after its unit of work ended');
  });

  it('reruns a unit on a new connection after a schema step has added a column', async () => {
    const uow = open();
    const all = (tx: unknown) => connectionOf(tx).rows('SELECT * FROM counter ORDER BY id').all();
    const former = [
      { id: 1, value: 0 },
      { id: 2, value: 0 },
    ];
    // Several connections have prepared the statement.
    await Promise.all([uow.readAcross(all), uow.readAcross(all), uow.readAcross(all), uow.write(FIRST, all)]);
    await run("ALTER TABLE counter ADD COLUMN next text DEFAULT 'new'");
    const present = former.map((row) => ({ ...row, next: 'new' }));
    expect(await uow.write(FIRST, all)).toEqual(present);
    expect(await Promise.all([1, 2, 3, 4].map(() => uow.readAcross(all)))).toEqual([1, 2, 3, 4].map(() => present));
  });

  it('ends a unit that awaits something else for too long', async () => {
    const uow = open(database.url, { idleUnitMs: 100 });
    const write = uow.write(FIRST, async (tx) => {
      await increase(1)(tx);
      await new Promise(() => {});
    });
    await expect(write).rejects.toEqual(unavailable);
    await uow.write(FIRST, increase(1));
    expect(await counted(1)).toBe(1);
  });
});

describe('PostgresUnitOfWork after a lost connection', () => {
  beforeEach(async () => {
    proxy = await startCuttingProxy(database.url);
  });

  it('returns the result of a commit that the server has executed', async () => {
    const uow = open(proxy!.url);
    proxy!.cutAt(COMMIT, 'after');
    await uow.write(FIRST, increase(1));
    expect(await counted(1)).toBe(1);
  });

  it('rejects a unit if its commit never arrived', async () => {
    const uow = open(proxy!.url);
    proxy!.cutAt(COMMIT, 'before');
    await expect(uow.write(FIRST, increase(1))).rejects.toEqual(unavailable);
    expect(await counted(1)).toBe(0);
    await uow.write(FIRST, increase(1));
  });

  it('rejects units while the server is unavailable and serves later ones', async () => {
    const uow = open(proxy!.url);
    proxy!.cutAt('UPDATE counter', 'before');
    await expect(uow.write(FIRST, increase(1))).rejects.toEqual(unavailable);
    await uow.write(FIRST, increase(1));
    await proxy!.close();
    await expect(uow.write(FIRST, increase(1))).rejects.toEqual(unavailable);
    await expect(uow.readAcross((r) => connectionOf(r).values('SELECT 1').get())).rejects.toEqual(unavailable);
    expect(await counted(1)).toBe(1);
  });
});

describe('server outage', () => {
  it('is reported once at its beginning and once at its end', async () => {
    proxy = await startCuttingProxy(database.url);
    const states: string[] = [];
    const uow = open(proxy.url, {}, (state, reason) => states.push(`${state}: ${(reason as Error)?.message}`));
    for (let attempt = 0; attempt < 2; attempt++) {
      proxy.cutAt('UPDATE counter', 'before');
      await expect(uow.write(FIRST, increase(1))).rejects.toEqual(unavailable);
    }
    expect(states).toEqual([expect.stringMatching(/^unavailable: Connection terminated/)]);
    const later = performance.now() + 2000;
    const clock = jest.spyOn(performance, 'now').mockReturnValue(later);
    await uow.write(FIRST, increase(1));
    await uow.write(FIRST, increase(1));
    clock.mockRestore();
    expect(states.slice(1)).toEqual(['connected: undefined']);
  });
});

describe('connection ended by PostgreSQL before its first unit', () => {
  it('fails only that unit', async () => {
    const pool = new pg.Pool(poolConfig(database.url, DEFAULT_LIMITS, pg.types));
    let ended = false;
    pool.on('connect', (client) => {
      if (ended) return;
      const query = client.query.bind(client) as (...args: unknown[]) => Promise<{ rows: { pid: number }[] }>;
      // Ends the connection after its preparation, while no pending query could receive the error.
      client.query = (async (...args: unknown[]) => {
        const result = await query(...args);
        if (ended) return result;
        ended = true;
        const { rows } = await query('SELECT pg_backend_pid() AS pid');
        const end = new Promise((resolve) => client.once('end', resolve));
        await run(`SELECT pg_terminate_backend(${rows[0]!.pid})`);
        await end;
        return result;
      }) as typeof client.query;
    });
    const create = (connection: Connection) => ({ connection }) as unknown as WritableRepositories;
    const uow = new PostgresUnitOfWork(new SessionPool(pool, () => create));
    opened.push(uow);
    const one = (tx: unknown) => connectionOf(tx).values<number>('SELECT 1').get();
    await expect(uow.read(FIRST, one)).rejects.toEqual(unavailable);
    expect(await uow.read(FIRST, one)).toBe(1);
  });
});

describe('event log on PostgreSQL', () => {
  it('shows a reader with a cursor every number once while eight writers commit and fail', async () => {
    await run(
      `INSERT INTO realm (version, groups_version, string_id, uuid, name, is_deactivated, created_at, settings,
                          rendered_description, permissions, user_defaults)
       VALUES (1, 1, 'a', '', '', 0, 0, '{}', '', '{}', '{}')`,
    );
    await run('INSERT INTO event_log_head VALUES (1, 0, 0, 0)');
    const uow = open();
    const logOf = (tx: unknown) =>
      new PostgresEventLog(connectionOf(tx), new FixedClock(), { listViews: async () => [] });
    const append = (n: number) => async (tx: Transaction) => {
      await logOf(tx).append(FIRST, { event: { type: 'blank' }, audience: { kind: 'nobody' } });
      if (n % 5 === 0) throw new Error('no');
    };
    const writers = Promise.allSettled(
      Array.from({ length: 8 }, async (_, writer) => {
        const shared = { kind: 'send', userId: writer as UserId } as const;
        for (let n = writer; n < 160; n += 8) {
          const unit =
            n % 3 === 0 ? uow.writeAcross(append(n)) : uow.write(FIRST, append(n), n % 3 === 1 ? {} : { shared });
          await unit.catch(() => {});
        }
      }),
    );
    const seen: EventSeq[] = [];
    let isOver = false;
    void writers.then(() => {
      isOver = true;
    });
    for (let isLast = false; !isLast; ) {
      isLast = isOver;
      const page = await uow.read(FIRST, (r) => logOf(r).listAfter(FIRST, seen.at(-1) ?? (0 as EventSeq), 50));
      seen.push(...page.map(({ seq }) => seq));
    }
    expect(seen).toEqual(Array.from({ length: 128 }, (_, n) => n + 1));
  });
});

it("does not mistake another unit's transaction for a lost one after a crash", async () => {
  const server = await startServer(findBinaries()!);
  const pool = new pg.Pool(poolConfig(server.url, DEFAULT_LIMITS, pg.types));
  const create = (connection: Connection) => ({ connection }) as unknown as WritableRepositories;
  const sessions = new SessionPool(pool, () => create);
  await server.query('CREATE TABLE server_fact (name text PRIMARY KEY, value text)');
  await server.query('CREATE TABLE counter (id bigint)');
  const idOf = async (client: pg.ClientBase) => {
    await client.query('BEGIN');
    await client.query('INSERT INTO counter VALUES (1)');
    return (await client.query('SELECT pg_current_xact_id()::text AS id')).rows[0].id as string;
  };
  try {
    const session = await sessions.take();
    const client = await pool.connect();
    const lost = await idOf(client);
    client.release(true);
    session.release(false);
    await server.kill();
    await server.start();
    const other = new pg.Client({ connectionString: server.url });
    await other.connect();
    expect(await idOf(other)).toBe(lost);
    await other.query('COMMIT');
    await other.end();
    await expect(sessions.isCommitted(lost, session)).rejects.toEqual(unavailable);
  } finally {
    await sessions.close();
    await server.stop();
  }
});
