import { declareErrors } from './errors.js';

export const EVENT_ERRORS = declareErrors({
  /** It expired, or never was: register again. */
  UNKNOWN_EVENT_QUEUE: 'unknown',
  /** Of a queue. */
  UNKNOWN_EVENT: 'unknown',
  /** They were acknowledged before. */
  EVENTS_PRUNED: 'conflict',
  EVENT_QUEUE_FILTER_TOO_LONG: 'invalid',
  CANNOT_FOLLOW_ALL_PUBLIC_CHANNELS: 'forbidden',
  UNSUPPORTED_QUEUE_OPERATOR: 'invalid',
  INVALID_CONSUMER_NAME: 'invalid',
  TOO_MANY_CONSUMERS: 'conflict',
});

type EventErrors = typeof EVENT_ERRORS;

declare module './errors.js' {
  interface ErrorCodes extends EventErrors {}

  interface ErrorDetails {
    UNKNOWN_EVENT_QUEUE: { readonly queueId: string };
  }
}
