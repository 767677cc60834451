import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findBinaries, startServer, startStandby, type TestServer } from '@parley/postgres/testing';
import { freePort, NatsServer } from '@parley/testkit';
import S3rver from 's3rver';
import { type Finished, ParleyProcess, runParley } from '../testing/parley-process.js';
import { within } from '../testing/pause.js';
import { FaultyProxy } from './faulty-proxy.js';
import { NextRelease } from './next-release.js';

const FINISH = ['cluster', 'finish-upgrade'];
const SHIFT_CLOCK = new URL('./shift-clock.js', import.meta.url).href;

export interface Person {
  readonly id: number;
  readonly email: string;
  readonly apiKey: string;
}

/** Response of a node. */
export interface Reply {
  readonly status: number;
  /** URL of the node and operation. */
  readonly url: string;
  // biome-ignore lint/suspicious/noExplicitAny: checks say what they expect of a response.
  readonly body: any;
}

/** Process behind the load balancer, with separate proxies to the database and the bus. */
export interface ClusterNode {
  readonly name: string;
  readonly port: number;
  readonly toDatabase: FaultyProxy;
  readonly toBus: FaultyProxy;
  process: ParleyProcess;
  /** True if it runs the next release. */
  isNext: boolean;
}

/** Time for responses about commits of a killed server to arrive. */
const RESPONSE_MS = 1000;
/** Longer than rows of killed nodes remain. */
const KILLED_NODE_MS = 90_000;

/** Raw contents of messages by id. */
export type StoredMessages = ReadonlyMap<number, string>;

/** Nodes, a PostgreSQL server with a standby, a NATS server and a bucket on this machine. */
export class Cluster {
  readonly nodes: ClusterNode[] = [];
  /** Number of failovers that may have lost acknowledged commits. */
  losses = 0;
  /** Called after such a failover with the surviving messages and scheduled contents, before any node uses them. */
  onLoss: (left: StoredMessages, waiting: ReadonlySet<string>) => void = () => {};
  private readonly nextRelease = new NextRelease();
  /** Begins when the next release has migrated the schema. */
  upgrade: 'none' | 'begun' | 'finished' = 'none';
  private standby!: { readonly server: TestServer; readonly way: FaultyProxy; readonly isSynchronous: boolean };
  private next = 0;
  private output = '';

  private constructor(
    private readonly folder: string,
    private readonly bucket: S3rver,
    private readonly bucketUrl: string,
    private readonly binaries: string,
    public postgres: TestServer,
    readonly nats: NatsServer,
  ) {}

  static async start(nodes: number): Promise<Cluster> {
    const binaries = findBinaries();
    if (binaries === null) throw new Error('PostgreSQL is not installed; on Debian: apt-get install postgresql');
    const folder = mkdtempSync(join(tmpdir(), 'parley-cluster-'));
    const [postgres, nats] = [await startServer(binaries), await NatsServer.atFreePort()];
    const bucket = new S3rver({
      ...{ address: '127.0.0.1', port: 0, silent: true, directory: folder },
      configureBuckets: [{ name: 'parley', configs: [] }],
    });
    const { port } = (await bucket.run()) as AddressInfo;
    const cluster = new Cluster(
      folder,
      bucket,
      `s3:parley?endpoint=http://127.0.0.1:${port}`,
      binaries,
      postgres,
      nats,
    );
    await nats.start();
    await cluster.command(['migrate']);
    await cluster.command(['realm', 'create', '--bare', '', 'Elsinore']);
    await cluster.addStandby(false);
    for (let index = 1; index <= nodes; index++) cluster.nodes.push(await cluster.createNode(`node ${index}`));
    return cluster;
  }

  /** Sends a request round-robin to one node. @throws Error on timeout */
  async request(
    person: Person,
    method: string,
    path: string,
    params: Readonly<Record<string, unknown>> = {},
    timeoutMs = 5000,
  ): Promise<Reply> {
    const call = async (): Promise<Reply> => {
      const response = await this.open(person, method, path, params, AbortSignal.timeout(timeoutMs));
      return { status: response.status, url: response.url, body: await response.json() };
    };
    // One in some hundred thousand calls to killed or frozen nodes outlasts its abort signal.
    const reply = await within(timeoutMs + 1000, call());
    if (!reply) throw new Error(`${method} ${path}: no response within ${timeoutMs} ms`);
    return reply;
  }

