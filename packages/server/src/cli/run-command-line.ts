import { constants, setPriority } from 'node:os';
import { text } from 'node:stream/consumers';
import { DomainError, getOrThrow, MissingLibrary, toSingleLine } from '@parley/domain/kernel';
import { isDiskFailure } from '@parley/sqlite';
import { DatabaseRefused } from '@parley/storage';
import type { Environment } from '../configuration/env-file.js';
import { InvalidConfiguration, readConfiguration } from '../configuration/read-configuration.js';
import { describeSettings } from '../configuration/settings.js';
import { hint } from '../kernel/did-you-mean.js';
import { StartupError, systemReasonOf, UsageError } from '../kernel/startup-error.js';
import { parleyVersion } from '../version.js';
import {
  COMMON_FLAGS,
  type Command,
  type CommandContext,
  type CommandFlag,
  type CommandResult,
  EXIT_CODES,
  explained,
  flagsOf,
  type Terminal,
  usageOf,
  wordCounts,
} from './command.js';
import { auditOf, logCommand } from './command-log.js';
import { COMMANDS } from './commands.js';
import { withParley } from './databases.js';

const SECOND_THOUGHTS_MS = 1000;

export const processTerminal: Terminal = {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
  readInput: () => text(process.stdin),
  interrupted: () =>
    new Promise((resolve) => {
      let askedAt = 0;
      const ask = () => {
        if (askedAt === 0) askedAt = performance.now();
        // npm forwards a Ctrl-C that the process has already received; only a later one forces the exit.
        else if (performance.now() - askedAt > SECOND_THOUGHTS_MS) process.exit(1);
        resolve();
      };
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, ask);
      // The server survives the terminal that started it.
      process.on('SIGHUP', () => {});
    }),
  comeAfterServer: () => setPriority(constants.priority.PRIORITY_LOW),
};

