import { DomainError } from '@parley/domain/shared';

/** Sent with the refusal. */
const RETRY_AFTER_SECONDS = 1;

/** By another process. */
export const isLockedOut = (error: unknown): boolean =>
  String((error as { readonly code?: unknown } | null | undefined)?.code).startsWith('SQLITE_BUSY');

export const storageBusy = () =>
  new DomainError('SERVER_BUSY', 'The server cannot save anything right now; try again in a moment.', {
    retryAfter: RETRY_AFTER_SECONDS,
  });
