import { DomainError } from '@parley/domain/kernel';
import { unauthorized, unknownPath } from './reply.js';
import { isAdministration, isFailedLogin } from './request-log.js';
import type { Method } from './route.js';

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
])('classifies %s %s as administration: %s', (method, path, expected) => {
  expect(isAdministration({ method, path })).toBe(expected);
});

it.each([
  [new DomainError('AUTHENTICATION_FAILED', ''), false, true],
  [new DomainError('WRONG_PASSWORD', ''), false, true],
  [new DomainError('UNKNOWN_USER', ''), true, false],
  [unauthorized('Invalid API key'), true, true],
  [unauthorized('Not logged in'), false, false],
  [unknownPath(), true, false],
  [new Error('x'), true, false],
])('classifies %s with a header (%s) as a failed log-in: %s', (refusal, triesHeader, expected) => {
  expect(isFailedLogin(refusal, triesHeader)).toBe(expected);
});
