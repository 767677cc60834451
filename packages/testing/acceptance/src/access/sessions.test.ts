import { expectRefusal, fieldsOf } from '../testing/expectations.js';
import { loggedLines, serverPerSuite } from '../testing/servers.js';
import { TestBrowser } from '../testing/test-browser.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

const { lines, logger } = loggedLines();
const { server, people } = serverPerSuite({ logger });

let n = 0;
const somebodyNew = (): Promise<TestUser> =>
  server.addUser({ email: `new${++n}@zulip.com`, fullName: `Somebody new ${n}` });
const logIn = (user: TestUser) => TestBrowser.loggedIn(server, user);
const expectLoggedOut = async (browser: TestBrowser) => {
  const reply = await browser.get('/json/users/me');
  expectRefusal(reply, 'Not logged in: API authentication or user session required', {
    status: 401,
    code: 'UNAUTHORIZED',
  });
  expect(reply.headers['www-authenticate']).toBe('Session realm="zulip"');
};
const expectCsrfFailure = (reply: Awaited<ReturnType<TestBrowser['get']>>, reason: string) =>
  expectRefusal(reply, `CSRF error: ${reason}`, { status: 403, code: 'CSRF_FAILED', reason });
const expectLoggedIn = async (browser: TestBrowser, user: TestUser) =>
  expect(fieldsOf(await browser.get('/json/users/me'))).toMatchObject({ user_id: user.id });

describe('POST /accounts/login/ (protocol §7.6)', () => {
  it('creates a session and reveals only the CSRF token to pages', async () => {
    const browser = new TestBrowser(server);
    const reply = await browser.logIn({ email: 'HAMLET@Zulip.com', password: people.hamlet.password });
    expect(fieldsOf(reply)).toEqual({ email: 'hamlet@zulip.com', user_id: people.hamlet.id });
    expect(reply.headers['set-cookie']).toEqual([
      expect.stringMatching(/^sessionid=[\w-]{43}; Path=\/; Max-Age=31536000; SameSite=Lax; HttpOnly$/),
      expect.stringMatching(/^csrftoken=[\w-]{43}; Path=\/; Max-Age=31536000; SameSite=Lax$/),
    ]);
    expect(reply.headers).toMatchObject({ vary: 'Accept-Language, Cookie', expires: expect.any(String) });
    expect(reply.headers['cache-control']).toContain('no-store');
    expect(reply.headers).not.toHaveProperty('access-control-allow-origin');
    await expectLoggedIn(browser, people.hamlet);
  });

  it('rejects cross-site requests', async () => {
    const { email: username, password } = people.hamlet;
    const bare = await server.request('POST', '//accounts/login/', { params: { username, password } });
    expectCsrfFailure(bare, 'CSRF cookie not set.');
    const browser = new TestBrowser(server, { Origin: 'https://evil.example' });
    expectCsrfFailure(
      await browser.logIn(people.hamlet),
      'Origin checking failed - https://evil.example does not match any trusted origins.',
    );
    expect(browser.cookies.has('sessionid')).toBe(false);
  });

  it('rejects the same log-ins as fetching an API key', async () => {
    const attempt = async (username: string, password: string) => {
      const browser = new TestBrowser(server);
      const reply = await browser.logIn({ email: username, password });
      expect(browser.cookies.has('sessionid')).toBe(false);
      return reply;
    };
    expectRefusal(await attempt('hamlet', 'x'), 'Enter a valid email address.');
    const wrong = await attempt('hamlet@zulip.com', 'wrong');
    expectRefusal(wrong, 'Your username or password is incorrect', { status: 401, code: 'AUTHENTICATION_FAILED' });
    expect(wrong.headers).not.toHaveProperty('www-authenticate');
    const bot = await server.addBot(people.hamlet, 'helper');
    expect((await attempt(bot.email, '')).body.code).toBe('AUTHENTICATION_FAILED');
    const gone = await somebodyNew();
    fieldsOf(await server.delete(`/users/${gone.id}`, people.desdemona));
    expect((await attempt(gone.email, gone.password)).body.code).toBe('USER_DEACTIVATED');
    const browser = new TestBrowser(server);
    await browser.get('/accounts/login/');
    const missing = await browser.post('/accounts/login/', { username: 'x' });
    expectRefusal(missing, "Missing 'password' argument", { code: 'REQUEST_VARIABLE_MISSING', var_name: 'password' });
    const nowhere = await browser.request(
      'POST',
      '/accounts/login/',
      { username: 'x', password: 'x' },
      { realm: 'no' },
    );
    expectRefusal(nowhere, 'Invalid subdomain', { status: 404, code: 'NONEXISTENT_SUBDOMAIN' });
  });

  it("accepts only users of the host's organization", async () => {
    const realmId = await server.addRealm('lear');
    const king = await server.addUser({ email: 'king@lear.org', fullName: 'King Lear', realmId });
    expect((await new TestBrowser(server).logIn(king)).body.code).toBe('AUTHENTICATION_FAILED');
    const browser = new TestBrowser(server);
    const there = { realm: 'lear' };
    await browser.request('GET', '/accounts/login/', undefined, there);
    fieldsOf(
      await browser.request('POST', '/accounts/login/', { username: king.email, password: king.password }, there),
    );
    expect(fieldsOf(await browser.request('GET', '/json/users/me', undefined, there))).toMatchObject({
      user_id: king.id,
    });
    await expectLoggedOut(browser);
  });
});

