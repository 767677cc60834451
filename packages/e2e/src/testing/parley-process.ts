import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';

/** As it is shipped; `npm test` builds it first. */
const MAIN = resolve(import.meta.dirname, '../../../server/dist/bundle/main.js');

/** What a command has said, and how it ended. */
export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command to its end. */
export async function runParley(args: readonly string[], input = ''): Promise<Finished> {
  const child = spawnParley(args);
  child.stdin!.end(input);
  const [out, err, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')]);
  return { code: code as number | null, out, err };
}

/** What a process is up against. */
export interface Hardship {
  /** No file may grow beyond that, as on a full disk. */
  readonly maxFileKb?: number;
}

/** A server in a process of its own, which can be ended in every way a process can. */
export class ParleyProcess {
  private constructor(
    private readonly child: ChildProcess,
    /** As it says itself. */
    readonly url: string,
    private readonly said: readonly string[],
  ) {}

  /** Resolves when it says that it listens. Without a port, on any free one. */
  static async start(args: readonly string[], hardship: Hardship = {}): Promise<ParleyProcess> {
    const child = spawnParley(['serve', '--log-level=error', ...args], hardship);
    const said: string[] = [];
    const url = await new Promise<string>((resolve, reject) => {
      const hear = (chunk: string) => {
        said.push(chunk);
        const announced = /^Parley is at (.*)\n/m.exec(said.join(''));
        if (announced) resolve(announced[1]!);
      };
      for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding('utf8').on('data', hear);
      child.once('close', (code) => reject(new Error(`parley serve ended with ${code}: ${said.join('')}`)));
    });
    return new ParleyProcess(child, url, said);
  }

  get port(): string {
    return new URL(this.url).port;
  }

  /** Everything it has said or logged, errors above all. */
  get output(): string {
    return this.said.join('');
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Without waiting for what comes of it. */
  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** `kill -9`. Resolves when it is gone. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Asks it to stop. Answers the exit code; null: the signal ended it. */
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

/** Nothing from outside decides how it behaves. */
function spawnParley(args: readonly string[], { maxFileKb }: Hardship = {}): ChildProcess {
  if (!existsSync(MAIN)) throw new Error(`${MAIN} is missing; npm test builds it.`);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PARLEY_')));
  const options = { env, stdio: 'pipe' } as const;
  if (maxFileKb === undefined) return spawn(process.execPath, [MAIN, ...args], options);
  // In blocks of 512 bytes. Node ignores the signal that comes with the limit, so that writing fails, as it does on a full disk.
  const limited = `ulimit -f ${maxFileKb * 2} && exec "$0" "$@"`;
  return spawn('/bin/sh', ['-c', limited, process.execPath, MAIN, ...args], options);
}
