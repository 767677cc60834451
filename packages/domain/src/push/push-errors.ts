import { declareErrors } from '../kernel/errors.js';

export const PUSH_ERRORS = declareErrors({
  /** The operator named no push service. */
  PUSH_SERVICE_NOT_CONFIGURED: 'unavailable',
  UNKNOWN_DEVICE: 'unknown',
  /** Neither a key nor a token is given in full. */
  PUSH_REGISTRATION_INCOMPLETE: 'invalid',
  /** The device has no key yet, so that there is nothing whose key or token could be exchanged. */
  NO_PUSH_REGISTRATION: 'conflict',
  INVALID_PUSH_KEY: 'invalid',
  PUSH_REGISTRATION_IN_PROGRESS: 'conflict',
  INVALID_PUSH_TOKEN: 'invalid',
  /** Of those that the user has. */
  UNKNOWN_PUSH_TOKEN: 'unknown',
  /** To be tested, and of nobody here. */
  PUSH_DEVICE_NOT_RECOGNIZED: 'unknown',
  /** No device of the user is registered with the push service. */
  NO_ACTIVE_PUSH_DEVICE: 'conflict',
  /** The push service does not know the token. */
  PUSH_TOKEN_UNKNOWN_TO_SERVICE: 'conflict',
  PUSH_SERVICE_UNREACHABLE: 'unavailable',
  /** The push service failed. */
  PUSH_SERVICE_FAILED: 'unavailable',
  /** The push service does not serve this server; whoever runs it has to see to it. */
  PUSH_SERVICE_DENIED: 'unavailable',
  /** The push service refuses what it was asked; the text is its own. */
  PUSH_SERVICE_REFUSED: 'conflict',
});

type PushErrors = typeof PUSH_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends PushErrors {}
}
