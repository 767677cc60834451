import { DomainError } from '@parley/domain/kernel';
import type { Method, Route } from '../declarations/route.js';
import { unauthorized, unknownPath } from '../wire/reply.js';
import type { ReceivedRequest } from './received-request.js';
import { dropLine, failedLogInOf, isAdministration, RequestLog, type TriedLogIn } from './request-log.js';

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
  [unauthorized('Invalid token'), { authorization: 'Bearer parley_1_x', isOfUser: true }, 'access token'],
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

it('warns once a day about register responses of more than five million characters', () => {
  const warnings: unknown[] = [];
  let now = 0;
  const warn = (fields: object) => void warnings.push(fields);
  const log = new RequestLog({ info: dropLine, error: dropLine, warn }, () => now);
  const request = { host: 'example.org', ip: '1.2.3.4', header: () => undefined } as unknown as ReceivedRequest;
  const logged = { path: null, identity: undefined, changes: undefined, failedLogIn: null, client: undefined };
  const answer = (path: string, length: number) =>
    log.answered(
      request,
      logged,
      { body: ['x'.repeat(length / 2), 'x'.repeat(length / 2)] },
      {
        route: { method: 'POST', path } as Route,
        status: 200,
        durationMs: 1,
      },
    );
  answer('/register', 5_000_000);
  answer('/messages', 6_000_000);
  expect(warnings).toEqual([]);
  answer('/register', 6_000_000);
  now += 86_399_999;
  answer('/register', 7_000_000);
  expect(warnings).toEqual([expect.objectContaining({ route: '/register', megabytes: 6 })]);
  now += 1;
  answer('/register', 8_000_000);
  expect(warnings).toHaveLength(2);
});