describe('operation under /json', () => {
  it('accepts the cookie alone for the operations of /api/v1', async () => {
    const browser = await logIn(people.hamlet);
    expect(fieldsOf(await browser.get('/json/users/me'))).toEqual(
      fieldsOf(await server.get('/users/me', people.hamlet)),
    );
    const params = { type: 'direct', to: [people.hamlet.id], content: 'to myself' };
    const { id } = fieldsOf(await browser.post('/json/messages', params));
    const message = fieldsOf(await browser.get(`/json/messages/${id}`)).message as Record<string, unknown>;
    expect(message).toMatchObject({ client: 'website', sender_id: people.hamlet.id });
    fieldsOf(await browser.request('PATCH', `/json/messages/${id}`, { content: 'to nobody' }));
    fieldsOf(await browser.request('DELETE', `/json/messages/${id}`));

    expect((await server.request('GET', '//json/users/me', { as: people.hamlet })).status).toBe(401);
    expect((await server.request('GET', '/users/me', { headers: { Cookie: cookiesOf(browser) } })).status).toBe(401);
    for (const path of ['/json/server_settings', '/json/dev_fetch_api_key', '/json/nothing']) {
      expect((await browser.get(path)).status).toBe(404);
    }
    expect((await browser.request('DELETE', '/json/users/me/status')).body).toMatchObject({
      msg: 'Method Not Allowed',
      allowed_methods: ['POST'],
    });
  });

  it('delivers events', async () => {
    const browser = await logIn(people.hamlet);
    const { queue_id } = fieldsOf(await browser.post('/json/register', { event_types: ['message'] })) as never;
    const content = 'heard';
    fieldsOf(await server.post('/messages', people.iago, { type: 'direct', to: [people.hamlet.id], content }));
    const { events } = fieldsOf(await browser.get('/json/events', { queue_id, last_event_id: -1 }));
    expect(events).toMatchObject([{ type: 'message', message: { content } }]);
    fieldsOf(await browser.request('DELETE', '/json/events', { queue_id }));
  });

  it('requires the CSRF token for changes', async () => {
    const browser = await logIn(people.hamlet);
    const other = await logIn(people.iago);
    const session = `sessionid=${browser.cookies.get('sessionid')}`;
    const own = `csrftoken=${browser.cookies.get('csrftoken')}`;
    const setStatus = (headers: Record<string, string>, params: Record<string, unknown> = {}) =>
      server.request('POST', '//json/users/me/status', { params: { away: false, ...params }, headers });
    expectCsrfFailure(await setStatus({ Cookie: session }), 'CSRF cookie not set.');
    expectCsrfFailure(await setStatus({ Cookie: `${session}; ${own}` }), 'CSRF token missing.');
    const foreign = other.cookies.get('csrftoken')!;
    expectCsrfFailure(
      await setStatus({ Cookie: `${session}; csrftoken=${foreign}`, 'X-CSRFToken': foreign }),
      "CSRF token from the 'X-Csrftoken' HTTP header incorrect.",
    );
    const inForm = await setStatus(
      { Cookie: `${session}; ${own}` },
      { csrfmiddlewaretoken: browser.cookies.get('csrftoken'), more: 1 },
    );
    expect(fieldsOf(inForm)).toEqual({ ignored_parameters_unsupported: ['more'] });
    expectCsrfFailure(
      await setStatus({ Cookie: `${session}; ${own}` }, { csrfmiddlewaretoken: foreign }),
      'CSRF token from POST incorrect.',
    );
    const overridden = await server.request('POST', '//json/messages/1', {
      params: { method: 'PATCH', content: 'x' },
      headers: { Cookie: session },
    });
    expectCsrfFailure(overridden, 'CSRF cookie not set.');
  });

  it('sets the CSRF token with the first page', async () => {
    const browser = await logIn(people.hamlet);
    const token = browser.cookies.get('csrftoken')!;
    expect((await browser.get('/json/users/me')).headers).not.toHaveProperty('set-cookie');
    for (const stale of ['gone', 'a'.repeat(43)]) {
      browser.cookies.set('csrftoken', stale);
      await browser.get('/json/users/me');
      expect(browser.cookies.get('csrftoken')).toBe(token);
    }
    browser.cookies.delete('csrftoken');
    const refused = await browser.get('/json/messages', {});
    expect(refused.status).toBe(400);
    expect(browser.cookies.get('csrftoken')).toBe(token);
    fieldsOf(await browser.post('/json/users/me/status', { away: false }));
  });

  it("returns the CSRF token in a response if the page's path hides the cookie", async () => {
    const tokenOf = async (browser: TestBrowser) => fieldsOf(await browser.get('/accounts/csrf_token/')).csrf_token;
    const nobody = new TestBrowser(server);
    const reply = await nobody.get('/accounts/csrf_token/');
    expect(fieldsOf(reply)).toEqual({ csrf_token: nobody.cookies.get('csrftoken') });
    expect(reply.headers).toMatchObject({
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': expect.stringContaining('no-store'),
      'x-content-type-options': 'nosniff',
    });
    expect(reply.headers).not.toHaveProperty('access-control-allow-origin');
    expect(await tokenOf(nobody)).toBe(nobody.cookies.get('csrftoken'));

    const browser = await logIn(people.hamlet);
    const token = browser.cookies.get('csrftoken')!;
    expect(await tokenOf(browser)).toBe(token);
    // The session determines the token, whatever the cookie contains.
    for (const stale of ['a'.repeat(43), null]) {
      if (stale) browser.cookies.set('csrftoken', stale);
      else browser.cookies.delete('csrftoken');
      expect(await tokenOf(browser)).toBe(token);
      expect(browser.cookies.get('csrftoken')).toBe(token);
    }
    // An invalid session causes no error.
    const user = await somebodyNew();
    const left = await logIn(user);
    await server.changeUser(user, { isActive: false });
    expect(await tokenOf(left)).toBe(left.cookies.get('csrftoken'));
  });

  it.each([
    ['Sec-Fetch-Site', 'cross-site'],
    ['Sec-Fetch-Site', 'same-site'],
    ['Origin', 'https://evil.example'],
    ['Origin', 'null'],
  ])('hides the CSRF token from pages of another origin: %s %s', async (name, value) => {
    const browser = await logIn(people.hamlet);
    const reply = await browser.request('GET', '/accounts/csrf_token/', undefined, { headers: { [name]: value } });
    expectCsrfFailure(reply, `Origin checking failed - ${value} does not match any trusted origins.`);
    expect(reply.headers).not.toHaveProperty('set-cookie');
    const own = { [name]: name === 'Origin' ? server.url : 'same-origin' };
    fieldsOf(await browser.request('GET', '/accounts/csrf_token/', undefined, { headers: own }));
  });

  it('counts calls per user', async () => {
    const limited = await TestServer.start({ hasRateLimits: true });
    const browser = await TestBrowser.loggedIn(limited, limited.people.hamlet);
    expect((await browser.get('/json/users/me')).headers['x-ratelimit-remaining']).toBe('199');
    await limited.get('/users/me', limited.people.hamlet);
    expect((await browser.get('/json/users/me')).headers['x-ratelimit-remaining']).toBe('197');
    for (let attempt = 1; attempt <= 5; attempt++) await browser.logIn({ ...limited.people.iago, password: 'wrong' });
    const sixth = await browser.logIn(limited.people.iago);
    expect([sixth.status, sixth.body.code]).toEqual([429, 'RATE_LIMIT_HIT']);
    await limited.close();
  });
});

