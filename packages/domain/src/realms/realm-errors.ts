import { declareErrors } from '../kernel/errors.js';
import type { LinkifierProblems } from './linkifiers.js';
import type { PlaygroundProblems } from './playgrounds.js';

export const REALM_ERRORS = declareErrors({
  /** The organization does not exist. */
  UNKNOWN_REALM: 'unknown',
  /** No organization has this address. */
  UNKNOWN_REALM_ADDRESS: 'unknown',
  /** The organization is deactivated. */
  REALM_DEACTIVATED: 'forbidden',
  /** The delay before deleting the data is too short. */
  INVALID_DELETION_DELAY: 'invalid',
  /** The server has no account with the call provider. */
  CALL_PROVIDER_UNAVAILABLE: 'unavailable',
  /** The call link was not issued by this server for this organization. */
  INVALID_MEETING_LINK: 'invalid',
  /** The call server does not respond, or its response has an unknown format. */
  MEETING_SERVER_UNREACHABLE: 'unavailable',
  /** The call server rejects the configured secret. */
  MEETING_SERVER_DENIED: 'unavailable',
  /** The call server cannot create the call. */
  MEETING_SERVER_FAILED: 'unavailable',
  /** The name is empty or too long. */
  INVALID_REALM_NAME: 'invalid',
  /** The string id is too long, or has characters that host names cannot have. */
  INVALID_STRING_ID: 'invalid',
  /** The string id is used by another organization, or reserved. */
  STRING_ID_TAKEN: 'conflict',
  /** The server has no address for another organization. */
  NO_ADDRESS_LEFT: 'conflict',
  /** Allowed for demo organizations only. */
  DEMO_REALM_REQUIRED: 'conflict',
  /** Not a valid email domain. */
  INVALID_DOMAIN: 'invalid',
  /** The domain is already listed. */
  ALLOWED_DOMAIN_EXISTS: 'conflict',
  /** The domain is not listed. */
  UNKNOWN_ALLOWED_DOMAIN: 'unknown',
  /** The list of domains is full. */
  TOO_MANY_ALLOWED_DOMAINS: 'conflict',
  /** Invalid pattern, template or example; `errors`: texts by field. */
  INVALID_LINKIFIER: 'invalid',
  /** The order does not name each linkifier once. */
  INVALID_LINKIFIER_ORDER: 'invalid',
  /** The linkifier does not exist. */
  UNKNOWN_LINKIFIER: 'unknown',
  /** Too many linkifiers, or too much text in them. */
  TOO_MANY_LINKIFIERS: 'conflict',
  /** Invalid name, language or template, or a duplicate; `errors`: texts by field. */
  INVALID_PLAYGROUND: 'invalid',
  /** The language contains forbidden characters. */
  INVALID_PLAYGROUND_LANGUAGE: 'invalid',
  /** The playground does not exist. */
  UNKNOWN_PLAYGROUND: 'unknown',
  /** The list of playgrounds is full. */
  TOO_MANY_PLAYGROUNDS: 'conflict',
  /** Nobody could log in after the change. */
  AUTHENTICATION_METHOD_REQUIRED: 'conflict',
  /** Only administrators may reuse the name of a standard emoji. */
  CANNOT_OVERRIDE_EMOJI: 'forbidden',
  /** Only administrators and the author may remove the emoji. */
  NOT_EMOJI_AUTHOR: 'forbidden',
});

type RealmErrors = typeof REALM_ERRORS;

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends RealmErrors {}

  interface ErrorDetails {
    INVALID_LINKIFIER: { readonly errors: LinkifierProblems };
    INVALID_PLAYGROUND: { readonly errors: PlaygroundProblems };
  }
}
