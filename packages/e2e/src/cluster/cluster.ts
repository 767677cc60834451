import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBinaries, startServer, type TestServer } from '@parley/postgres/testing';
import { freePort, NatsServer } from '@parley/testkit';
import S3rver from 's3rver';
import { ParleyProcess, runParley } from '../testing/parley-process.js';
import { FaultyProxy } from './faulty-proxy.js';

const SHIFT_CLOCK = new URL('./shift-clock.js', import.meta.url).href;

export interface Person {
  readonly id: number;
  readonly email: string;
  readonly apiKey: string;
}

/** Response of a node. */
export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: checks say what they expect of a response.
  readonly body: any;
}

/** Process that a load balancer sends requests to, with its own ways to the database and the bus. */
export interface ClusterNode {
  readonly name: string;
  readonly port: number;
  readonly toDatabase: FaultyProxy;
  readonly toBus: FaultyProxy;
  process: ParleyProcess;
}

/** Nodes, a PostgreSQL server, a NATS server and a bucket on this machine. */
export class Cluster {
  readonly nodes: ClusterNode[] = [];
  private next = 0;
  private output = '';

  private constructor(
    private readonly folder: string,
    private readonly bucket: S3rver,
    private readonly bucketUrl: string,
    readonly postgres: TestServer,
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
    const cluster = new Cluster(folder, bucket, `s3:parley?endpoint=http://127.0.0.1:${port}`, postgres, nats);
    await nats.start();
    await cluster.command('migrate');
    await cluster.command('realm', 'create', '', 'Elsinore');
    for (let index = 1; index <= nodes; index++) cluster.nodes.push(await cluster.createNode(`node ${index}`));
    return cluster;
  }

  /** Sends a request to the nodes in turn, one each. @throws Error if there is no response within the time */
  async request(
    { email, apiKey }: Person,
    method: string,
    path: string,
    params: Readonly<Record<string, unknown>> = {},
    timeoutMs = 5000,
  ): Promise<Reply> {
    const { port } = this.nodes[this.next++ % this.nodes.length]!;
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(params)) {
      query.set(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
    const isRead = method === 'GET';
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}${isRead ? `?${query}` : ''}`, {
      method,
      headers: { Authorization: `Basic ${btoa(`${email}:${apiKey}`)}` },
      signal: AbortSignal.timeout(timeoutMs),
      ...(!isRead && { body: query }),
    });
    return { status: response.status, body: await response.json() };
  }

  async addPerson(name: string): Promise<Person> {
    const email = `${name}@elsinore.example`;
    const out = await this.command('user', 'create', email, name);
    const [, id, apiKey] = /user (\d+)\nAPI key: (\w+)/.exec(out)!;
    return { id: Number(id), email, apiKey: apiKey! };
  }

  /** @param clockShiftMs by how much the clock of the node is wrong */
  async restart(node: ClusterNode, clockShiftMs = 0): Promise<void> {
    this.output += node.process.output;
    node.process = await this.serve(node, clockShiftMs);
  }

  /** Warnings and errors in the logs of all nodes, in order of time. */
  get problems(): readonly string[] {
    const lines = (this.output + this.nodes.map(({ process }) => process.output).join('')).split('\n');
    const records = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
    return records.map(({ time, msg, err }) => `${time} ${msg}: ${err?.message ?? ''}`).sort();
  }

  async close(): Promise<void> {
    for (const { process, toDatabase, toBus } of this.nodes) {
      process.signal('SIGCONT');
      await process.kill();
      toDatabase.close();
      toBus.close();
    }
    await this.nats.kill();
    await this.postgres.stop();
    await this.bucket.close();
    rmSync(this.folder, { recursive: true });
  }

  private async createNode(name: string): Promise<ClusterNode> {
    const path = join(new URL(this.postgres.url).searchParams.get('host')!, '.s.PGSQL.5432');
    const [toDatabase, toBus] = [await FaultyProxy.to({ path }), await FaultyProxy.to({ port: this.nats.port })];
    const parts = { name, port: Number(await freePort()), toDatabase, toBus };
    return { ...parts, process: await this.serve(parts) };
  }

  private serve({ port, toDatabase, toBus }: Omit<ClusterNode, 'process'>, clockShiftMs = 0): Promise<ParleyProcess> {
    const shifted = { NODE_OPTIONS: `--import=${SHIFT_CLOCK}`, CLUSTER_CLOCK_SHIFT_MS: String(clockShiftMs) };
    return ParleyProcess.start([`--port=${port}`, '--rate-limits=off', '--shed-load=off', '--log-level=warn'], {
      environment: {
        ...this.environment(`postgres://parley@127.0.0.1:${toDatabase.port}/postgres`),
        PARLEY_BUS: `nats://127.0.0.1:${toBus.port}`,
        ...(clockShiftMs !== 0 && shifted),
      },
    });
  }

  private async command(...args: readonly string[]): Promise<string> {
    const { code, out, err } = await runParley(args, '', { environment: this.environment(this.postgres.url) });
    if (code !== 0) throw new Error(`parley ${args.join(' ')} ended with ${code}: ${err}`);
    return out;
  }

  private environment(database: string): Readonly<Record<string, string>> {
    return {
      PARLEY_DATABASE: database,
      PARLEY_URL: 'http://localhost',
      PARLEY_SECRET: 'the secret of every node',
      PARLEY_FILES: this.bucketUrl,
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      // No email is sent.
      PARLEY_SMTP_URL: 'smtp://127.0.0.1:1',
    };
  }
}
