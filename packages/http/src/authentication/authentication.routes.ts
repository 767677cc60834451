import {
  FetchApiKey,
  FetchDevelopmentApiKey,
  ListDevelopmentUsers,
  loginAttemptKey,
} from '@parley/domain/authentication';
import { NoParameters } from '../routing/params.js';
import { type Route, route } from '../routing/route.js';
import * as wire from '../routing/wire-schema.js';
import { API_KEY } from '../users/user.answers.js';
import { FetchApiKeyDto, FetchDevelopmentApiKeyDto } from './authentication.dtos.js';
import { presentApiKey, presentDevelopmentUsers } from './authentication.presenters.js';

const DEVELOPMENT_USERS = wire.listOf(wire.fields({ email: wire.text(), realm_uri: wire.text() }));

export const authenticationRoutes: readonly Route[] = [
  route('POST', '/fetch_api_key', {
    auth: 'anyone',
    limit: {
      rule: 'authenticate_by_username',
      keyOf: ({ username }, { realmId }) => loginAttemptKey(realmId, username),
    },
    dto: FetchApiKeyDto,
    useCase: FetchApiKey,
    toInput: ({ username, password }, { signal }) => ({ username, password, cancellation: signal }),
    answer: API_KEY,
    present: presentApiKey,
  }),
  route('POST', '/dev_fetch_api_key', {
    auth: 'anyone',
    isDevelopment: true,
    dto: FetchDevelopmentApiKeyDto,
    useCase: FetchDevelopmentApiKey,
    toInput: ({ username }) => ({ username }),
    answer: API_KEY,
    present: presentApiKey,
  }),
  route('GET', '/dev_list_users', {
    auth: 'anyone',
    isDevelopment: true,
    dto: NoParameters,
    useCase: ListDevelopmentUsers,
    answer: wire.fields({ direct_admins: DEVELOPMENT_USERS, direct_users: DEVELOPMENT_USERS }),
    present: presentDevelopmentUsers,
  }),
];
