import { createRoutes, type Route, type RouteDependencies } from '@parley/http';
import { listScenarios } from './client-sync/list-scenarios.js';
import type { Scenarios } from './client-sync/scenario.js';
import { exportsOfFeatures } from './testing/features-of-clients.js';
import { MULTIPART } from './testing/multipart.js';
import { TestBrowser } from './testing/test-browser.js';
import type { TestReply } from './testing/test-reply.js';
import { TestServer, type TestUser } from './testing/test-server.js';
import { expectInStep, WireWorld as World } from './testing/wire-world.js';

/**
 * Every operation that may change state, derived from the routes of lists and collected from the feature files. A route
 * without scenarios fails the test.
 */
const SCENARIOS: Scenarios = Object.assign(
  // Dependencies are used only by requests.
  listScenarios(createRoutes({} as RouteDependencies)),
  ...exportsOfFeatures('_SCENARIOS'),
);

const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;

const isForBrowsers = (path: string): boolean => /^\/(json|accounts|login)\//.test(path);

async function browserOf(server: TestServer, user: TestUser | null): Promise<TestBrowser> {
  if (user) return TestBrowser.loggedIn(server, user);
  const browser = new TestBrowser(server);
  await browser.get('/accounts/login/');
  return browser;
}

const rows = Object.entries(SCENARIOS).flatMap(([route, scenarios]) =>
  scenarios.map((scenario) => [route, scenario.title, scenario] as const),
);

/** Sends the form token like the form's page. */
async function requestAsBrowser(
  server: TestServer,
  user: TestUser | null,
  method: string,
  target: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<TestReply> {
  const browser = await browserOf(server, user);
  const csrfmiddlewaretoken = browser.cookies.get('csrftoken');
  return browser.request(method, target, target === '/login/' ? { ...fields, csrfmiddlewaretoken } : fields);
}

/** Law of events §9: the register response plus later events equals a fresh register response. */
describe('client synchronization', () => {
  it('keeps clients in sync in scenarios of every operation that may change state', async () => {
    const server = await TestServer.start();
    const changing = server.parley.routes.filter(({ method }) => method !== 'GET').map(nameOf);
    await server.close();
    expect(Object.keys(SCENARIOS).sort()).toEqual([...new Set(changing)].sort());
  });

  it.each(rows)('%s: %s', async (route, _, { as, prepare, params, body, headers, status, at, heard, isPage }) => {
    const world = await World.open();
    try {
      await prepare?.(world);
      const clients = await world.observe();
      const [method, path] = route.split(' ') as [string, string];
      const pathParams = at?.(world) ?? {};
      const target = path.replace(/[:*](\w+)/g, (_, name: string) => encodeURIComponent(String(pathParams[name])));
      const fields = (typeof params === 'function' ? await params(world) : params) ?? {};
      const caller = as && world.people[as];
      const reply =
        isForBrowsers(path) && !isPage
          ? await requestAsBrowser(world.server, caller, method, target, fields)
          : await world.server.request(method, isPage ? `/${target}` : target, {
              as: caller,
              ...(body !== undefined && { body: typeof body === 'function' ? body(world) : body, headers: MULTIPART }),
              ...(body === undefined && headers === undefined && { params: fields }),
              ...(headers !== undefined && { headers: typeof headers === 'function' ? headers(world) : headers }),
            });
      if (isPage) expect([status ?? 200, 303]).toContain(reply.status);
      else
        expect(reply).toMatchObject(status === undefined ? { status: 200, body: { result: 'success' } } : { status });
      await expectInStep(clients);
      const received = new Set([...clients.values()].flatMap((client) => [...client.heard]));
      expect([...received].sort()).toEqual([...new Set(heard)].sort());
    } finally {
      await world.close();
    }
  });
});