const cookiesOf = ({ cookies }: TestBrowser): string => [...cookies].map((pair) => pair.join('=')).join('; ');

describe('browser session', () => {
  it('ends at logout and clears its cookies', async () => {
    const [browser, other] = [await logIn(people.hamlet), await logIn(people.hamlet)];
    const { sessionid } = Object.fromEntries(browser.cookies);
    expectCsrfFailure(
      await browser.request('POST', '/accounts/logout/', {}, { headers: { 'X-CSRFToken': 'x' } }),
      "CSRF token from the 'X-Csrftoken' HTTP header incorrect.",
    );
    const reply = await browser.logOut();
    expect(fieldsOf(reply)).toEqual({});
    expect(reply.headers['set-cookie']).toEqual([
      'sessionid=; Path=/; Max-Age=0; SameSite=Lax; HttpOnly',
      'csrftoken=; Path=/; Max-Age=0; SameSite=Lax',
    ]);
    expect(browser.cookies.size).toBe(0);
    browser.cookies.set('sessionid', sessionid!);
    await expectLoggedOut(browser);
    await expectLoggedIn(other, people.hamlet);
    expect((await new TestBrowser(server).logOut()).status).toBe(401);
  });

  it('ends when the password changes, except the session that changed it', async () => {
    const user = await somebodyNew();
    const [one, other] = [await logIn(user), await logIn(user)];
    const changing = { old_password: user.password, new_password: 'a quite different 1 to guess' };
    fieldsOf(await one.request('PATCH', '/json/settings', changing));
    await expectLoggedIn(one, user);
    await expectLoggedOut(other);
    const [old_password, new_password] = [changing.new_password, 'yet another 1 to guess'];
    fieldsOf(await server.patch('/settings', user, { old_password, new_password }));
    await expectLoggedOut(one);
  });

  it('ends with its waiting poll, but other sessions keep the queue', async () => {
    const user = await somebodyNew();
    const [one, other] = [await logIn(user), await logIn(user)];
    const queue = fieldsOf(await one.post('/json/register', { event_types: ['message'] })).queue_id;
    const path = `/json/events?queue_id=${queue}&last_event_id=-1`;
    const poll = one.get(path);
    const { servedQueues } = server.parley.ports;
    while (servedQueues.lastPolled(user.id).get(queue) !== Number.POSITIVE_INFINITY) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    const startedAt = performance.now();
    fieldsOf(await other.request('DELETE', '/json/users/me/sessions', {}));
    expect(fieldsOf(await poll).events).toEqual([]);
    expect(performance.now() - startedAt).toBeLessThan(2000);
    await expectLoggedOut(one);
    expect(fieldsOf(await other.get(`${path}&dont_block=true`)).events).toEqual([]);
  });

  it('ends when the key is regenerated, except the session that requested it', async () => {
    const user = await somebodyNew();
    const [one, other] = [await logIn(user), await logIn(user)];
    const { api_key } = fieldsOf(await one.post('/json/users/me/api_key/regenerate')) as { api_key: string };
    await expectLoggedIn(one, user);
    await expectLoggedOut(other);
    fieldsOf(await server.post('/users/me/api_key/regenerate', { ...user, apiKey: api_key }));
    await expectLoggedOut(one);
  });

  it('reports a deactivated account, opens the log-in page, and ends after reactivation', async () => {
    const user = await somebodyNew();
    const browser = await logIn(user);
    fieldsOf(await server.delete(`/users/${user.id}`, people.desdemona));
    const code = { status: 401, code: 'USER_DEACTIVATED' };
    expectRefusal(await browser.get('/json/users/me'), 'Account is deactivated', code);
    expect((await browser.get('/login/')).status).toBe(200);
    fieldsOf(await server.post(`/users/${user.id}/reactivate`, people.desdemona));
    await expectLoggedOut(browser);
  });

  it('reports the reason if only the account or the organization was deactivated', async () => {
    const user = await somebodyNew();
    const browser = await logIn(user);
    const { uow } = server.storage;
    await uow.write(user.user.realmId, (tx) => tx.users.update({ ...user.user, isActive: false }));
    expectRefusal(await browser.get('/json/users/me'), 'Account is deactivated', {
      status: 401,
      code: 'USER_DEACTIVATED',
    });
    const deactivate = (isDeactivated: boolean) =>
      uow.write(server.realmId, async (tx) =>
        tx.realms.update({ ...(await tx.realms.get(server.realmId)), isDeactivated }),
      );
    await deactivate(true);
    const refused = await browser.get('/json/users/me');
    await deactivate(false);
    expectRefusal(refused, 'This organization has been deactivated', { status: 401, code: 'REALM_DEACTIVATED' });
  });

  it('expires', async () => {
    const browser = await logIn(people.cordelia);
    server.clock.advance(14 * 86_400 - 1);
    await expectLoggedIn(browser, people.cordelia);
    server.clock.advance(14 * 86_400);
    await expectLoggedOut(browser);
  });

  it('survives a server restart and expires as before', async () => {
    const before = await TestServer.start();
    const { desdemona, iago, shiva, hamlet, cordelia } = before.people;
    const people = { iago, shiva, hamlet, cordelia };
    const open: [TestUser, TestBrowser][] = [];
    for (const user of Object.values(people)) open.push([user, await TestBrowser.loggedIn(before, user)]);
    const leaving = await TestBrowser.loggedIn(before, hamlet);
    const gone = new TestBrowser(before);
    for (const cookie of leaving.cookies) gone.cookies.set(...cookie);
    fieldsOf(await leaving.logOut());
    const after = await TestServer.start({ snapshot: await before.closeAsSnapshot() });
    try {
      const again = ({ cookies }: TestBrowser): TestBrowser => {
        const browser = new TestBrowser(after);
        for (const cookie of cookies) browser.cookies.set(...cookie);
        return browser;
      };
      await expectLoggedOut(again(gone));
      const browsers = open.map(([user, browser]) => [user, again(browser)] as const);
      for (const [user, browser] of browsers) await expectLoggedIn(browser, user);
      const [password, key, account, own] = browsers.map(([, browser]) => browser);
      fieldsOf(await own!.request('PATCH', '/json/settings', { full_name: 'Cordelia of France' }));
      const changing = { old_password: iago.password, new_password: 'a quite different 1 to guess' };
      fieldsOf(await after.patch('/settings', iago, changing));
      fieldsOf(await after.post('/users/me/api_key/regenerate', shiva));
      fieldsOf(await after.delete(`/users/${hamlet.id}`, desdemona));
      for (const browser of [password!, key!]) await expectLoggedOut(browser);
      expect((await account!.get('/json/users/me')).body.code).toBe('USER_DEACTIVATED');
      await expectLoggedIn(own!, cordelia);
    } finally {
      await after.close();
    }
  });

  it('sets Secure cookies for https', async () => {
    const proxied = await TestServer.start({ trustedProxies: 1 });
    const https = { 'X-Forwarded-Proto': 'https', Referer: `https://${new URL(proxied.url).host}/` };
    const { email: username, password } = proxied.people.hamlet;
    const browser = new TestBrowser(proxied, https);
    const reply = await browser.logIn({ email: username, password });
    for (const cookie of reply.headers['set-cookie']!) expect(cookie).toMatch(/; Secure$/);
    const { Referer: _, ...withoutReferer } = https;
    const bare = new TestBrowser(proxied, withoutReferer);
    expectCsrfFailure(await bare.logIn(proxied.people.hamlet), 'Referer checking failed - no Referer.');
    await proxied.close();
  });
});

