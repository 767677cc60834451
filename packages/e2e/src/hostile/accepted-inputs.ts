import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { membersOfDto, type Route } from '@parley/http';
import type { LargeOrganization } from '../testing/large-organization.js';
import type { Inputs } from './input-context.js';
import { nameOf } from './routes.js';

/**
 * Operations that need an unavailable call provider (organization §20), exports, which have a separate test, and
 * confirmation keys without an email in this test.
 */
export const NEVER_ACCEPTED: ReadonlySet<string> = new Set([
  'POST /calls/zoom/create',
  'POST /calls/constructorgroups/create',
  'POST /calls/nextcloud_talk/create',
  'POST /calls/webex/create',
  'POST /accounts/unsubscribe/:kind/:key/',
  'GET /accounts/login/confirm/:key',
  // Features without configuration.
  'POST /incoming_email',
  'GET /accounts/go/',
  'GET /accounts/find/',
  'GET /new/',
  'GET /policies/',
  'GET /policies/*page',
  // Needs a subscription of the same browser session.
  'DELETE /web_push/subscriptions',
  // Needs the form's cookie.
  'POST /login/',
  // Needs a configured log-in provider, and a built web client.
  'GET /accounts/login/external/:method/',
  'GET /accounts/login/complete/:method/',
  'POST /accounts/login/complete/:method/',
  'GET /accounts/login/connect/',
  'POST /accounts/login/connect/',
  'POST /accounts/login/logout/:method/',
  'GET /accounts/login/metadata/:method/',
  'GET /accounts/login/subdomain/:token',
  'POST /accounts/login/subdomain/:token',
  'GET /web/:file',
  // Needs a log-in pending its second step, or a second factor.
  'POST /login/passkey/',
  'GET /login/second-factor/',
  'POST /login/second-factor/',
  'DELETE /users/:user_id/second_factors',
  // Logged-out callers have no rights over other users.
  'DELETE /users/:user_id/sessions',
  'POST /accounts/second-factor/passkey/',
  'POST /accounts/second-factor/recovery/',
  'GET /accounts/second-factor/app/',
  'POST /accounts/second-factor/app/',
  'POST /accounts/second-factor/remove/',
  // Ends only with its connection.
  'GET /events/stream',
  // Needs a SCIM token.
  'GET /scim/v2/Users',
  'POST /scim/v2/Users/.search',
  'GET /scim/v2/Users/:id',
  'POST /scim/v2/Users',
  'PUT /scim/v2/Users/:id',
  'PATCH /scim/v2/Users/:id',
  'DELETE /scim/v2/Users/:id',
  'GET /scim/v2/Groups',
  'POST /scim/v2/Groups/.search',
  'GET /scim/v2/Groups/:id',
  'POST /scim/v2/Groups',
  'PUT /scim/v2/Groups/:id',
  'PATCH /scim/v2/Groups/:id',
  'DELETE /scim/v2/Groups/:id',
  'GET /scim/v2/ServiceProviderConfig',
  'GET /scim/v2/ResourceTypes',
  'GET /scim/v2/ResourceTypes/:id',
  'GET /scim/v2/Schemas',
  'GET /scim/v2/Schemas/:id',
  'POST /export/realm',
  'DELETE /export/realm/:export_id',
  'GET /user_avatars/exports/*path_id',
]);

/**
 * Most expensive valid requests by operation, with values that types do not express, such as existing names and related
 * numbers. Each must succeed. Generated inputs vary the first one, which is cheap. Operations without
 * required parameters need no entry, nor do reads of a channel or user in their path.
 */
export const ACCEPTED_INPUTS: Inputs = Object.assign(
  {},
  ...readdirSync(join(__dirname, 'inputs')).map(
    (name) => (require(join(__dirname, 'inputs', name)) as { readonly INPUTS: Inputs }).INPUTS,
  ),
);

/** Values of path parameters, for reads that need nothing else. */
const IN_PATH: Readonly<Record<string, (organization: LargeOrganization) => unknown>> = {
  stream_id: ({ channelIds }) => channelIds[0],
  user_id: ({ owners }) => owners[1]!.id,
};

export const NO_PARAMETERS: Inputs[string] = { 'no parameters': () => ({}) };

/** Inputs of an operation by their description; null if it needs an entry. */
export function acceptedInputsOf(route: Route): Inputs[string] | null {
  const entry = ACCEPTED_INPUTS[nameOf(route)];
  if (entry) return entry;
  const required = membersOfDto(route.dto).flatMap(({ name, isRequired }) => (isRequired ? [name] : []));
  if (required.length === 0) return NO_PARAMETERS;
  if (route.method !== 'GET' || !required.every((name) => route.path.includes(`/:${name}`) && name in IN_PATH))
    return null;
  return {
    'the objects in its path': ({ organization }) =>
      Object.fromEntries(required.map((name) => [name, IN_PATH[name]!(organization)])),
  };
}
