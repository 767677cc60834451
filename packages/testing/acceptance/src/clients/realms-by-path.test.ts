import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serverPerSuite } from '../testing/servers.js';
import { TestBrowser } from '../testing/test-browser.js';
import { basic, type TestUser } from '../testing/test-server.js';

let ann: TestUser;
let mount: Server;
const { server } = serverPerSuite({ realmAddresses: 'path' });
beforeAll(async () => {
  const realmId = await server.addRealm('shop');
  ann = await server.addUser({ email: 'ann@example.org', fullName: 'Ann', realmId });
  mount = createServer(server.parley.mount('/chat'));
  await new Promise<void>((resolve) => mount.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  mount.closeAllConnections();
  mount.close();
});

const at = (path: string, as: TestUser | null = null) => server.request('GET', `/${path}`, { as });

it('server resolves organizations by the first path segment', async () => {
  const settings = async (path: string) => (await at(`${path}/api/v1/server_settings`)).body;
  expect(await settings('')).toMatchObject({ realm_name: 'Realm zulip', realm_url: server.url });
  expect(await settings('/shop')).toMatchObject({ realm_name: 'Realm shop', realm_url: `${server.url}/shop` });
  expect(await settings('/zulip')).toMatchObject({ realm_name: 'Realm zulip' });
  expect((await settings('/nowhere')).realm_url).toBeUndefined();
});

it('server accepts users only at their own organization', async () => {
  expect((await at('/shop/api/v1/users/me', ann)).body).toMatchObject({ full_name: 'Ann' });
  for (const path of ['/api/v1/users/me', '/zulip/api/v1/users/me', '/nowhere/api/v1/users/me']) {
    expect((await at(path, ann)).body).toEqual({
      result: 'error',
      msg: 'Account is not associated with this subdomain',
      code: 'UNAUTHORIZED',
    });
  }
  expect((await at('/shop/api/v1/users/me', server.people.hamlet)).status).toBe(401);
});

it('server keeps browser sessions separate for each organization', async () => {
  const browser = new TestBrowser(server);
  const logIn = async (realm: string, { email: username, password }: TestUser) => {
    await browser.get(`${realm}/accounts/login/`);
    return browser.post(`${realm}/accounts/login/`, { username, password });
  };
  expect((await logIn('/shop', ann)).status).toBe(200);
  expect((await browser.get('/shop/json/users/me')).body).toMatchObject({ full_name: 'Ann' });
  for (const path of ['/json/users/me', '/zulip/json/users/me', '/nowhere/json/users/me']) {
    expect((await browser.get(path)).status).toBe(401);
  }
  expect((await logIn('', server.people.hamlet)).status).toBe(200);
  expect((await browser.get('/json/users/me')).body).toMatchObject({ user_id: server.people.hamlet.id });
  expect((await browser.get('/shop/json/users/me')).body).toMatchObject({ full_name: 'Ann' });
  expect((await browser.post('/shop/json/users/me/status', { away: 'false' })).status).toBe(200);
  expect([...browser.cookies.keys()]).toEqual(expect.arrayContaining(['sessionid', 'sessionid;/shop']));

  expect((await browser.post('/shop/accounts/logout/')).status).toBe(200);
  expect((await browser.get('/shop/json/users/me')).status).toBe(401);
  expect((await browser.get('/json/users/me')).body).toMatchObject({ user_id: server.people.hamlet.id });
});

it('server responds in JSON only to unknown paths below an organization', async () => {
  expect((await at('/shop/api/v1/nothing')).body).toMatchObject({ msg: 'Not found' });
  for (const path of ['/shop/shop/api/v1/users/me', '/Shop/api/v1/users/me', '/shop/elsewhere', '//api/v1/users/me']) {
    expect((await at(path, ann)).status).toBe(404);
  }
});

describe('server mounted below a path of a Node server', () => {
  const get = (path: string) =>
    fetch(`http://127.0.0.1:${(mount.address() as AddressInfo).port}${path}`, {
      headers: { Authorization: basic(ann) },
    });

  it('serves requests below the path, including long polls and queries', async () => {
    expect(await (await get('/chat/shop/api/v1/users/me?client=x')).json()).toMatchObject({ full_name: 'Ann' });
    expect((await get('/chat/shop/api/v1/events?queue_id=none&last_event_id=-1')).status).toBe(400);
  });

  it.each(['/', '/chatter/shop/api/v1/users/me', '/shop/api/v1/users/me'])('responds 404 for %s', async (path) => {
    const reply = await get(path);
    expect([reply.status, await reply.text()]).toEqual([404, 'Not found']);
  });

  it('calls `next` for other paths if given', () => {
    const next = jest.fn();
    server.parley.mount('/chat')({ url: '/other' } as never, {} as never, next);
    expect(next).toHaveBeenCalledTimes(1);
    expect(() => server.parley.mount('chat')).toThrow(TypeError);
  });
});
