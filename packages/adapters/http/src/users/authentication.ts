import { loginAttemptKey } from '@parley/domain/access';
import { DomainError, type RealmUrls, type SessionId, type UserId } from '@parley/domain/kernel';
import { FindServiceLogOut, ListLogInMethods, SignOutUser } from '@parley/domain/log-in';
import type { Realm } from '@parley/domain/realms';
import {
  type DevelopmentUsers,
  EndUserSessions,
  FetchApiKey,
  FetchApiKeyByToken,
  FetchOwnApiKey,
  type IssuedKey,
  ListDevelopmentUsers,
  ListUserSessions,
  LogIn,
  LogInForDevelopment,
  LogOut,
  type OpenedSession,
  type User,
  type UserLogIns,
} from '@parley/domain/users';
import type { HttpFeature, RouteParts } from '../declarations/feature.js';
import { type AnonymousClient, type Context, type Route, route } from '../declarations/route.js';
import { publicRealmOf } from '../delivery/public-realm.js';
import { keyFrom } from '../limits/rules.js';
import { MAX_TEXT_LENGTH } from '../params/param-types.js';
import { BooleanParam, IntegerParam, NoParameters, TextParam } from '../params/params.js';
import {
  BASIC_CHALLENGE,
  failure,
  type LogInRecord,
  success,
  type WireErrors,
  type WireFields,
} from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import * as wire from '../wire/schema.js';
import { API_KEY, KEY_OF_TOKEN, presentUser } from './user.presenters.js';

/** Parameters of fetching an API key; browser log-in uses them too. */
export class FetchApiKeyDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) username!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) password!: string;
}

export class FetchDevelopmentApiKeyDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) username!: string;
}

export class FetchApiKeyByTokenDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) token = '';
  @BooleanParam({ description: 'Whether to return the user as well.' }) include_profile = false;
}

export class FetchOwnApiKeyDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) password = '';
}

export class SessionIdDto {
  @IntegerParam({ description: 'Id of the browser session.' }) session_id!: number;
}

export class SessionOwnerDto {
  @IntegerParam() user_id!: number;
}

export class EndSessionsDto extends SessionOwnerDto {
  @BooleanParam() api_key = false;
}

export const AUTHENTICATION_WIRE_ERRORS = {
  UNAUTHENTICATED: { status: 401, code: 'UNAUTHORIZED', headers: BASIC_CHALLENGE },
  AUTHENTICATION_FAILED: { status: 401, code: 'AUTHENTICATION_FAILED' },
  PASSWORD_AUTH_DISABLED: { status: 401, code: 'PASSWORD_AUTH_DISABLED' },
} as const satisfies WireErrors;

/** Presents an issued API key. `email` is the stored form, which clients compare with their input. */
export const presentApiKey = ({ apiKey, user }: IssuedKey): WireFields => ({
  api_key: apiKey,
  email: user.email,
  user_id: user.id,
});

/** Presents a log-in. The session itself is in the cookies (protocol §7.6). */
export const presentLogIn = ({ user }: OpenedSession): WireFields => ({ email: user.email, user_id: user.id });

/**
 * Presents a key obtained by token with the caller's own profile, but without the organization's required fields
 * (protocol §8.2).
 */
export const presentKeyOfToken = (
  { apiKey, user, realm }: IssuedKey & { readonly realm: Realm },
  withProfile: boolean,
  realmUrls: RealmUrls,
): WireFields => ({
  api_key: apiKey,
  email: user.email,
  ...(withProfile && {
    user: presentUser(user, publicRealmOf(realm, realmUrls), {
      seesEmail: true,
      clientGravatar: false,
      withProfile: false,
    }),
  }),
});

const SESSIONS = wire.fields({
  sessions: wire.listOf(
    wire.fields({
      id: wire.integer(),
      user_agent: wire.text(),
      created_at: wire.integer(),
      last_used_at: wire.integer(),
      is_current: wire.boolean(),
      ip: wire.optional(wire.text()),
      method: wire.optional(wire.text()),
    }),
  ),
  api_key_issued: wire.optional(
    wire.fields({ at: wire.integer(), ip: wire.optional(wire.text()), client: wire.optional(wire.text()) }),
  ),
});

/** Presents browser sessions and the latest issue of the API key (protocol §7.6). */
export const presentSessions = (
  { sessions, keyIssue }: UserLogIns,
  { caller }: { readonly caller: { readonly sessionId?: SessionId } },
): WireFields => ({
  sessions: sessions.map(({ id, userAgent, createdAt, lastUsedAt, ip, method }) => ({
    id,
    user_agent: userAgent,
    created_at: createdAt,
    last_used_at: lastUsedAt,
    is_current: id === caller.sessionId,
    ...(ip !== null && { ip }),
    ...(method !== null && { method }),
  })),
  ...(keyIssue && {
    api_key_issued: {
      at: keyIssue.at,
      ...(keyIssue.ip !== null && { ip: keyIssue.ip }),
      ...(keyIssue.clientName !== null && { client: keyIssue.clientName }),
    },
  }),
});

