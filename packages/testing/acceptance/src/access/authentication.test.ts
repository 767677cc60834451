import { connect } from 'node:net';
import { type Email, SendConfirmationEmails } from '@parley/domain/access';
import { HashQueue } from '@parley/node-adapters';
import { FakePasswordHasher, signJsonWebToken, until } from '@parley/testkit';
import { expectRefusal, fieldsOf } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { serverPerTest } from '../testing/servers.js';
import { JWT_SECRET, TestServer, type TestUser } from '../testing/test-server.js';

let hamlet: TestUser;
const { server } = serverPerTest({ hasRateLimits: true });
beforeEach(() => {
  hamlet = server.people.hamlet;
});

const deactivate = ({ user }: TestUser) =>
  server.storage.uow.write(user.realmId, async (tx) => {
    await tx.users.update({ ...user, isActive: false });
  });
const deactivateRealm = () => server.changeRealm({ isDeactivated: true });
const WRONG = 'Your username or password is incorrect';

describe('POST /fetch_api_key', () => {
  const fetchKey = (username: string, password: string) => server.post('/fetch_api_key', null, { username, password });

  it('returns the key for a password, ignoring the case of the email', async () => {
    const fields = fieldsOf(await fetchKey('HAMLET@Zulip.com', hamlet.password));
    expect(fields).toEqual({ api_key: hamlet.apiKey, email: 'hamlet@zulip.com', user_id: hamlet.id });
    expect((await server.get('/users/me', hamlet)).status).toBe(200);
  });

  it('reports missing parameters in order', async () => {
    const missing = (name: string) => ({ code: 'REQUEST_VARIABLE_MISSING', var_name: name });
    expectRefusal(await server.post('/fetch_api_key', null), "Missing 'username' argument", missing('username'));
    const reply = await server.post('/fetch_api_key', null, { username: 'x' });
    expectRefusal(reply, "Missing 'password' argument", missing('password'));
  });

  it('rejects a host without a realm before anything else', async () => {
    const reply = await server.request('POST', '/fetch_api_key', {
      params: { username: 'hamlet', password: 'x' },
      headers: { Host: 'nowhere.localhost' },
    });
    expectRefusal(reply, 'Invalid subdomain', { status: 404, code: 'NONEXISTENT_SUBDOMAIN' });
  });

  it('rejects an invalid email', async () => {
    expectRefusal(await fetchKey('hamlet', hamlet.password), 'Enter a valid email address.');
  });

  it.each([
    ['a wrong password', 'hamlet@zulip.com', 'wrong'],
    ['an empty password', 'hamlet@zulip.com', ''],
    ['nobody', 'nobody@zulip.com', 'pw'],
  ])('rejects %s with the same response and no challenge', async (_what, username, password) => {
    const reply = await fetchKey(username, password);
    expectRefusal(reply, WRONG, { status: 401, code: 'AUTHENTICATION_FAILED' });
    expect(reply.headers['www-authenticate']).toBeUndefined();
  });

  it('does not find users of other realms', async () => {
    const realmId = await server.addRealm('lear');
    const king = await server.addUser({ email: 'king@lear.org', fullName: 'King Lear', realmId });
    const here = await fetchKey(king.email, king.password);
    expectRefusal(here, WRONG, { status: 401, code: 'AUTHENTICATION_FAILED' });
  });

  it('reports a deactivated account even for a wrong password', async () => {
    await deactivate(hamlet);
    const reply = await fetchKey(hamlet.email, 'wrong');
    expectRefusal(reply, 'Account is deactivated', { status: 401, code: 'USER_DEACTIVATED' });
  });

  it('reports a deactivated realm before a deactivated user', async () => {
    await deactivateRealm();
    const reply = await fetchKey(hamlet.email, 'wrong');
    expectRefusal(reply, 'This organization has been deactivated', { status: 401, code: 'REALM_DEACTIVATED' });
    await deactivate(hamlet);
    expect((await fetchKey(hamlet.email, 'wrong')).body.code).toBe('USER_DEACTIVATED');
  });

  it('allows five attempts per address and resets the count after a success', async () => {
    for (let attempt = 1; attempt <= 5; attempt++) {
      const reply = await fetchKey(hamlet.email, attempt === 3 ? hamlet.password : 'wrong');
      expect(reply.status).toBe(attempt === 3 ? 200 : 401);
      expect(reply.headers['x-ratelimit-limit']).toBe('5');
      expect(reply.headers['x-ratelimit-remaining']).toBe(String([4, 3, 5, 4, 3][attempt - 1]));
    }
    for (let attempt = 1; attempt <= 3; attempt++) await fetchKey(hamlet.email, 'wrong');
    const sixth = await fetchKey(hamlet.email.toUpperCase(), hamlet.password);
    expect([sixth.status, sixth.body.code]).toEqual([429, 'RATE_LIMIT_HIT']);
    expect(sixth.body['retry-after']).toBe(1800);
    expect(sixth.headers['retry-after']).toBe('1800');
    expect((await fetchKey(server.people.cordelia.email, server.people.cordelia.password)).status).toBe(200);
    server.clock.advance(1801);
    expect((await fetchKey(hamlet.email, hamlet.password)).status).toBe(200);
  });

  it('accepts only POST', async () => {
    const reply = await server.get('/fetch_api_key', null);
    expect([reply.status, reply.body.allowed_methods]).toEqual([405, ['POST']]);
  });
});

