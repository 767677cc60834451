import type { CommandFlags, Invocation } from '../configuration/read-configuration.js';
import type { ComposedParley } from '../parley.js';

/** Input and output of a command, and the process it runs in. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  /** All of standard input. */
  readInput(): Promise<string>;
  /** Resolves when somebody asks the process to end. */
  interrupted(): Promise<void>;
  /**
   * For commands that work long: from now on a server on the same machine goes before this process, in the threads that it has
   * not started yet as well.
   */
  comeAfterServer(): void;
}

/** What scripts can tell by. */
export const EXIT_CODES = {
  /** It was done. */
  done: 0,
  /** It was refused, or failed; nothing was changed unless the message says so. */
  failed: 1,
  /** The command line or the configuration makes no sense. */
  usage: 2,
  /** A check has found something. */
  found: 3,
  /** A mistake in Parley itself. */
  bug: 70,
} as const;

export interface CommandResult {
  /** For people. */
  readonly lines: readonly string[];
  /** The same for programs: printed instead with `--json`. */
  readonly data: unknown;
  /** Default: `done`. */
  readonly exitCode?: number;
}

export interface CommandFlag {
  /** What stands for the value; absent: none follows. */
  readonly value?: string;
  readonly help: string;
}

export interface CommandContext {
  readonly invocation: Invocation;
  readonly terminal: Terminal;
  /** What follows the command. */
  readonly words: readonly string[];
  flag(name: string): string | undefined;
  isOn(name: string): boolean;
  /** With `--json`. */
  readonly isJson: boolean;
  /** Calls use cases, on the database, beside a server that may be running. @throws StartupError when there is no database */
  withParley<T>(work: (parley: ComposedParley) => Promise<T>): Promise<T>;
}

export interface Command {
  /** `user create`. */
  readonly name: string;
  /** What has to follow, as in `EMAIL NAME`; what may follow is in brackets, and comes last. */
  readonly words?: string;
  /** One line. */
  readonly help: string;
  /** More about it. */
  readonly details?: string;
  readonly flags?: Readonly<Record<string, CommandFlag>>;
  /** Whole command lines. */
  readonly examples: readonly string[];
  run(context: CommandContext): Promise<CommandResult | undefined>;
}

/** What every command understands beside the settings. */
export const COMMON_FLAGS: Readonly<Record<string, CommandFlag>> = {
  json: { help: 'prints the result as JSON' },
  help: { help: 'says how it is used' },
  'accept-new-secret': {
    help: 'goes on with another secret than the database was made with: everybody gets a new API key',
  },
};

export const flagsOf = ({ flags = {} }: Command): CommandFlags =>
  Object.fromEntries(
    Object.entries({ ...COMMON_FLAGS, ...flags }).map(([name, { value }]) => [
      name,
      value === undefined ? 'switch' : 'value',
    ]),
  );

/** How many words have to follow, and how many may. */
export function wordCounts({ words = '' }: Command): readonly [least: number, most: number] {
  const all = words === '' ? [] : words.split(' ');
  return [all.filter((word) => !word.startsWith('[')).length, all.length];
}

export const usageOf = (command: Command): string =>
  ['parley', command.name, command.words, command.flags && '[options]'].filter(Boolean).join(' ');
