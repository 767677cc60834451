import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RealmId } from '@parley/domain/kernel';
import { type Method, type Route, route } from '../declarations/route.js';
import { ERROR_REPLIES } from '../features.js';
import { RateLimiter } from '../limits/counters.js';
import { NoParameters } from '../params/params.js';
import { success } from '../wire/reply.js';
import { tablePathsOf } from './paths.js';
import { createExpressAdapter } from './router.js';
import { targetOf } from './target.js';

const echo = (method: Method, path: string, more: object = {}): Route =>
  route(method, path, {
    summary: null,
    auth: 'anyone',
    dto: NoParameters,
    handle: async ({ request }) => success({ route: path, values: request.pathParameters }),
    ...more,
  });

const TABLE = [
  echo('GET', '/users/:email'),
  echo('PATCH', '/users/:user_id'),
  echo('GET', '/users/:user_id'),
  echo('GET', '/users/me'),
  echo('GET', '/users'),
  echo('POST', '/users/me/presence'),
  echo('GET', '/users/:email/presence'),
  echo('GET', '/users/:user_id/subscriptions/:stream_id'),
  echo('PATCH', '/navigation_views/*fragment'),
  echo('GET', '/log_in/', { atRoot: true }),
];

const clock = { now: () => 1_700_000_000, nowMs: () => 1_700_000_000_000 };
let server: Server;

beforeAll(async () => {
  const { router } = createExpressAdapter({
    errorReplies: ERROR_REPLIES,
    routes: TABLE,
    resolve: () => undefined as never,
    authenticators: [],
    realms: { findRealm: async () => 1 as RealmId },
    realmsByPath: true,
    roleLookup: { roleOf: async () => ({ role: 'member', isBot: false, synchronizesDrafts: true }) },
    limiter: new RateLimiter({ clock, isOn: false }),
  });
  server = createServer((request, response) => {
    router(request, response, () => response.end(JSON.stringify({ notOurs: request.url })));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => server.close());

async function responseTo(method: string, path: string) {
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { method });
  return { status: response.status, headers: response.headers, body: JSON.parse((await response.text()) || '{}') };
}

it.each([
  ['/api/v1/users', '/users', {}],
  ['/api/v1/users/me', '/users/me', {}],
  ['/api/v1/users/%6de', '/users/me', {}],
  ['/%61pi/v1/%75sers/me', '/users/me', {}],
  ['/api/v1/users/10', '/users/:user_id', { user_id: '10' }],
  ['/api/v1/users/%31%30', '/users/:user_id', { user_id: '10' }],
  ['/api/v1/users/007', '/users/:user_id', { user_id: '7' }],
  ['/api/v1/users/ME', '/users/:email', { email: 'ME' }],
  ['/api/v1/users/a%40b.c', '/users/:email', { email: 'a@b.c' }],
  ['/api/v1/users/a@b.c', '/users/:email', { email: 'a@b.c' }],
  ['/api/v1/users/100%', '/users/:email', { email: '100%' }],
  ['/api/v1/users/a%2Fb', '/users/:email', { email: 'a/b' }],
  ['/api/v1/users/10/presence', '/users/:email/presence', { email: '10' }],
  ['/api/v1/users/10/subscriptions/3', '/users/:user_id/subscriptions/:stream_id', { user_id: '10', stream_id: '3' }],
  ['/shop/api/v1/users/10', '/users/:user_id', { user_id: '10' }],
  ['/json/users/10', '/users/:user_id', { user_id: '10' }],
  ['/log_in/', '/log_in/', {}],
  ['/log_in', '/log_in/', {}],
])('matches GET %s as %s', async (path, expected, values) => {
  expect((await responseTo('GET', path)).body).toMatchObject({ route: expected, values });
});

it.each([
  '/api/v1/users/',
  '/api/v1/Users',
  '/api/v1/users/me/',
  '/api/v1/users/me/nothing',
  '/api/v1/user',
  '/api/v1',
  '/api/v1/',
  '/api/v1/users/10/subscriptions/x',
  '/api/v1/users//presence',
  '/api/v1/navigation_views/',
  '/api/v1/navigation_views//a',
  '/shop/api/v1/nothing',
])('replies 404 to GET %s', async (path) => {
  const { status, body } = await responseTo('GET', path);
  expect({ status, body }).toEqual({ status: 404, body: { result: 'error', msg: 'Not found', code: 'BAD_REQUEST' } });
});

it.each(['/', '/api/v1x', '/%61pi?a=%62', '/shop/elsewhere#x', '/sh%6fp/api/v1/users', '/json/nothing'])(
  'passes %s on with its own URL',
  async (path) => {
    expect((await responseTo('GET', path)).body).toEqual({ notOurs: path.replace(/#.*/, '') });
  },
);

it.each(['narrow/is/starred', 'narrow%2Fis%2Fstarred'])('matches %s as the rest of a path', async (rest) => {
  expect((await responseTo('PATCH', `/api/v1/navigation_views/${rest}`)).body).toMatchObject({
    route: '/navigation_views/*fragment',
    values: { fragment: 'narrow/is/starred' },
  });
});

it('tries no path of lower precedence for a wrong method', async () => {
  const { status, body } = await responseTo('PATCH', '/api/v1/users/me');
  expect({ status, body }).toMatchObject({ status: 405, body: { allowed_methods: ['GET', 'HEAD'] } });
});

it('lists the methods of a path', async () => {
  expect((await responseTo('DELETE', '/api/v1/users/7')).body.allowed_methods).toEqual(['PATCH', 'GET', 'HEAD']);
  expect((await responseTo('OPTIONS', '/api/v1/users/7')).headers.get('allow')).toBe('GET, HEAD, PATCH');
});

it('rejects a route declared twice', () => {
  expect(() => tablePathsOf([...TABLE, echo('GET', '/users')])).toThrow('GET /users is declared twice');
});

it('rejects routes that match the same requests', () => {
  expect(() => tablePathsOf([...TABLE, echo('GET', '/users/:bot_id')])).toThrow(
    '/api/v1/users/:bot_id and /api/v1/users/:user_id match the same requests',
  );
});

it('rejects the rest of a path before another segment', () => {
  expect(() => tablePathsOf([echo('GET', '/files/*path/name')])).toThrow('only the last segment may begin with *');
});

it('orders paths of different lengths by the kinds of their segments', () => {
  const paths = tablePathsOf(TABLE).map(({ path }) => path.replace('/api/v1', ''));
  expect(paths.indexOf('/users/me')).toBeLessThan(paths.indexOf('/users/:user_id'));
  expect(paths.indexOf('/users/:user_id')).toBeLessThan(paths.indexOf('/users/:email'));
});

it('keeps a long path parameter and query intact', () => {
  const target = targetOf({ url: `/navigation_views/a/b?${'x'.repeat(5000)}&c=d` });
  expect(target.path).toBe('/navigation_views/a/b');
  expect(target.query).toMatch(/^x{5000}&c=d$/);
});
