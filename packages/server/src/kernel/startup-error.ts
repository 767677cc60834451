/** Operator mistake. `message` is one line that explains the problem and its solution; the stack is not shown. */
export class StartupError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StartupError';
  }
}

/** Command line or configuration that is invalid regardless of the machine's state. */
export class UsageError extends StartupError {}
