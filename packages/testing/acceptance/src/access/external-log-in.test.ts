import { DomainError } from '@parley/domain/kernel';
import type { ExternalIdentity, LogInProvider, LogInResponse } from '@parley/domain/log-in';
import { RemoveExpiredLogIns } from '@parley/domain/log-in';
import { type StatedRole, UnlinkAccount } from '@parley/domain/membership';
import { HostLogInProvider } from '@parley/server/testing';
import { expectRefused, fieldsOf } from '../testing/expectations.js';
import { loggedLines, serverPerSuite } from '../testing/servers.js';
import { TestBrowser } from '../testing/test-browser.js';
import { desktopTokenIn, hiddenFieldsOf, type TestReply } from '../testing/test-reply.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

const verified = (email: string) => ({ email, emailStatements: [{ email, isVerified: true }] });

const PAD = '0123456789abcdef'.repeat(4);

/** Identity that the service confirms next; an error rejects the log-in. */
let confirmed: Partial<ExternalIdentity> | Error;
const seen: LogInResponse[] = [];
const providerNamed = (name: string): LogInProvider => ({
  method: { name, kind: 'openIdConnectAuthentication', displayName: `The ${name}`, displayIcon: null, realms: null },
  begin: async ({ state, callbackUrl }) => `https://${name}.example/?${new URLSearchParams({ state, callbackUrl })}`,
  identify: async (_challenge, response) => {
    seen.push(response);
    if (confirmed instanceof Error) throw confirmed;
    return { subject: 's1', email: null, emailStatements: [], fullName: null, role: null, ...confirmed };
  },
});

const { lines, logger } = loggedLines();
let n = 0;
/** User for a single test. */
let ophelia: TestUser;
const { server, people } = serverPerSuite({
  logger,
  authenticate: async ({ headers }) => {
    const [, realm, id] = /host=(\w+)-(\d+)/.exec(headers.cookie ?? '') ?? [];
    return realm === undefined ? null : { realm, userId: Number(id) };
  },
  logInProviders: [
    new HostLogInProvider({ url: 'https://shop.example/login?lang=en', name: 'The shop' }),
    providerNamed('keycloak'),
    providerNamed('gitlab'),
  ],
});
beforeAll(async () => {
  await server.changeRealm({ settings: { openIdConnectAuthentication: true } });
});
beforeEach(async () => {
  lines.length = 0;
  seen.length = 0;
  n++;
  ophelia = await server.addUser({ email: `ophelia${n}@zulip.com`, fullName: `Ophelia ${n}` });
  confirmed = { subject: `s${n}`, ...verified(ophelia.email), fullName: 'Ophelia' };
});
afterEach(() => server.changeRealm({ settings: { inviteRequired: true, openIdConnectAuthentication: true } }));

const stated = (role: StatedRole['role']): StatedRole => ({ role, sparesGuests: false });
const start = (method: string, query = '') => `/accounts/login/external/${method}/${query}`;
const locationOf = (reply: TestReply): URL => {
  expect(reply.status).toBe(303);
  return new URL(reply.headers.location as string, server.url);
};
/** Begins a log-in and returns the state. */
const begin = async (browser: TestBrowser, method = 'keycloak', query = ''): Promise<string> =>
  locationOf(await browser.get(start(method, query))).searchParams.get('state')!;
const complete = (browser: TestBrowser, state: string, method = 'keycloak', headers: Record<string, string> = {}) =>
  browser.request('GET', `/accounts/login/complete/${method}/`, { state, code: 'c' }, { headers });
/** Header with the cookie that holds the pending log-in. */
const cookieOf = ({ cookies }: TestBrowser, state: string): string => {
  const name = `parley_log_in_${state.slice(0, 8)}`;
  return `${name}=${cookies.get(`${name};/accounts/login`)}`;
};
const isLoggedInAs = async (browser: TestBrowser, id: number) =>
  (await browser.get('/json/users/me')).body.user_id === id;
