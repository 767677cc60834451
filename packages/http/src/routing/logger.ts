/** Structured logging, in the argument order of pino. */
export interface Logger {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silentLogger: Logger = { info: () => {}, error: () => {} };