/** Runs a command and returns its exit code. Operator mistakes are reported in one line, bugs with a stack. */
export async function runCommandLine(
  args: readonly string[],
  terminal: Terminal = processTerminal,
  environment: Environment = process.env,
  commands: readonly Command[] = COMMANDS,
): Promise<number> {
  const isJson = args.includes('--json');
  try {
    return await run(args, terminal, environment, commands);
  } catch (error) {
    const isExpected = error instanceof DomainError || isRefusal(error) || isSystemError(error);
    const { stack } = error as Error;
    // The message may quote a file; strip control characters before they reach the terminal.
    const message = messageOf(error as Error).replace(/[^\P{Cc}\n\t]/gu, '');
    const problems = error instanceof InvalidConfiguration ? error.problems : [];
    if (isJson) terminal.err(JSON.stringify({ error: { code: codeOf(error), message, problems } }));
    else if (args[0] === 'config' && problems.length > 1)
      for (const problem of problems) terminal.err(`parley: ${problem}`);
    else terminal.err(`parley: ${isExpected ? message : (stack ?? message)}`);
    if (error instanceof UsageError) return EXIT_CODES.usage;
    return isExpected ? EXIT_CODES.failed : EXIT_CODES.bug;
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof StartupError || error instanceof DatabaseRefused || error instanceof MissingLibrary;

/** True for operating system errors, such as an unwritable file or a full disk. */
const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  isDiskFailure(error) || (error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string');

/** Appends the cause, which the API hides from users. */
function messageOf(error: Error): string {
  const { cause } = error;
  if (isDiskFailure(cause)) return `The database cannot be written to: ${cause.message}.`;
  if (error instanceof DomainError && isSystemError(cause)) return `Files cannot be written: ${systemReasonOf(cause)}.`;
  return isSystemError(error) && error.path !== undefined
    ? `${error.path}: ${systemReasonOf(error)}.`
    : explained(error);
}

/** Returns the error code for `--json` output. */
function codeOf(error: unknown): string {
  if (error instanceof DomainError) return error.code;
  if (error instanceof UsageError) return 'USAGE';
  if (isSystemError(error)) return error.code ?? 'SYSTEM';
  return isRefusal(error) ? 'REFUSED' : 'BUG';
}

async function run(
  args: readonly string[],
  terminal: Terminal,
  environment: Environment,
  commands: readonly Command[],
): Promise<number> {
  const isHelp = args.includes('--help') || args.includes('-h') || args[0] === 'help';
  const asked = args.filter((arg) => !['help', '--help', '-h', '--json'].includes(arg));
  if (asked[0] === '--version' || asked[0] === 'version') {
    const version = parleyVersion();
    terminal.out(args.includes('--json') ? JSON.stringify({ version, node: process.versions.node }) : version);
    return EXIT_CODES.done;
  }
  const found = commandIn(asked, commands);
  if (isHelp || asked.length === 0) {
    terminal.out(found ? describeCommand(found.command) : describeCommands(asked[0], commands));
    return isHelp ? EXIT_CODES.done : EXIT_CODES.usage;
  }
  if (!found) throw unknownCommand(asked, commands);
  const { command, rest } = found;
  const invocation = readConfiguration(
    [...rest, ...args.filter((arg) => arg === '--json')],
    environment,
    flagsOf(command),
  );
  const [least, most] = wordCounts(command);
  const { positionals, flags } = invocation;
  if (positionals.length < least || positionals.length > most) throw new UsageError(`Usage: ${usageOf(command)}`);
  const context: CommandContext = {
    invocation,
    terminal,
    words: positionals,
    word: (index) => getOrThrow({ get: (at: number) => positionals[at] }, index),
    flag: (name) => flags.get(name),
    isOn: (name) => flags.get(name) === 'on',
    isJson: flags.get('json') === 'on',
    concerns: {},
    withParley: (work) =>
      withParley(invocation, (parley) =>
        command.isReadOnly?.(flags)
          ? work(parley)
          : parley.part('auditTrail').run(auditOf(command, context.concerns), () => work(parley)),
      ),
  };
  const log = (error: string | null, changes?: CommandResult['changes']) => {
    const problem = logCommand({ command, invocation, error, changes }, terminal.err);
    if (problem !== null) terminal.err(`parley: ${problem}`);
  };
  const result = await command.run(context).catch((error: unknown) => {
    log(codeOf(error));
    throw error;
  });
  log(null, result?.changes);
  if (!result) return EXIT_CODES.done;
  if (context.isJson) terminal.out(JSON.stringify(result.data));
  else for (const line of result.lines) terminal.out(printable(line));
  return result.exitCode ?? EXIT_CODES.done;
}

/** Makes a line safe to print. Names are user input, and terminals execute control sequences. */
const printable = (line: string): string => line.split('\t').map(toSingleLine).join('\t');

/** Returns the command named by the first words, and the remaining words. */
function commandIn(
  args: readonly string[],
  commands: readonly Command[],
): { readonly command: Command; readonly rest: readonly string[] } | null {
  for (const length of [3, 2, 1]) {
    const name = args.slice(0, length).join(' ');
    const command = args.length >= length && commands.find((it) => it.name === name);
    if (command) return { command, rest: args.slice(length) };
  }
  return null;
}

function unknownCommand(args: readonly string[], commands: readonly Command[]): UsageError {
  const names = commands.map(({ name }) => name);
  const [first = '', second = ''] = args;
  if (first.startsWith('-')) return new UsageError(`The command must come first, as in parley serve ${first}.`);
  const ofGroup = names.filter((name) => name.startsWith(`${first} `));
  if (ofGroup.length > 0) {
    const meant = hint(`${first} ${second}`, ofGroup).replace('did you mean ', 'did you mean parley ');
    if (second === '' || second.startsWith('-')) {
      const verbs = ofGroup.map((name) => name.slice(first.length + 1)).join(', ');
      return new UsageError(`parley ${first} needs a subcommand: ${verbs}; see parley ${first} --help.`);
    }
    return new UsageError(`There is no command ${first} ${second}${meant || `; see parley ${first} --help.`}`);
  }
  const groups = new Set(names.map((name) => name.split(' ')[0]!));
  const meant = hint(first, [...names, ...groups]).replace('did you mean ', 'did you mean parley ');
  return new UsageError(`There is no command ${first}${meant || '; see parley --help.'}`);
}

/** Lists all commands, or those of a group. */
function describeCommands(group: string | undefined, commands: readonly Command[]): string {
  const ofGroup = commands.filter(({ name }) => group !== undefined && name.startsWith(`${group} `));
  const shown = ofGroup.length > 0 ? ofGroup : commands;
  const lines = shown.map((command) => `  ${usageOf(command)}\n      ${command.help}`).join('\n');
  if (ofGroup.length > 0) return `${lines}\n\nparley ${group} COMMAND --help describes a command.`;
  return [
    'A team-chat server that speaks the Zulip REST API.',
    `Commands:\n${lines}`,
    'parley COMMAND --help describes a command; parley --version prints the version.',
    `Options for every command:\n${describeFlags(COMMON_FLAGS)}`,
    'Exit codes: 0 success, 1 rejected or failed, 2 invalid usage or configuration, 3 a check found a problem, 70 a bug.',
    `Settings, as options for every command or environment variables:\n${describeSettings()}`,
  ].join('\n\n');
}

function describeCommand(command: Command): string {
  const { help, details, flags, examples } = command;
  return [
    `Usage: ${usageOf(command)}`,
    help[0]!.toUpperCase() + help.slice(1) + (help.endsWith('.') ? '' : '.'),
    ...(details === undefined ? [] : [details]),
    ...(flags === undefined ? [] : [`Options:\n${describeFlags(flags)}`]),
    `Options for every command:\n${describeFlags(COMMON_FLAGS)}`,
    `Examples:\n${examples.map((example) => `  ${example}`).join('\n')}`,
    'Settings are also options for every command; parley --help lists them.',
  ].join('\n\n');
}

function describeFlags(flags: Readonly<Record<string, CommandFlag>>): string {
  const rows = Object.entries(flags).map(([name, { value, help }]) => [
    `  --${name}${value === undefined ? '' : ` ${value}`}`,
    help,
  ]);
  const width = Math.max(...rows.map(([usage]) => usage!.length)) + 2;
  return rows.map(([usage, help]) => usage!.padEnd(width) + help).join('\n');
}
