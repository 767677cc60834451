import { DomainError } from '@parley/domain/shared';
import { AUTHENTICATION_WIRE_ERRORS } from '../authentication/authentication.errors.js';
import { CHANNEL_WIRE_ERRORS } from '../channels/channel.errors.js';
import { EVENT_WIRE_ERRORS } from '../events/event.errors.js';
import { GROUP_WIRE_ERRORS } from '../groups/group.errors.js';
import { INVITATION_WIRE_ERRORS } from '../invitations/invitation.errors.js';
import { MESSAGE_WIRE_ERRORS } from '../messages/message.errors.js';
import { REACTION_WIRE_ERRORS } from '../reactions/reaction.errors.js';
import { REALM_WIRE_ERRORS } from '../realms/realm.errors.js';
import { SETTING_WIRE_ERRORS } from '../settings/setting.errors.js';
import { USER_WIRE_ERRORS } from '../users/user.errors.js';
import { BASIC_CHALLENGE } from './basic-challenge.js';
import type { ClientVariant } from './client-variant.js';
import { failure, type Reply, type WireFields } from './reply.js';
import type { WireError, WireErrorRule, WireErrors } from './wire-error.js';

/** Of the codes that are no plain 400; each feature says how its own are told. Statuses are the API's, not REST's taste. */
const WIRE_ERRORS: WireErrors = {
  ...AUTHENTICATION_WIRE_ERRORS,
  ...CHANNEL_WIRE_ERRORS,
  ...EVENT_WIRE_ERRORS,
  ...GROUP_WIRE_ERRORS,
  ...INVITATION_WIRE_ERRORS,
  ...MESSAGE_WIRE_ERRORS,
  ...REACTION_WIRE_ERRORS,
  ...REALM_WIRE_ERRORS,
  ...SETTING_WIRE_ERRORS,
  ...USER_WIRE_ERRORS,
  RATE_LIMITED: { status: 429, code: 'RATE_LIMIT_HIT', fields: { retryAfter: 'retry-after' } },
  SERVER_BUSY: { status: 503, code: 'SERVER_NOT_READY' },
  STORAGE_UNAVAILABLE: { status: 503, code: 'SERVER_NOT_READY' },
};

/** A refusal that exists only on the wire: a missing argument, a wrong method. Everything else is a DomainError. */
export class HttpRefusal extends Error {
  constructor(
    readonly status: number,
    /** Absent only from 405. */
    readonly code: string | undefined,
    message: string,
    readonly extra: WireFields = {},
    readonly headers: readonly string[] = [],
  ) {
    super(message);
    this.name = 'HttpRefusal';
  }
}

export const badParameter = (message: string, extra?: WireFields) =>
  new HttpRefusal(400, 'BAD_REQUEST', message, extra);

export const missingArgument = (name: string) =>
  new HttpRefusal(400, 'REQUEST_VARIABLE_MISSING', `Missing '${name}' argument`, { var_name: name });

export const confusingArguments = (name: string, alias: string) =>
  new HttpRefusal(400, 'REQUEST_CONFUSING_VAR', `Can't decide between '${name}' and '${alias}' arguments`, {
    var_name1: name,
    var_name2: alias,
  });

export const malformedJson = () => new HttpRefusal(400, 'INVALID_JSON', 'Malformed JSON');
export const malformedPayload = () => new HttpRefusal(400, 'BAD_REQUEST', 'Malformed payload');
export const bodyTooLarge = () => new HttpRefusal(413, 'BAD_REQUEST', 'Request body is too large');
export const requestTooSlow = () => new HttpRefusal(408, 'BAD_REQUEST', 'The request did not arrive in time');
export const malformedRequest = () => new HttpRefusal(400, 'BAD_REQUEST', 'Malformed HTTP request');
export const unknownPath = () => new HttpRefusal(404, 'BAD_REQUEST', 'Not found');

export const methodNotAllowed = (allowed: readonly string[]) =>
  new HttpRefusal(405, undefined, 'Method Not Allowed', { allowed_methods: allowed }, ['Allow', allowed.join(', ')]);

const RETRY_AFTER_SECONDS = 1;
const RETRY_AFTER = ['Retry-After', String(RETRY_AFTER_SECONDS)];

/** All clients together ask for more than there is room or time for. */
export const serverBusy = () =>
  new HttpRefusal(503, 'SERVER_NOT_READY', 'The server is busy; try again in a moment.', {}, RETRY_AFTER);

/** One client has so many bytes under way that little would be left for others. */
export const tooMuchAtOnce = () =>
  new HttpRefusal(
    429,
    'RATE_LIMIT_HIT',
    'Too many bytes at once; finish other requests first.',
    { 'retry-after': RETRY_AFTER_SECONDS },
    RETRY_AFTER,
  );

/** 401 with the challenge that belongs to Basic authentication. */
export const unauthorized = (message: string) => new HttpRefusal(401, 'UNAUTHORIZED', message, {}, BASIC_CHALLENGE);

const INTERNAL_ERROR: Reply = failure(500, undefined, 'Internal server error');

/** The answer to whatever was thrown. `isBug`: nobody refused anything, so it belongs in the log with its stack. */
export function replyToError(error: unknown, variant?: ClientVariant): { reply: Reply; isBug: boolean } {
  if (error instanceof HttpRefusal) {
    const reply = failure(error.status, error.code, error.message, error.extra);
    return { reply: error.headers.length > 0 ? { ...reply, headers: error.headers } : reply, isBug: false };
  }
  if (error instanceof DomainError) return { reply: replyToRefusal(error, variant), isBug: false };
  return { reply: INTERNAL_ERROR, isBug: true };
}

/** How the API tells of it, with what the rule says of this refusal. */
export function wireErrorOf(error: DomainError): WireError & { readonly status: number; readonly code: string } {
  const rule: WireErrorRule = WIRE_ERRORS[error.code] ?? {};
  return { status: 400, code: 'BAD_REQUEST', ...(typeof rule === 'function' ? rule(error) : rule) };
}

function replyToRefusal(error: DomainError, variant: ClientVariant | undefined): Reply {
  const wire = wireErrorOf(error);
  const extra: Record<string, unknown> = { ...wire.extra };
  for (const [detail, field] of Object.entries(wire.fields ?? {})) {
    const value = error.details[detail];
    const present = wire.present?.[detail];
    if (value !== undefined) extra[field] = present ? present(value as never) : value;
  }
  const text = typeof wire.text === 'function' ? wire.text(error.details, variant) : wire.text;
  const reply = failure(wire.status, wire.code, text ?? error.message, extra);
  if (wire.headers) return { ...reply, headers: wire.headers };
  if (error.details.retryAfter !== undefined) {
    return { ...reply, headers: ['Retry-After', String(error.details.retryAfter)] };
  }
  return reply;
}