const EXPIRED = 'The log-in took too long or was interrupted.';
/** Key as decrypted by the phone app. */
function keyIn(location: URL): string {
  const encrypted = Buffer.from(location.searchParams.get('otp_encrypted_api_key')!, 'hex');
  const pad = Buffer.from(PAD, 'hex');
  return Buffer.from(encrypted.map((byte, index) => byte ^ pad[index]!)).toString('latin1');
}

describe('external_authentication_methods', () => {
  it('lists the offered methods in order, with their log-in paths', async () => {
    const { external_authentication_methods: methods, authentication_methods: flags } = fieldsOf(
      await server.get('/server_settings', null),
    ) as Record<string, unknown>;
    const path = start('host');
    expect(methods).toEqual([
      { name: 'host', display_name: 'The shop', display_icon: null, login_url: path, signup_url: path },
      expect.objectContaining({ name: 'keycloak', login_url: start('keycloak') }),
      expect.objectContaining({ name: 'gitlab' }),
    ]);
    expect(flags).toMatchObject({ 'openid connect': true, google: false, saml: false });
    const form = await new TestBrowser(server).get('/login/', { next: '/a?b=c' });
    expect(form.body).toContain(`href="${start('keycloak', '?next=%2Fa%3Fb%3Dc')}">Log in with The keycloak</a>`);
    // The host creates accounts at its log-in, without invitations.
    expect(form.body).not.toContain('An invitation from a member');
  });

  it('is included in the response to a rejected password, whether or not the address has an account or a password', async () => {
    const { realmId } = server;
    await server.storage.uow.write(realmId, (tx) => tx.users.setPasswordHash(realmId, ophelia.id, null));
    for (const username of [ophelia.email, people.hamlet.email, 'nobody@zulip.com']) {
      expect(await server.post('/fetch_api_key', null, { username, password: 'x' })).toMatchObject({
        status: 401,
        body: {
          result: 'error',
          code: 'AUTHENTICATION_FAILED',
          msg: 'Your username or password is incorrect',
          log_in_methods: ['host', 'keycloak', 'gitlab'],
        },
      });
      expect(lines.at(-1)).toMatchObject({
        audit: 'failed log-in',
        account: username,
        failure: 'AUTHENTICATION_FAILED',
      });
    }
  });

  it('omits methods that the organization has not enabled', async () => {
    fieldsOf(
      await server.patch('/realm', people.desdemona, {
        authentication_methods: { Email: true, 'OpenID Connect': false },
      }),
    );
    const { body } = await server.get('/server_settings', null);
    expect((body.external_authentication_methods as { name: string }[]).map(({ name }) => name)).toEqual(['host']);
    const refused = await new TestBrowser(server).get(start('keycloak'));
    expectRefused(refused, 'There is no such way to log in.');
    const { realm_authentication_methods } = (await server.post('/register', people.hamlet)).body;
    expect(realm_authentication_methods).toMatchObject({
      'OpenID Connect': { enabled: false, available: true },
      SAML: { enabled: false, available: false },
    });
  });

  it('rejects unknown methods and methods of other organizations', async () => {
    await server.addRealm(`lear${n}`);
    const browser = new TestBrowser(server);
    expectRefused(await browser.get(start('unknown')), 'There is no such way to log in.');
    const reply = await browser.request('GET', start('keycloak'), undefined, { realm: `lear${n}` });
    expectRefused(reply, 'There is no such way to log in.');
  });
});

