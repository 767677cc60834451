import { serverPerTest } from '../testing/servers.js';

describe('emoji data for clients', () => {
  const { server } = serverPerTest();

  it('serves canonical names by code at the URL from register', async () => {
    const registered = await server.post('/register', server.people.hamlet, { fetch_event_types: ['realm'] });
    const { pathname } = new URL(String(registered.body.server_emoji_data_url));
    const response = await fetch(server.url + pathname);
    expect(response.headers.get('content-type')).toBe('application/json');
    const { code_to_names: names } = (await response.json()) as { code_to_names: Record<string, string[]> };
    expect(names['1f600']?.[0]).toBe('grinning');
    expect(names['1f44d']).toContain('+1');
  });
});