describe('password verification queue', () => {
  /** Hasher that finishes only on demand. */
  class SlowHasher extends FakePasswordHasher {
    readonly waiting: (() => void)[] = [];
    override async verify(password: string, hash: string | null): Promise<boolean> {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
      return super.verify(password, hash);
    }
  }
  it('immediately rejects uncounted attempts if the queue is full, and drops attempts of disconnected clients', async () => {
    const hasher = new SlowHasher();
    const queue = new HashQueue(hasher, { atOnce: 1, maxWaitingPerClient: 1 });
    const slow = await TestServer.start({ hasRateLimits: true, passwordHasher: queue });
    const osric = await slow.addUser({ email: 'osric@zulip.com', fullName: 'Osric' });
    const attempt = (password: string) => slow.post('/fetch_api_key', null, { username: osric.email, password });

    const first = attempt('first');
    await until(() => hasher.waiting.length === 1);
    const { port } = new URL(slow.url);
    const gone = connect(Number(port), '127.0.0.1');
    const body = `username=${osric.email}&password=gone`;
    gone.write(
      'POST /api/v1/fetch_api_key HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n' +
        `Content-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => queue.waiting === 1);
    const busy = await attempt('busy');
    expectRefusal(busy, 'Too many passwords are being checked; try again in a moment.', {
      status: 503,
      code: 'SERVER_NOT_READY',
    });
    expect(busy.headers['retry-after']).toBe('1');
    gone.destroy();
    await until(() => queue.waiting === 0);
    const right = attempt(osric.password);
    await until(() => queue.waiting === 1);
    hasher.waiting.pop()!();
    expect((await first).status).toBe(401);
    await until(() => hasher.waiting.length === 1);
    hasher.waiting.pop()!();
    expect((await right).status).toBe(200);
    expect(hasher.verified.map(([password]) => password)).toEqual(['first', osric.password]);
    await slow.close();
  });
});

describe('POST /dev_fetch_api_key', () => {
  it('returns the key of any user, also for query parameters', async () => {
    const inForm = await server.post('/dev_fetch_api_key', null, { username: 'HAMLET@zulip.com' });
    expect(fieldsOf(inForm)).toEqual({ api_key: hamlet.apiKey, email: 'hamlet@zulip.com', user_id: hamlet.id });
    const inQuery = await server.request('POST', '/dev_fetch_api_key?username=hamlet@zulip.com');
    expect(inQuery.body.api_key).toBe(hamlet.apiKey);
  });

  it('validates in the order of the contract', async () => {
    const ask = (username: string) => server.post('/dev_fetch_api_key', null, { username });
    expectRefusal(await server.post('/dev_fetch_api_key', null), "Missing 'username' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'username',
    });
    expectRefusal(await ask('hamlet'), 'Enter a valid email address.');
    expectRefusal(await ask('nobody@zulip.com'), WRONG, { status: 401, code: 'AUTHENTICATION_FAILED' });
    await deactivateRealm();
    expect((await ask(hamlet.email)).body.code).toBe('REALM_DEACTIVATED');
    await deactivate(hamlet);
    expectRefusal(await ask(hamlet.email), 'Account is deactivated', { status: 401, code: 'USER_DEACTIVATED' });
  });
});

describe('GET /dev_list_users', () => {
  it('lists users separately from administrators', async () => {
    const fields = fieldsOf(await server.get('/dev_list_users', null));
    const listed = (email: string) => ({ email, realm_uri: server.url });
    expect(fields).toEqual({
      direct_admins: ['desdemona@zulip.com', 'iago@zulip.com'].map(listed),
      direct_users: ['shiva', 'hamlet', 'cordelia', 'polonius'].map((name) => listed(`${name}@zulip.com`)),
    });
  });

  it('omits bots and deactivated users', async () => {
    await deactivate(hamlet);
    const { direct_users } = (await server.get('/dev_list_users', null)).body;
    expect(JSON.stringify(direct_users)).not.toContain('hamlet');
    expect(JSON.stringify(direct_users)).not.toContain('bot');
  });
});

describe('POST /jwt/fetch_api_key (protocol §8.2)', () => {
  const ask = (params?: Record<string, unknown>, realm?: string) =>
    server.request('POST', '/jwt/fetch_api_key', { params: params ?? {}, ...(realm !== undefined && { realm }) });
  const seconds = () => Math.floor(server.clock.nowMs() / 1000);
  const tokenOf = (claims: object, secret = JWT_SECRET, algorithm?: string) =>
    signJsonWebToken(Array.isArray(claims) ? claims : { exp: seconds() + 10, ...claims }, secret, algorithm);

  it.each(['HS256', 'HS384', 'HS512'])('returns the key for a token signed with %s', async (algorithm) => {
    const token = tokenOf({ email: 'HAMLET@zulip.com', exp: seconds() + 10 }, JWT_SECRET, algorithm);
    expect(fieldsOf(await ask({ token }))).toEqual({ api_key: hamlet.apiKey, email: 'hamlet@zulip.com' });
  });

  it('includes the profile on request', async () => {
    const token = tokenOf({ email: hamlet.email });
    const { user } = fieldsOf(await ask({ token, include_profile: true }));
    const shown = fieldsOf(
      await server.get(`/users/${hamlet.id}`, hamlet, { client_gravatar: false, include_custom_profile_fields: false }),
    );
    expect(user).toEqual(shown.user);
  });

  it('validates in the order of the contract', async () => {
    const disabled = 'JWT authentication is not enabled for this organization';
    await server.addRealm('lear');
    expectRefusal(await ask({}, 'lear'), disabled);
    expectRefusal(await ask({ token: tokenOf({ email: hamlet.email }) }, 'lear'), disabled);
    expectRefusal(await ask({ token: 'x' }, 'nowhere'), 'Invalid subdomain', {
      status: 404,
      code: 'NONEXISTENT_SUBDOMAIN',
    });
    expectRefusal(await ask(), 'No JSON web token passed in request');
    expectRefusal(await ask({ token: tokenOf({}) }), 'No email specified in JSON web token claims');
    expectRefusal(await ask({ token: tokenOf({ email: 7 }) }), 'No email specified in JSON web token claims');
    expectRefusal(await ask({ token: tokenOf({ email: 'hamlet' }) }), 'Enter a valid email address.');
    const nobody = await ask({ token: tokenOf({ email: 'nobody@zulip.com' }) });
    expectRefusal(nobody, WRONG, { status: 401, code: 'AUTHENTICATION_FAILED' });
    const bot = await server.addBot(hamlet, 'helper');
    expect((await ask({ token: tokenOf({ email: bot.email }) })).body.code).toBe('AUTHENTICATION_FAILED');
    await deactivateRealm();
    expect((await ask({ token: tokenOf({ email: hamlet.email }) })).body.code).toBe('REALM_DEACTIVATED');
    await deactivate(hamlet);
    expect((await ask({ token: tokenOf({ email: hamlet.email }) })).body.code).toBe('USER_DEACTIVATED');
  });

  it.each([
    ['a malformed token', () => 'abc'],
    ['another secret', () => tokenOf({ email: hamlet.email }, 'something else altogether, and long')],
    ['no algorithm', () => `${tokenOf({ email: hamlet.email }, JWT_SECRET, 'none').split('.').slice(0, 2).join('.')}.`],
    ['a public key algorithm', () => tokenOf({ email: hamlet.email }, JWT_SECRET, 'RS256')],
    ['an expired token', () => tokenOf({ email: hamlet.email, exp: seconds() })],
    ['a token that is not yet valid', () => tokenOf({ email: hamlet.email, nbf: seconds() + 60 })],
    ['a token that never expires', () => tokenOf({ email: hamlet.email, exp: undefined })],
    ['claims that are not an object', () => tokenOf(['email'])],
  ])('rejects %s', async (_what, token) => {
    expectRefusal(await ask({ token: token() }), 'Bad JSON web token');
  });
});

describe('password guessing from several networks (protocol §11)', () => {
  let guarded: TestServer;
  let owner: TestUser;
  let count: number;
  beforeEach(async () => {
    guarded = await TestServer.start({ hasRateLimits: true, trustedProxies: 1 });
    owner = guarded.people.hamlet;
    count = 0;
  });
  afterEach(() => guarded.close());

  const HOME = '198.51.100.7';
  const signIn = async (password: string, ip: string) =>
    guarded.request('POST', '/fetch_api_key', {
      params: { username: owner.email, password },
      headers: { 'X-Forwarded-For': ip },
    });
  /** Returns an address in a network that made no request before. */
  const elsewhere = () => `10.${++count >> 16}.${(count >> 8) & 255}.${count & 255}`;
  /** Guesses from new networks until rejected; returns the number of guesses. */
  const attack = async (): Promise<number> => {
    for (let guesses = 0; ; guesses++) if ((await signIn('wrong', elsewhere())).status === 429) return guesses;
  };
  const resetFrom = (ip: string) =>
    guarded.request('POST', '//accounts/password/reset/', {
      params: { email: owner.email },
      headers: { 'X-Forwarded-For': ip },
    });
  const linkIn = ({ text }: Email) => text.split('\n').find((line) => line.startsWith(`${guarded.url}/accounts/`))!;
  const resetEmails = async () => {
    await runJobs(guarded, guarded.parley.useCase(SendConfirmationEmails));
    return guarded.mailer.emails.length;
  };

  it('does not lock out networks from which the account logged in before', async () => {
    expect((await signIn(owner.password, HOME)).status).toBe(200);
    expect(await attack()).toBe(30);
    expect((await signIn(owner.password, HOME)).status).toBe(200);
    expect((await signIn(owner.password, elsewhere())).status).toBe(429);
    for (let guess = 0; guess < 5; guess++) expect((await signIn('wrong', HOME)).status).toBe(401);
    expect((await signIn(owner.password, HOME)).status).toBe(429);
    guarded.clock.advance(3600);
    expect((await signIn(owner.password, elsewhere())).status).toBe(200);
  });

  it('is rejected after five attempts per network without affecting other networks', async () => {
    for (let guess = 0; guess < 5; guess++) expect((await signIn('wrong', '192.0.2.1')).status).toBe(401);
    expect((await signIn(owner.password, '192.0.2.1')).status).toBe(429);
    expect((await signIn(owner.password, '192.0.2.2')).status).toBe(200);
  });

  it("is limited to a thousand attempts a day regardless of the owner's actions", async () => {
    await signIn(owner.password, HOME);
    let guesses = 0;
    for (let hour = 0; hour < 24; hour++) {
      guesses += await attack();
      while ((await signIn('wrong', HOME)).status === 401) guesses++;
      guarded.clock.advance(1801);
      await signIn(owner.password, HOME);
      guarded.clock.advance(1799);
    }
    expect(guesses).toBeLessThanOrEqual(1000);
    expect(guesses).toBeGreaterThan(700);
  });

  it("does not block the owner's password reset", async () => {
    await signIn(owner.password, HOME);
    // The mailbox is not flooded, and the link in the last email remains valid.
    for (const emails of [1, 2, 2, 2, 2, 2]) {
      expect((await resetFrom(elsewhere())).status).toBe(303);
      expect(await resetEmails()).toBe(emails);
    }
    expect((await resetFrom(HOME)).status).toBe(303);
    expect(await resetEmails()).toBe(3);
    expect(new Set(guarded.mailer.emails.map(linkIn)).size).toBe(1);
  });

  it('does not lock out a network from which the owner reset the password', async () => {
    await resetFrom('192.0.2.9');
    await resetEmails();
    const link = linkIn(guarded.mailer.emails.at(-1)!);
    await attack();
    expect((await signIn(owner.password, '192.0.2.9')).status).toBe(429);
    const reply = await guarded.request('POST', `/${link.slice(guarded.url.length)}`, {
      params: { password: 'quite another long password' },
      headers: { 'X-Forwarded-For': '192.0.2.9' },
    });
    expect(reply.status).toBe(303);
    expect((await signIn('quite another long password', '192.0.2.9')).status).toBe(200);
  });
});

describe('JSON web token audience', () => {
  it('must match the audience configured by the operator', async () => {
    const strict = await TestServer.start({ jwtAudience: 'https://chat.example' });
    try {
      const exp = strict.clock.now() + 10;
      const ask = (claims: object) =>
        strict.request('POST', '/jwt/fetch_api_key', {
          params: { token: signJsonWebToken({ email: hamlet.email, exp, ...claims }, JWT_SECRET) },
        });
      for (const claims of [{}, { aud: 'https://shop.example' }]) {
        expectRefusal(await ask(claims), 'Bad JSON web token');
      }
      fieldsOf(await ask({ aud: ['https://shop.example', 'https://chat.example'] }));
    } finally {
      await strict.close();
    }
  });
});

describe('development endpoint', () => {
  it('responds only to the local machine and hides the response from web pages', async () => {
    const ask = (headers: Record<string, string>) =>
      server.request('POST', '/dev_fetch_api_key', { params: { username: 'desdemona@zulip.com' }, headers });
    const own = { Host: new URL(server.url).host };
    const page = await ask({ ...own, Origin: server.url });
    expect(fieldsOf(page)).toHaveProperty('api_key');
    expect(page.headers).not.toHaveProperty('access-control-allow-origin');
    for (const headers of [{ Host: 'rebound.example' }, { ...own, Origin: 'https://example.com' }]) {
      const refused = await ask(headers);
      expectRefusal(refused, 'This endpoint answers only to this machine itself.', { status: 403 });
      expect(refused.headers).not.toHaveProperty('access-control-allow-origin');
    }
  });
});

it('development endpoints do not exist in production', async () => {
  const production = await TestServer.start({ isDev: false });
  const text = 'Endpoint not available in production.';
  expectRefusal(await production.post('/dev_fetch_api_key', null, { username: 'hamlet@zulip.com' }), text);
  expectRefusal(await production.get('/dev_list_users', null), text);
  expect((await production.get('/server_settings', null)).body.authentication_methods.dev).toBe(false);
  await production.close();
});
