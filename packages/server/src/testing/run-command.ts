import type { Command } from '../cli/command.js';
import { runCommandLine } from '../cli/run-command-line.js';
import type { Environment } from '../configuration/env-file.js';

interface CommandSurroundings {
  readonly environment?: Environment;
  /** Standard input. */
  readonly input?: string;
  comeAfterServer?(): void;
  /** Default: the commands of the server. */
  readonly commands?: readonly Command[];
}

/** Runs a `parley` command to its end. */
export async function runCommand(
  args: readonly string[],
  { environment = {}, input = '', comeAfterServer = () => {}, commands }: CommandSurroundings = {},
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const out: string[] = [];
  const err: string[] = [];
  const terminal = {
    out: (line: string) => out.push(line),
    err: (line: string) => err.push(line),
    readInput: async () => input,
    interrupted: async () => {},
    comeAfterServer,
  };
  const code = await runCommandLine(args, terminal, environment, commands);
  return { code, out: out.join('\n'), err: err.join('\n') };
}
