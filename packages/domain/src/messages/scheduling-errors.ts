import { declareErrors } from '../kernel/errors.js';

export const SCHEDULING_ERRORS = declareErrors({
  /** Of a message or a reminder. */
  DELIVERY_TIME_PASSED: 'invalid',
  UNKNOWN_SCHEDULED_MESSAGE: 'unknown',
  SCHEDULED_MESSAGE_SENT: 'conflict',
  /** A channel and people are named in different ways. */
  INVALID_SCHEDULED_RECIPIENT: 'invalid',
  /** Where the message is to go to a channel now, or to people. */
  SCHEDULED_RECIPIENT_REQUIRED: 'invalid',
  SCHEDULED_TOPIC_REQUIRED: 'invalid',
  SCHEDULED_CHANGE_REQUIRED: 'invalid',
  TOO_MANY_SCHEDULED_MESSAGES: 'conflict',
  /** The server did not run when the message was due. Clients see the text with the message that failed. */
  DELIVERY_TOO_LATE: 'conflict',
  UNKNOWN_REMINDER: 'unknown',
  REMINDER_NOTE_TOO_LONG: 'invalid',
  TOO_MANY_REMINDERS: 'conflict',
});

type SchedulingErrors = typeof SCHEDULING_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends SchedulingErrors {}
}