describe('log-in through the host application', () => {
  const asHost = (user: Pick<TestUser, 'id'>, realm = 'zulip') => ({ Cookie: `host=${realm}-${user.id}` });

  it("begins at the application's page with the address to return to", async () => {
    const browser = new TestBrowser(server);
    const location = locationOf(await browser.get(start('host')));
    expect(location.origin + location.pathname).toBe('https://shop.example/login');
    expect(location.searchParams.get('lang')).toBe('en');
    expect(location.searchParams.get('next')).toMatch(
      new RegExp(`^${server.url}/accounts/login/complete/host/\\?state=[\\w-]{43}$`),
    );
  });

  it('gives a phone app its key without a password', async () => {
    const browser = new TestBrowser(server);
    const next = new URL(
      locationOf(await browser.get(start('host', `?mobile_flow_otp=${PAD}`))).searchParams.get('next')!,
    );
    const state = next.searchParams.get('state')!;
    const cookie = `${cookieOf(browser, state)}; ${asHost(ophelia).Cookie}`;
    const reply = await complete(browser, state, 'host', { Cookie: cookie });
    const location = locationOf(reply);
    expect(location.href).toMatch(/^zulip:\/\/login\?otp_encrypted_api_key=[0-9a-f]{64}&email=/);
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      email: ophelia.email,
      user_id: String(ophelia.id),
      realm: server.url,
    });
    expect(keyIn(location)).toBe(ophelia.apiKey);
    expect(reply.headers['set-cookie'] ?? []).not.toContainEqual(expect.stringMatching(/^sessionid/));
    expectRefused(await complete(browser, state, 'host', { Cookie: cookie }), EXPIRED);
  });

  it('rejects a browser that the application does not recognize or identifies as a user of another organization', async () => {
    const lear = await server.addRealm(`other${n}`);
    const king = await server.addUser({ email: 'king@lear.org', fullName: 'Lear', realmId: lear });
    for (const cookie of ['', asHost(king, `other${n}`).Cookie]) {
      const browser = new TestBrowser(server);
      const next = locationOf(await browser.get(start('host'))).searchParams.get('next')!;
      const state = new URL(next).searchParams.get('state')!;
      const Cookie = `${cookieOf(browser, state)}; ${cookie}`;
      expectRefused(await complete(browser, state, 'host', { Cookie }), 'did not confirm who you are');
    }
  });
});

