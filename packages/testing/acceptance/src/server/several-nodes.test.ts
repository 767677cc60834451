import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { migratePostgres } from '@parley/postgres';
import { createDatabase } from '@parley/postgres/testing';
import { createParley, type Parley } from '@parley/server';
import { runCommand } from '@parley/server/testing';
import { FakeMailer, hasNatsServer, MemoryBlobStore, NatsServer, until } from '@parley/testkit';

/** Dumps of databases that earlier releases moved from SQLite. */
const FIXTURES = join(__dirname, '../../../e2e/src/fixtures');
const DUMPS = readdirSync(FIXTURES).filter((name) => name.endsWith('.sql.gz'));

const ANN = { realm: '', externalId: 'u1' };
const EMAIL = 'ann@example.com';
const SECRET = 'the secret of every node';

/** Node of a cluster, with real time and background work. */
class Node {
  private constructor(
    readonly parley: Parley,
    private readonly server: Server,
  ) {}

  static async start(options: Parameters<typeof createParley>[0]): Promise<Node> {
    const parley = await createParley(options);
    const server = createServer(parley.handler).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Node(parley, server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async fetch(path: string, apiKey: string, body?: Readonly<Record<string, string>>) {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      headers: { Authorization: `Basic ${btoa(`${EMAIL}:${apiKey}`)}` },
      ...(body && { method: 'POST', body: new URLSearchParams(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, never> };
  }

  async close(): Promise<void> {
    await this.parley.close();
    this.server.closeAllConnections();
    this.server.close();
  }
}

describe('several nodes on PostgreSQL', () => {
  let folder: string;
  let database: Awaited<ReturnType<typeof createDatabase>>;
  const files = new MemoryBlobStore({ nowMs: Date.now });
  const nodes: Node[] = [];
  const log: [object, string][] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'parley-nodes-'));
    database = await createDatabase();
    log.length = 0;
  });
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.close();
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  async function start(options: object = {}): Promise<Node> {
    const record = (fields: object, message: string) => log.push([fields, message]);
    const node = await Node.start({
      database: database.url,
      url: 'http://localhost',
      secret: SECRET,
      files,
      mailer: new FakeMailer(),
      logger: { info: () => {}, warn: record, error: record },
      ...options,
    });
    nodes.push(node);
    return node;
  }

  async function found(node: Node): Promise<string> {
    await node.parley.realms.ensure({ name: '' });
    await node.parley.users.upsert({ ...ANN, name: 'Ann', email: EMAIL, role: 'owner' });
    return node.parley.users.apiKey(ANN);
  }

  /** Milliseconds from a message on one node to the response of a poll on the other one. */
  async function delivery(from: Node, to: Node, apiKey: string): Promise<number> {
    const { queue_id } = (await to.fetch('/register', apiKey, { event_types: '["message"]' })).body;
    const poll = to.fetch(`/events?queue_id=${queue_id}&last_event_id=-1`, apiKey);
    await sleep(50);
    const startedAt = performance.now();
    const sent = await from.fetch('/messages', apiKey, {
      type: 'direct',
      to: JSON.stringify([EMAIL]),
      content: 'hi',
    });
    expect(sent).toMatchObject({ status: 200 });
    expect((await poll).body).toMatchObject({ events: [{ type: 'message' }] });
    return performance.now() - startedAt;
  }

  it('deliver each message and end revoked keys within two seconds without a bus', async () => {
    const [one, two] = [await start(), await start()];
    const key = await found(one);
    expect((await two.fetch('/users/me', key)).status).toBe(200);
    expect(await delivery(one, two, key)).toBeLessThan(2000);
    await one.parley.users.apiKey(ANN, { rotate: true });
    const revokedAt = performance.now();
    while ((await two.fetch('/users/me', key)).status === 200) await sleep(20);
    expect(performance.now() - revokedAt).toBeLessThan(2000);
  });

  it('reject a bus without encryption or with unreadable credentials', async () => {
    await expect(start({ bus: 'nats://bus.example.com:4222' })).rejects.toThrow(/^bus must be tls:/);
    const bus = { url: 'nats://127.0.0.1:4222', credentialsFile: join(folder, 'none') };
    await expect(start({ bus })).rejects.toThrow(/^Cannot use the bus: ENOENT/);
  });

  describe('with files in a folder', () => {
    const inFolder = (name: string) => ({ files: `folder:${join(folder, name)}` });
    const BUCKET = { files: 's3:parley?endpoint=http://127.0.0.1:9' };
    const ONE_SERVER = new RegExp(
      `^${hostname()}, process ${process.pid} has the files of this database in its folder .*/one, which only one server can use: ` +
        'stop that server first',
    );
    const marks = (name: string) => existsSync(join(folder, name, 'parley-database.json'));
    const addNode = async (id: string, files: string) => {
      await database.run(`INSERT INTO server_node VALUES ('${id}', 'web1, process 12', '1', now())`);
      await database.run(`INSERT INTO server_fact VALUES ('files of ${id}', '${files}')`);
    };
    const sweep = (files: string) => {
      const environment = {
        PARLEY_DATABASE: database.url,
        PARLEY_SECRET: SECRET,
        PARLEY_SMTP_URL: 'smtp://127.0.0.1:9',
      };
      return runCommand(['file', 'sweep', `--files=${files}`], { environment });
    };

    it('run only one server, and another one once it has stopped', async () => {
      const one = await start(inFolder('one'));
      for (const other of [inFolder('one'), inFolder('two'), BUCKET])
        await expect(start(other)).rejects.toThrow(ONE_SERVER);
      expect([marks('one'), marks('two')]).toEqual([true, false]);
      nodes.length = 0;
      await one.close();
      await start(inFolder('two'));
      expect(await database.query("SELECT name FROM server_fact WHERE name LIKE 'files of %'")).toHaveLength(1);
    });

    it('reject a second server next to one with shared files', async () => {
      await start();
      await expect(start(inFolder('one'))).rejects.toThrow(
        'PARLEY_FILES names a folder, which only one server can use, but ' +
          `${hostname()}, process ${process.pid} uses the database too: name the bucket of that server, or stop it first`,
      );
      expect(marks('one')).toBe(false);
    });

    it('run one of several servers that start at the same time', async () => {
      const started = await Promise.allSettled(['one', 'two', 'one'].map((name) => start(inFolder(name))));
      expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('continue after a crash: at once in the folder of a process that has ended, elsewhere after a minute', async () => {
      await (await start(inFolder('one'))).close();
      nodes.length = 0;
      const dead = spawnSync(process.execPath, ['--version']).pid;
      await addNode(`${hostname()} ${dead} a`, join(folder, 'one'));
      await expect(start(inFolder('two'))).rejects.toThrow('after a crash, it counts as running for a minute');
      await (await start(inFolder('one'))).close();
      nodes.length = 0;
      await addNode('web1 12 b', '/srv/files');
      await expect(start(inFolder('one'))).rejects.toThrow('web1, process 12 has the files of this database');
      await database.run("UPDATE server_node SET seen_at = now() - interval '61 s'");
      await start(inFolder('one'));
    });

    it('accept commands with the same folder only', async () => {
      await start(inFolder('one'));
      expect(await sweep(inFolder('one').files)).toMatchObject({ code: 0 });
      for (const { files } of [inFolder('two'), BUCKET])
        expect(await sweep(files)).toMatchObject({
          code: 1,
          err: expect.stringContaining('run the command on that machine with the same PARLEY_FILES'),
        });
    });

    it('reject the folder of another database', async () => {
      await (await start(inFolder('one'))).close();
      nodes.length = 0;
      const other = await createDatabase();
      await expect(start({ ...inFolder('one'), database: other.url })).rejects.toThrow(
        'holds the files of another database',
      );
      await other.drop();
    });
  });

  it('reject the secret of another server', async () => {
    await start();
    await expect(start({ secret: 'the secret of another server' })).rejects.toThrow(
      'is not the secret of the database',
    );
  });

  it.each(DUMPS)(
    'continue the queues and log-ins of an earlier release after the migration of its database: %s',
    async (dump) => {
      const data = JSON.parse(readFileSync(join(FIXTURES, dump.replace('.sql.gz', '.json')), 'utf8'));
      const { email, apiKey, password } = data.gertrude;
      await database.run('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
      await database.run(gunzipSync(readFileSync(join(FIXTURES, dump))).toString());
      const { secret } = data;
      await expect(start({ secret })).rejects.toThrow('parley migrate');
      await migratePostgres(database.url);
      const node = await start({ secret });
      const call = async (path: string, params: Readonly<Record<string, string>>, isPost = false) => {
        const form = new URLSearchParams(params);
        const response = await fetch(`${node.url}/api/v1${path}${isPost ? '' : `?${form}`}`, {
          headers: isPost ? {} : { Authorization: `Basic ${btoa(`${email}:${apiKey}`)}` },
          ...(isPost && { method: 'POST', body: form }),
        });
        return response.json();
      };
      expect(await call('/fetch_api_key', { username: email, password }, true)).toMatchObject({ api_key: apiKey });
      const after = { queue_id: data.queue, last_event_id: String(data.lastEventId), dont_block: 'true' };
      expect(await call('/events', after)).toMatchObject({
        events: [{ type: 'message', message: { id: data.missed } }],
      });
      const newest = { anchor: 'newest', num_before: '100', num_after: '0', apply_markdown: 'false' };
      const narrow = JSON.stringify([
        ['channel', 'rampart'],
        ['topic', 'the ghost'],
      ]);
      const { messages } = await call('/messages', { ...newest, narrow });
      expect(messages).toHaveLength(6);
      expect(messages[0]).toMatchObject({
        flags: expect.arrayContaining(['starred']),
        reactions: [{ emoji_name: 'ghost' }],
      });
    },
  );

  it('stop accepting requests when another version changes the schema to an unknown one', async () => {
    const node = await start();
    await node.parley.realms.ensure({ name: '' });
    expect(await node.parley.ready()).toMatchObject({ isReady: true });
    await database.run(
      "INSERT INTO schema_step (number, name, checksum, is_contract) VALUES (9999, 'later', 'x', true)",
    );
    while ((await node.parley.ready()).isReady) await sleep(100);
    expect((await node.parley.ready()).checks).toMatchObject({ schema: 'another version has changed the schema' });
    const message = 'another version has changed the schema: this server accepts no more requests';
    expect(log).toContainEqual([{ reason: expect.stringContaining('newer version of Parley') }, message]);
  });

  it('reject a bus or a read replica on SQLite', async () => {
    const bus = 'nats://127.0.0.1:4222';
    const database = `sqlite:${join(folder, 'parley.db')}`;
    await expect(start({ bus, database })).rejects.toThrow('connects servers of a database on PostgreSQL');
    const databaseReplica = 'postgres://parley@localhost/parley';
    await expect(start({ databaseReplica, database })).rejects.toThrow('requires a database on PostgreSQL');
  });

  it('are listed with their state, and the hosts with their roles, by parley cluster status and in the metrics', async () => {
    const [one] = [await start({ metrics: true }), await start()];
    const key = await found(one);
    const run = (url: string, ...args: readonly string[]) =>
      runCommand(['cluster', 'status', ...args], { environment: { PARLEY_DATABASE: url } });
    const status = async () => {
      const { code, out } = await run(database.url, '--json');
      expect(code).toBe(0);
      return JSON.parse(out) as { nodes: { state: object | null; leases: string[] }[]; hosts: object[] };
    };
    expect((await one.fetch('/users/me', key)).status).toBe(200);
    // Nodes report within a second, and take the first leases within a minute.
    await until(async () => (await status()).nodes.every(({ state }) => state !== null));
    const { nodes: listed, hosts } = await status();
    const state = { undelivered: expect.any(Number), bus: null, usesReplica: null };
    const node = { name: expect.stringContaining(`process ${process.pid}`), release: expect.any(String), state };
    expect(listed).toMatchObject([node, node]);
    expect(new Set(listed.flatMap(({ leases }) => leases)).size).toBe(listed.flatMap(({ leases }) => leases).length);
    expect(hosts).toEqual([{ host: expect.any(String), role: 'primary', problem: null, lagBytes: null }]);

    const shown = await run(database.url);
    expect(shown.code).toBe(0);
    const out = shown.out.split('\n');
    expect(out[0]).toMatch(/^NODE +RELEASE +SEEN +EVENTS BEHIND +BUS +REPLICA +LEASES$/);
    expect(out[1]).toMatch(/, process \d+ +\S+ +\d+ s ago +\d+ +none +none +\d+$/);
    expect(out[4]).toMatch(/^DATABASE +ROLE +LAG$/);
    expect(out.at(-1)).toBe('Bus: none');
    expect(await one.parley.metrics()).toMatch(/^parley_cluster_nodes\{release="[^"]+"\} 2$/m);
    expect(await one.parley.metrics()).toMatch(/^parley_cluster_leases \d+$/m);

    await nodes.pop()!.close();
    expect((await status()).nodes).toHaveLength(1);
    const failed = await run('postgres://parley@127.0.0.1:9/parley');
    expect(failed.code).toBe(3);
    expect(failed.out).toMatch(/^127\.0\.0\.1:9 +unavailable +connect ECONNREFUSED/m);
  });

  it('complete resumable uploads despite repeatedly broken database connections', async () => {
    const node = await start();
    const key = await found(node);
    const tus = (method: string, path: string, headers: object, body?: string) =>
      fetch(`${node.url}/api/v1/tus/${path}`, {
        method,
        headers: { Authorization: `Basic ${btoa(`${EMAIL}:${key}`)}`, 'Tus-Resumable': '1.0.0', ...headers },
        ...(body !== undefined && { body }),
      });
    let isRunning = true;
    const breaking = (async () => {
      while (isRunning) {
        await database.run(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
        );
        await sleep(30);
      }
    })();
    const refusals = new Set<number>();
    for (let n = 0; n < 10; n++) {
      let begun = await tus('POST', '', { 'Upload-Length': '5' });
      for (; begun.status !== 201; begun = await tus('POST', '', { 'Upload-Length': '5' })) refusals.add(begun.status);
      const path = begun.headers.get('location')!.split('/tus/')[1]!;
      // Behaves like tus clients, which repeat after these statuses only.
      for (;;) {
        const { status, headers } = await tus('HEAD', path, {});
        const offset = headers.get('upload-offset');
        if (status === 200 && offset === '5') break;
        refusals.add(status);
        if (status === 200) {
          const content = 'hello'.slice(Number(offset));
          const type = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': offset! };
          refusals.add((await tus('PATCH', path, type, content)).status);
        }
      }
    }
    isRunning = false;
    await breaking;
    refusals.delete(200);
    expect([...refusals]).toEqual([503]);
  });

  (hasNatsServer ? describe : describe.skip)('with a bus', () => {
    let nats: NatsServer;
    let one: Node;
    let two: Node;
    beforeEach(async () => {
      nats = await NatsServer.atFreePort();
      const credentialsFile = join(folder, 'credentials');
      writeFileSync(credentialsFile, 'parley:secret');
      await startBus();
      const bus = { url: nats.url, credentialsFile };
      one = await start({ bus, metrics: true });
      two = await start({ bus, metrics: true });
    });
    afterEach(() => nats.kill());

    const startBus = () => nats.start('--user', 'parley', '--pass', 'secret');
    const stateOf = async (node: Node) => (await node.parley.ready()).checks.bus;
    it('deliver a message before their next read of the log', async () => {
      const key = await found(one);
      expect((await two.fetch('/users/me', key)).status).toBe(200);
      await delivery(one, two, key);
      // The log is read every 250 ms without messages of the other node. A busy machine may need several attempts.
      let fastestMs = await delivery(two, one, key);
      for (let n = 0; n < 20 && fastestMs >= 100; n++) fastestMs = Math.min(fastestMs, await delivery(one, two, key));
      expect(fastestMs).toBeLessThan(100);
      const metrics = await two.parley.metrics();
      expect(metrics).toMatch(/^parley_bus_messages_total\{result="received"\} [1-9]/m);
      expect(metrics).toMatch(/^parley_bus_connected 1$/m);
      expect(metrics).toMatch(/^parley_database_round_trips_total [1-9]/m);
      expect(metrics).toMatch(/^parley_database_lock_wait_seconds_total \d+\.\d/m);
      expect(metrics).toMatch(/^parley_database_connections [1-9]/m);
    });

    it('continue without it, report its loss and its return, and stay ready', async () => {
      const key = await found(one);
      expect((await two.fetch('/users/me', key)).status).toBe(200);
      expect(await one.parley.ready()).toMatchObject({ isReady: true, checks: { bus: 'ok' } });
      await nats.kill();
      await until(async () => (await stateOf(one)) !== 'ok' && (await stateOf(two)) !== 'ok');
      expect(await one.parley.ready()).toMatchObject({ isReady: true });
      expect(await delivery(one, two, key)).toBeLessThan(2000);
      await startBus();
      await until(async () => (await stateOf(one)) === 'ok' && (await stateOf(two)) === 'ok');
      await one.parley.users.apiKey(ANN, { rotate: true });
      await until(async () => (await two.fetch('/users/me', key)).status === 401);
      const messages = log.map(([, message]) => message).filter((message) => message.startsWith('the bus'));
      const away = 'the bus is unavailable: events of other servers are read from the database';
      expect(messages.sort()).toEqual([away, away, 'the bus is available again', 'the bus is available again'].sort());
    });
  });
});
