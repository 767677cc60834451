import type { Logger } from '@parley/http';
import type { DestinationStream, Logger as PinoLogger } from 'pino';
import { LOG_LEVELS, type LogLevel } from './configuration/configuration.js';

export interface ClosableLogger extends Required<Logger> {
  /** Writes out what is still held back. */
  close(): Promise<void>;
}

/** Whatever the caller put in the fields, these never reach a log. */
const SECRETS = new Set(['authorization', 'cookie', 'password', 'api_key', 'apiKey', 'secret', 'token']);

/** How long closing waits for whoever reads the log. */
const FLUSH_MS = 1000;
/** In characters: when nobody reads standard error, older lines win and the memory stays. */
const MAX_HELD_BACK = 8_000_000;

type Line = readonly [level: Exclude<LogLevel, 'silent'>, fields: object, message: string];

/**
 * Lines of JSON by pino, on standard error unless told otherwise. pino is loaded after the first line, which then does
 * not delay the answer.
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
        formatters: { level: (label) => ({ level: label }), log: withoutSecrets },
      },
      destination ?? createPino.destination({ dest: 2, sync: false, maxLength: MAX_HELD_BACK }),
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

  const nothing = () => {};
  /** Of a level that is not wanted, a line costs a call. */
  const writerAt = (lineLevel: Line[0]) =>
    LOG_LEVELS.indexOf(lineLevel) < LOG_LEVELS.indexOf(level)
      ? nothing
      : (fields: object, message: string) => write(lineLevel, fields, message);
  return {
    debug: writerAt('debug'),
    info: writerAt('info'),
    warn: writerAt('warn'),
    error: writerAt('error'),
    async close() {
      await loading;
      await new Promise<void>((resolve) => {
        if (!pino) return resolve();
        const impatience = setTimeout(resolve, FLUSH_MS);
        pino.flush(() => {
          clearTimeout(impatience);
          resolve();
        });
      });
    },
  };
}

/** pino's own redaction costs 10 µs a line for as many names at any depth; this costs what the fields cost. */
function withoutSecrets(fields: Record<string, unknown>): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    shown[name] = SECRETS.has(name) ? '[hidden]' : isPlain(value) ? withoutSecrets(value) : value;
  }
  return shown;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
