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

/** A temporary folder with one database in it, and whatever processes run there. `close` it after the test. */
export class TestOrganization {
  readonly directory = mkdtempSync(join(tmpdir(), 'parley-e2e-'));
  readonly database = join(this.directory, 'data', 'parley.db');
  private readonly servers: ParleyProcess[] = [];
  private isClosed = false;

  /** With an organization at the address itself, set up as an operator would. */
  static async withOrganization(name = 'Elsinore'): Promise<TestOrganization> {
    const organization = new TestOrganization();
    await organization.mustRun(['realm', 'create', '--new-database', '', name]);
    return organization;
  }

  /** On its database, unless the arguments name another one. */
  run(args: readonly string[], options: Pick<ServerOptions, 'maxFileKb'> = {}): Promise<Finished> {
    const isNamed = args.some((arg) => arg.startsWith('--database='));
    return runParley(isNamed ? args : [...args, `--database=sqlite:${this.database}`], '', options);
  }

  /** Rate limits are off, since tests are in more of a hurry than people; and a machine that others keep busy is no load to shed. */
  async serve(args: readonly string[] = [], port = '0', options: ServerOptions = {}): Promise<ParleyProcess> {
    // One at which it can be started again.
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

  /** With limits that no flag changes, and with a probe. */
  async serveLimited(limits: Partial<TransportLimits>): Promise<ParleyProcess> {
    return this.keep(await ParleyProcess.startLimited(this.database, limits));
  }

  private async keep(server: ParleyProcess): Promise<ParleyProcess> {
    this.servers.push(server);
    if (this.isClosed) await server.kill();
    return server;
  }

  /** The address is the name. */
  async addPerson(fullName: string, role = 'member'): Promise<Person> {
    const email = `${fullName.toLowerCase()}@elsinore.example`;
    const out = await this.mustRun(['user', 'create', email, fullName, `--role=${role}`]);
    const [, id, apiKey] = /user (\d+)\nAPI key: (\w+)/.exec(out)!;
    return { id: Number(id), email, fullName, apiKey: apiKey! };
  }

  /** As it lies in the outbox, its lines put together again, whatever the letter case; undefined: there is none. */
  newestLetterTo(email: string): string | undefined {
    const outbox = join(this.directory, 'data', 'outbox');
    if (!existsSync(outbox)) return undefined;
    const names = readdirSync(outbox).filter((name) => name.endsWith('.eml'));
    return names
      .sort()
      .reverse()
      .map((name) => readFileSync(join(outbox, name), 'utf8').replace(/=\r?\n/g, ''))
      .find((letter) => letter.toLowerCase().includes(`to: ${email.toLowerCase()}`));
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
