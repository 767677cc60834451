import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '@parley/domain/access';
import { DomainError, type RealmId, type UnixSeconds, type UserId } from '@parley/domain/kernel';
import type { ComposedParley } from '../composition/parley.js';
import { ENV_FILE } from '../configuration/env-file.js';
import type { CommandFlags, Invocation } from '../configuration/read-configuration.js';
import { UsageError } from '../kernel/startup-error.js';

/** Standard streams and process of a command. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  /** Reads all of standard input. */
  readInput(): Promise<string>;
  /** Resolves when the process receives a stop signal. */
  interrupted(): Promise<void>;
  /**
   * Lowers the priority of this process, including future threads, in favour of a server on the same machine. Used by
   * long-running commands that only read, because a command that waits for the CPU would keep its write lock.
   */
  comeAfterServer(): void;
}

/** Exit codes for scripts. */
export const EXIT_CODES = {
  /** Success. */
  done: 0,
  /** Rejected or failed; nothing was changed unless the message says so. */
  failed: 1,
  /** Invalid command line or configuration. */
  usage: 2,
  /** A check found a problem. */
  found: 3,
  /** Bug in Parley. */
  bug: 70,
} as const;

export interface CommandResult {
  /** Human-readable output. */
  readonly lines: readonly string[];
  /** Machine-readable output, printed instead with `--json`. */
  readonly data: unknown;
  /** Default: `done`. */
  readonly exitCode?: number;
  /** Changed properties, for the audit line. */
  readonly changes?: Readonly<Record<string, Change>>;
}

export interface Change {
  readonly from: unknown;
  readonly to: unknown;
}

export interface CommandFlag {
  /** Placeholder of the value; absent for switches. */
  readonly value?: string;
  readonly help: string;
}

export interface CommandContext {
  readonly invocation: Invocation;
  readonly terminal: Terminal;
  /** Positional arguments after the command name. */
  readonly words: readonly string[];
  /** Returns an argument that the command requires. */
  word(index: number): string;
  flag(name: string): string | undefined;
  isOn(name: string): boolean;
  /** True with `--json`. */
  readonly isJson: boolean;
  /** Organization and user that the command concerns, for the audit log; set as soon as they are known. */
  readonly concerns: { realmId?: RealmId; userId?: UserId };
  /** Calls use cases on the database, while a server may be running. @throws StartupError if there is no database */
  withParley<T>(work: (parley: ComposedParley) => Promise<T>): Promise<T>;
}

export interface Command {
  /** Full name, such as `user create`. */
  readonly name: string;
  /** Required arguments, as in `EMAIL NAME`; optional ones are in brackets and come last. */
  readonly words?: string;
  /** One line. */
  readonly help: string;
  /** Description of several lines. */
  readonly details?: string;
  readonly flags?: Readonly<Record<string, CommandFlag>>;
  /** Complete command lines. */
  readonly examples: readonly string[];
  /**
   * Returns true if the command with these flags neither changes nor reveals anything. Absent: always writes an audit
   * line.
   */
  readonly isReadOnly?: (flags: Invocation['flags']) => boolean;
  run(context: CommandContext): Promise<CommandResult | undefined>;
}

const PASSWORD_RULE =
  `Passwords have ${PASSWORD_MIN_LENGTH} to ${PASSWORD_MAX_LENGTH} characters and are hard to guess: no common words, ` +
  'rows of keys, or parts of the name or email address.';

/** Returns the message of an error with the rule or the character that the API's text does not name. */
export function explained(error: Error): string {
  if (error instanceof DomainError && error.is('WEAK_PASSWORD')) return `${error.message} ${PASSWORD_RULE}`;
  const character = error instanceof DomainError && error.is('INVALID_USER_NAME') ? error.details.character : undefined;
  return character === undefined ? error.message : `${error.message.slice(0, -1)}: ${JSON.stringify(character)}.`;
}

/** @throws UsageError */
export function idOf(name: string, value: string): number {
  if (!/^[1-9]\d{0,14}$/.test(value)) throw new UsageError(`${name} must be an id.`);
  return Number(value);
}

/** Returns the Unix seconds of a flag; null without it. @throws UsageError */
export function timeIn({ flag }: CommandContext, name: string): UnixSeconds | null {
  const value = flag(name);
  const ms = value === undefined ? 0 : Date.parse(value);
  if (Number.isNaN(ms)) throw new UsageError(`--${name} must be a date such as 2026-07-31 or 2026-07-31T12:00Z.`);
  return value === undefined ? null : Math.floor(ms / 1000);
}

export const always = (): boolean => true;

/** Flags that every command accepts in addition to the settings. */
export const COMMON_FLAGS: Readonly<Record<string, CommandFlag>> = {
  json: { help: 'prints the result as JSON' },
  help: { help: 'prints this help' },
  'env-file': {
    value: 'FILE',
    help: `reads settings missing from the environment from FILE; default: ${ENV_FILE}, if readable`,
  },
  'accept-new-secret': {
    help: "accepts a secret that differs from the database's secret; if the command succeeds, every API key changes",
  },
};

export const flagsOf = ({ flags = {} }: Command): CommandFlags =>
  Object.fromEntries(
    Object.entries({ ...COMMON_FLAGS, ...flags }).map(([name, { value }]) => [
      name,
      value === undefined ? 'switch' : 'value',
    ]),
  );

/** Returns the minimum and maximum number of arguments. */
export function wordCounts({ words = '' }: Command): readonly [least: number, most: number] {
  const all = words === '' ? [] : words.split(' ');
  return [all.filter((word) => !word.startsWith('[')).length, all.length];
}

export const usageOf = (command: Command): string =>
  ['parley', command.name, command.words, command.flags && '[options]'].filter(Boolean).join(' ');
