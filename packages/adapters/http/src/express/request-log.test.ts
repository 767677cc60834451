import { DomainError } from '@parley/domain/kernel';
import type { Method } from '../declarations/route.js';
import { unauthorized, unknownPath } from '../wire/reply.js';
import { failedLogInOf, isAdministration, type TriedLogIn } from './request-log.js';

it.each<[Method, string, boolean]>([
  ['PATCH', '/realm', true],
  ['POST', '/realm/deactivate', true],
  ['PATCH', '/users/:user_id', true],
  ['POST', '/users', true],
  ['DELETE', '/users/me', true],
  ['POST', '/users/me/api_key/regenerate', true],
  ['POST', '/bots', true],
  ['PATCH', '/streams/:stream_id', true],
  ['GET', '/users', false],
  ['POST', '/users/me/subscriptions', false],
  ['POST', '/messages', false],
  ['PATCH', '/settings', false],
])('isAdministration classifies %s %s as %s', (method, path, expected) => {
  expect(isAdministration({ method, path })).toBe(expected);
});

it.each<[Error, Partial<TriedLogIn> & { method?: string }, string | null]>([
  [new DomainError('AUTHENTICATION_FAILED', ''), {}, 'api key'],
  [new DomainError('WRONG_PASSWORD', ''), {}, 'password'],
  [new DomainError('UNKNOWN_USER', ''), { authorization: 'Basic x' }, null],
  [unauthorized('Invalid API key'), { authorization: 'Basic x' }, 'api key'],
  [unauthorized('Invalid token'), { authorization: 'Bearer x' }, 'scim'],
  [unauthorized('Invalid token'), { authorization: 'Bearer x', isOfUser: true }, 'jwt'],
  [unauthorized('Account is unknown to this server'), { isByHost: true }, 'host'],
  [unauthorized('Not logged in'), {}, null],
  [unknownPath(), { authorization: 'Basic x' }, null],
  [new DomainError('INVALID_JWT', ''), { method: 'jwt' }, 'jwt'],
  [new DomainError('RATE_LIMITED', '', { retryAfter: 1 }), { method: 'password' }, 'password'],
  [new Error('x'), { method: 'jwt' }, null],
])('failedLogInOf maps %s after %j to a failed log-in by %s', (refusal, tried, method) => {
  const before = { authorization: undefined, isByHost: false, isOfUser: false, ...tried };
  expect(failedLogInOf(refusal, tried.method, before)?.method ?? null).toBe(method);
});
