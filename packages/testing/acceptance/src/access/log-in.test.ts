import { loggedLines, serverPerSuite } from '../testing/servers.js';
import { TestBrowser } from '../testing/test-browser.js';
import { hiddenFieldsOf, type TestReply } from '../testing/test-reply.js';
import { TestServer, webTokenOf } from '../testing/test-server.js';

/** Audit lines of the server. */
const { lines, logger } = loggedLines();
const { server, people } = serverPerSuite({ logger });
beforeEach(() => {
  lines.length = 0;
});

/** Opens the form and submits it like a browser. */
async function logIn(browser: TestBrowser, fields: object = {}, path = '/login/'): Promise<TestReply> {
  const form = await browser.get(path);
  const { email: username, password } = people.hamlet;
  // The form is posted to the address of its page.
  return browser.post(path, { ...hiddenFieldsOf(form), username, password, ...fields });
}
const isLoggedIn = async (browser: TestBrowser) => (await browser.get('/json/users/me')).status === 200;

describe('log-in form', () => {
  it('logs in with a password and redirects to the start page', async () => {
    const browser = new TestBrowser(server);
    const form = await browser.get('/login/');
    expect(form).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(form.body).toContain('<form method="post">');
    expect(form.body).toContain('<a href="/accounts/password/reset/">Forgot your password?</a>');
    expect(form.body).toContain('autocomplete="current-password"');
    const reply = await logIn(browser);
    expect(reply).toMatchObject({ status: 303, headers: { location: '/' } });
    expect(await isLoggedIn(browser)).toBe(true);
    expect(lines).toEqual([
      expect.objectContaining({
        audit: 'log-in',
        account: people.hamlet.email,
        logInMethod: 'password',
        ip: '127.0.0.1',
      }),
    ]);
  });

  it('redirects users who are already logged in', async () => {
    const browser = await TestBrowser.loggedIn(server, people.hamlet);
    expect(await browser.get('/login/')).toMatchObject({ status: 303, headers: { location: '/' } });
    const next = await browser.get('/login/', { next: '/user_uploads/1/a.txt' });
    expect(next).toMatchObject({ status: 303, headers: { location: '/user_uploads/1/a.txt' } });
  });

  it('explains to the browser of a deactivated account why it shows the form', async () => {
    const { iago, cordelia } = people;
    const browser = await TestBrowser.loggedIn(server, cordelia);
    await server.delete(`/users/${cordelia.id}`, iago);
    const page = await browser.get('/login/');
    expect(page.body).toContain('Account is deactivated');
    expect(page.body).not.toContain('aria-invalid="true"');
  });

  it('shows the form again for a wrong password, with the address and an audit line', async () => {
    const browser = new TestBrowser(server);
    const reply = await logIn(browser, { password: 'wrong' });
    expect(reply.status).toBe(401);
    expect(reply.body).toContain('Your email address or password is incorrect.');
    expect(reply.body).toContain(`value="${people.hamlet.email}" aria-describedby="problem" aria-invalid="true"`);
    expect(reply.body).not.toContain('wrong');
    expect(await isLoggedIn(browser)).toBe(false);
    expect(lines).toEqual([expect.objectContaining({ audit: 'failed log-in', failure: 'AUTHENTICATION_FAILED' })]);
  });

  it.each([
    [{ username: 'hamlet' }, 400, 'Enter a valid email address.'],
    [{ username: '"><script>alert(1)</script>' }, 400, 'Enter a valid email address.'],
    [{ csrfmiddlewaretoken: 'x' }, 403, 'The form has expired. Please try again.'],
    [{ csrfmiddlewaretoken: '' }, 403, 'The form has expired. Please try again.'],
  ])('rejects %j with %i', async (fields, status, text) => {
    const browser = new TestBrowser(server);
    const reply = await logIn(browser, fields);
    expect(reply.status).toBe(status);
    expect(reply.body).toContain(text);
    expect(reply.body).not.toContain('<script>');
    expect(await isLoggedIn(browser)).toBe(false);
  });

  it('rejects forms from other sites and forms without a cookie', async () => {
    const foreign = new TestBrowser(server, { Origin: 'https://evil.example' });
    expect((await logIn(foreign)).status).toBe(403);
    const { email: username, password } = people.hamlet;
    const bare = await server.request('POST', '//login/', {
      params: { username, password, csrfmiddlewaretoken: 'x' },
    });
    expect(bare.status).toBe(403);
    expect(bare.headers['set-cookie']).toEqual([expect.stringMatching(/^csrftoken=/)]);
  });

  it('accepts only users of the organization', async () => {
    await server.addRealm('lear');
    const browser = new TestBrowser(server);
    const there = { realm: 'lear' };
    const form = await browser.request('GET', '/login/', undefined, there);
    const { email: username, password } = people.hamlet;
    const reply = await browser.request('POST', '/login/', { ...hiddenFieldsOf(form), username, password }, there);
    expect(reply.status).toBe(401);
  });

  it('offers no password form if passwords are disabled', async () => {
    await server.changeRealm({ settings: { emailAuthentication: false } });
    const browser = new TestBrowser(server);
    const form = await browser.get('/login/');
    expect(form.body).not.toContain('<form');
    expect((await logIn(browser)).status).toBe(403);
    await server.changeRealm({ settings: { emailAuthentication: true } });
  });

  it.each([
    ['/user_uploads/1/a.txt', '/user_uploads/1/a.txt'],
    ['/?a=1&b=2#narrow/dm/1', '/?a=1&b=2#narrow/dm/1'],
    ['https://evil.example/', '/'],
    ['//evil.example/', '/'],
    ['/\\evil.example/', '/'],
    ['/\t/evil.example/', '/'],
    ['/\n/evil.example/', '/'],
    ['/.//evil.example/', '/'],
    ['/a/../..//evil.example', '/'],
    ['javascript:alert(1)', '/'],
    ['evil.example', '/'],
    ['\\\\evil.example', '/'],
    ['', '/'],
  ])('redirects from %j to %s', async (next, location) => {
    const reply = await logIn(new TestBrowser(server), {}, `/login/?next=${encodeURIComponent(next)}`);
    expect(reply).toMatchObject({ status: 303, headers: { location } });
  });

  it('throttles passwords as for API keys', async () => {
    const limited = await TestServer.start({ hasRateLimits: true });
    const browser = new TestBrowser(limited);
    for (let time = 0; time < 5; time++) expect((await logIn(browser, { password: 'wrong' })).status).toBe(401);
    const refused = await logIn(browser);
    expect(refused.status).toBe(429);
    expect(refused.body).toContain('Too many attempts. Try again in 30 minutes.');
    expect(refused.headers['retry-after']).toBe('1800');
    await limited.close();
  });

  it('serves many users behind one address, and stops password spraying on many accounts', async () => {
    const limited = await TestServer.start({ hasRateLimits: true });
    for (let time = 0; time < 120; time++) expect((await logIn(new TestBrowser(limited))).status).toBe(303);
    let guesses = 0;
    const guess = (username = `user${guesses}@example.com`) =>
      logIn(new TestBrowser(limited), { username, password: 'wrong' });
    while ((await guess()).status === 401) guesses++;
    expect(guesses).toBe(100);
    // Guesses lock out only users who never logged in from the address.
    expect((await logIn(new TestBrowser(limited))).status).toBe(303);
    const { email: username, password } = limited.people.iago;
    expect((await logIn(new TestBrowser(limited), { username, password })).status).toBe(429);
    limited.clock.advance(60);
    expect((await logIn(new TestBrowser(limited), { username, password })).status).toBe(303);
    await limited.close();
  });

  it('shows an HTML page in place of the API error when an address loads too many pages', async () => {
    const rateLimitRules = { pages_by_ip: [{ windowSeconds: 600, limit: 2 }] };
    const limited = await TestServer.start({ hasRateLimits: true, rateLimitRules });
    const browser = new TestBrowser(limited);
    for (let time = 0; time < 2; time++) expect((await browser.get('/login/')).status).toBe(200);
    const refused = await browser.get('/login/');
    expect(refused).toMatchObject({
      status: 429,
      headers: { 'retry-after': '600', 'content-type': 'text/html; charset=utf-8' },
    });
    expect(refused.body).toContain('Too many attempts. Try again in 10 minutes.');
    expect(refused.body).not.toContain('zulip');
    await limited.close();
  });
});

it('audit log contains every log-in of a program', async () => {
  const { email: username, password } = people.hamlet;
  await server.post('/fetch_api_key', null, { username, password });
  await server.post('/jwt/fetch_api_key', null, { token: webTokenOf({ email: username, exp: 4_102_444_799 }) });
  await new TestBrowser(server).logIn(people.hamlet);
  await server.post('/fetch_api_key', null, { username, password: 'wrong' });
  const line = { account: username, ip: '127.0.0.1' };
  expect(lines).toEqual([
    expect.objectContaining({ ...line, audit: 'log-in', logInMethod: 'password', route: '/fetch_api_key' }),
    expect.objectContaining({ ...line, audit: 'log-in', logInMethod: 'jwt' }),
    expect.objectContaining({ ...line, audit: 'log-in', logInMethod: 'password', route: '/accounts/login/' }),
    expect.objectContaining({ ...line, audit: 'failed log-in' }),
  ]);
  expect(JSON.stringify(lines)).not.toContain(password);
});
