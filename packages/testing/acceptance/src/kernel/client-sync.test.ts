import { createRoutes, type Route, type RouteDependencies } from '@parley/http';
import { SeededRandom } from '@parley/server/testing';
import { listScenarios } from '../client-sync/list-scenarios.js';
import type { Scenario, Scenarios } from '../client-sync/scenario.js';
import { exportsOfFeatures } from '../testing/features-of-clients.js';
import { MULTIPART } from '../testing/multipart.js';
import { TestBrowser } from '../testing/test-browser.js';
import type { TestReply } from '../testing/test-reply.js';
import { TestServer, type TestUser } from '../testing/test-server.js';
import { expectInStep, WireWorld as World } from '../testing/wire-world.js';

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

async function perform(world: World, route: string, scenario: Scenario): Promise<TestReply> {
  const { as, params, body, headers, at, isPage } = scenario;
  const [method, path] = route.split(' ') as [string, string];
  const pathParams = (await at?.(world)) ?? {};
  const target = path.replace(/[:*](\w+)/g, (_, name: string) => encodeURIComponent(String(pathParams[name])));
  const fields = (typeof params === 'function' ? await params(world) : params) ?? {};
  const caller = as && world.people[as];
  if (isForBrowsers(path) && !isPage) return requestAsBrowser(world.server, caller, method, target, fields);
  return world.server.request(method, isPage ? `/${target}` : target, {
    as: caller,
    ...(body !== undefined && { body: typeof body === 'function' ? body(world) : body, headers: MULTIPART }),
    ...(body === undefined && headers === undefined && { params: fields }),
    ...(headers !== undefined && { headers: typeof headers === 'function' ? headers(world) : headers }),
  });
}

/** Default seed and number of mixes, which `PARLEY_RANDOM_SEED` and `PARLEY_RANDOM_RUNS` replace. */
const SEED = Number(process.env.PARLEY_RANDOM_SEED ?? 2026);
const RUNS = Number(process.env.PARLEY_RANDOM_RUNS ?? 5);
/** Number of scenarios in one organization. */
const MIXED = 12;
/**
 * Scenarios that sign observed people out, have events for fewer people than responses (bots, users §15), wait for a job
 * after another one (reminders), or change the storage without events.
 */
const NOT_MIXED = new RegExp(
  'session|api_key|log[io]|second.factor|DELETE .(users.:|events)|erasure|deactivate:|' +
    '(POST|PATCH) .bots|POST .reminders|holds|imports|without an owner|there no more',
);

const mixed = rows.filter(([route, title]) => !NOT_MIXED.test(`${route}: ${title}`));

/** Law of events §9: the register response plus later events equals a fresh register response. */
describe('client synchronization', () => {
  it('keeps clients in sync in scenarios of every operation that may change state', async () => {
    const server = await TestServer.start();
    const changing = server.parley.routes.filter(({ method }) => method !== 'GET').map(nameOf);
    await server.close();
    expect(Object.keys(SCENARIOS).sort()).toEqual([...new Set(changing)].sort());
  });

  it.each(rows)('%s: %s', async (route, _, scenario) => {
    const { prepare, status, heard, isPage } = scenario;
    const world = await World.open();
    try {
      await prepare?.(world);
      const clients = await world.observe();
      const reply = await perform(world, route, scenario);
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

  it.each(Array.from({ length: RUNS }, (_, run) => SEED + run))(
    'keeps clients in sync in mixed scenarios %i',
    async (seed) => {
      const random = new SeededRandom(seed);
      const world = await World.open();
      const story: string[] = [];
      try {
        const clients = await world.observe();
        for (const client of clients.values()) client.registersAgain = true;
        for (let n = 0; n < MIXED; n++) {
          const [route, title, scenario] = random.pick(mixed);
          // A scenario may fail after another one.
          const play = async () => {
            await scenario.prepare?.(world);
            return perform(world, route, scenario);
          };
          const reply = await play().catch(() => null);
          story.push(`${route}: ${title} → ${reply?.status ?? 'failed'}`);
          if (reply?.status === 500) throw new Error(JSON.stringify(reply.body));
          const pause = random.pick(['none', 'none', 'sleep', 'poll']);
          if (pause === 'sleep') world.sleepQueues();
          if (pause === 'poll') await random.pick([...clients.values()]).catchUp();
          story.push(pause);
        }
        await expectInStep(clients);
      } catch (error) {
        throw new Error(`${(error as Error).message}\nafter:\n${story.join('\n')}`);
      } finally {
        await world.close();
      }
    },
  );
});
