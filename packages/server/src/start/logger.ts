import { dropLine, type Logger } from '@parley/http';
import type { DestinationStream, Logger as PinoLogger } from 'pino';
import { LOG_LEVELS, type LogLevel } from '../configuration/configuration.js';

export interface ClosableLogger extends Required<Logger> {
  /** Flushes buffered lines. */
  close(): Promise<void>;
}

/** Field names that are always redacted, regardless of the caller. */
const SECRETS = new Set(['authorization', 'cookie', 'password', 'api_key', 'apiKey', 'secret', 'token']);

/** Maximum time that closing waits for the reader of the log. */
const FLUSH_MS = 1000;
/** Buffer limit in characters. While standard error is blocked, the buffer keeps older lines and drops newer ones. */
const MAX_HELD_BACK = 8_000_000;

type Line = readonly [level: Exclude<LogLevel, 'silent'>, fields: object, message: string];

/**
 * Creates a logger that writes JSON lines with pino, by default to standard error. pino is loaded after the first
 * line, so that it does not delay the response.
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

  const writerAt = (lineLevel: Line[0]) =>
    LOG_LEVELS.indexOf(lineLevel) < LOG_LEVELS.indexOf(level)
      ? dropLine
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

/** Redacts secrets at any depth, faster than pino's own redaction. */
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
