/** Command line for the published package, which adds a command. */

export { UsageError } from '../kernel/startup-error.js';
export { always, type Command as CliCommand, type CommandContext, type CommandResult, EXIT_CODES } from './command.js';
export { startCommandLine } from './start-command-line.js';
