import { setFlagsFromString } from 'node:v8';
import type { Command } from './command.js';
import { COMMANDS } from './commands.js';
import { processTerminal, runCommandLine } from './run-command-line.js';

/**
 * Percentage by which V8 may grow the heap before it collects garbage; the default at least doubles it. Applies to
 * `LONG_COMMANDS`, since embedding applications choose their own and other commands end soon (docs/performance.md).
 */
const HEAP_GROWING_PERCENT = 70;
const LONG_COMMANDS = ['serve', 'import'];

/** Runs the command that the arguments of the process name. `more`: commands in addition to those of the server. */
export function startCommandLine(more: readonly Command[] = []): void {
  const words = process.argv.slice(2);
  if (LONG_COMMANDS.includes(words[0]!)) setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  // An import that a server runs ends with the server.
  if (words[0] === 'import') {
    process.once('disconnect', () => process.exit(1));
    process.channel?.unref();
  }
  // The bundle is CommonJS, which has no top-level await.
  void runCommandLine(words, processTerminal, process.env, [...COMMANDS, ...more]).then((exitCode) => {
    process.exitCode = exitCode;
  });
}
