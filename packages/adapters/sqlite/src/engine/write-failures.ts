import { DomainError } from '@parley/domain/kernel';

/** Delay suggested to clients. */
const RETRY_AFTER_SECONDS = 1;

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown } | null | undefined)?.code);

/** True if another process holds the lock. */
export const isLockedOut = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY');

/** True if the disk is full, failing or read-only, which is an operational problem, not a bug. */
export const isDiskFailure = (error: unknown): error is Error =>
  /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)/.test(codeOf(error));

/** Returns SQLite's error without the statement. */
export const sqliteErrorOf = (error: Error): Error => (error.cause as Error | undefined) ?? error;

/** @param cause SQLite's error, for operators only */
export function storageBusy(cause?: Error): DomainError {
  const refusal = new DomainError('SERVER_BUSY', 'The server cannot save anything right now; try again in a moment.', {
    retryAfter: RETRY_AFTER_SECONDS,
  });
  return cause ? Object.assign(refusal, { cause }) : refusal;
}

/** Converts a write error for the caller. */
export const writeFailure = (error: unknown): unknown =>
  isDiskFailure(error) ? storageBusy(sqliteErrorOf(error)) : error;