describe('POST /json/fetch_api_key (protocol §8.4)', () => {
  it('returns the key for the password', async () => {
    const browser = await logIn(people.hamlet);
    const key = { api_key: people.hamlet.apiKey, email: people.hamlet.email, user_id: people.hamlet.id };
    const fetch = (params?: Record<string, unknown>) => browser.post('/json/fetch_api_key', params);
    expect(fieldsOf(await fetch({ password: people.hamlet.password }))).toEqual(key);
    expectRefusal(await fetch({ password: 'wrong' }), 'Password is incorrect.');
    expectRefusal(await fetch(), 'Password is incorrect.');
    const email_auth = (isOn: boolean) => ({ authentication_methods: { Email: isOn, Dev: true } });
    fieldsOf(await server.patch('/realm', people.desdemona, email_auth(false)));
    expect(fieldsOf(await fetch())).toEqual(key);
    fieldsOf(await server.patch('/realm', people.desdemona, email_auth(true)));
    const anonymous = await server.request('POST', '//json/fetch_api_key', { as: people.hamlet, params: {} });
    expect(anonymous.status).toBe(401);
  });
});

describe('POST /dev_fetch_api_key', () => {
  it('creates a session (clients §6)', async () => {
    const browser = new TestBrowser(server);
    fieldsOf(await browser.post('/api/v1/dev_fetch_api_key', { username: people.hamlet.email }));
    expect([...browser.cookies.keys()]).toEqual(['sessionid', 'csrftoken']);
    const { user_id } = fieldsOf(await browser.post('/json/bots', { full_name: 'Puck', short_name: 'puck' })) as never;
    expect(user_id).toEqual(expect.any(Number));
  });
});

