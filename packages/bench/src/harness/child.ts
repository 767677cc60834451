import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What answers has a core of its own, and who asks another one, so that neither takes time from the other. */
export type Seat = 'server' | 'client';

/** How a process ended. */
interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ChildOptions {
  /** Null: whichever core is free. */
  readonly seat: Seat | null;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Of Node, before the script. */
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

/** A process that does one thing to be measured, apart from the one that measures. */
export class Child {
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;
  private readonly ended: Promise<End>;
  /** What it said on standard error, for when it fails. */
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

  /** Waits for its end. @throws Error when it failed */
  async success(): Promise<void> {
    const { code, signal } = await this.ended;
    if (code !== 0) throw new Error(`A measured process ended (${signal ?? code}): ${this.complaints.trim()}`);
  }

  /** Asks a script that uses `answerCalls`. @throws Error when it throws or ends. */
  call<T>(name: string, argument?: unknown): Promise<T> {
    const id = ++this.lastId;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.process.send({ id, name, argument }, (error) => {
        if (error) this.settle({ id, error: error.message });
      });
    });
  }

  /** The first line of standard output that matches. @throws Error when it ends without one. */
  async lineMatching(pattern: RegExp): Promise<RegExpExecArray> {
    for await (const line of createInterface({ input: this.process.stdout! })) {
      const match = pattern.exec(line);
      if (match) {
        this.process.stdout!.resume(); // what follows must not fill the pipe
        return match;
      }
    }
    await this.ended;
    throw new Error(`A measured process said nothing like ${pattern}: ${this.complaints.trim()}`);
  }

  /** Asks it to end, and kills it when it does not. */
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

/** False where there is one core only, or no `taskset`: then the figures are less steady. */
export const hasOwnCores = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0;

/** The command, kept on the core of its seat where that can be done. */
export function onItsCore(seat: Seat | null, command: readonly string[]): readonly string[] {
  return hasOwnCores && seat !== null ? ['taskset', '--cpu-list', seat === 'server' ? '0' : '1', ...command] : command;
}
