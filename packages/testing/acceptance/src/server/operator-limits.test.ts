import { ForgetLimits } from '@parley/domain/realms';
import { serverPerSuite } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

let hamlet: TestUser;
const { server } = serverPerSuite({
  hasRateLimits: true,
  rateLimitRules: {
    api_by_user: [{ windowSeconds: 3600, limit: 3 }],
    api_by_ip: [{ windowSeconds: 3600, limit: 20 }],
    upload_parts_by_user: [{ windowSeconds: 3600, limit: 4 }],
  },
  trustedProxies: ['127.0.0.0/8', '::1', '10.0.0.0/8'],
});
beforeAll(() => {
  hamlet = server.people.hamlet;
});

const callAs = async (user: TestUser) => (await server.get('/users/me', user)).status;
const signIn = async (password = 'wrong', ip = '192.0.2.1') =>
  (
    await server.request('POST', '/fetch_api_key', {
      params: { username: hamlet.email, password },
      headers: { 'X-Forwarded-For': ip },
    })
  ).status;
const settingsFrom = async (forwardedFor: string) =>
  (await server.request('GET', '/server_settings', { headers: { 'X-Forwarded-For': forwardedFor } })).status;
const forget = (userId: TestUser['id'] | null, ip: string | null) =>
  server.parley.useCase(ForgetLimits).execute({ realmId: server.realmId, userId, ip });

/** Calls until rate limited; returns the number of successful calls. */
async function exhaust(call: () => Promise<number>): Promise<number> {
  for (let count = 0; ; count++) if ((await call()) === 429) return count;
}

describe('operator rate limit', () => {
  it('applies until the operator resets it', async () => {
    const { iago } = server.people;
    expect(await exhaust(() => callAs(hamlet))).toBe(3);
    expect(await exhaust(() => callAs(iago))).toBe(3);
    await forget(hamlet.id, null);
    expect([await callAs(hamlet), await callAs(iago)]).toEqual([200, 429]);
  });

  it('counts file parts separately and is reset with the others', async () => {
    const { cordelia } = server.people;
    const headers = {
      'Tus-Resumable': '1.0.0',
      'Upload-Offset': '0',
      'Content-Type': 'application/offset+octet-stream',
    };
    const send = async (method: 'PATCH' | 'GET') =>
      (await server.request(method, '/tus/1/nothing', { as: cordelia, headers })).status;
    expect(await send('GET')).toBe(404);
    expect(await exhaust(() => send('PATCH'))).toBe(3);
    expect(await send('GET')).toBe(429);
    expect(await callAs(cordelia)).toBe(200);
    await forget(cordelia.id, null);
    expect(await send('PATCH')).toBe(404);
  });

  it("is reset for log-ins together with the user's limits", async () => {
    expect(await exhaust(() => signIn())).toBe(5);
    expect(await signIn(hamlet.password)).toBe(429);
    await forget(hamlet.id, null);
    expect(await signIn(hamlet.password)).toBe(200);
  });

  it('counts clients behind trusted proxies separately', async () => {
    expect(await exhaust(() => settingsFrom('192.0.2.7, 10.1.2.3'))).toBe(20);
    expect(await settingsFrom('192.0.2.8, 10.1.2.3')).toBe(200);
    // Addresses added by the client are ignored.
    expect(await settingsFrom('192.0.2.8, 192.0.2.7')).toBe(429);
    await forget(null, '192.0.2.7');
    expect(await settingsFrom('192.0.2.7')).toBe(200);
  });

  it('is reset for all users with one command', async () => {
    await exhaust(() => callAs(hamlet));
    await exhaust(() => settingsFrom('192.0.2.9'));
    await forget(null, null);
    expect([await callAs(hamlet), await settingsFrom('192.0.2.9')]).toEqual([200, 200]);
  });

  it('ignores a reset for a user of another organization', async () => {
    const realmId = await server.addRealm('other');
    const attempt = server.parley.useCase(ForgetLimits).execute({ realmId, userId: hamlet.id, ip: null });
    await expect(attempt).rejects.toMatchObject({ code: 'UNKNOWN_USER' });
  });
});
