import {
  FetchApiKey,
  FetchApiKeyByToken,
  FetchOwnApiKey,
  ListDevelopmentUsers,
  LogIn,
  LogInForDevelopment,
  LogOut,
  loginAttemptKey,
} from '@parley/domain/authentication';
import type { RouteParts } from '../feature.js';
import { NoParameters } from '../routing/params.js';
import { success } from '../routing/reply.js';
import type { Request } from '../routing/request.js';
import { type AnonymousClient, type Context, type Route, route } from '../routing/route.js';
import {
  FetchApiKeyByTokenDto,
  FetchApiKeyDto,
  FetchDevelopmentApiKeyDto,
  FetchOwnApiKeyDto,
} from './authentication.dtos.js';
import {
  presentApiKey,
  presentDevelopmentUsers,
  presentKeyOfToken,
  presentLogIn,
} from './authentication.presenters.js';

/** What a user may still try, of those who are asked for a password. */
const ATTEMPTS = {
  rule: 'authenticate_by_username',
  keyOf: ({ username }: FetchApiKeyDto, { realmId }: AnonymousClient) => loginAttemptKey(realmId, username),
} as const;

const userAgentOf = (request: Request): string => request.header('user-agent') ?? '';

export function authenticationRoutes({
  realmUrls,
  sessionCookies,
}: Pick<RouteParts, 'realmUrls' | 'sessionCookies'>): readonly Route[] {
  return [
    route('POST', '/fetch_api_key', {
      auth: 'anyone',
      isApiOnly: true,
      limit: ATTEMPTS,
      dto: FetchApiKeyDto,
      useCase: FetchApiKey,
      toInput: ({ username, password }, { signal }) => ({ username, password, cancellation: signal }),
      present: presentApiKey,
    }),
    // By hand, because of the cookies: clients in development go on as browsers do (clients §6).
    route('POST', '/dev_fetch_api_key', {
      auth: 'anyone',
      isApiOnly: true,
      isDevelopment: true,
      dto: FetchDevelopmentApiKeyDto,
      useCase: LogInForDevelopment,
      handle: async ({ caller, dto: { username }, request, useCase }) => {
        const { key, session } = await useCase.execute(caller, { username, userAgent: userAgentOf(request) });
        return { ...success(presentApiKey(key)), headers: sessionCookies.begin(request, session) };
      },
    }),
    route('GET', '/dev_list_users', {
      auth: 'anyone',
      isApiOnly: true,
      isDevelopment: true,
      dto: NoParameters,
      useCase: ListDevelopmentUsers,
      present: presentDevelopmentUsers,
    }),
    route('POST', '/jwt/fetch_api_key', {
      auth: 'anyone',
      isApiOnly: true,
      dto: FetchApiKeyByTokenDto,
      useCase: FetchApiKeyByToken,
      toInput: ({ token }) => ({ token }),
      present: (key, { dto }) => presentKeyOfToken(key, dto.include_profile, realmUrls),
    }),
    // What a page of the host application shows is up to it: this is for the cookie that a log-in has to be sent with.
    route('GET', '/accounts/login/', {
      auth: 'anyone',
      atRoot: true,
      dto: NoParameters,
      handle: async () => success(),
    }),
    route('POST', '/accounts/login/', {
      auth: 'anyone',
      atRoot: true,
      limit: ATTEMPTS,
      dto: FetchApiKeyDto,
      useCase: LogIn,
      handle: async ({ caller, dto: { username, password }, request, useCase }) => {
        const input = { username, password, cancellation: request.signal, userAgent: userAgentOf(request) };
        const session = await useCase.execute(caller, input);
        return { ...success(presentLogIn(session)), headers: sessionCookies.begin(request, session) };
      },
    }),
    route('POST', '/accounts/logout/', {
      auth: 'user',
      atRoot: true,
      dto: NoParameters,
      useCase: LogOut,
      handle: async ({ caller, request, useCase }: Context<'user', NoParameters, LogOut>) => {
        await useCase.execute(caller);
        return { ...success(), headers: sessionCookies.end(request) };
      },
    }),
    route('POST', '/json/fetch_api_key', {
      auth: 'user',
      atRoot: true,
      dto: FetchOwnApiKeyDto,
      useCase: FetchOwnApiKey,
      toInput: ({ password }, { signal }) => ({ password, cancellation: signal }),
      present: presentApiKey,
    }),
  ];
}