/** Protocol §8.2. */
export function presentDevelopmentUsers({ administrators, others, realmUrl }: DevelopmentUsers): WireFields {
  const present = (email: string) => ({ email, realm_uri: realmUrl });
  return { direct_admins: administrators.map(present), direct_users: others.map(present) };
}

const DEVELOPMENT_USERS = wire.listOf(wire.fields({ email: wire.text(), realm_uri: wire.text() }));

/** Rate limit of log-in attempts, counted per user name and network. */
const ATTEMPTS = {
  rule: 'authenticate_by_username',
  otherRule: 'authenticate_from_known_network',
  keyOf: ({ username }: FetchApiKeyDto, { realmId, ip }: AnonymousClient) =>
    keyFrom(loginAttemptKey(realmId, username), ip),
} as const;

const loggedIn = (method: string, { email }: Pick<User, 'email'>): LogInRecord => ({
  method,
  account: email,
  failure: null,
});

/** Failures that another log-in method may resolve. */
const PASSWORD_FAILURES = ['AUTHENTICATION_FAILED', 'PASSWORD_AUTH_DISABLED'] as const;

const userAgentOf = (request: Request): string => request.header('user-agent') ?? '';

type LogInParts = Pick<RouteParts, 'realmUrls' | 'sessionCookies'>;

export function authenticationRoutes(parts: LogInParts): readonly Route[] {
  return [...apiKeyRoutes(parts), ...browserLogInRoutes(parts), ...sessionRoutes()];
}

/** Log-in of programs, which get an API key. */
function apiKeyRoutes({ realmUrls, sessionCookies }: LogInParts): readonly Route[] {
  return [
    route('POST', '/fetch_api_key', {
      summary: 'Exchange an email address and a password for the API key',
      section: 'protocol §8.1',
      auth: 'anyone',
      logInMethod: 'password',
      sessions: 'none',
      limit: ATTEMPTS,
      dto: FetchApiKeyDto,
      useCase: FetchApiKey,
      response: API_KEY,
      handle: async ({ caller, dto: { username, password }, request, useCase, resolve }) => {
        try {
          const key = await useCase.execute(caller, { username, password, cancellation: request.signal });
          return { ...success(presentApiKey(key)), logIn: loggedIn('password', key.user) };
        } catch (error) {
          const code = error instanceof DomainError ? PASSWORD_FAILURES.find((it) => it === error.code) : undefined;
          if (code === undefined) throw error;
          const { methods } = await resolve(ListLogInMethods).execute(caller);
          return {
            ...failure(401, code, (error as Error).message, {
              // Same for everybody, because the address of an account without a password is not public.
              ...(methods.length > 0 && { log_in_methods: methods.map(({ name }) => name) }),
            }),
            logIn: { method: 'password', account: username, failure: code },
          };
        }
      },
    }),
    // Custom handler, because development clients need cookies to continue like browsers (clients §6).
    route('POST', '/dev_fetch_api_key', {
      summary: 'Get the API key of any user of a development server',
      section: 'protocol §8.2',
      withoutPage: 'development',
      auth: 'anyone',
      logInMethod: 'development',
      sessions: 'none',
      isDevelopment: true,
      dto: FetchDevelopmentApiKeyDto,
      useCase: LogInForDevelopment,
      response: API_KEY,
      handle: async ({ caller, dto: { username }, request, useCase }) => {
        const { key, session } = await useCase.execute(caller, { username, userAgent: userAgentOf(request) });
        const logIn = loggedIn('development', key.user);
        return { ...success(presentApiKey(key)), headers: sessionCookies.begin(request, session), logIn };
      },
    }),
    route('GET', '/dev_list_users', {
      summary: 'List the users of a development server',
      section: 'protocol §8.2',
      withoutPage: 'development',
      auth: 'anyone',
      sessions: 'none',
      isDevelopment: true,
      dto: NoParameters,
      useCase: ListDevelopmentUsers,
      response: wire.fields({ direct_admins: DEVELOPMENT_USERS, direct_users: DEVELOPMENT_USERS }),
      present: presentDevelopmentUsers,
    }),
    route('POST', '/jwt/fetch_api_key', {
      summary: 'Exchange a JSON web token for the API key',
      section: 'protocol §8.2',
      withoutPage: 'apps',
      auth: 'anyone',
      logInMethod: 'jwt',
      sessions: 'none',
      dto: FetchApiKeyByTokenDto,
      useCase: FetchApiKeyByToken,
      response: KEY_OF_TOKEN,
      handle: async ({ caller, dto: { token, include_profile }, useCase }) => {
        const key = await useCase.execute(caller, { token });
        return { ...success(presentKeyOfToken(key, include_profile, realmUrls)), logIn: loggedIn('jwt', key.user) };
      },
    }),
  ];
}