describe('log-in through another service', () => {
  it('links an account by verified email, opens a session and writes an audit line', async () => {
    const browser = new TestBrowser(server);
    const state = await begin(browser, 'keycloak', '?next=/user_uploads/1/x');
    const reply = await complete(browser, state);
    expect(reply).toMatchObject({ status: 303, headers: { location: '/user_uploads/1/x' } });
    expect(await isLoggedInAs(browser, ophelia.id)).toBe(true);
    expect(lines).toEqual([
      expect.objectContaining({ audit: 'log-in', logInMethod: 'keycloak', account: ophelia.email, change: 'linked' }),
    ]);
    expect(seen[0]!.url).toBe(`${server.url}/accounts/login/complete/keycloak/?state=${state}&code=c`);
  });

  it('recognizes a linked account by its subject alone', async () => {
    await complete(new TestBrowser(server), await begin(new TestBrowser(server)));
    const first = new TestBrowser(server);
    await complete(first, await begin(first));
    confirmed = { subject: `s${n}`, ...verified(people.iago.email) };
    const browser = new TestBrowser(server);
    await complete(browser, await begin(browser));
    expect(await isLoggedInAs(browser, ophelia.id)).toBe(true);
    expect(lines.at(-1)).not.toHaveProperty('change');
  });

  it('separates the subjects of different services', async () => {
    const first = new TestBrowser(server);
    await complete(first, await begin(first));
    confirmed = { subject: `s${n}`, ...verified(people.cordelia.email) };
    const second = new TestBrowser(server);
    await complete(second, await begin(second, 'gitlab'), 'gitlab');
    expect(await isLoggedInAs(second, people.cordelia.id)).toBe(true);
  });

  it.each<[string, () => Partial<ExternalIdentity> | Error, string, number]>([
    ['an unverified email', () => ({ email: ophelia.email }), 'does not vouch for your email address', 400],
    [
      'no email',
      () => ({ emailStatements: [{ email: null, isVerified: true }] }),
      'does not vouch for your email address',
      400,
    ],
    ['an invalid email', () => ({ ...verified('x') }), 'does not vouch for your email address', 400],
    ['an empty subject', () => ({ subject: '' }), 'does not respond as expected', 400],
    [
      'a refusal',
      () => new DomainError('LOG_IN_REFUSED', 'The service did not confirm who you are.'),
      'did not confirm',
      400,
    ],
    ['a failure', () => new Error('ECONNREFUSED 10.0.0.1'), 'does not respond as expected', 400],
  ])('rejects %s', async (_, identity, text, status) => {
    confirmed = identity();
    const browser = new TestBrowser(server);
    const reply = await complete(browser, await begin(browser));
    expectRefused(reply, text, status);
    expect(reply.body).not.toContain('ECONNREFUSED');
    expect(reply.body).toMatch(/<a class="button[^"]*" href="\/login\/[^"]*">Log in/);
    expect(browser.cookies.has('sessionid')).toBe(false);
    expect(lines.at(-1)).toMatchObject({ audit: 'failed log-in', logInMethod: 'keycloak' });
  });

  it('rejects bots and deactivated users', async () => {
    const bot = await server.addBot(ophelia, `helper${n}`);
    confirmed = { subject: 'bot', ...verified(bot.email) };
    const browser = new TestBrowser(server);
    expectRefused(await complete(browser, await begin(browser)), 'did not confirm who you are');
    confirmed = { subject: `s${n}`, ...verified(ophelia.email) };
    await complete(browser, await begin(browser));
    fieldsOf(await server.delete(`/users/${ophelia.id}`, people.desdemona));
    expectRefused(await complete(browser, await begin(browser)), 'Account is deactivated');
  });

  it('creates accounts only if the organization is open to all', async () => {
    const email = `yorick${n}@example.com`;
    confirmed = { subject: `y${n}`, ...verified(email), fullName: 'Yorick', role: stated('moderator') };
    const browser = new TestBrowser(server);
    expectRefused(await complete(browser, await begin(browser)), 'Please request an invite');
    await server.changeRealm({ settings: { inviteRequired: false } });
    await complete(browser, await begin(browser));
    const me = fieldsOf(await browser.get('/json/users/me')) as Record<string, unknown>;
    expect(me).toMatchObject({ full_name: 'Yorick', delivery_email: email, role: 300 });
    expect(lines.at(-1)).toMatchObject({ change: 'created', account: email });
  });

  it("applies the organization's domains to new accounts", async () => {
    await server.changeRealm({ settings: { inviteRequired: false, disallowDisposableEmailAddresses: true } });
    confirmed = { subject: `y${n}`, ...verified('x@mailinator.com') };
    const browser = new TestBrowser(server);
    expectRefused(await complete(browser, await begin(browser)), 'Please use your real email address.');
  });

  it('adopts the role sent by the service, except for the last owner', async () => {
    confirmed = { subject: `s${n}`, ...verified(ophelia.email), role: stated('guest') };
    const browser = new TestBrowser(server);
    await complete(browser, await begin(browser));
    expect((await browser.get('/json/users/me')).body.role).toBe(600);
    confirmed = { subject: `o${n}`, ...verified(people.desdemona.email), role: stated('guest') };
    const owner = new TestBrowser(server);
    await complete(owner, await begin(owner));
    expect((await owner.get('/json/users/me')).body.role).toBe(100);
    expect(lines).toContainEqual(
      expect.objectContaining({
        userId: people.desdemona.id,
        problem: expect.stringContaining('stays owner: The owner permission cannot be removed'),
      }),
    );
  });

  it('reports data missing from the service', async () => {
    confirmed = { ...confirmed, problems: ['The claim groups is missing.'] };
    const browser = new TestBrowser(server);
    await complete(browser, await begin(browser));
    expect(await isLoggedInAs(browser, ophelia.id)).toBe(true);
    expect(lines).toContainEqual(
      expect.objectContaining({ method: 'keycloak', problem: 'The claim groups is missing.' }),
    );
  });

  describe('with an address that belongs to another account of the service', () => {
    const CONFLICT = 'belongs to a user who logs in with another account of this service';
    /** Account that receives Ophelia's address, while her own account is linked. */
    const successor = async () => {
      const first = new TestBrowser(server);
      await complete(first, await begin(first));
      confirmed = { subject: `successor${n}`, ...verified(ophelia.email), fullName: 'Successor' };
      return new TestBrowser(server);
    };

    it('is rejected and reported', async () => {
      const browser = await successor();
      expectRefused(await complete(browser, await begin(browser)), CONFLICT);
      expect(browser.cookies.has('sessionid')).toBe(false);
      expect(lines).toContainEqual(
        expect.objectContaining({ method: 'keycloak', subject: `successor${n}`, userId: ophelia.id }),
      );
      expect(lines.at(-1)).toMatchObject({ audit: 'failed log-in', failure: 'LINKED_TO_ANOTHER_ACCOUNT' });
      confirmed = { subject: `s${n}` };
      const own = new TestBrowser(server);
      await complete(own, await begin(own));
      expect(await isLoggedInAs(own, ophelia.id)).toBe(true);
    });

    it('is rejected and reported even if the user has left', async () => {
      const browser = await successor();
      fieldsOf(await server.delete(`/users/${ophelia.id}`, people.desdemona));
      expectRefused(await complete(browser, await begin(browser)), CONFLICT);
      expect(lines).toContainEqual(expect.objectContaining({ subject: `successor${n}`, userId: ophelia.id }));
    });

    it('is linked once the operator has unlinked the former account', async () => {
      const browser = await successor();
      await server.parley
        .useCase(UnlinkAccount)
        .execute({ realmId: server.realmId, userId: ophelia.id, method: 'keycloak' });
      await complete(browser, await begin(browser));
      expect(await isLoggedInAs(browser, ophelia.id)).toBe(true);
    });

    it('may be linked through another service', async () => {
      const browser = await successor();
      await complete(browser, await begin(browser, 'gitlab'), 'gitlab');
      expect(await isLoggedInAs(browser, ophelia.id)).toBe(true);
    });
  });
});

