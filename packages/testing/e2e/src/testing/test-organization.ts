import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TransportLimits } from '@parley/server';
import { freePort } from '@parley/testkit';
import zulip, { type Client } from 'zulip-js';
import { type Finished, ParleyProcess, runParley, type ServerOptions } from './parley-process.js';

export interface Person {
  readonly id: number;
  readonly email: string;
  readonly fullName: string;
  readonly apiKey: string;
}

/** Temporary folder with one database and its processes. `close` it after the test. */
export class TestOrganization {
  readonly directory = mkdtempSync(join(tmpdir(), 'parley-e2e-'));
  readonly database = join(this.directory, 'data', 'parley.db');
  private readonly servers: ParleyProcess[] = [];
  private isClosed = false;

  /** Creates an organization at the root address, set up like an operator would. */
  static async withOrganization(name = 'Elsinore'): Promise<TestOrganization> {
    const organization = new TestOrganization();
    await organization.mustRun(['realm', 'create', '--new-database', '--bare', '', name]);
    return organization;
  }

  /** Runs a command on its database unless the arguments name a different one. */
  run(args: readonly string[], options: Pick<ServerOptions, 'maxFileKb'> = {}): Promise<Finished> {
    const isNamed = args.some((arg) => arg.startsWith('--database='));
    return runParley(isNamed ? args : [...args, `--database=sqlite:${this.database}`], '', options);
  }

  /** Serves without rate limits, since tests are faster than users, and without load shedding on busy machines. */
  async serve(args: readonly string[] = [], port = '0', options: ServerOptions = {}): Promise<ParleyProcess> {
    // Fixed port, so that the server can restart there.
    const ownPort = port === '0' ? await freePort() : port;
    const all = [
      `--port=${ownPort}`,
      `--database=sqlite:${this.database}`,
      '--rate-limits=off',
      '--shed-load=off',
      ...args,
    ];
    return this.keep(await ParleyProcess.start(all, options));
  }

  /** Serves with custom limits and a probe. */
  async serveLimited(limits: Partial<TransportLimits>): Promise<ParleyProcess> {
    return this.keep(await ParleyProcess.startLimited(this.database, limits));
  }

  private async keep(server: ParleyProcess): Promise<ParleyProcess> {
    this.servers.push(server);
    if (this.isClosed) await server.kill();
    return server;
  }

  /** Adds a user with an email derived from the name. */
  async addPerson(fullName: string, role = 'member'): Promise<Person> {
    const email = `${fullName.toLowerCase()}@elsinore.example`;
    const out = await this.mustRun(['user', 'create', email, fullName, `--role=${role}`]);
    const [, id, apiKey] = /user (\d+)\nAPI key: (\w+)/.exec(out)!;
    return { id: Number(id), email, fullName, apiKey: apiKey! };
  }

  /** Returns the newest email to an address, ignoring case, with unfolded lines; undefined if there is none. */
  newestEmailTo(email: string): string | undefined {
    const outbox = join(this.directory, 'data', 'parley.db.outbox');
    if (!existsSync(outbox)) return undefined;
    const names = readdirSync(outbox).filter((name) => name.endsWith('.eml'));
    return names
      .sort()
      .reverse()
      .map((name) => readFileSync(join(outbox, name), 'utf8').replace(/=\r?\n/g, ''))
      .find((message) => message.toLowerCase().includes(`to: ${email.toLowerCase()}`));
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const server of this.servers) await server.kill();
    rmSync(this.directory, { recursive: true });
  }

  private async mustRun(args: readonly string[]): Promise<string> {
    const { code, out, err } = await this.run(args);
    if (code !== 0) throw new Error(`parley ${args.join(' ')} ended with ${code}: ${err}`);
    return out;
  }
}

export function connect({ url }: ParleyProcess, { email, apiKey }: Person): Promise<Client> {
  return zulip({ realm: url, username: email, apiKey });
}