describe('host application log-in', () => {
  it('applies below /json and never makes browsers prompt for a password', async () => {
    let userId = 0;
    const hosted = await TestServer.start({
      authenticate: async ({ headers }) => (headers.cookie?.includes('host=yes') ? { realm: 'zulip', userId } : null),
      trustedOrigins: new Set(['https://app.example']),
    });
    userId = hosted.people.hamlet.id;
    const browser = new TestBrowser(hosted);
    browser.cookies.set('host', 'yes');
    await expectLoggedIn(browser, hosted.people.hamlet);
    fieldsOf(await browser.post('/json/users/me/status', { away: false }));
    fieldsOf(await browser.post('/api/v1/users/me/status', { away: false }));
    const post = (headers: Readonly<Record<string, string>>, as?: TestUser) =>
      hosted.request('POST', '/users/me/status', { headers, params: { away: 'false' }, ...(as && { as }) });
    const foreign = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
    expectCsrfFailure(
      await post({ ...foreign, Cookie: 'host=yes' }),
      'Origin checking failed - https://evil.example does not match any trusted origins.',
    );
    fieldsOf(await post({ Origin: 'https://app.example', Cookie: 'host=yes' }));
    // Browsers do not send API keys automatically.
    fieldsOf(await post(foreign, hosted.people.iago));
    const expired = await hosted.get('/users/me', null);
    expect([expired.status, expired.body.code]).toEqual([401, 'UNAUTHORIZED']);
    expect(expired.headers).not.toHaveProperty('www-authenticate');
    const malformed = await hosted.request('GET', '/users/me', { headers: { Authorization: 'Basic x' } });
    expect(malformed.status).toBe(401);
    expect(malformed.headers).not.toHaveProperty('www-authenticate');
    expect((await hosted.get('/users/me', hosted.people.iago)).status).toBe(200);
    await hosted.close();
  });

  it.each(['/json', '/api/v1'])('rejects calls below %s from a page opened for another user', async (base) => {
    let userId = 0;
    const hosted = await TestServer.start({ authenticate: async () => ({ realm: 'zulip', userId }) });
    const { hamlet, iago } = hosted.people;
    const browser = new TestBrowser(hosted);
    const send = (page: TestUser) => {
      const params = { type: 'direct', to: [iago.id], content: `written by ${page.email}` };
      return browser.request('POST', `${base}/messages`, params, { headers: { 'X-Parley-User': String(page.id) } });
    };
    userId = hamlet.id;
    await expectLoggedIn(browser, hamlet);
    fieldsOf(await send(hamlet));
    userId = iago.id;
    const refused = await send(hamlet);
    expect([refused.status, refused.body.code]).toEqual([401, 'UNAUTHORIZED']);
    fieldsOf(await send(iago));
    await hosted.close();
  });
});