describe('pending log-in', () => {
  it('expires after five minutes and is removed', async () => {
    const browser = new TestBrowser(server);
    const state = await begin(browser);
    server.clock.advance(299);
    expect((await complete(browser, state)).status).toBe(303);
    const late = await begin(browser);
    server.clock.advance(300);
    expectRefused(await complete(browser, late), EXPIRED);
  });

  it('is kept by the browser and stored only on completion, so that log-ins cannot fill the storage', async () => {
    const removeStored = () =>
      server.storage.uow.writeAcross((tx) => tx.logIns.removeExpiredUses(server.clock.now() + 3600, 1000));
    await removeStored();
    const browser = new TestBrowser(server);
    const state = await begin(browser, 'keycloak', `?mobile_flow_otp=${PAD}`);
    expect((await browser.get('/login/passkey/')).status).toBe(200);
    confirmed = new DomainError('LOG_IN_REFUSED', 'The service did not confirm who you are.');
    await complete(browser, await begin(browser));
    expect(await removeStored()).toBe(0);
    const kept = browser.cookies.get(`parley_log_in_${state.slice(0, 8)};/accounts/login`)!;
    expect(Buffer.from(kept, 'base64url').toString('latin1')).not.toContain(PAD);
    confirmed = { subject: `s${n}`, ...verified(ophelia.email) };
    await complete(browser, state);
    server.clock.advance(300);
    await server.parley.useCase(RemoveExpiredLogIns).execute();
    expect(await removeStored()).toBe(0);
    await complete(browser, await begin(browser));
    expect(await removeStored()).toBe(1);
  });

  it("is kept for the browser's last five log-ins", async () => {
    const browser = new TestBrowser(server);
    const states: string[] = [];
    for (let index = 0; index < 6; index++) states.push(await begin(browser));
    expect([...browser.cookies.keys()].filter((name) => name.startsWith('parley_log_in_'))).toHaveLength(5);
    expectRefused(await complete(browser, states[0]!), EXPIRED);
    for (const state of states.slice(1)) expect((await complete(browser, state)).status).toBe(303);
    expect([...browser.cookies.keys()].filter((name) => name.startsWith('parley_log_in_'))).toEqual([]);
  });

  it('redirects to the start page if the requested path is too long for a cookie', async () => {
    const browser = new TestBrowser(server);
    for (const [next, target] of [
      [`/${'a'.repeat(990)}`, `/${'a'.repeat(990)}`],
      [`/${'a'.repeat(5000)}`, '/'],
      [`/${'\u0001'.repeat(500)}`, '/'],
    ] as const) {
      const state = await begin(browser, 'keycloak', `?next=${encodeURIComponent(next)}`);
      expect((await complete(browser, state)).headers.location).toBe(target);
    }
  });

  it.each(['after a restart', 'on another server of the database'])('is completed %s', async (where) => {
    const logInProviders = [providerNamed('keycloak')];
    const first = await TestServer.start({ logInProviders });
    await first.changeRealm({ settings: { openIdConnectAuthentication: true } });
    const { hamlet } = first.people;
    confirmed = { subject: 'hamlet', ...verified(hamlet.email) };
    const browser = new TestBrowser(first);
    const state = await begin(browser, 'keycloak', `?mobile_flow_otp=${PAD}`);
    const isRestart = where === 'after a restart';
    const second = isRestart
      ? await TestServer.start({ logInProviders, snapshot: await first.closeAsSnapshot() })
      : await first.startAnother();
    try {
      const later = new TestBrowser(second);
      for (const cookie of browser.cookies) later.cookies.set(...cookie);
      expect(keyIn(locationOf(await complete(later, state)))).toBe(hamlet.apiKey);
      expectRefused(await complete(later, state), EXPIRED);
    } finally {
      await second.close();
      if (!isRestart) await first.close();
    }
  });

  it('is completed once, and remains usable after a service failure', async () => {
    const browser = new TestBrowser(server);
    const state = await begin(browser);
    const cookies = [...browser.cookies];
    expect((await complete(browser, state)).status).toBe(303);
    expectRefused(await complete(browser, state), EXPIRED);
    for (const cookie of cookies) browser.cookies.set(...cookie);
    expectRefused(await complete(browser, state), EXPIRED);
    const other = await begin(browser);
    confirmed = new Error('down');
    expectRefused(await complete(browser, other), 'does not respond as expected');
    confirmed = { subject: `s${n}`, ...verified(ophelia.email) };
    expect((await complete(browser, other)).status).toBe(303);
    expect(seen).toHaveLength(3);
  });

  it('is bound to its browser, method and organization, and otherwise does not contact the service', async () => {
    const [victim, attacker] = [new TestBrowser(server), new TestBrowser(server)];
    expectRefused(await complete(victim, await begin(attacker)), EXPIRED);
    expectRefused(await complete(attacker, await begin(attacker), 'gitlab'), EXPIRED);
    const state = await begin(attacker);
    await server.addRealm(`elsewhere${n}`);
    const elsewhere = await attacker.request(
      'GET',
      '/accounts/login/complete/keycloak/',
      { state },
      { realm: `elsewhere${n}` },
    );
    expectRefused(elsewhere, 'There is no such way to log in.');
    for (const wrong of ['', 'x', 'x'.repeat(5000)]) expect((await complete(attacker, wrong)).status).toBe(400);
    expect(seen).toEqual([]);
  });

  it('is kept in a cookie that scripts and other sites cannot use', async () => {
    const reply = await new TestBrowser(server).get(start('keycloak'));
    expect(reply.headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^parley_log_in_[\w-]{8}=[\w-]{100,400}; Path=\/accounts\/login; Max-Age=300; SameSite=Lax; HttpOnly$/,
      ),
    ]);
  });
});

