import { type DetailsOf, DomainError, type ErrorCode } from '@parley/domain/kernel';
import type { ClientVariant } from './client-variant.js';
import { HttpRefusal } from './errors.js';
import { failure, type Reply } from './reply.js';
import type { WireError, WireErrorRule, WireErrors } from './wire-error.js';

/** Wire errors of codes that belong to no feature. */
const SHARED_WIRE_ERRORS: WireErrors = {
  RATE_LIMITED: { status: 429, code: 'RATE_LIMIT_HIT', fields: { retryAfter: 'retry-after' } },
  SERVER_BUSY: { status: 503, code: 'SERVER_NOT_READY' },
  STORAGE_UNAVAILABLE: { status: 503, code: 'SERVER_NOT_READY' },
};

const INTERNAL_ERROR = 'Internal server error';
const INTERNAL_ERROR_REPLY: Reply = failure(500, undefined, INTERNAL_ERROR);

type FullWireError<D> = WireError<D> & { readonly status: number; readonly code: string };

export interface ErrorReply {
  readonly reply: Reply;
  readonly message: string;
  /** The error is not a refusal, so it is logged with its stack. */
  readonly isBug: boolean;
}

export function replyToHttpRefusal({ status, code, message, extra, headers }: HttpRefusal): Reply {
  const reply = failure(status, code, message, extra);
  return headers.length > 0 ? { ...reply, headers } : reply;
}

/** Turns errors into responses by the rules of all features. A code without a rule is a plain 400. */
export class ErrorReplies {
  private readonly rules: WireErrors;

  constructor(rules: WireErrors) {
    this.rules = { ...rules, ...SHARED_WIRE_ERRORS };
  }

  /** Never throws; an unexpected error becomes a 500 without details. */
  replyTo(error: unknown, variant?: ClientVariant): ErrorReply {
    if (error instanceof HttpRefusal) {
      return { reply: replyToHttpRefusal(error), message: error.message, isBug: false };
    }
    if (error instanceof DomainError) {
      return { reply: this.replyToRefusal(error, variant), message: error.message, isBug: false };
    }
    return { reply: INTERNAL_ERROR_REPLY, message: INTERNAL_ERROR, isBug: true };
  }

  wireErrorOf<C extends ErrorCode>(error: DomainError<C>): FullWireError<DetailsOf<C>> {
    const rule: WireErrorRule<C> = (this.rules as { readonly [T in C]?: WireErrorRule<T> })[error.code] ?? {};
    return { status: 400, code: 'BAD_REQUEST', ...(typeof rule === 'function' ? rule(error) : rule) };
  }

  private replyToRefusal(error: DomainError, variant: ClientVariant | undefined): Reply {
    const details = error.details as Readonly<Record<string, unknown>>;
    const wire = this.wireErrorOf(error) as FullWireError<typeof details>;
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
}
