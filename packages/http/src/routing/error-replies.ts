import { type DetailsOf, DomainError, type ErrorCode } from '@parley/domain/shared';
import { WIRE_ERRORS } from '../features.js';
import type { ClientVariant } from './client-variant.js';
import { HttpRefusal } from './errors.js';
import { failure, type Reply } from './reply.js';
import type { WireError, WireErrorRule, WireErrors } from './wire-error.js';

/** Of the codes that are no plain 400: of every feature, and of none. Statuses are the API's, not REST's taste. */
const WIRE_ERRORS_OF_ALL: WireErrors = {
  ...WIRE_ERRORS,
  RATE_LIMITED: { status: 429, code: 'RATE_LIMIT_HIT', fields: { retryAfter: 'retry-after' } },
  SERVER_BUSY: { status: 503, code: 'SERVER_NOT_READY' },
  STORAGE_UNAVAILABLE: { status: 503, code: 'SERVER_NOT_READY' },
};

const INTERNAL_ERROR = 'Internal server error';
const INTERNAL_ERROR_REPLY: Reply = failure(500, undefined, INTERNAL_ERROR);

/** The answer to whatever was thrown. `isBug`: nobody refused anything, so it belongs in the log with its stack. */
export function replyToError(
  error: unknown,
  variant?: ClientVariant,
): { readonly reply: Reply; readonly message: string; readonly isBug: boolean } {
  if (error instanceof HttpRefusal) {
    const { message, headers } = error;
    const reply = failure(error.status, error.code, message, error.extra);
    return { reply: headers.length > 0 ? { ...reply, headers } : reply, message, isBug: false };
  }
  if (error instanceof DomainError) {
    return { reply: replyToRefusal(error, variant), message: error.message, isBug: false };
  }
  return { reply: INTERNAL_ERROR_REPLY, message: INTERNAL_ERROR, isBug: true };
}

type FullWireError<D> = WireError<D> & { readonly status: number; readonly code: string };

/** How the API puts it, with what the rule says of this refusal. */
export function wireErrorOf<C extends ErrorCode>(error: DomainError<C>): FullWireError<DetailsOf<C>> {
  const rule: WireErrorRule<C> = (WIRE_ERRORS_OF_ALL as { readonly [T in C]?: WireErrorRule<T> })[error.code] ?? {};
  return { status: 400, code: 'BAD_REQUEST', ...(typeof rule === 'function' ? rule(error) : rule) };
}

function replyToRefusal(error: DomainError, variant: ClientVariant | undefined): Reply {
  const details = error.details as Readonly<Record<string, unknown>>;
  const wire = wireErrorOf(error) as FullWireError<typeof details>;
  const fields: Readonly<Record<string, string | undefined>> = wire.fields ?? {};
  const extra: Record<string, unknown> = { ...wire.extra };
  for (const [detail, field = detail] of Object.entries(fields)) {
    const value = details[detail];
    const present = wire.present?.[detail];
    if (value !== undefined) extra[field] = present ? present(value) : value;
  }
  const text = typeof wire.text === 'function' ? wire.text(details, variant) : wire.text;
  const reply = failure(wire.status, wire.code, text ?? error.message, extra);
  if (wire.headers) return { ...reply, headers: wire.headers };
  if (details.retryAfter !== undefined) return { ...reply, headers: ['Retry-After', String(details.retryAfter)] };
  return reply;
}
