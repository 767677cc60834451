import { declareErrors } from '../kernel/errors.js';
import type { LinkifierProblems } from './linkifiers.js';
import type { PlaygroundProblems } from './playgrounds.js';

export const REALM_ERRORS = declareErrors({
  UNKNOWN_REALM: 'unknown',
  /** No realm exists at the host. */
  UNKNOWN_REALM_ADDRESS: 'unknown',
  REALM_DEACTIVATED: 'forbidden',
  INVALID_DELETION_DELAY: 'invalid',
  /** The call provider is not configured. */
  CALL_PROVIDER_UNAVAILABLE: 'unavailable',
  INVALID_MEETING_LINK: 'invalid',
  MEETING_SERVER_UNREACHABLE: 'unavailable',
  /** The meeting server rejects the signature. */
  MEETING_SERVER_DENIED: 'unavailable',
  MEETING_SERVER_FAILED: 'unavailable',
  INVALID_REALM_NAME: 'invalid',
  INVALID_STRING_ID: 'invalid',
  /** The string id is taken or reserved. */
  STRING_ID_TAKEN: 'conflict',
  /** The server has no free address for another realm. */
  NO_ADDRESS_LEFT: 'conflict',
  DEMO_REALM_REQUIRED: 'conflict',
  INVALID_DOMAIN: 'invalid',
  /** The domain is already on the realm's list. */
  ALLOWED_DOMAIN_EXISTS: 'conflict',
  UNKNOWN_ALLOWED_DOMAIN: 'unknown',
  TOO_MANY_ALLOWED_DOMAINS: 'conflict',
  INVALID_LINKIFIER: 'invalid',
  INVALID_LINKIFIER_ORDER: 'invalid',
  UNKNOWN_LINKIFIER: 'unknown',
  TOO_MANY_LINKIFIERS: 'conflict',
  INVALID_PLAYGROUND: 'invalid',
  INVALID_PLAYGROUND_LANGUAGE: 'invalid',
  UNKNOWN_PLAYGROUND: 'unknown',
  TOO_MANY_PLAYGROUNDS: 'conflict',
  AUTHENTICATION_METHOD_REQUIRED: 'conflict',
  CANNOT_OVERRIDE_EMOJI: 'forbidden',
  NOT_EMOJI_AUTHOR: 'forbidden',
});

type RealmErrors = typeof REALM_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends RealmErrors {}

  interface ErrorDetails {
    INVALID_LINKIFIER: { readonly errors: LinkifierProblems };
    INVALID_PLAYGROUND: { readonly errors: PlaygroundProblems };
  }
}
