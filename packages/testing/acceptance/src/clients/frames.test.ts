import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderWebAssets } from '@parley/server/testing';
import { signJsonWebToken } from '@parley/testkit';
import { fieldsOf } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import { JWT_SECRET, TestServer, webTokenOf } from '../testing/test-server.js';

const SHOP = 'https://shop.example.com';
let folder: string;
const { server } = serverPerSuite(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-frames-'));
  mkdirSync(join(folder, 'web'));
  writeFileSync(join(folder, 'index.html'), '<title>Parley</title>');
  return { webAssets: new FolderWebAssets(folder), frameAncestors: [SHOP, 'http://localhost:8080'] };
});
afterAll(() => rmSync(folder, { recursive: true }));

const at = (path: string, of = server) => fetch(of.url + path, { redirect: 'manual' });

describe('framing (protocol §7.8)', () => {
  it('is allowed for the frame page, to the configured pages', async () => {
    const { status, headers } = await at('/frame?channel=orders');
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toContain(`; frame-ancestors ${SHOP} http://localhost:8080; `);
    expect(headers.get('x-frame-options')).toBeNull();
    expect(headers.get('set-cookie')).toBeNull();
  });

  it.each(['/', '/login/', '/register/', '/accounts/sessions/', '/api/v1/server_settings'])(
    'is forbidden for %s to all pages',
    async (path) => {
      const { headers } = await at(path);
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('content-security-policy') ?? "frame-ancestors 'none'").toContain("frame-ancestors 'none'");
    },
  );

  it('is impossible without configured pages or a web client', async () => {
    const plain = await TestServer.start({ webAssets: new FolderWebAssets(folder) });
    const withoutClient = await TestServer.start({ frameAncestors: [SHOP] });
    for (const other of [plain, withoutClient]) {
      const { status, headers } = await at('/frame', other);
      expect([status, headers.get('x-frame-options')]).toEqual([404, 'DENY']);
      await other.close();
    }
  });
});

describe('frame token (protocol §7.8)', () => {
  const call = (token: string, { method = 'GET', path = '/users/me', headers = {}, of = server } = {}) =>
    of.request(method, path, { as: null, headers: { ...headers, Authorization: `Bearer ${token}` } });
  const inSeconds = (seconds: number) => server.clock.now() + seconds;
  const tokenOf = (claims: object = {}) => webTokenOf({ email: 'hamlet@zulip.com', exp: inSeconds(600), ...claims });

  it('identifies the user for reads and for changes from the frame page', async () => {
    expect(fieldsOf(await call(tokenOf()))).toMatchObject({ user_id: server.people.hamlet.id });
    const headers = { Origin: server.url, 'Sec-Fetch-Site': 'same-origin' };
    fieldsOf(await call(tokenOf(), { method: 'POST', path: '/users/me/status?away=false', headers }));
  });

  it('opens message files', async () => {
    const blob = new Blob(['text'], { type: 'text/plain' });
    const body = new FormData();
    body.append('file', blob, 'note.txt');
    const headers = { Authorization: `Bearer ${tokenOf()}` };
    const upload = await fetch(`${server.url}/api/v1/user_uploads`, { method: 'POST', headers, body });
    const { url } = (await upload.json()) as { url: string };
    expect(await (await fetch(server.url + url, { headers })).text()).toBe('text');
    expect((await at(url)).status).toBe(401);
  });

  it.each<[string, () => string]>([
    ['has expired', () => tokenOf({ exp: inSeconds(-1) })],
    ['is valid for more than an hour', () => tokenOf({ exp: inSeconds(3700) })],
    ['never expires', () => signJsonWebToken({ email: 'hamlet@zulip.com' }, JWT_SECRET)],
    [
      'has another signature',
      () => signJsonWebToken({ email: 'hamlet@zulip.com', exp: inSeconds(600) }, 'x'.repeat(32)),
    ],
    ['has no signature', () => `${tokenOf().split('.').slice(0, 2).join('.')}.`],
    ['is malformed', () => 'token'],
    ['names nobody', () => tokenOf({ email: undefined })],
    ['names an unknown user', () => tokenOf({ email: 'nobody@zulip.com' })],
  ])('is rejected if the token %s', async (_, make) => {
    const { status, body } = await call(make());
    expect([status, (body as { msg: string }).msg]).toEqual([401, 'Invalid token']);
  });

  it('is rejected after it expires', async () => {
    const token = tokenOf({ exp: inSeconds(10) });
    fieldsOf(await call(token));
    server.clock.advance(11);
    expect((await call(token)).status).toBe(401);
  });

  it('is rejected immediately after the account is deactivated', async () => {
    const user = await server.addUser({ email: 'leaving@zulip.com', fullName: 'Leaving' });
    const token = tokenOf({ email: 'leaving@zulip.com' });
    fieldsOf(await call(token));
    fieldsOf(await server.delete(`/users/${user.id}`, server.people.desdemona));
    const { status, body } = await call(token);
    expect([status, (body as { msg: string }).msg]).toEqual([401, 'Account is deactivated']);
  });

  it('is rejected in a URL and in a cookie', async () => {
    expect((await at(`/api/v1/users/me?token=${tokenOf()}`)).status).toBe(401);
    const headers = { Cookie: `sessionid=${tokenOf()}` };
    expect((await fetch(`${server.url}/json/users/me`, { headers })).status).toBe(401);
  });

  it('is rejected by organizations without a secret and by servers that allow no framing', async () => {
    const plain = await TestServer.start();
    expect((await call(tokenOf(), { of: plain })).status).toBe(400);
    await plain.close();
    await server.addRealm('other');
    const { status } = await server.request('GET', '/users/me', {
      as: null,
      realm: 'other',
      headers: { Authorization: `Bearer ${tokenOf()}` },
    });
    expect(status).toBe(400);
  });
});