  /** Sends a request to the next node. Resolves to a response with an unread body. */
  open(
    { email, apiKey }: Person,
    method: string,
    path: string,
    params: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Response> {
    const { port } = this.nodes[this.next++ % this.nodes.length]!;
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(params)) {
      query.set(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
    const isRead = method === 'GET';
    return fetch(`http://127.0.0.1:${port}/api/v1${path}${isRead ? `?${query}` : ''}`, {
      method,
      headers: { Authorization: `Basic ${btoa(`${email}:${apiKey}`)}` },
      signal,
      ...(!isRead && { body: query }),
    });
  }

  async addPerson(name: string): Promise<Person> {
    const email = `${name}@elsinore.example`;
    const out = await this.command(['user', 'create', email, name]);
    const [, id, apiKey] = /user (\d+)\nAPI key: (\w+)/.exec(out)!;
    return { id: Number(id), email, apiKey: apiKey! };
  }

  /** @param clockShiftMs Clock error of the node */
  async restart(node: ClusterNode, clockShiftMs = 0): Promise<void> {
    this.output += node.process.output;
    node.process = await this.serve(node, clockShiftMs);
  }

  /**
   * Kills the PostgreSQL server and switches the nodes to its standby.
   * @param lagMs Time during which an asynchronous standby has received nothing
   * @param nextIsSynchronous True to use synchronous commits with the next standby
   */
  async failOver(lagMs: number, nextIsSynchronous: boolean): Promise<void> {
    const { server, way, isSynchronous } = this.standby;
    // A server that has recovered from a crash shows commits that the standby has not received yet.
    if (isSynchronous) await this.untilSynchronous();
    else {
      way.become('silent');
      await sleep(lagMs);
    }
    await this.postgres.kill();
    await sleep(RESPONSE_MS);
    way.close();
    await server.query('SELECT pg_promote()');
    if (!isSynchronous) {
      const left = await server.query('SELECT id::float8 AS id, content FROM message ORDER BY message.id');
      const waiting = await server.query('SELECT content FROM scheduled_message');
      this.losses++;
      this.onLoss(
        new Map(left.map(({ id, content }) => [id, content])),
        new Set(waiting.map(({ content }) => content)),
      );
    }
    for (const { toDatabase } of this.nodes) toDatabase.redirect({ path: server.socket });
    await this.postgres.stop();
    this.postgres = server;
    await this.addStandby(nextIsSynchronous);
  }

  /** Migrates the schema to the next release; afterwards nodes can run either release. */
  async beginUpgrade(): Promise<void> {
    await this.command(['migrate'], true);
    this.upgrade = 'begun';
  }

  /** Shuts a node down and replaces it with one of the other release. */
  async exchange(node: ClusterNode): Promise<void> {
    await node.process.terminate();
    node.isNext = !node.isNext;
    await this.restart(node);
  }

  /** Replaces the remaining nodes of the previous release and finishes the upgrade, which fails before. */
  async finishUpgrade(): Promise<void> {
    const former = this.nodes.filter(({ isNext }) => !isNext);
    if (former.length > 0) {
      const { code, err } = await this.tryCommand(FINISH, true);
      assert.deepEqual([code, /Servers with a release other than 99\.0\.0 are running/.test(err)], [1, true], err);
    }
    for (const node of former) await this.exchange(node);
    for (const deadline = Date.now() + KILLED_NODE_MS; ; await sleep(1000)) {
      const { code, err } = await this.tryCommand(FINISH, true);
      if (code === 0) break;
      assert.ok(Date.now() < deadline, err);
    }
    this.upgrade = 'finished';
  }

  /** Warnings and errors in the logs of all nodes in chronological order, and causes of process exits. */
  get problems(): readonly string[] {
    const lines = (this.output + this.nodes.map(({ process }) => process.output).join('')).split('\n');
    const records = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
    const others = lines.filter((line) => !/^(?:\{|Parley is at |$)/.test(line));
    return [...records.map(({ time, msg, err }) => `${time} ${msg}: ${err?.message ?? ''}`).sort(), ...others];
  }

  /** Returns the end of the event log, and its last events in ascending order. */
  async describeLog(): Promise<readonly string[]> {
    const heads = await this.postgres.query('SELECT * FROM event_log_head');
    const events = await this.postgres.query(
      'SELECT seq, at, message_id, format, audience FROM event ORDER BY seq DESC LIMIT 200',
    );
    return [...heads, ...events.reverse()].map((row) => JSON.stringify(row));
  }

  async close(): Promise<void> {
    for (const { process, toDatabase, toBus } of this.nodes) {
      process.signal('SIGCONT');
      await process.kill();
      toDatabase.close();
      toBus.close();
    }
    await this.nats.kill();
    this.standby.way.close();
    await this.standby.server.stop();
    await this.postgres.stop();
    await this.bucket.close();
    this.nextRelease.remove();
    rmSync(this.folder, { recursive: true });
  }

  private async addStandby(isSynchronous: boolean): Promise<void> {
    const way = await FaultyProxy.to({ path: this.postgres.socket });
    const server = await startStandby(this.binaries, way.port);
    this.standby = { server, way, isSynchronous };
    if (!isSynchronous) return;
    await this.postgres.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await this.postgres.query('SELECT pg_reload_conf()');
    await this.untilSynchronous();
  }

  /** Resolves once the synchronous standby has all previous commits, including those that did not wait for it. */
  private async untilSynchronous(): Promise<void> {
    while ((await this.postgres.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).length === 0) {
      await sleep(50);
    }
    await this.postgres.query("SELECT pg_logical_emit_message(true, 'parley', '')");
  }

  private async createNode(name: string): Promise<ClusterNode> {
    const path = this.postgres.socket;
    const [toDatabase, toBus] = [await FaultyProxy.to({ path }), await FaultyProxy.to({ port: this.nats.port })];
    const parts = { name, port: Number(await freePort()), toDatabase, toBus, isNext: false };
    return { ...parts, process: await this.serve(parts) };
  }

  private serve(
    { port, toDatabase, toBus, isNext }: Omit<ClusterNode, 'process'>,
    clockShiftMs = 0,
  ): Promise<ParleyProcess> {
    const shifted = { NODE_OPTIONS: `--import=${SHIFT_CLOCK}`, CLUSTER_CLOCK_SHIFT_MS: String(clockShiftMs) };
    return ParleyProcess.start([`--port=${port}`, '--rate-limits=off', '--shed-load=off', '--log-level=warn'], {
      environment: {
        ...this.environment(`postgres://parley@127.0.0.1:${toDatabase.port}/postgres`),
        PARLEY_BUS: `nats://127.0.0.1:${toBus.port}`,
        ...(clockShiftMs !== 0 && shifted),
      },
      program: isNext ? this.nextRelease.main : undefined,
    });
  }

  private async command(args: readonly string[], ofNext = false): Promise<string> {
    const { code, out, err } = await this.tryCommand(args, ofNext);
    if (code !== 0) throw new Error(`parley ${args.join(' ')} ended with ${code}: ${err}`);
    return out;
  }

  private tryCommand(args: readonly string[], ofNext = false): Promise<Finished> {
    const program = ofNext ? this.nextRelease.main : undefined;
    return runParley(args, '', { environment: this.environment(this.postgres.url), program });
  }

  private environment(database: string): Readonly<Record<string, string>> {
    return {
      PARLEY_DATABASE: database,
      PARLEY_URL: 'http://localhost',
      PARLEY_SECRET: 'the secret of every node',
      PARLEY_FILES: this.bucketUrl,
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      // Warnings of libraries would hide problems.
      NODE_NO_WARNINGS: '1',
      // No emails are sent.
      PARLEY_SMTP_URL: 'smtp://127.0.0.1:1',
    };
  }
}
