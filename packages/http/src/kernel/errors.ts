import { BASIC_CHALLENGE } from './challenges.js';
import type { WireFields } from './reply.js';

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