describe('session list', () => {
  type Row = { id: number; user_agent: string; is_current: boolean };
  const list = async (browser: TestBrowser): Promise<Row[]> =>
    fieldsOf(await browser.get('/json/users/me/sessions')).sessions as unknown as Row[];

  it('shows users their own sessions and ends one or all others', async () => {
    const user = await somebodyNew();
    const [first, second, third] = [await logIn(user), await logIn(user), await logIn(user)];
    const rows = await list(first);
    expect(rows).toHaveLength(3);
    expect(rows.filter(({ is_current }) => is_current)).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      user_agent: 'Mozilla/5.0 (X11)',
      id: expect.any(Number),
      ip: '127.0.0.1',
      method: 'password',
    });
    const current = (await list(second)).find(({ is_current }) => is_current)!;
    fieldsOf(await first.request('DELETE', `/json/users/me/sessions/${current.id}`));
    await expectLoggedOut(second);
    await expectLoggedIn(third, user);
    fieldsOf(await first.request('DELETE', '/json/users/me/sessions'));
    await expectLoggedOut(third);
    await expectLoggedIn(first, user);
    expect(await list(first)).toEqual([expect.objectContaining({ is_current: true })]);
    fieldsOf(await server.delete('/users/me/sessions', user));
    await expectLoggedOut(first);
  });

  it("ends only the caller's sessions", async () => {
    const [user, other] = [await somebodyNew(), await somebodyNew()];
    const [browser, foreign] = [await logIn(user), await logIn(other)];
    const [{ id }] = (await list(foreign)) as [Row];
    fieldsOf(await browser.request('DELETE', `/json/users/me/sessions/${id}`));
    await expectLoggedIn(foreign, other);
  });

  it('lets administrators list and end the sessions of others', async () => {
    const user = await somebodyNew();
    const browser = await logIn(user);
    const { sessions } = fieldsOf(await server.get(`/users/${user.id}/sessions`, people.iago));
    expect(sessions).toEqual([expect.objectContaining({ is_current: false })]);
    fieldsOf(await server.delete(`/users/${user.id}/sessions`, people.iago));
    await expectLoggedOut(browser);
    expect((await server.get('/users/me', user)).status).toBe(200);
  });

  it('shows the latest issue of the API key', async () => {
    const { email: username, password, id } = await somebodyNew();
    const list = async () => fieldsOf(await server.get(`/users/${id}/sessions`, people.iago));
    expect(await list()).toEqual({ sessions: [] });
    const headers = { 'User-Agent': 'ZulipMobile/30.0 (Android 14)' };
    const fetchKey = () => server.request('POST', '/fetch_api_key', { params: { username, password }, headers });
    fieldsOf(await fetchKey());
    const at = server.clock.now();
    const issued = { at, ip: '127.0.0.1', client: 'ZulipMobile' };
    expect(await list()).toEqual({ sessions: [], api_key_issued: issued });
    // A program that requests the key on every run rarely causes a write.
    server.clock.advance(500);
    fieldsOf(await fetchKey());
    expect(await list()).toMatchObject({ api_key_issued: { at } });
    server.clock.advance(100);
    fieldsOf(await fetchKey());
    expect(await list()).toMatchObject({ api_key_issued: { at: at + 600 } });
  });

  it('lets administrators log users out of phones and programs too', async () => {
    const user = await somebodyNew();
    const browser = await logIn(user);
    fieldsOf(await server.delete(`/users/${user.id}/sessions`, people.iago, { api_key: true }));
    await expectLoggedOut(browser);
    expectRefusal(await server.get('/users/me', user), 'Invalid API key', { status: 401, code: 'UNAUTHORIZED' });
    const refused = await server.delete(`/users/${people.desdemona.id}/sessions`, people.iago, { api_key: true });
    expect(refused.body.msg).toBe('Must be an organization owner');
    expect((await server.get('/users/me', people.desdemona)).status).toBe(200);
  });

  it.each(['get', 'delete'] as const)('rejects %s by callers without permission', async (method) => {
    const user = await somebodyNew();
    const refused = async (as: TestUser, id: number, text: string) =>
      expectRefusal(await server[method](`/users/${id}/sessions`, as), text);
    await refused(people.hamlet, user.id, 'Insufficient permission');
    await refused(people.shiva, user.id, 'Insufficient permission');
    expect((await server[method](`/users/${people.desdemona.id}/sessions`, people.iago)).status).toBe(400);
    await refused(people.iago, 999_999, 'No such user');
    const realmId = await server.addRealm(`sessions-${method}`);
    const foreign = await server.addUser({ email: 'king@lear.org', fullName: 'Lear', realmId });
    await refused(people.desdemona, foreign.id, 'No such user');
  });
});

