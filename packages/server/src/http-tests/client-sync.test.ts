import type { Route } from '@parley/http';
import { MULTIPART } from '../testing/multipart.js';
import { TestBrowser } from '../testing/test-browser.js';
import { TestServer, type TestUser } from '../testing/test-server.js';
import { isStorageMemory } from '../testing/test-storage.js';
import { expectInStep, WireWorld as World } from '../testing/wire-world.js';
import { AVATARS_SCENARIOS } from './client-sync/avatars.scenarios.js';
import { BOTS_SCENARIOS } from './client-sync/bots.scenarios.js';
import { BRANDING_SCENARIOS } from './client-sync/branding.scenarios.js';
import { CHANNELS_SCENARIOS } from './client-sync/channels.scenarios.js';
import { CUSTOM_EMOJI_SCENARIOS } from './client-sync/custom-emoji.scenarios.js';
import { EXPORTS_SCENARIOS } from './client-sync/exports.scenarios.js';
import { FILES_SCENARIOS } from './client-sync/files.scenarios.js';
import { GROUPS_SCENARIOS } from './client-sync/groups.scenarios.js';
import { INVITATIONS_SCENARIOS } from './client-sync/invitations.scenarios.js';
import { MESSAGES_SCENARIOS } from './client-sync/messages.scenarios.js';
import { MUTED_USERS_SCENARIOS } from './client-sync/muted-users.scenarios.js';
import { PAGES_SCENARIOS } from './client-sync/pages.scenarios.js';
import { PERSONAL_LISTS_SCENARIOS } from './client-sync/personal-lists.scenarios.js';
import { PRESENCE_SCENARIOS } from './client-sync/presence.scenarios.js';
import { PROFILES_SCENARIOS } from './client-sync/profiles.scenarios.js';
import { PUSH_SCENARIOS } from './client-sync/push.scenarios.js';
import { QUEUES_SCENARIOS } from './client-sync/queues.scenarios.js';
import { REACTIONS_SCENARIOS } from './client-sync/reactions.scenarios.js';
import { REALMS_SCENARIOS } from './client-sync/realms.scenarios.js';
import type { Scenarios } from './client-sync/scenario.js';
import { SCHEDULING_SCENARIOS } from './client-sync/scheduling.scenarios.js';
import { SETTINGS_SCENARIOS } from './client-sync/settings.scenarios.js';
import { TYPING_SCENARIOS } from './client-sync/typing.scenarios.js';
import { USERS_SCENARIOS } from './client-sync/users.scenarios.js';

/** Every operation that may change something. A route without a row fails the test. */
const SCENARIOS: Scenarios = {
  ...BOTS_SCENARIOS,
  ...CHANNELS_SCENARIOS,
  ...AVATARS_SCENARIOS,
  ...BRANDING_SCENARIOS,
  ...CUSTOM_EMOJI_SCENARIOS,
  ...EXPORTS_SCENARIOS,
  ...FILES_SCENARIOS,
  ...GROUPS_SCENARIOS,
  ...INVITATIONS_SCENARIOS,
  ...MESSAGES_SCENARIOS,
  ...MUTED_USERS_SCENARIOS,
  ...PAGES_SCENARIOS,
  ...PERSONAL_LISTS_SCENARIOS,
  ...PRESENCE_SCENARIOS,
  ...PROFILES_SCENARIOS,
  ...PUSH_SCENARIOS,
  ...QUEUES_SCENARIOS,
  ...REACTIONS_SCENARIOS,
  ...REALMS_SCENARIOS,
  ...SCHEDULING_SCENARIOS,
  ...SETTINGS_SCENARIOS,
  ...TYPING_SCENARIOS,
  ...USERS_SCENARIOS,
};

const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;

const isForBrowsers = (path: string): boolean => /^\/(json|accounts)\//.test(path);

async function browserOf(server: TestServer, user: TestUser | null): Promise<TestBrowser> {
  if (user) return TestBrowser.loggedIn(server, user);
  const browser = new TestBrowser(server);
  await browser.get('/accounts/login/');
  return browser;
}

/** On SQLite one of each operation: that both storages answer the same in every case is what the contracts prove. */
const rows = Object.entries(SCENARIOS).flatMap(([route, scenarios]) =>
  scenarios.slice(0, isStorageMemory ? undefined : 1).map((scenario) => [route, scenario.title, scenario] as const),
);

/** Events §9: the register answer, with the events that came since, is what a fresh register answers. */
describe('clients stay in step with the server', () => {
  it('in scenarios of every operation that may change something', async () => {
    const server = await TestServer.start();
    const changing = server.parley.routes.filter(({ method }) => method !== 'GET').map(nameOf);
    await server.close();
    expect(Object.keys(SCENARIOS).sort()).toEqual([...new Set(changing)].sort());
  });

  it.each(rows)(
    '%s: %s',
    async (route, _, { as, given: before, params, body, headers = MULTIPART, status, at, heard, isPage }) => {
      const world = await World.open();
      try {
        await before?.(world);
        const clients = await world.observe();
        const [method, path] = route.split(' ') as [string, string];
        const place = at?.(world) ?? {};
        const target = path.replace(/[:*](\w+)/g, (_, name: string) => encodeURIComponent(String(place[name])));
        const given = (typeof params === 'function' ? await params(world) : params) ?? {};
        const caller = as && world.people[as];
        const reply =
          isForBrowsers(path) && !isPage
            ? await (await browserOf(world.server, caller)).request(method, target, given)
            : await world.server.request(method, isPage ? `/${target}` : target, {
                as: caller,
                ...(body !== undefined ? { body, headers } : { params: given }),
              });
        if (isPage) expect([200, 303]).toContain(reply.status);
        else
          expect(reply).toMatchObject(status === undefined ? { status: 200, body: { result: 'success' } } : { status });
        await expectInStep(clients);
        const told = new Set([...clients.values()].flatMap((client) => [...client.heard]));
        expect([...told].sort()).toEqual([...new Set(heard)].sort());
      } finally {
        await world.close();
      }
    },
  );
});
