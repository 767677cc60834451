import { getSystemErrorMap } from 'node:util';

/** Operator mistake. `message` is one line that explains the problem and its solution; the stack is not shown. */
export class StartupError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StartupError';
  }
}

/** Describes a failed call for a file without the code of the error, such as "no such file or directory". */
export function systemReasonOf(error: unknown): string {
  const { errno, path, message } = error as NodeJS.ErrnoException;
  return (path === undefined ? undefined : getSystemErrorMap().get(errno ?? 0)?.[1]) ?? message;
}

/** Command line or configuration that is invalid regardless of the machine's state. */
export class UsageError extends StartupError {}
