import { DomainError } from '@parley/domain/kernel';

/** Delay suggested to clients. */
const RETRY_AFTER_SECONDS = 1;

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown } | null | undefined)?.code);

/** True after a deadlock or a serialization failure: a retry of the unit may succeed. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error));

/** True if a statement was prepared before a schema step changed its columns. It succeeds on a new connection. */
export const isOutdated = (error: unknown): boolean =>
  codeOf(error) === '0A000' && /^cached plan must not change/.test(String((error as Error).message));

/** True after a unique key violation. */
export const isDuplicate = (error: unknown): boolean => codeOf(error) === '23505';

/** Socket errors, and driver messages about a lost connection. */
const NETWORK_CODES = /^(ECONN|EPIPE|ENOENT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)/;
const NETWORK_MESSAGES =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout)/i;

/**
 * True if the server is unreachable, starting, stopping, read-only or out of space, or has ended the session: SQLSTATE
 * classes 08 and 53, 57P01 to 57P05, 25P03 and 25006.
 */
export function isAway(error: unknown): boolean {
  const code = codeOf(error);
  const cause = (error as Error | undefined)?.cause ?? error;
  return (
    /^(08|53|57P0|25P03|25006)/.test(code) ||
    NETWORK_CODES.test(code) ||
    NETWORK_MESSAGES.test(String((cause as Error)?.message))
  );
}

/** @param cause driver error, for operators only */
export function storageBusy(cause?: unknown): DomainError {
  const refusal = new DomainError('SERVER_BUSY', 'The server cannot save anything right now; try again in a moment.', {
    retryAfter: RETRY_AFTER_SECONDS,
  });
  return cause === undefined ? refusal : Object.assign(refusal, { cause });
}

/** @param cause driver error, for operators only */
export const storageAway = (cause: unknown): DomainError =>
  Object.assign(new DomainError('STORAGE_UNAVAILABLE', 'The database is not available; try again in a moment.'), {
    cause,
  });
