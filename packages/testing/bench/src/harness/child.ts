import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** CPU core assignment: server and client run on separate cores, so that neither slows the other. */
export type Seat = 'server' | 'client';

/** Exit status of a process. */
interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ChildOptions {
  /** Null for any free core. */
  readonly seat: Seat | null;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Node options before the script. */
  readonly nodeOptions?: readonly string[];
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Separate process that performs one measured activity. */
export class Child {
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;
  private readonly ended: Promise<End>;
  /** Standard error output, for failure reports. */
  private complaints = '';

  private constructor(private readonly process: ChildProcess) {
    this.process.stderr?.on('data', (chunk: Buffer) => {
      this.complaints = (this.complaints + chunk.toString()).slice(-4000);
    });
    this.process.on('message', (answer: Answer) => this.settle(answer));
    this.ended = new Promise((resolve) => {
      this.process.on('exit', (code, signal) => {
        const error = new Error(`A measured process ended (${signal ?? code}): ${this.complaints.trim()}`);
        for (const { reject } of this.waiting.values()) reject(error);
        this.waiting.clear();
        resolve({ code, signal });
      });
    });
  }

  static start(script: URL, { seat, args = [], env = {}, nodeOptions = [] }: ChildOptions): Child {
    const [command, ...rest] = onItsCore(seat, [process.execPath, ...nodeOptions, fileURLToPath(script), ...args]);
    return new Child(
      spawn(command!, rest, {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
        serialization: 'advanced',
      }),
    );
  }

  get pid(): number {
    return this.process.pid!;
  }

  get hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** Waits for the process to end. @throws Error if it failed */
  async success(): Promise<void> {
    const { code, signal } = await this.ended;
    if (code !== 0) throw new Error(`A measured process ended (${signal ?? code}): ${this.complaints.trim()}`);
  }

  /** Calls a script that uses `answerCalls`. @throws Error if the script throws or ends */
  call<T>(name: string, argument?: unknown): Promise<T> {
    const id = ++this.lastId;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.process.send({ id, name, argument }, (error) => {
        if (error) this.settle({ id, error: error.message });
      });
    });
  }

  /** CPU time of the whole process so far, reported by scripts that use `answerCalls`. */
  usage(): Promise<{ readonly cpuMs: number }> {
    return this.call('usage');
  }

  /** First line of standard output that matches. @throws Error if the process ends without one */
  async lineMatching(pattern: RegExp): Promise<RegExpExecArray> {
    for await (const line of createInterface({ input: this.process.stdout! })) {
      const match = pattern.exec(line);
      if (match) {
        this.process.stdout!.resume(); // Later output must not fill the pipe.
        return match;
      }
    }
    await this.ended;
    throw new Error(`A measured process ended without output that matches ${pattern}: ${this.complaints.trim()}`);
  }

  /** Terminates the process, killing it if necessary. */
  async stop(): Promise<void> {
    this.process.kill('SIGTERM');
    const impatience = setTimeout(() => this.process.kill('SIGKILL'), 15_000);
    await this.ended;
    clearTimeout(impatience);
  }

  private settle({ id, value, error }: Answer): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(error));
  }
}

/** False with a single core or without `taskset`, which makes results less stable. */
export const hasOwnCores = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0;

/** Returns the command pinned to the core of its seat, if supported. */
export function onItsCore(seat: Seat | null, command: readonly string[]): readonly string[] {
  return hasOwnCores && seat !== null ? ['taskset', '--cpu-list', seat === 'server' ? '0' : '1', ...command] : command;
}
