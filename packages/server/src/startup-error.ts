/** Something the operator got wrong. `message` is one line that says what and how to mend it; no stack is wanted. */
export class StartupError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StartupError';
  }
}

/** A command line or a configuration that makes no sense, whatever the state of the machine. */
export class UsageError extends StartupError {}
