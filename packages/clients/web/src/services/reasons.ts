import type { I18n } from '@lingui/core';

/** Error of the client, the browser or an unsent message. */
export interface Refusal {
  readonly message: string;
  readonly code?: unknown;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly retryAfterMs?: number | null;
}

/** Translates known error messages of the server; null until the texts are loaded. */
type RefusalText = ((message: string) => string | null) | null;

/** Returns an error text in the page's language. Quotes messages translated by neither a code nor `refusalText`. */
export function reasonOf(error: Refusal, i18n: I18n, refusalText: RefusalText): string {
  const { code, message } = error;
  const text = textOf(error, i18n) ?? narrowText(error, i18n, refusalText) ?? refusalText?.(message) ?? null;
  if (text !== null) return text;
  // Browser errors have no code, or a number.
  return typeof code === 'string' && code !== 'UNEXPECTED'
    ? i18n._('The server rejected it: {message}', { message })
    : i18n._('This did not work: {message}', { message });
}

/** Null for codes with many meanings. */
function textOf(error: Refusal, i18n: I18n): string | null {
  return connectionText(error, i18n) ?? peopleText(error, i18n) ?? contentText(error, i18n);
}

function narrowText({ code, message, details = {} }: Refusal, i18n: I18n, refusalText: RefusalText): string | null {
  if (code !== 'BAD_NARROW') return null;
  const desc = String(details.desc ?? message);
  return i18n._('This search is not possible: {reason}', { reason: refusalText?.(desc) ?? desc });
}

/** Connection, and limits of the server. */
function connectionText({ code, details = {}, retryAfterMs }: Refusal, i18n: I18n): string | null {
  switch (code) {
    case 'NO_CONNECTION':
      return i18n._('The server cannot be reached.');
    case 'TIMEOUT':
      return i18n._('The server did not respond in time.');
    case 'NOT_PARLEY':
      return i18n._('The server is not available at the moment.');
    case 'TOO_LARGE':
      return i18n._('This is larger than the server or its proxy accepts.');
    case 'SERVER_NOT_READY':
      return i18n._('The server is busy. Please try again later.');
    case 'RATE_LIMIT_HIT':
      return retryAfterMs
        ? i18n._('You did this too often. Please try again in {time}.', { time: timeOf(retryAfterMs, i18n) })
        : i18n._('You did this too often. Please try again later.');
    case 'MAY_BE_SENT':
      return i18n._('This message may have been sent already.');
    case 'TOO_MANY_WAITING':
      return i18n._('Too many messages are waiting to be sent. This one stays in its field.');
    case 'TIME_PASSED':
      return i18n._('The time must be in the future.');
    case 'FILE_TOO_LARGE':
      return i18n._('The file is larger than {max} MiB.', { max: details.max });
    case 'REALM_UPLOAD_QUOTA':
      return i18n._('The organization has no space left for files.');
    case 'USER_UPLOAD_QUOTA':
      return i18n._('You have no space left for files.');
    case 'PUSH_SERVICE_NOT_CONFIGURED':
      return i18n._('This server does not send notifications to devices.');
    default:
      return null;
  }
}

/** Accounts, roles and groups. */
function peopleText({ code, details = {} }: Refusal, i18n: I18n): string | null {
  switch (code) {
    case 'UNAUTHORIZED':
    case 'CSRF_FAILED':
      return i18n._('Your session has ended.');
    case 'AUTHENTICATION_FAILED':
      return i18n._('The email address or the password is wrong.');
    case 'USER_DEACTIVATED':
      return i18n._('Your account has been deactivated.');
    case 'REALM_DEACTIVATED':
      return i18n._('This organization has been deactivated.');
    case 'UNAUTHORIZED_PRINCIPAL':
      return i18n._('Only owners or administrators of the organization may do this.');
    case 'CANNOT_DEACTIVATE_LAST_USER':
      return details.is_last_owner
        ? i18n._('The last owner of the organization cannot be deactivated.')
        : i18n._('The last person of the organization cannot be deactivated.');
    case 'INVITATION_FAILED':
      if (details.daily_limit_reached)
        return i18n._('The organization has sent as many invitations as it may send in a day.');
      // The dialog lists the others.
      if (!Array.isArray(details.errors) || details.errors.length === 0) return null;
      return details.sent_invitations
        ? i18n._('Not everyone could be invited.')
        : i18n._('No one was invited because of these addresses.');
    case 'CANNOT_DEACTIVATE_GROUP_IN_USE':
      return i18n._('The group is still in use: in another group, or in a permission.');
    case 'SYSTEM_GROUP_REQUIRED':
      return i18n._('This permission can only be given to roles and other built-in groups.');
    default:
      return null;
  }
}

/** Channels, messages and pictures. */
function contentText({ code, details = {} }: Refusal, i18n: I18n): string | null {
  switch (code) {
    case 'EXPECTATION_MISMATCH':
      return i18n._('Someone else changed this in the meantime.');
    case 'CHANNEL_ALREADY_EXISTS':
      return i18n._('A channel named “{channel}” already exists.', { channel: details.channel_name });
    case 'CANNOT_ADMINISTER_CHANNEL':
      return i18n._('Only administrators of the channel may do this.');
    case 'CANNOT_MANAGE_DEFAULT_CHANNEL':
      return i18n._('You are not allowed to change the default channels.');
    case 'STREAM_DOES_NOT_EXIST':
      return i18n._('The channel does not exist, or you are not allowed to see it.');
    case 'STREAM_WILDCARD_MENTION_NOT_ALLOWED':
      return i18n._('You are not allowed to mention everyone in this channel.');
    case 'TOPIC_WILDCARD_MENTION_NOT_ALLOWED':
      return i18n._('You are not allowed to mention everyone in this topic.');
    case 'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED':
      return i18n._('Some messages are too old to be moved. You may move the newest {allowed} of {all}.', {
        allowed: details.total_messages_allowed_to_move,
        all: details.total_messages_in_topic,
      });
    case 'REACTION_ALREADY_EXISTS':
      return i18n._('You have already reacted with this emoji.');
    case 'REACTION_DOES_NOT_EXIST':
      return i18n._('You have not reacted with this emoji.');
    case 'BAD_IMAGE':
      return i18n._('The picture is damaged, too large or has an unknown format.');
    default:
      return null;
  }
}

function timeOf(milliseconds: number, i18n: I18n): string {
  const seconds = Math.ceil(milliseconds / 1000);
  const isLong = seconds > 120;
  const format = { style: 'unit', unit: isLong ? 'minute' : 'second', unitDisplay: 'long' } as const;
  return i18n.number(isLong ? Math.ceil(seconds / 60) : seconds, format);
}