describe('sessions page', () => {
  const PAGE = '/accounts/sessions/';
  const buttons = async (browser: TestBrowser): Promise<string[]> =>
    [...String((await browser.get(PAGE)).body).matchAll(/name="end" value="(\w+)"/g)].map(([, end]) => end!);
  const firefox = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };

  it('shows where and when each session began, and ends one', async () => {
    const user = await somebodyNew();
    const browser = await logIn(user);
    const other = new TestBrowser(server, firefox);
    await other.logIn(user);
    const { body } = await browser.get(PAGE);
    expect(body).toContain('Firefox, Linux</strong>');
    expect(body).toContain('Linux</strong> (this browser)');
    expect(body).toMatch(/Logged in: [A-Z][a-z]{2} \d+, \d{4}, \d+:\d\d[\s\u202f][AP]M, from 127\.0\.0\.1/);
    expect(body).toContain('Nobody has logged in with this key yet.');
    const [newest] = await buttons(browser);
    lines.length = 0;
    expect((await browser.post(PAGE, { end: newest })).headers.location).toBe(PAGE);
    await expectLoggedOut(other);
    await expectLoggedIn(browser, user);
    expect(lines).toContainEqual(
      expect.objectContaining({
        audit: 'log-in change',
        account: user.email,
        logInMethod: 'session',
        change: 'ended',
        ip: '127.0.0.1',
      }),
    );
  });

  it('ends the current session, all others, or all access by the API key', async () => {
    const user = await somebodyNew();
    const [browser, other] = [await logIn(user), await logIn(user)];
    await browser.post(PAGE, { end: 'others' });
    await expectLoggedOut(other);
    const [own, key] = await buttons(browser);
    expect(key).toBe('key');
    lines.length = 0;
    await browser.post(PAGE, { end: 'key' });
    expect((await server.get('/users/me', user)).status).toBe(401);
    await expectLoggedIn(browser, user);
    expect(lines).toContainEqual(
      expect.objectContaining({ audit: 'log-in change', logInMethod: 'api key', change: 'replaced' }),
    );
    expect((await browser.post(PAGE, { end: own })).headers.location).toBe('/login/');
    expect(browser.cookies.has('sessionid')).toBe(false);
    await expectLoggedOut(browser);
  });

  it('does not end sessions for other users, other sites and invalid ids', async () => {
    const [user, victim] = [await somebodyNew(), await somebodyNew()];
    const [browser, foreign] = [await logIn(user), await logIn(victim)];
    const [theirs] = await buttons(foreign);
    for (const end of [theirs, '', 'x', '-1', '1e9', '99999999999999999999']) await browser.post(PAGE, { end });
    await expectLoggedIn(foreign, victim);
    await expectLoggedIn(browser, user);
    const headers = { Origin: 'https://evil.example' };
    const forged = await browser.request('POST', PAGE, { end: 'key' }, { headers });
    expect(forged.status).toBe(403);
    expect((await server.get('/users/me', user)).status).toBe(200);
    const stranger = new TestBrowser(server);
    for (const reply of [await stranger.get(PAGE), await stranger.post(PAGE, { end: theirs })]) {
      expect(reply.headers.location).toBe('/login/?next=%2Faccounts%2Fsessions%2F');
    }
    await expectLoggedIn(foreign, victim);
  });

  it('shows programs and addresses as text', async () => {
    const user = await somebodyNew();
    const browser = new TestBrowser(server, { 'User-Agent': '<script>alert(1)</script>' });
    await browser.logIn(user);
    const { body } = await browser.get(PAGE);
    expect(body).toContain('&lt;script&gt;');
    expect(body).not.toContain('<script>');
  });
});
