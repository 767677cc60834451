import { Child } from './child.js';

export interface Usage {
  /** CPU time of the whole process including its threads. */
  readonly cpuMs: number;
  /** Bytes of JavaScript objects and their buffers, including garbage. */
  readonly heldBytes: number;
  /** Bytes. */
  readonly rss: number;
  /** Peak since the process started, in bytes. */
  readonly peakRss: number;
  /** Peak since `watch` without mapped files, in bytes; 0 before that. */
  readonly ownPeak: number;
  /** Peak growth since `watch` without mapped files, in bytes; 0 before that. */
  readonly growth: number;
  /** Longest event loop stall since `watch`, excluding time that other processes used its core; 0 before that. */
  readonly worstStallMs: number;
}

/** Runs `parley serve` on a database like an operator, but without rate limits and load shedding. */
export class ParleyServer {
  private constructor(
    private readonly child: Child,
    readonly port: number,
  ) {}

  /**
   * `profileFolder`: folder for CPU profiles in the format of Chrome's developer tools; null for none. `env`: further
   * settings. `script`: start script of another build.
   */
  static async start(
    database: string,
    flags: readonly string[] = [],
    profileFolder: string | null = null,
    env: Readonly<Record<string, string>> = {},
    script = SERVE_SCRIPT,
  ): Promise<ParleyServer> {
    const probe = new URL('../children/probe.js', import.meta.url);
    const profiling = profileFolder === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`];
    const child = Child.start(script, {
      seat: 'server',
      args: [...serveArguments(database, 0), ...flags],
      env: { ...SERVE_ENVIRONMENT, ...env },
      nodeOptions: ['--import', probe.href, ...profiling],
    });
    const [, port] = await child.lineMatching(/^Parley is at http:\/\/localhost:(\d+)/);
    return new ParleyServer(child, Number(port));
  }

  usage(): Promise<Usage> {
    return this.child.call<Usage>('usage');
  }

  /** Starts measuring event loop stalls and memory growth for `usage`. */
  watch(): Promise<Usage> {
    return this.child.call<Usage>('watch');
  }

  /** Bytes of JavaScript objects and their buffers after a garbage collection. */
  async heldBytes(): Promise<number> {
    return (await this.child.call<Usage>('collect')).heldBytes;
  }

  /** Kills the server without cleanup, like a crash. */
  kill(): void {
    process.kill(this.child.pid, 'SIGKILL');
  }

  /** Stops the server, leaving a single database file. */
  stop(): Promise<void> {
    return this.child.stop();
  }
}

/** Shared by creating and serving databases, since API keys depend on it. */
export const SECRET = 'what is measured here is no secret';

export const SERVE_ENVIRONMENT = { PARLEY_SECRET: SECRET };

export const SERVE_SCRIPT = new URL('bundle/main.js', import.meta.resolve('@parley/server'));

export const serveArguments = (database: string, port: number): readonly string[] => [
  'serve',
  '--dev', // Measurements need no specific user.
  ...['--port', String(port)],
  ...['--database', database.startsWith('postgres:') ? database : `sqlite:${database}`],
  ...['--rate-limits', 'off'],
  ...['--shed-load', 'off'],
  ...['--log-level', 'error'],
];
