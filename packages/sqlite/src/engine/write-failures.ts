import { DomainError } from '@parley/domain/kernel';

/** Sent with the refusal. */
const RETRY_AFTER_SECONDS = 1;

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown } | null | undefined)?.code);

/** By another process. */
export const isLockedOut = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY');

/** The disk is full, fails, or cannot be written any more: an operator's business, and no mistake of the program. */
export const isDiskFailure = (error: unknown): error is Error =>
  /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)/.test(codeOf(error));

/** What SQLite said, without the statement. */
export const sqliteErrorOf = (error: Error): Error => (error.cause as Error | undefined) ?? error;

/** `cause`: what SQLite said, for operators alone. */
export function storageBusy(cause?: Error): DomainError {
  const refusal = new DomainError('SERVER_BUSY', 'The server cannot save anything right now; try again in a moment.', {
    retryAfter: RETRY_AFTER_SECONDS,
  });
  return cause ? Object.assign(refusal, { cause }) : refusal;
}

/** What whoever asked for a write gets to know of its failure. */
export const writeFailure = (error: unknown): unknown =>
  isDiskFailure(error) ? storageBusy(sqliteErrorOf(error)) : error;
