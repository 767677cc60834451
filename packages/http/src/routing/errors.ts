import { DomainError, type ErrorCode, type SettingValue } from '@parley/domain';
import { presentGroupUses } from '../groups/group.presenters.js';
import { presentInvitationErrors } from '../invitations/invitation.presenters.js';
import { unknownMethodText } from '../realms/authentication-methods.wire.js';
import { REALM_SETTING_FORMS } from '../realms/realm-settings.wire.js';
import { USER_SETTING_FORMS } from '../users/user-settings.wire.js';
import type { ClientVariant } from './client-variant.js';
import { failure, type Reply, type WireFields } from './reply.js';

interface WireError {
  readonly status: number;
  readonly code: string;
  /** Details that reach the wire, and as what. Others do not: strict clients refuse errors with fields they do not know. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Of these the form that they have there, by the detail's name; others go as they are. */
  readonly present?: Readonly<Record<string, (value: never) => unknown>>;
}

const badRequest: WireError = { status: 400, code: 'BAD_REQUEST' };

/** The only table from our reasons to the wire. Statuses are the API's, not REST's taste. */
const WIRE: Readonly<Record<ErrorCode, WireError>> = {
  INVALID_INPUT: { ...badRequest, fields: { emptyTopicDisplayName: 'empty_topic_display_name', errors: 'errors' } },
  BAD_VALUE: {
    status: 400,
    code: 'REQUEST_VARIABLE_INVALID',
    fields: { parameter: 'var_name', value: 'bad_value' },
  },
  BAD_SETTING_VALUE: badRequest, // see replyToBadSetting
  NOT_PERMITTED: badRequest, // sic: 400, `Insufficient permission`
  NOT_FOUND: { status: 404, code: 'BAD_REQUEST' },
  ACCESS_DENIED: { status: 403, code: 'BAD_REQUEST' },
  MUST_BE_ADMINISTRATOR: { status: 400, code: 'UNAUTHORIZED_PRINCIPAL' }, // sic: 400
  MUST_BE_OWNER: { status: 400, code: 'UNAUTHORIZED_PRINCIPAL' },
  MUST_BE_BOT: { status: 400, code: 'PERMISSION_DENIED' },
  UNAUTHENTICATED: { status: 401, code: 'UNAUTHORIZED' },
  AUTHENTICATION_FAILED: { status: 401, code: 'AUTHENTICATION_FAILED' },
  USER_DEACTIVATED: { status: 401, code: 'USER_DEACTIVATED' },
  CANNOT_DEACTIVATE_LAST_USER: {
    status: 400,
    code: 'CANNOT_DEACTIVATE_LAST_USER',
    fields: { isLastOwner: 'is_last_owner', entity: 'entity' },
  },
  REALM_DEACTIVATED: { status: 401, code: 'REALM_DEACTIVATED' },
  PASSWORD_AUTH_DISABLED: { status: 401, code: 'PASSWORD_AUTH_DISABLED' },
  PASSWORD_RESET_REQUIRED: { status: 401, code: 'PASSWORD_RESET_REQUIRED' },
  SERVER_BUSY: { status: 503, code: 'SERVER_NOT_READY' },
  STORAGE_UNAVAILABLE: { status: 503, code: 'SERVER_NOT_READY' },
  UNKNOWN_REALM: { status: 404, code: 'NONEXISTENT_SUBDOMAIN' },
  RATE_LIMITED: { status: 429, code: 'RATE_LIMIT_HIT', fields: { retryAfter: 'retry-after' } },
  CHANNEL_NOT_FOUND: {
    status: 400, // sic: 400
    code: 'STREAM_DOES_NOT_EXIST',
    fields: { channelName: 'stream', channelId: 'stream_id' },
  },
  CHANNEL_NAME_TAKEN: { status: 409, code: 'CHANNEL_ALREADY_EXISTS', fields: { channelName: 'channel_name' } },
  CANNOT_ADMINISTER_CHANNEL: { status: 400, code: 'CANNOT_ADMINISTER_CHANNEL' },
  CANNOT_MANAGE_DEFAULT_CHANNEL: { status: 400, code: 'CANNOT_MANAGE_DEFAULT_CHANNEL' },
  EVENT_QUEUE_NOT_FOUND: { status: 400, code: 'BAD_EVENT_QUEUE_ID', fields: { queueId: 'queue_id' } },
  INVALID_NARROW: { status: 400, code: 'BAD_NARROW', fields: { description: 'desc' } },
  UNSUPPORTED_COMBINATION: {
    ...badRequest,
    fields: { parameters: 'parameters', requiredParameter: 'required_parameter', setParameter: 'set_parameter' },
  },
  STALE_VALUE: { status: 400, code: 'EXPECTATION_MISMATCH' },
  SYSTEM_GROUP_REQUIRED: { status: 400, code: 'SYSTEM_GROUP_REQUIRED', fields: { settingName: 'setting_name' } },
  CANNOT_DEACTIVATE_GROUP_IN_USE: {
    status: 400,
    code: 'CANNOT_DEACTIVATE_GROUP_IN_USE',
    fields: { objections: 'objections' },
    present: { objections: presentGroupUses },
  },
  CHANNEL_WILDCARD_NOT_ALLOWED: { status: 400, code: 'STREAM_WILDCARD_MENTION_NOT_ALLOWED' },
  TOPIC_WILDCARD_NOT_ALLOWED: { status: 400, code: 'TOPIC_WILDCARD_MENTION_NOT_ALLOWED' },
  MOVE_TIME_LIMIT_EXCEEDED: {
    status: 400,
    code: 'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
    fields: {
      firstMessageIdAllowedToMove: 'first_message_id_allowed_to_move',
      totalMessagesInTopic: 'total_messages_in_topic',
      totalMessagesAllowedToMove: 'total_messages_allowed_to_move',
    },
  },
  INVITATION_FAILED: {
    status: 400,
    code: 'INVITATION_FAILED',
    fields: {
      errors: 'errors',
      sentInvitations: 'sent_invitations',
      licenseLimitReached: 'license_limit_reached',
      dailyLimitReached: 'daily_limit_reached',
    },
    present: { errors: presentInvitationErrors },
  },
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

const BASIC_CHALLENGE = ['WWW-Authenticate', 'Basic realm="zulip"'];
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

function replyToRefusal(error: DomainError, variant: ClientVariant | undefined): Reply {
  if (error.code === 'BAD_SETTING_VALUE') return replyToBadSetting(error);
  const wire = WIRE[error.code];
  const extra: Record<string, unknown> = {};
  for (const [detail, field] of Object.entries(wire.fields ?? {})) {
    const value = error.details[detail];
    const present = wire.present?.[detail];
    if (value !== undefined) extra[field] = present ? present(value as never) : value;
  }
  const reply = failure(wire.status, wire.code, messageFor(error, variant), extra);
  if (error.code === 'UNAUTHENTICATED') return { ...reply, headers: BASIC_CHALLENGE };
  if (error.details.retryAfter !== undefined) {
    return { ...reply, headers: ['Retry-After', String(error.details.retryAfter)] };
  }
  return reply;
}

/** In the words that clients know the setting by. */
function replyToBadSetting({ details }: DomainError): Reply {
  if (details.setting === 'authenticationMethods') {
    return failure(400, 'BAD_REQUEST', unknownMethodText(String(details.value)));
  }
  const forms = details.of === 'user' ? USER_SETTING_FORMS : REALM_SETTING_FORMS;
  const value = details.value as SettingValue;
  const { message, badParameter } = forms.refusalOf(String(details.setting), value);
  if (badParameter === undefined) return failure(400, 'BAD_REQUEST', message);
  return failure(400, 'REQUEST_VARIABLE_INVALID', message, { var_name: badParameter, bad_value: value });
}

function messageFor(error: DomainError, variant: ClientVariant | undefined): string {
  if (error.code === 'EVENT_QUEUE_NOT_FOUND' && variant?.hasOldQueueErrorText) {
    return `Bad event queue id: ${String(error.details.queueId)}`;
  }
  return error.message;
}
