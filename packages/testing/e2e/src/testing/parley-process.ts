import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TransportLimits } from '@parley/server';
import { PROBE_OPTIONS, Probe } from './server-probe.js';

/** Shipped bundle; `npm test` builds it first. */
const MAIN = resolve(import.meta.dirname, '../../../../server/dist/bundle/main.js');
/** Server with limits that have no flags: see `serve-limited.ts`. */
const LIMITED = resolve(import.meta.dirname, '../../dist/testing/serve-limited.js');

/** Output and exit of a command. */
export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command to its end. */
export async function runParley(
  args: readonly string[],
  input = '',
  options: Pick<ServerOptions, 'maxFileKb' | 'environment' | 'program'> & {
    /** Time after which the command gets `kill -9`. */
    readonly killAfterMs?: number;
  } = {},
): Promise<Finished> {
  const child = spawnScript(options.program ?? MAIN, args, options);
  child.stdin!.end(input);
  const { killAfterMs } = options;
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  const [out, err, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')]);
  clearTimeout(timer);
  return { code: code as number | null, out, err };
}

export interface ServerOptions {
  /** Maximum file size, to simulate a full disk. */
  readonly maxFileKb?: number;
  /** Maximum number of file descriptors. */
  readonly maxDescriptors?: number;
  /** True to measure event loop and memory. */
  readonly isProbed?: boolean;
  /** Path of another build. */
  readonly program?: string | undefined;
  /** Added to this process's environment without Parley's variables. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Server in a separate process that can be ended in any way. */
export class ParleyProcess {
  private constructor(
    private readonly child: ChildProcess,
    /** URL printed by the server. */
    readonly url: string,
    private readonly said: readonly string[],
    /** Available if the process was started with one. */
    readonly probe: Probe,
  ) {}

  /** Resolves when the server reports that it is listening. Uses any free port by default. */
  static start(args: readonly string[], options: ServerOptions = {}): Promise<ParleyProcess> {
    const program = options.program ?? MAIN;
    return ParleyProcess.listening(spawnScript(program, ['serve', '--log-level=error', ...args], options));
  }

  /** Starts a server with custom limits and a probe. */
  static startLimited(database: string, limits: Partial<TransportLimits>): Promise<ParleyProcess> {
    return ParleyProcess.listening(spawnScript(LIMITED, [database, JSON.stringify(limits)], { isProbed: true }));
  }

  private static async listening(child: ChildProcess): Promise<ParleyProcess> {
    const said: string[] = [];
    const url = await new Promise<string>((resolve, reject) => {
      const hear = (chunk: string) => {
        said.push(chunk);
        const announced = /^(?:Parley|The push service) is at (.*)\n/m.exec(said.join(''));
        if (announced) resolve(announced[1]!);
      };
      for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding('utf8').on('data', hear);
      child.once('close', (code) => reject(new Error(`parley serve ended with ${code}: ${said.join('')}`)));
    });
    return new ParleyProcess(child, url, said, new Probe(child));
  }

  get port(): string {
    return new URL(this.url).port;
  }

  /** All output and logs, mainly errors. */
  get output(): string {
    return this.said.join('');
  }

  get pid(): number {
    return this.child.pid!;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Sends a signal without waiting for its effect. */
  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Sends `kill -9` and resolves when the process has ended. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Requests shutdown. Returns the exit code; null if the signal ended the process. */
  terminate(signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Promise<number | null> {
    return this.end(signal);
  }

  private async end(signal: NodeJS.Signals): Promise<number | null> {
    const { child } = this;
    if (this.isRunning) {
      const closed = once(child, 'close');
      child.kill(signal);
      await closed;
    }
    return child.exitCode;
  }
}

/** Starts a script isolated from the environment. */
function spawnScript(
  script: string,
  args: readonly string[],
  { maxFileKb, maxDescriptors, isProbed = false, environment = {} }: ServerOptions = {},
): ChildProcess {
  if (!existsSync(script)) throw new Error(`${script} is missing; npm test builds it.`);
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('PARLEY_'));
  const env = { ...Object.fromEntries(others), ...environment };
  const options: SpawnOptions = { env, stdio: isProbed ? ['pipe', 'pipe', 'pipe', 'ipc'] : 'pipe' };
  const all = [...(isProbed ? PROBE_OPTIONS : []), script, ...args];
  const limits = [
    // In blocks of 512 bytes. Node ignores the limit's signal, so writes fail as on a full disk.
    ...(maxFileKb === undefined ? [] : [`ulimit -f ${maxFileKb * 2}`]),
    ...(maxDescriptors === undefined ? [] : [`ulimit -n ${maxDescriptors}`]),
  ];
  if (limits.length === 0) return spawn(process.execPath, all, options);
  const limited = `${limits.join(' && ')} && exec "$0" "$@"`;
  return spawn('/bin/sh', ['-c', limited, process.execPath, ...all], options);
}
