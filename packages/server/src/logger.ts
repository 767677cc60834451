import type { Logger } from '@parley/http';
import type { DestinationStream, Logger as PinoLogger } from 'pino';
import type { LogLevel } from './config.js';

export interface ClosableLogger extends Logger {
  /** Writes out what is still held back. */
  close(): Promise<void>;
}

/** Whatever the caller put in the fields, these never reach a log. */
const SECRETS = ['authorization', 'cookie', 'password', 'api_key', 'apiKey', 'secret', 'token'];

type Line = readonly [level: 'info' | 'error', fields: object, message: string];

/**
 * Lines of JSON by pino, on standard error unless told otherwise. pino is loaded after the first line, which then does
 * not delay the answer it tells of.
 */
export function createLogger(level: LogLevel, destination?: DestinationStream): ClosableLogger {
  const waiting: Line[] = [];
  let pino: PinoLogger | undefined;
  let loading: Promise<void> | undefined;

  async function load(): Promise<void> {
    const { default: createPino } = await import('pino');
    pino = createPino(
      {
        level,
        base: null,
        timestamp: createPino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
        redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[hidden]' },
      },
      destination ?? createPino.destination({ dest: 2, sync: false }),
    );
    for (const [lineLevel, fields, message] of waiting.splice(0)) pino[lineLevel](fields, message);
  }

  function write(...line: Line): void {
    if (pino) {
      pino[line[0]](line[1], line[2]);
      return;
    }
    waiting.push(line);
    loading ??= load();
  }

  return {
    info: level === 'info' ? (fields, message) => write('info', fields, message) : () => {},
    error: level === 'silent' ? () => {} : (fields, message) => write('error', fields, message),
    async close() {
      await loading;
      const { promise, resolve } = withResolvers();
      if (pino) pino.flush(() => resolve());
      else resolve();
      await promise;
    },
  };
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve!: () => void;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
