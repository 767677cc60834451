import type { IncomingMessage, ServerResponse } from 'node:http';
import { DomainError } from '@parley/domain/kernel';

export interface ErrorHandlerOptions {
  /** What people get to read, instead of the text of the refusal. */
  readonly textOf?: (error: DomainError) => string;
}

/**
 * Middleware for errors, of Express and whatever calls it like this: answers refusals in JSON, `{ code, message }`, with their
 * status, and hands everything else on. Put it behind the application's own routes.
 */
export const errorHandler =
  ({ textOf = ({ message }) => message }: ErrorHandlerOptions = {}) =>
  (error: unknown, _request: IncomingMessage, response: ServerResponse, next: (error: unknown) => void): void => {
    if (!(error instanceof DomainError) || response.headersSent) {
      next(error);
      return;
    }
    const { retryAfter } = error.details as { readonly retryAfter?: number };
    response.statusCode = error.status;
    response.setHeader('Content-Type', 'application/json');
    if (retryAfter !== undefined) response.setHeader('Retry-After', String(Math.ceil(retryAfter)));
    response.end(JSON.stringify({ code: error.code, message: textOf(error) }));
  };
