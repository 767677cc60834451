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

/** A server in a process of its own, which can be ended in every way a process can. */
export class ParleyProcess {
  private constructor(
    private readonly child: ChildProcess,
    /** As it says itself. */
    readonly url: string,
    private readonly said: readonly string[],
  ) {}

  /** Resolves when it says that it listens. Without a port, on any free one. */
  static async start(args: readonly string[]): Promise<ParleyProcess> {
    const child = spawnParley(['serve', '--log-level=error', ...args]);
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

  /** `kill -9`. Resolves when it is gone. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Asks it to stop. Answers the exit code; null: the signal ended it. */
  terminate(): Promise<number | null> {
    return this.end('SIGTERM');
  }

  private async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const { child } = this;
    if (child.exitCode === null && child.signalCode === null) {
      const closed = once(child, 'close');
      child.kill(signal);
      await closed;
    }
    return child.exitCode;
  }
}

/** Nothing from outside decides how it behaves. */
function spawnParley(args: readonly string[]): ChildProcess {
  if (!existsSync(MAIN)) throw new Error(`${MAIN} is missing; npm test builds it.`);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PARLEY_')));
  return spawn(process.execPath, [MAIN, ...args], { env, stdio: 'pipe' });
}