function browserLogInRoutes({ sessionCookies }: LogInParts): readonly Route[] {
  return [
    // Sets the cookie required to log in. The host application controls the content of its own page.
    route('GET', '/accounts/login/', {
      summary: 'Get ways to log in, and a CSRF token as a cookie',
      section: 'protocol §7.6',
      auth: 'anyone',
      atRoot: true,
      dto: NoParameters,
      response: wire.fields({}),
      handle: async () => success(),
    }),
    // The response header prevents pages of other origins from reading the token.
    route('GET', '/accounts/csrf_token/', {
      summary: 'Get the CSRF token of the browser session',
      section: 'protocol §7.6',
      auth: 'anyone',
      atRoot: true,
      providesCsrfToken: true,
      dto: NoParameters,
      response: wire.fields({ csrf_token: wire.text() }),
      handle: async ({ request: { csrfToken } }) => ({
        ...success({ csrf_token: csrfToken }),
        headers: ['Cross-Origin-Resource-Policy', 'same-origin'],
      }),
    }),
    route('POST', '/accounts/login/', {
      summary: 'Log in and start a browser session',
      section: 'protocol §7.6',
      auth: 'anyone',
      logInMethod: 'password',
      atRoot: true,
      limit: ATTEMPTS,
      dto: FetchApiKeyDto,
      useCase: LogIn,
      response: wire.fields({ email: wire.text(), user_id: wire.integer() }),
      handle: async ({ caller, dto: { username, password }, request, useCase }) => {
        const input = { username, password, cancellation: request.signal, userAgent: userAgentOf(request) };
        const session = await useCase.execute(caller, input);
        const logIn = loggedIn('password', session.user);
        return { ...success(presentLogIn(session)), headers: sessionCookies.begin(request, session), logIn };
      },
    }),
    route('POST', '/accounts/logout/', {
      summary: 'Log out and end the browser session',
      section: 'protocol §7.6',
      auth: 'user',
      scope: 'account',
      atRoot: true,
      dto: NoParameters,
      useCase: LogOut,
      response: wire.fields({ log_out_url: wire.optional(wire.text()) }),
      handle: async ({ caller, request, useCase, resolve }: Context<'user', NoParameters, LogOut>) => {
        const method = await useCase.execute(caller);
        const url = await resolve(FindServiceLogOut).execute(caller, method);
        return { ...success(url === null ? {} : { log_out_url: url }), headers: sessionCookies.end(request) };
      },
    }),
  ];
}

function sessionRoutes(): readonly Route[] {
  return [
    route('GET', '/users/me/sessions', {
      summary: 'List your browser sessions',
      extension: 'extensions §6',
      auth: 'user',
      scope: 'account',
      dto: NoParameters,
      useCase: ListUserSessions,
      toInput: (_dto, _request, { userId }) => userId,
      response: SESSIONS,
      present: presentSessions,
    }),
    route('DELETE', '/users/me/sessions', {
      summary: 'End your other browser sessions',
      extension: 'extensions §6',
      auth: 'user',
      scope: 'account',
      dto: NoParameters,
      useCase: EndUserSessions,
      toInput: (_dto, _request, { userId }) => ({ userId }),
    }),
    route('DELETE', '/users/me/sessions/:session_id', {
      summary: 'End one of your browser sessions',
      extension: 'extensions §6',
      auth: 'user',
      scope: 'account',
      dto: SessionIdDto,
      useCase: EndUserSessions,
      toInput: ({ session_id }, _request, { userId }) => ({ userId, sessionId: session_id as SessionId }),
    }),
    route('GET', '/users/:user_id/sessions', {
      summary: "List a user's browser sessions",
      extension: 'extensions §6',
      auth: 'user',
      scope: 'account',
      dto: SessionOwnerDto,
      useCase: ListUserSessions,
      toInput: ({ user_id }) => user_id as UserId,
      response: SESSIONS,
      present: presentSessions,
    }),
    route('DELETE', '/users/:user_id/sessions', {
      summary: "End a user's browser sessions",
      extension: 'extensions §6',
      auth: 'user',
      scope: 'account',
      dto: EndSessionsDto,
      useCase: EndUserSessions,
      response: wire.fields({}),
      handle: async ({ caller, dto: { user_id, api_key }, useCase, resolve }) => {
        const userId = user_id as UserId;
        if (api_key) await resolve(SignOutUser).execute(caller, userId);
        else await useCase.execute(caller, { userId });
        return success();
      },
    }),
    route('POST', '/json/fetch_api_key', {
      summary: 'Get your API key in a browser session',
      section: 'protocol §8.4',
      auth: 'user',
      scope: 'account',
      atRoot: true,
      dto: FetchOwnApiKeyDto,
      useCase: FetchOwnApiKey,
      toInput: ({ password }, { signal }) => ({ password, cancellation: signal }),
      response: API_KEY,
      present: presentApiKey,
    }),
  ];
}

export const AUTHENTICATION = {
  tag: 'Server and log-in',
  routes: authenticationRoutes,
  errors: AUTHENTICATION_WIRE_ERRORS,
} satisfies HttpFeature;
