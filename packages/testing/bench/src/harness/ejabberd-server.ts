import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { onItsCore } from './child.js';

/** Folders of Debian's packages `ejabberd` and `erlang-p1-sqlite3`. */
const LIBRARIES = '/usr/lib/x86_64-linux-gnu';
const SCHEMA = '/usr/share/ejabberd/sql/lite.sql';
const START_MS = 30_000;

/**
 * XMPP server with rooms that archive each message in SQLite before they send it to their occupants. Clients log in
 * anonymously.
 */
export class EjabberdServer {
  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
    readonly port: number,
  ) {}

  /** @throws Error if ejabberd or its SQLite driver is not installed */
  static async start(): Promise<EjabberdServer> {
    if (spawnSync('dpkg', ['-s', 'ejabberd', 'erlang-p1-sqlite3']).status !== 0) {
      throw new Error('ejabberd is not installed: apt-get install ejabberd erlang-p1-sqlite3');
    }
    const folder = mkdtempSync(join(tmpdir(), 'parley-ejabberd-'));
    const archive = join(folder, 'archive.db');
    const database = new Database(archive);
    // A write-ahead log needs one sync per message.
    database.pragma('journal_mode = wal');
    database.exec(readFileSync(SCHEMA, 'utf8'));
    database.close();
    const port = await freePort();
    const configuration = join(folder, 'ejabberd.yml');
    writeFileSync(configuration, configurationOf(archive, port));
    mkdirSync(join(folder, 'mnesia'));
    const erlang = ['erl', '-noinput', '+S', '1', '-mnesia', 'dir', `"${folder}/mnesia"`, '-s', 'ejabberd'];
    const [command, ...args] = onItsCore('server', erlang);
    const process_ = spawn(command!, args, {
      stdio: 'ignore',
      env: {
        ...process.env,
        HOME: folder,
        ERL_LIBS: LIBRARIES,
        EJABBERD_CONFIG_PATH: configuration,
        EJABBERD_LOG_PATH: join(folder, 'ejabberd.log'),
      },
    });
    const server = new EjabberdServer(process_, folder, port);
    await server.started();
    return server;
  }

  /** CPU time of all threads so far. */
  async usage(): Promise<{ readonly cpuMs: number }> {
    const tasks = `/proc/${this.process.pid}/task`;
    const nanoseconds = readdirSync(tasks).map((id) =>
      Number(readFileSync(`${tasks}/${id}/schedstat`, 'utf8').split(' ', 1)[0]),
    );
    return { cpuMs: nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6 };
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill('SIGKILL');
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async started(): Promise<void> {
    const deadline = Date.now() + START_MS;
    while (!(await isListening(this.port))) {
      if (Date.now() > deadline) {
        const log = readFileSync(join(this.folder, 'ejabberd.log'), 'utf8');
        await this.stop();
        throw new Error(`ejabberd does not start: ${log}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

const configurationOf = (archive: string, port: number): string => `
hosts: [localhost]
loglevel: warning
auth_method: [anonymous]
anonymous_protocol: sasl_anon
sql_type: sqlite
sql_database: ${archive}
listen:
  - { port: ${port}, ip: 127.0.0.1, module: ejabberd_c2s, backlog: 100 }
modules:
  mod_muc: { default_room_options: { mam: true, persistent: true } }
  mod_mam: { db_type: sql, default: never }
`;

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Reads the list of sockets, because a connection would be a client. */
function isListening(port: number): Promise<boolean> {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A`;
  return Promise.resolve(readFileSync('/proc/net/tcp', 'utf8').includes(address));
}
