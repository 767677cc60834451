import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { membersOfDto, type Route } from '@parley/http';
import type { ParameterSchema } from '@parley/testkit';
import { type Input, type Inputs, lengthened, messageIn } from './input-context.js';
import { nameOf, ROUTES } from './routes.js';

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
  'GET /import/:source/*path',
  // Needs the server's signature.
  'GET /external_content/:signature/:encoded_url',
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
  // Needs an import, or a server that runs imports.
  'POST /realm/imports/run',
  'POST /realm/imports/run/start',
  'DELETE /realm/imports/run',
  'POST /realm/imports/:import_id/undo',
  'POST /export/realm',
  'DELETE /export/realm/:export_id',
  'GET /user_avatars/exports/*path_id',
  'POST /export/users',
  'GET /export/users/:export_id/archive',
  // Needs the password of the caller, and the name of a person whom other operations need.
  'POST /users/:user_id/erasure',
  // Needs a permission that the operator grants.
  'GET /holds',
  'POST /holds',
  'POST /holds/:hold_id/release',
]);

/**
 * Most expensive valid requests by operation, with values that types do not express, such as existing names and related
 * numbers. Each must succeed. Generated inputs vary the first one, which is cheap. Other operations use
 * `derivedInput`.
 */
export const ACCEPTED_INPUTS: Inputs = Object.assign(
  {},
  ...readdirSync(join(__dirname, 'inputs')).map(
    (name) => (require(join(__dirname, 'inputs', name)) as { readonly INPUTS: Inputs }).INPUTS,
  ),
);

/** Values of path parameters. */
const IN_PATH: Readonly<Record<string, Input>> = {
  stream_id: ({ organization }) => ({ stream_id: organization.channelIds[0] }),
  user_id: ({ organization }) => ({ user_id: organization.owners[1]!.id }),
  message_id: async (context) => ({ message_id: await messageIn(context, 'inputs') }),
};

export const NO_PARAMETERS: Inputs[string] = { 'no parameters': () => ({}) };

/** Inputs of an operation by their description; null if it needs an entry. */
export function acceptedInputsOf(route: Route): Inputs[string] | null {
  const entry = ACCEPTED_INPUTS[nameOf(route)];
  if (entry) return entry;
  if (membersOfDto(route.dto).every(({ isRequired }) => !isRequired)) return NO_PARAMETERS;
  const derived = derivedInput(route);
  return derived && { 'the longest texts': derived };
}

/** Fills in existing objects in the path and the longest texts elsewhere; null if a required parameter has neither. */
function derivedInput(route: Route): Input | null {
  const parts: Input[] = [];
  for (const { name, isRequired, type } of membersOfDto(route.dto)) {
    const schema = type.schema as ParameterSchema;
    const isInPath = new RegExp(`[:*]${name}(?=/|$)`).test(route.path);
    const input = isInPath ? (IN_PATH[name] ?? createdInPath(route.path, name)) : longestText(name, schema);
    if (input && (isRequired || route.method !== 'GET')) parts.push(input);
    else if (isRequired) return null;
  }
  return async (context) => {
    const fields = await Promise.all(parts.map((part) => part(context)));
    return Object.assign({}, ...fields);
  };
}

function longestText(name: string, { type, enum: words, maxLength }: ParameterSchema): Input | null {
  if (words) return () => ({ [name]: words[0] });
  if (type === 'boolean') return () => ({ [name]: true });
  return type === 'string' && maxLength ? ({ n }) => ({ [name]: lengthened(`${n} `, maxLength) }) : null;
}

/** Creates an object in a path by the operation that adds to its collection. */
function createdInPath(path: string, name: string): Input | null {
  const collection = path.replace(new RegExp(`/[:*]${name}(/.*)?$`), '');
  const creation = ROUTES.find((route) => route.path !== path && nameOf(route) === `POST ${collection}`);
  const [input] = Object.values((creation && acceptedInputsOf(creation)) ?? {});
  if (!input) return null;
  return async (context) => {
    // Texts that must be unique differ from those of the request.
    const fields = await input({ ...context, n: context.n + 1_000_000 });
    const { [name]: named, id, ids = [] } = await context.post(collection, fields);
    return { [name]: named ?? id ?? (ids as readonly unknown[])[0] ?? fields[name] };
  };
}
