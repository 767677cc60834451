import { Child } from './child.js';

export interface Usage {
  /** Of the whole process, its threads included. */
  readonly cpuMs: number;
  /** Bytes. */
  readonly rss: number;
  /** The highest of its life, in bytes. */
  readonly peakRss: number;
  /** The most since `watch`, without what is mapped from files, in bytes; 0 before that. */
  readonly ownPeak: number;
  /** The most since `watch` beyond what it had then, without what is mapped from files, in bytes; 0 before that. */
  readonly growth: number;
  /** The longest time for which its event loop stood still since `watch`, less what others had of its core; 0 before that. */
  readonly worstStallMs: number;
}

/** `parley serve` on a database, as an operator would start it, but without what the load would hit: rate limits, shedding. */
export class ParleyServer {
  private constructor(
    private readonly child: Child,
    readonly port: number,
  ) {}

  /** `profileFolder`: where to leave a CPU profile of it, for Chrome's developer tools; null: nowhere. */
  static async start(
    database: string,
    flags: readonly string[] = [],
    profileFolder: string | null = null,
  ): Promise<ParleyServer> {
    const probe = new URL('../children/probe.js', import.meta.url);
    const profiling = profileFolder === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`];
    const child = Child.start(SERVE_SCRIPT, {
      seat: 'server',
      args: [...serveArguments(database, 0), ...flags],
      env: SERVE_ENVIRONMENT,
      nodeOptions: ['--import', probe.href, ...profiling],
    });
    const [, port] = await child.lineMatching(/^Parley is at http:\/\/localhost:(\d+)/);
    return new ParleyServer(child, Number(port));
  }

  usage(): Promise<Usage> {
    return this.child.call<Usage>('usage');
  }

  /** From now on `usage` tells how long the event loop stood still, and how much memory was added. */
  watch(): Promise<Usage> {
    return this.child.call<Usage>('watch');
  }

  /** Leaves one file behind. */
  stop(): Promise<void> {
    return this.child.stop();
  }
}

/** The same for making and for serving databases: API keys hang on it. */
export const SECRET = 'what is measured here is no secret';

export const SERVE_ENVIRONMENT = { PARLEY_SECRET: SECRET };

export const SERVE_SCRIPT = new URL('bundle/main.js', import.meta.resolve('@parley/server'));

export const serveArguments = (database: string, port: number): readonly string[] => [
  'serve',
  '--dev', // whoever measures may be anybody
  ...['--port', String(port)],
  ...['--database', `sqlite:${database}`],
  ...['--rate-limits', 'off'],
  ...['--shed-load', 'off'],
  ...['--log-level', 'error'],
];
