import type { Route } from '@parley/http';
import { serverPerSuite } from '../testing/servers.js';

describe('route table', () => {
  let routes: readonly Route[];
  const { server } = serverPerSuite();
  beforeAll(() => {
    routes = server.parley.routes;
  });

  it('resolves the use case of every route that has one', () => {
    const named = routes.filter(({ useCase }) => useCase);
    expect(named.length).toBeGreaterThan(20);
    for (const { useCase } of named) expect(server.parley.useCase(useCase!)).toBeInstanceOf(useCase);
  });

  it.each`
    method      | path
    ${'GET'}    | ${'/server_settings'}
    ${'POST'}   | ${'/fetch_api_key'}
    ${'POST'}   | ${'/dev_fetch_api_key'}
    ${'GET'}    | ${'/dev_list_users'}
    ${'POST'}   | ${'/register'}
    ${'GET'}    | ${'/events'}
    ${'DELETE'} | ${'/events'}
    ${'POST'}   | ${'/messages'}
    ${'GET'}    | ${'/messages'}
    ${'GET'}    | ${'/messages/:message_id'}
    ${'POST'}   | ${'/messages/flags'}
    ${'POST'}   | ${'/messages/flags/narrow'}
    ${'POST'}   | ${'/mark_all_as_read'}
    ${'POST'}   | ${'/mark_stream_as_read'}
    ${'POST'}   | ${'/mark_topic_as_read'}
    ${'GET'}    | ${'/streams'}
    ${'POST'}   | ${'/channels/create'}
    ${'GET'}    | ${'/users/me/subscriptions'}
    ${'POST'}   | ${'/users/me/subscriptions'}
    ${'DELETE'} | ${'/users/me/subscriptions'}
    ${'GET'}    | ${'/get_stream_id'}
    ${'GET'}    | ${'/users/me/:stream_id/topics'}
    ${'GET'}    | ${'/users'}
    ${'POST'}   | ${'/users'}
    ${'GET'}    | ${'/users/me'}
    ${'GET'}    | ${'/users/:user_id'}
    ${'GET'}    | ${'/users/:email'}
  `('has $method $path', ({ method, path }) => {
    const sameShape = path.replace(/:\w+/g, ':');
    const found = routes.filter((it) => it.method === method && it.path.replace(/:\w+/g, ':') === sameShape);
    expect(found.length).toBeGreaterThan(0);
  });

  it('requires authentication except for anonymous operations', async () => {
    const withoutLogin = new Set([
      '/server_settings',
      '/fetch_api_key',
      '/dev_fetch_api_key',
      '/dev_list_users',
      '/jwt/fetch_api_key',
      '/invites/accept',
      // Requires the gateway's token.
      '/incoming_email',
      '/openapi.json',
    ]);
    for (const { method, path, auth, atRoot } of routes) {
      if (atRoot || withoutLogin.has(path)) continue;
      expect(`${method} ${path} is for ${auth}`).toBe(`${method} ${path} is for user`);
      const reply = await server.request(method, path.replace(/:\w+/g, '1'));
      expect(reply).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
    }
  });
});
