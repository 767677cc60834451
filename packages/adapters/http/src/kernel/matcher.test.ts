import type { IncomingMessage } from 'node:http';
import { type Endpoint, Matcher, pathParameters } from './matcher.js';
import { NoParameters } from './params.js';
import { success } from './reply.js';
import { targetOf } from './request.js';
import { type Method, route } from './route.js';

const PATHS: readonly (readonly [Method, string])[] = [
  ['GET', '/users'],
  ['GET', '/users/me'],
  ['POST', '/users/me/presence'],
  ['GET', '/users/:user_id'],
  ['PATCH', '/users/:user_id'],
  ['GET', '/users/:email'],
  ['GET', '/users/:email/presence'],
  ['GET', '/users/:user_id/subscriptions/:stream_id'],
  ['PATCH', '/navigation_views/*fragment'],
  ['POST', '/fetch_api_key'],
];

function aMatcher() {
  const matcher = new Matcher<Endpoint>();
  for (const [method, path] of PATHS) {
    const entry = route(method, path, {
      summary: null,
      auth: 'anyone',
      dto: NoParameters,
      handle: async () => success(),
    });
    matcher.add(path, (names) => ({ route: entry, style: 'api', names }));
  }
  return matcher;
}

const matcher = aMatcher();

function find(method: string, path: string): unknown {
  const match = matcher.match(path);
  const endpoint = match?.entry.endpoints.get(method);
  return endpoint ? [endpoint.route.path, pathParameters(endpoint.names, match!.values)] : null;
}

it.each([
  ['/users', '/users', {}],
  ['/users/me', '/users/me', {}],
  ['/users/%6de', '/users/me', {}],
  ['/users/10', '/users/:user_id', { user_id: '10' }],
  ['/users/007', '/users/:user_id', { user_id: '7' }],
  ['/users/a%40b.c', '/users/:email', { email: 'a@b.c' }],
  ['/users/a@b.c', '/users/:email', { email: 'a@b.c' }],
  ['/users/100%', '/users/:email', { email: '100%' }],
  ['/users/10/presence', '/users/:email/presence', { email: '10' }],
  ['/users/10/subscriptions/3', '/users/:user_id/subscriptions/:stream_id', { user_id: '10', stream_id: '3' }],
])('Matcher matches GET %s as %s', (path, expected, parameters) => {
  expect(find('GET', path)).toEqual([expected, parameters]);
});

it.each([
  '/users/',
  '/users/me/',
  '/users/me/nothing',
  '/user',
  '/',
  '',
  '/users/10/subscriptions/x',
  '/users//presence',
])('Matcher matches no route for %s', (path) => {
  expect(matcher.match(path)).toBeNull();
});

it.each(['narrow/is/starred', 'narrow%2Fis%2Fstarred'])('Matcher matches %s as a tail', (rest) => {
  expect(find('PATCH', `/navigation_views/${rest}`)).toEqual([
    '/navigation_views/*fragment',
    { fragment: 'narrow/is/starred' },
  ]);
});

it('Matcher lists the methods of a path', () => {
  expect(matcher.match('/users/7')?.entry).toMatchObject({
    allowed: ['GET', 'PATCH', 'HEAD'],
    allowHeader: 'GET, HEAD, PATCH',
  });
  expect(matcher.match('/fetch_api_key')?.entry.allowed).toEqual(['POST']);
});

it('Matcher rejects a route declared twice', () => {
  const again = route('GET', '/users', {
    summary: null,
    auth: 'anyone',
    dto: NoParameters,
    handle: async () => success(),
  });
  expect(() => aMatcher().add('/users', (names) => ({ route: again, style: 'api', names }))).toThrow(
    'GET /users is declared twice',
  );
});

it('targetOf keeps a long path parameter and query intact', () => {
  const target = targetOf({ url: `/navigation_views/a/b?${'x'.repeat(5000)}&c=d` } as IncomingMessage);
  expect(matcher.match(target.path)!.values).toEqual(['a/b']);
  expect(target.query).toMatch(/^x{5000}&c=d$/);
});
