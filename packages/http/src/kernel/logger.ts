/**
 * Structured logging, in the argument order of pino. A logger without `warn` gets warnings as errors; one without `debug`, nothing
 * of that.
 */
export interface Logger {
  debug?(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn?(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silentLogger: Logger = { info: () => {}, error: () => {} };

/** Something that may need looking after, though nothing has failed. */
export function warn(logger: Logger, fields: object, message: string): void {
  if (logger.warn) logger.warn(fields, message);
  else logger.error(fields, message);
}