describe('log-in to an app', () => {
  it('gives a phone app its key after a password log-in in the browser', async () => {
    const browser = new TestBrowser(server);
    const form = await browser.get('/login/', { mobile_flow_otp: PAD });
    expect(form.body).toContain(`<input type="hidden" name="mobile_flow_otp" value="${PAD}">`);
    expect(form.body).toContain(start('keycloak', `?mobile_flow_otp=${PAD}`));
    const [, csrfmiddlewaretoken] = /name="csrfmiddlewaretoken" value="([\w-]+)"/.exec(String(form.body))!;
    const { email: username, password } = ophelia;
    const reply = await browser.post('/login/', { username, password, mobile_flow_otp: PAD, csrfmiddlewaretoken });
    expect(keyIn(locationOf(reply))).toBe(ophelia.apiKey);
    expect(reply.headers['content-security-policy']).toContain("form-action 'self' zulip:;");
  });

  it('gives a phone app its key after a log-in through another service', async () => {
    const browser = new TestBrowser(server);
    const state = await begin(browser, 'keycloak', `?mobile_flow_otp=${PAD.toUpperCase()}`);
    expect(keyIn(locationOf(await complete(browser, state)))).toBe(ophelia.apiKey);
  });

  it('gives the desktop app a token for one session', async () => {
    const browser = new TestBrowser(server);
    const reply = await complete(browser, await begin(browser, 'keycloak', `?desktop_flow_otp=${PAD}`));
    expect(reply.status).toBe(200);
    expect(browser.cookies.has('sessionid')).toBe(false);
    const token = desktopTokenIn(reply, PAD);
    const app = new TestBrowser(server);
    expect(await app.get(`/accounts/login/subdomain/${token}`)).toMatchObject({
      status: 303,
      headers: { location: '/' },
    });
    expect(await isLoggedInAs(app, ophelia.id)).toBe(true);
    for (const wrong of [token, await begin(app)]) {
      expectRefused(await new TestBrowser(server).get(`/accounts/login/subdomain/${wrong}`), EXPIRED);
    }
  });

  it('gives the desktop app no token that survives a change of the password', async () => {
    const browser = new TestBrowser(server);
    const form = await browser.get(`/login/?desktop_flow_otp=${PAD}`);
    const { email: username, password } = ophelia;
    const reply = await browser.post('/login/', { ...hiddenFieldsOf(form), username, password });
    const fields = { old_password: password, new_password: 'a quite different 1 to guess' };
    fieldsOf(await server.patch('/settings', ophelia, fields));
    const path = `/accounts/login/subdomain/${desktopTokenIn(reply, PAD)}`;
    expectRefused(await new TestBrowser(server).get(path), EXPIRED);
  });

  it.each<[string, Record<string, string>]>([
    ['a link of another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['a link of another organization', { 'Sec-Fetch-Site': 'same-site' }],
    ['a link of unknown origin', {}],
  ])('requires confirmation before the token replaces a session by %s', async (_, headers) => {
    const service = new TestBrowser(server);
    const reply = await complete(service, await begin(service, 'keycloak', `?desktop_flow_otp=${PAD}`));
    const path = `/accounts/login/subdomain/${desktopTokenIn(reply, PAD)}`;
    const browser = await TestBrowser.loggedIn(server, people.hamlet);
    const asked = await browser.request('GET', path, undefined, { headers });
    expect(asked.status).toBe(200);
    expect(asked.body).toContain(`<form method="post" action="${path}">`);
    expect(await isLoggedInAs(browser, people.hamlet.id)).toBe(true);
    expectRefused(
      await browser.request('POST', path, {}, { headers: { 'Sec-Fetch-Site': 'cross-site' } }),
      'another site',
      403,
    );
    const own = await browser.request('POST', path, {}, { headers: { 'Sec-Fetch-Site': 'same-origin' } });
    expect(own).toMatchObject({ status: 303, headers: { location: '/' } });
    expect(await isLoggedInAs(browser, ophelia.id)).toBe(true);
  });

  it('opens the session immediately for an address opened by the app or the user', async () => {
    const service = new TestBrowser(server);
    const reply = await complete(service, await begin(service, 'keycloak', `?desktop_flow_otp=${PAD}`));
    const browser = await TestBrowser.loggedIn(server, people.hamlet);
    const headers = { 'Sec-Fetch-Site': 'none' };
    const path = `/accounts/login/subdomain/${desktopTokenIn(reply, PAD)}`;
    expect((await browser.request('GET', path, undefined, { headers })).status).toBe(303);
    expect(await isLoggedInAs(browser, ophelia.id)).toBe(true);
  });

  it.each(['mobile_flow_otp=xyz', `mobile_flow_otp=${PAD}0`, `mobile_flow_otp=${PAD}&desktop_flow_otp=${PAD}`])(
    'rejects the one-time pad %s',
    async (query) => {
      expectRefused(await new TestBrowser(server).get(start('keycloak', `?${query}`)), 'invalid one-time pad');
      expectRefused(await new TestBrowser(server).get(`/login/?${query}`), 'invalid one-time pad');
    },
  );
});
