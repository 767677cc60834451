import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { FetchLogInPictures } from '@parley/domain/log-in';
import { type OpenIdConnectAccount, openIdConnectProviders } from '@parley/node-adapters';
import { expectRefused, fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { imageFile, postFiles } from '../testing/multipart.js';
import { TestBrowser } from '../testing/test-browser.js';
import { desktopTokenIn, type TestReply } from '../testing/test-reply.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

const SECRET = 'a secret that the service knows';

/** Claims of the accounts at the service, by subject. */
const ACCOUNTS: Record<string, object> = {
  hamlet: { email: 'hamlet@zulip.com', email_verified: true, name: 'Hamlet' },
  unverified: { email: 'iago@zulip.com', email_verified: false },
  yorick: { email: 'yorick@example.com', email_verified: true, name: 'Yorick', realm: { roles: ['x', 'chat-admins'] } },
  outsider: { email: 'outsider@elsewhere.org', email_verified: true },
};

/** Claims in ID tokens, by subject; by default only the user information has claims. */
const ID_TOKENS: Record<string, object> = {};

/** Changes responses of the service. */
let misbehave: ((path: string, body: Wire, context: { redirect(url: string): void }) => unknown) | null = null;
let service: Server;
let issuer: string;
let account: OpenIdConnectAccount;
let server: TestServer;
const problems: { err?: Error }[] = [];

beforeAll(async () => {
  service = createServer();
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  issuer = `http://localhost:${(service.address() as AddressInfo).port}`;
  account = {
    name: 'keycloak',
    kind: 'openIdConnectAuthentication',
    issuer,
    clientId: 'parley',
    clientSecret: SECRET,
    displayName: 'Keycloak',
    displayIcon: null,
    scope: 'openid email profile',
    realms: ['zulip'],
    allowedDomains: ['zulip.com', 'example.com'],
    trustsEmails: false,
    createsPeople: null,
    requiredGroups: [],
    claims: { email: 'email', name: 'name', role: 'realm.roles', groups: 'realm.groups', picture: null },
    groups: new Map([
      ['eng', 'Engineers'],
      ['eng-leads', 'Engineers'],
      ['staff', 'role:owners'],
      ['unknown', 'Nobody made it'],
    ]),
    singleLogOut: true,
    roles: new Map([
      ['chat-owners', 'owner'],
      ['chat-admins', 'administrator'],
    ]),
    defaultRole: 'member',
  };
  const pictured = {
    ...account,
    name: 'pictured',
    claims: { ...account.claims, role: null, groups: null, picture: 'picture' },
  };
  const fresh = { ...account, name: 'fresh' };
  const expired = { ...account, name: 'expired', clientSecret: 'the secret before' };
  const silent = { ...account, name: 'silent', issuer: 'http://localhost:1' };
  const mapped = { ...account, name: 'mapped', claims: { ...account.claims, email: 'preferred_username' } };
  const few = { ...account.claims, role: null, groups: null };
  const trusting = { ...account, name: 'trusting', trustsEmails: true, claims: few };
  const restricted = { ...account, name: 'restricted', requiredGroups: ['chat', 'eng'] };
  const log = (fields: object) => void ('audit' in fields || problems.push(fields));
  server = await TestServer.start({
    logInProviders: await openIdConnectProviders([
      account,
      silent,
      pictured,
      fresh,
      expired,
      mapped,
      trusting,
      restricted,
    ]),
    webhookNetworks: ['127.0.0.1/32'],
    logger: { info: () => {}, warn: log, error: log },
  });
  await server.changeRealm({ settings: { openIdConnectAuthentication: true, inviteRequired: false } });
  jest.spyOn(console, 'warn').mockImplementation();
  jest.spyOn(console, 'info').mockImplementation();
  jest.spyOn(console, 'error').mockImplementation();
  const { Provider } = await import('oidc-provider');
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'parley',
        client_secret: SECRET,
        redirect_uris: ['keycloak', 'pictured', 'fresh', 'expired', 'mapped', 'trusting', 'restricted'].map(
          (name) => `${server.url}/accounts/login/complete/${name}/`,
        ),
        token_endpoint_auth_method: 'client_secret_post',
        post_logout_redirect_uris: [`${server.url}/login/`],
        backchannel_logout_uri: `${server.url}/accounts/login/logout/keycloak/`,
        backchannel_logout_session_required: true,
      },
    ],
    pkce: { required: () => true },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'realm', 'picture', 'preferred_username', '_claim_names'],
    },
    conformIdTokenClaims: false,
    findAccount: async (_: unknown, sub: string) => ({
      accountId: sub,
      claims: async (use: string) => ({ sub, ...(use === 'id_token' ? ID_TOKENS : ACCOUNTS)[sub] }),
    }),
    features: { devInteractions: { enabled: true }, backchannelLogout: { enabled: true } },
  });
  provider.use(async (context, next) => {
    await next();
    if (misbehave) context.body = await misbehave(context.path, context.body as Wire, context);
  });
  service.on('request', provider.callback());
});
afterAll(async () => {
  await server.close();
  service.closeAllConnections();
  service.close();
});
afterEach(() => {
  misbehave = null;
  problems.length = 0;
});

/** Follows the service's pages from an address and logs in there; returns the address of the redirect back. */
async function logInAtService(address: string, login: string, cookies = new Map<string, string>()): Promise<string> {
  let url = new URL(address);
  for (let step = 0; step < 20; step++) {
    const isForm = url.pathname.startsWith('/interaction/') && !url.pathname.endsWith('/abort');
    const asks = async (init: RequestInit = {}) => {
      const Cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
      const reply = await fetch(url, { redirect: 'manual', ...init, headers: { Cookie } });
      for (const cookie of reply.headers.getSetCookie()) {
        const [name, value] = cookie.split(';')[0]!.split('=') as [string, string];
        cookies.set(name, value);
      }
      return reply;
    };
    let reply = await asks();
    if (isForm) {
      const isLogin = (await reply.text()).includes('name="login"');
      if (login === 'nobody') url = new URL(`${url.href}/abort`);
      const fields: Record<string, string> = isLogin
        ? { prompt: 'login', login, password: 'x' }
        : { prompt: 'consent' };
      reply = await asks(login === 'nobody' ? {} : { method: 'POST', body: new URLSearchParams(fields) });
    }
    url = new URL(reply.headers.get('location')!, url);
    if (url.origin === server.url) return url.pathname + url.search;
  }
  throw new Error('The service does not end');
}

const beginAt = async (browser: TestBrowser, method = 'keycloak'): Promise<string> =>
  (await browser.get(`/accounts/login/external/${method}/`)).headers.location as string;
/** Logs in at the service and returns. */
async function logIn(login: string, browser = new TestBrowser(server)): Promise<{ reply: TestReply; back: string }> {
  const back = await logInAtService(await beginAt(browser), login);
  return { reply: await browser.get(back), back };
}
/** Returns an error's message with its causes. */
const reasonOf = ({ message, cause }: Error): string =>
  cause instanceof Error ? `${message}: ${reasonOf(cause)}` : message;
const NOT_CONFIRMED = 'The service did not confirm who you are.';
const BROKEN = 'The service for logging in does not respond as expected.';

describe('log-in by OpenID Connect', () => {
  it('requests a code with PKCE, state and nonce', async () => {
    const address = new URL(await beginAt(new TestBrowser(server)));
    expect(address.origin).toBe(issuer);
    expect(Object.fromEntries(address.searchParams)).toEqual({
      client_id: 'parley',
      response_type: 'code',
      redirect_uri: `${server.url}/accounts/login/complete/keycloak/`,
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[0-9a-f]{64}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
  });

  it('logs in the owner of a verified address', async () => {
    const browser = new TestBrowser(server);
    expect((await logIn('hamlet', browser)).reply).toMatchObject({ status: 303, headers: { location: '/' } });
    expect(fieldsOf(await browser.get('/json/users/me'))).toMatchObject({ user_id: server.people.hamlet.id });
  });

  it('creates an account with name and role from claims', async () => {
    const browser = new TestBrowser(server);
    expect((await logIn('yorick', browser)).reply.status).toBe(303);
    expect(fieldsOf(await browser.get('/json/users/me'))).toMatchObject({
      full_name: 'Yorick',
      delivery_email: 'yorick@example.com',
      role: 200,
    });
  });

  it('rejects unverified addresses, other domains and users who decline', async () => {
    expectRefused((await logIn('unverified')).reply, 'The service does not vouch for your email address.');
    expectRefused((await logIn('outsider')).reply, NOT_CONFIRMED);
    expectRefused((await logIn('nobody')).reply, NOT_CONFIRMED);
  });

  it('rejects a replayed code and a code of another log-in', async () => {
    const browser = new TestBrowser(server);
    const { back } = await logIn('hamlet', browser);
    expectRefused(await browser.get(back), 'The log-in took too long or was interrupted.');
    const used = new URL(back, server.url).searchParams.get('code')!;
    // The attacker's state with the victim's code.
    const fresh = new URL(await logInAtService(await beginAt(browser), 'yorick'), server.url);
    const victims = new URL(await logInAtService(await beginAt(new TestBrowser(server)), 'hamlet'), server.url);
    for (const code of [used, victims.searchParams.get('code')!, 'invented']) {
      const state = new URL(await beginAt(browser)).searchParams.get('state')!;
      const query = new URLSearchParams({ ...Object.fromEntries(fresh.searchParams), state, code });
      expectRefused(await browser.get(`${fresh.pathname}?${query}`), NOT_CONFIRMED);
    }
  });

  it('rejects a response with another issuer', async () => {
    const browser = new TestBrowser(server);
    const back = new URL(await logInAtService(await beginAt(browser), 'hamlet'), server.url);
    back.searchParams.set('iss', 'https://evil.example');
    expectRefused(await browser.get(back.pathname + back.search), BROKEN);
    expect((problems.at(-1)!.err!.cause as Error).message).toContain('iss');
  });

  it.each<[string, (claims: Record<string, unknown>) => object]>([
    ['another nonce', (claims) => ({ ...claims, nonce: 'x' })],
    ['another audience', (claims) => ({ ...claims, aud: 'somebody' })],
    ['another issuer', (claims) => ({ ...claims, iss: 'https://evil.example' })],
    ['a past expiry', (claims) => ({ ...claims, exp: 1 })],
  ])('rejects a token with %s', async (_, change) => {
    misbehave = (path, body) => {
      if (path !== '/token') return body;
      const [header, payload, signature] = body.id_token.split('.');
      const claims = change(JSON.parse(Buffer.from(payload, 'base64url').toString()));
      const changed = Buffer.from(JSON.stringify(claims)).toString('base64url');
      return { ...body, id_token: [header, changed, signature].join('.') };
    };
    expectRefused((await logIn('hamlet')).reply, BROKEN);
  });

  describe('signature', () => {
    const withToken = (change: (token: string) => string | Promise<string>) => {
      misbehave = async (path, body) => (path === '/token' ? { ...body, id_token: await change(body.id_token) } : body);
    };
    const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

    it('is rejected on a token with claims changed after signing', async () => {
      withToken((token) => {
        const [header, payload, signature] = token.split('.');
        return [header, encoded({ ...decoded(payload!), email: 'iago@zulip.com' }), signature].join('.');
      });
      expectRefused((await logIn('hamlet')).reply, BROKEN);
    });

    it('is rejected if made with another key', async () => {
      const { generateKeyPair, SignJWT } = await import('jose');
      const { privateKey } = await generateKeyPair('RS256');
      withToken((token) => {
        const [header, payload] = token.split('.');
        return new SignJWT(decoded(payload!)).setProtectedHeader(decoded(header!)).sign(privateKey);
      });
      expectRefused((await logIn('hamlet')).reply, BROKEN);
    });

    it('is required', async () => {
      withToken((token) => `${encoded({ alg: 'none' })}.${token.split('.')[1]}.`);
      expectRefused((await logIn('hamlet')).reply, BROKEN);
    });
  });

  it.each(['/.well-known/openid-configuration', '/token', '/jwks', '/me'])(
    'stops reading a response of %s after 1 MiB',
    async (path) => {
      let sent = 0;
      function* endless() {
        while (sent < 64 * 1024 * 1024) {
          sent += 65_536;
          yield Buffer.alloc(65_536, ' ');
        }
      }
      misbehave = (at, body) => (at === path ? Readable.from(endless()) : body);
      const browser = new TestBrowser(server);
      let reply = await browser.get('/accounts/login/external/fresh/');
      if (reply.status !== 400)
        reply = await browser.get(await logInAtService(reply.headers.location as string, 'hamlet'));
      expectRefused(reply, BROKEN);
      expect(reasonOf(problems.at(-1)!.err!)).toContain('too long');
      expect(sent).toBeLessThan(8 * 1024 * 1024);
    },
  );

  it('stops reading oversized keys for a log-out notice', async () => {
    misbehave = (path, body) => (path === '/jwks' ? { keys: [], padding: 'x'.repeat(2 * 1024 * 1024) } : body);
    const header = Buffer.from(JSON.stringify({ alg: 'RS256' })).toString('base64url');
    const fields = { logout_token: `${header}.e30.x` };
    expect((await new TestBrowser(server).post('/accounts/login/logout/pictured/', fields)).status).toBe(400);
    expect(reasonOf(problems.at(-1)!.err!)).toContain('too long');
  });

  it('rejects user information about another subject', async () => {
    misbehave = (path, body) => (path === '/me' ? { ...body, sub: 'iago' } : body);
    expectRefused((await logIn('hamlet')).reply, BROKEN);
  });

  it('reports an expired client secret as such', async () => {
    const browser = new TestBrowser(server);
    const back = await logInAtService(await beginAt(browser, 'expired'), 'hamlet');
    expectRefused(await browser.get(back), BROKEN);
    const message = expect.stringMatching(/^it rejects clientId with its clientSecret, which may have expired/);
    expect(problems.at(-1)).toMatchObject({ method: 'expired', err: { message } });
  });

  describe('with a rejected client secret', () => {
    const noticesTo = async (person: TestUser): Promise<readonly Wire[]> => {
      const narrow = [{ operator: 'sender', operand: 'notification-bot@parley.invalid' }];
      const page = {
        anchor: 'newest',
        num_before: 100,
        num_after: 0,
        narrow: JSON.stringify(narrow),
        apply_markdown: false,
      };
      const messages: readonly Wire[] = fieldsOf(await server.get('/messages', person, page)).messages;
      return messages.filter(({ content }) => content.startsWith('Nobody can log in with Keycloak:'));
    };

    it('notifies owners and administrators once', async () => {
      const { desdemona, iago, hamlet } = server.people;
      for (let n = 0; n < 2; n++) {
        const browser = new TestBrowser(server);
        await browser.get(await logInAtService(await beginAt(browser, 'expired'), 'hamlet'));
      }
      const counts = [desdemona, iago, hamlet].map(async (person) => (await noticesTo(person)).length);
      expect(await Promise.all(counts)).toEqual([1, 1, 0]);
    });

    it('ignores a rejection that only the return address contains', async () => {
      const before = await noticesTo(server.people.iago);
      const browser = new TestBrowser(server);
      const state = new URL(await beginAt(browser)).searchParams.get('state')!;
      const query = new URLSearchParams({ state, iss: issuer, error: 'invalid_client' });
      expectRefused(await browser.get(`/accounts/login/complete/keycloak/?${query}`), BROKEN);
      expect(await noticesTo(server.people.iago)).toEqual(before);
    });
  });

  it("reports service errors other than the user's refusal", async () => {
    const browser = new TestBrowser(server);
    const state = new URL(await beginAt(browser)).searchParams.get('state')!;
    const query = new URLSearchParams({ state, iss: issuer, error: 'invalid_scope', error_description: 'no x' });
    expectRefused(await browser.get(`/accounts/login/complete/keycloak/?${query}`), BROKEN);
    expect(problems.at(-1)!.err!.message).toBe('the service reports invalid_scope: no x');
  });

  it('reports a service that does not respond', async () => {
    const reply = await new TestBrowser(server).get('/accounts/login/external/silent/');
    expectRefused(reply, BROKEN);
    expect(problems.at(-1)).toMatchObject({ method: 'silent' });
  });
});

describe('OpenID Connect configuration check', () => {
  const check = async (change: Partial<OpenIdConnectAccount>, callbackUrls = [callbackUrl('keycloak')]) => {
    const [provider] = await openIdConnectProviders([{ ...account, ...change }]);
    return provider!.check!(callbackUrls);
  };
  const callbackUrl = (name: string) => `${server.url}/accounts/login/complete/${name}/`;

  it('accepts a service that knows the client and its redirect addresses', async () => {
    await expect(check({})).resolves.toBeUndefined();
  });

  it.each<[string, Partial<OpenIdConnectAccount>, string]>([
    ['a wrong secret', { clientSecret: 'wrong' }, 'it rejects clientId with its clientSecret, which may have expired'],
    ['an unknown client', { clientId: 'nobody' }, 'it rejects clientId with its clientSecret'],
  ])('reports %s', async (_, change, text) => {
    await expect(check(change)).rejects.toThrow(text);
  });

  it('reports an issuer with a wrong path', async () => {
    const wrong = `${issuer}/elsewhere`;
    const text = `${wrong}/.well-known/openid-configuration returns 404; issuer must be the issuer URL`;
    await expect(check({ issuer: wrong })).rejects.toThrow(text);
  });

  it('reports an issuer with another name', async () => {
    const named = 'https://id.example.com/realms/example';
    misbehave = (_, body) => ({ ...body, issuer: named });
    await expect(check({})).rejects.toThrow(`the service reports the issuer ${named}; set issuer to this value`);
  });

  it('reports an issuer without metadata', async () => {
    misbehave = () => '<html>Welcome</html>';
    await expect(check({})).rejects.toThrow('openid-configuration has no metadata; issuer must be the issuer URL');
  });

  it('reports a redirect address that is not registered with the service', async () => {
    const wrong = callbackUrl('unregistered');
    await expect(check({}, [callbackUrl('keycloak'), wrong])).rejects.toThrow(
      `it rejects the redirect address ${wrong} with 400; register it at the service`,
    );
  });

  it('reports a scope that the service does not offer to the client', async () => {
    misbehave = (path, body, context) => {
      if (path !== '/auth') return body;
      context.redirect(`${callbackUrl('keycloak')}?error=invalid_scope&error_description=x`);
      return '';
    };
    await expect(check({})).rejects.toThrow('the service reports invalid_scope: x');
  });

  it('reports clocks that differ by hours', async () => {
    const now = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(now - 7_200_000);
    try {
      const text = /^the clock of this machine is 7[12]\d\d seconds behind that of the service; synchronize it/;
      await expect(check({})).rejects.toThrow(text);
    } finally {
      clock.mockRestore();
    }
  });
});

describe('address from a service', () => {
  const CORDELIA = 'cordelia@zulip.com';
  const UNVERIFIED = 'The service does not vouch for your email address.';
  let n = 0;
  /** Logs in for the first time with these claims in the user information and the ID token. */
  async function logInAt(method: string, claims: object, idToken: object = {}) {
    const login = `visitor${++n}`;
    ACCOUNTS[login] = claims;
    ID_TOKENS[login] = idToken;
    const browser = new TestBrowser(server);
    const reply = await browser.get(await logInAtService(await beginAt(browser, method), login));
    return { browser, reply };
  }

  it.each<[string, string, object, object]>([
    [
      'only the user information denies it',
      'trusting',
      { email: CORDELIA, email_verified: false },
      { email: CORDELIA },
    ],
    ['only the ID token denies it', 'trusting', { email: CORDELIA }, { email: CORDELIA, email_verified: false }],
    ['they contradict each other', 'keycloak', { email_verified: true, email: CORDELIA }, { email_verified: 'false' }],
    [
      'another claim is verified',
      'mapped',
      { email: 'a@b.org', email_verified: true, preferred_username: CORDELIA },
      {},
    ],
    ['another document is verified', 'keycloak', { email: CORDELIA }, { email: 'a@b.org', email_verified: true }],
    ['a verification does not name the address', 'keycloak', { email: CORDELIA }, { email_verified: true }],
  ])('is not verified if %s', async (_, method, claims, idToken) => {
    const { browser, reply } = await logInAt(method, claims, idToken);
    expectRefused(reply, UNVERIFIED);
    expect(browser.cookies.has('sessionid')).toBe(false);
  });

  it.each<[string, string, object, object]>([
    ['the ID token verifies them', 'keycloak', {}, { email: CORDELIA, email_verified: true }],
    [
      'both claims contain the same address',
      'mapped',
      { email: CORDELIA, email_verified: true, preferred_username: CORDELIA },
      {},
    ],
    ['a trusted service does not deny it', 'trusting', { email: CORDELIA }, { email: CORDELIA }],
  ])('is verified if %s', async (_, method, claims, idToken) => {
    const { browser } = await logInAt(method, claims, idToken);
    expect(fieldsOf(await browser.get('/json/users/me'))).toMatchObject({ delivery_email: CORDELIA });
  });

  it('logs in only with one of the required groups', async () => {
    const person = { email: CORDELIA, email_verified: true };
    expectRefused((await logInAt('restricted', person)).reply, NOT_CONFIRMED);
    expectRefused((await logInAt('restricted', { ...person, realm: { groups: ['other'] } })).reply, NOT_CONFIRMED);
    const { browser } = await logInAt('restricted', { ...person, realm: { groups: ['other', 'chat'] } });
    expect(fieldsOf(await browser.get('/json/users/me'))).toMatchObject({ delivery_email: CORDELIA });
  });
});

describe('role from a service', () => {
  const ACCESS = { email: 'osric@example.com', email_verified: true, name: 'Osric' };
  /** Returns the role after a log-in with the claims. */
  const roleWith = async (claims: object): Promise<number> => {
    problems.length = 0;
    ACCOUNTS.osric = { ...ACCESS, ...claims };
    const browser = new TestBrowser(server);
    expect((await logIn('osric', browser)).reply.status).toBe(303);
    return fieldsOf(await browser.get('/json/users/me')).role;
  };
  const [ADMINISTRATOR, MEMBER] = [200, 400];

  it.each<[string, object]>([
    ['a list without a match', { realm: { roles: ['x'], groups: [] } }],
    ['an empty list', { realm: { roles: [], groups: [] } }],
  ])('is revoked by %s', async (_, claims) => {
    expect(await roleWith({ realm: { roles: ['chat-admins'] } })).toBe(ADMINISTRATOR);
    expect(await roleWith(claims)).toBe(MEMBER);
    expect(problems).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['a missing claim', {}, 'missing'],
    ['a claim that is not a list', { realm: { roles: 7 } }, 'missing'],
    ['a list that continues elsewhere', { realm: { roles: ['x'] }, _claim_names: { realm: 'src1' } }, 'incomplete'],
  ])('is kept and reported for %s', async (_, claims, state) => {
    expect(await roleWith({ realm: { roles: ['chat-admins'] } })).toBe(ADMINISTRATOR);
    expect(await roleWith(claims)).toBe(ADMINISTRATOR);
    expect(problems).toContainEqual(
      expect.objectContaining({ subject: 'osric', problem: expect.stringContaining(`realm.roles is ${state}`) }),
    );
  });
});

describe('group claim of a service', () => {
  const login = (groups?: readonly string[]) => {
    ACCOUNTS.laertes = {
      email: 'laertes@example.com',
      email_verified: true,
      name: 'Laertes',
      realm: { groups, roles: [] },
    };
    return logIn('laertes');
  };
  const idOf = async (email: string): Promise<number> => {
    const { members } = fieldsOf(await server.get('/users', server.people.desdemona));
    return members.find(({ delivery_email }: Wire) => delivery_email === email).user_id;
  };

  it('changes memberships only in mapped groups', async () => {
    const { desdemona, hamlet } = server.people;
    const make = async (name: string): Promise<number> =>
      fieldsOf(await server.post('/user_groups/create', desdemona, { name, description: '', members: [hamlet.id] }))
        .group_id;
    const [engineers, others] = [await make('Engineers'), await make('Others')];
    const members = async (id: number): Promise<number[]> =>
      fieldsOf(await server.get(`/user_groups/${id}/members`, desdemona)).members;
    await login(['eng-leads', 'staff', 'unknown', 'Others']);
    const id = await idOf('laertes@example.com');
    expect(await members(engineers)).toEqual([hamlet.id, id]);
    expect(await members(others)).toEqual([hamlet.id]);
    expect(fieldsOf(await server.get(`/users/${id}`, desdemona)).user).toMatchObject({ role: 400 });
    await login(undefined);
    expect(await members(engineers)).toEqual([hamlet.id, id]);
    await login(['staff']);
    expect(await members(engineers)).toEqual([hamlet.id]);
  });
});

describe('single log-out', () => {
  const isLoggedIn = async (browser: TestBrowser) => (await browser.get('/json/users/me')).status === 200;
  /** Logs in at the service with a browser that keeps its cookies there. */
  async function logInWith(cookies: Map<string, string>, login = 'hamlet'): Promise<TestBrowser> {
    const browser = new TestBrowser(server);
    await browser.get(await logInAtService(await beginAt(browser), login, cookies));
    expect(await isLoggedIn(browser)).toBe(true);
    return browser;
  }
  /** Confirms the log-out at the service; returns the redirect address. */
  async function logOutAtService(address: string, cookies: ReadonlyMap<string, string>): Promise<string | null> {
    const headers = { Cookie: [...cookies].map((pair) => pair.join('=')).join('; ') };
    const form = await fetch(address, { headers, redirect: 'manual' });
    const xsrf = /name="xsrf" value="(\w+)"/.exec(await form.text())![1]!;
    const more = form.headers.getSetCookie().map((cookie) => cookie.split(';')[0]);
    const reply = await fetch(`${issuer}/session/end/confirm`, {
      method: 'POST',
      body: new URLSearchParams({ xsrf, logout: 'yes' }),
      headers: { Cookie: [headers.Cookie, ...more].join('; ') },
      redirect: 'manual',
    });
    return reply.headers.get('location');
  }

  it('redirects browsers to the service and back', async () => {
    const cookies = new Map<string, string>();
    const browser = await logInWith(cookies);
    const { log_out_url: address } = fieldsOf(await browser.logOut());
    expect(address).toMatch(new RegExp(`^${issuer}/session/end\\?`));
    expect(await isLoggedIn(browser)).toBe(false);
    expect(await logOutAtService(address, cookies)).toBe(`${server.url}/login/`);
  });

  it('is offered as a link on the sessions page', async () => {
    const browser = await logInWith(new Map());
    const end = /name="end" value="(\d+)"/.exec(String((await browser.get('/accounts/sessions/')).body))![1];
    const { body } = await browser.post('/accounts/sessions/', { end });
    expect(body).toContain(`<a class="button" href="${issuer}/session/end?`);
    expect(await isLoggedIn(browser)).toBe(false);
  });

  it('is not offered after a password log-in', async () => {
    const browser = await TestBrowser.loggedIn(server, server.people.hamlet);
    expect(fieldsOf(await browser.logOut())).toEqual({});
  });

  it('ends only the session of the user who logs out at the service', async () => {
    const [one, two] = [new Map<string, string>(), new Map<string, string>()];
    const [first, second] = [await logInWith(one), await logInWith(two)];
    const byPassword = await TestBrowser.loggedIn(server, server.people.hamlet);
    const { searchParams } = new URL(await beginAt(new TestBrowser(server)));
    await logOutAtService(`${issuer}/session/end?client_id=${searchParams.get('client_id')}`, one);
    expect(await isLoggedIn(first)).toBe(false);
    expect(await isLoggedIn(second)).toBe(true);
    expect(await isLoggedIn(byPassword)).toBe(true);
  });

  it('ends the session of the desktop app that was opened by a log-in in the browser', async () => {
    const cookies = new Map<string, string>();
    const pad = '0123456789abcdef'.repeat(4);
    const browser = new TestBrowser(server);
    const begun = await browser.get(`/accounts/login/external/keycloak/?desktop_flow_otp=${pad}`);
    const reply = await browser.get(await logInAtService(begun.headers.location as string, 'hamlet', cookies));
    const app = new TestBrowser(server);
    await app.get(`/accounts/login/subdomain/${desktopTokenIn(reply, pad)}`);
    expect(await isLoggedIn(app)).toBe(true);
    await logOutAtService(`${issuer}/session/end?client_id=parley`, cookies);
    expect(await isLoggedIn(app)).toBe(false);
  });

  it('rejects forged notices and log-in tokens', async () => {
    const cookies = new Map<string, string>();
    let idToken = '';
    misbehave = (path, body) => {
      if (path === '/token') idToken = body.id_token;
      return body;
    };
    const browser = await logInWith(cookies);
    const { generateKeyPair, SignJWT } = await import('jose');
    const { privateKey } = await generateKeyPair('RS256');
    const forged = await new SignJWT({ events: { 'http://schemas.openid.net/event/backchannel-logout': {} } })
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer(issuer)
      .setAudience('parley')
      .setSubject('hamlet')
      .setJti('x')
      .setIssuedAt()
      .sign(privateKey);
    for (const logout_token of [forged, idToken, 'x', '']) {
      const reply = await browser.post('/accounts/login/logout/keycloak/', { logout_token });
      expect(reply.status).toBe(400);
    }
    expect((await browser.post('/accounts/login/logout/nothing/', { logout_token: forged })).status).toBe(400);
    expect(await isLoggedIn(browser)).toBe(true);
  });
});

describe('picture from a service', () => {
  /** Bodies by path; null never responds. */
  const pictures = new Map<string, Buffer | null>();
  let requests: string[];
  let host: Server;
  let port: number;
  beforeAll(async () => {
    host = createServer(({ url, headers }, response) => {
      requests.push(`${headers.host} ${url}`);
      const body = pictures.get(url!);
      if (url === '/moved') response.writeHead(302, { Location: '/one' }).end();
      else if (body) response.end(body);
      else if (body === undefined) response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => host.listen(0, '0.0.0.0', resolve));
    ({ port } = host.address() as AddressInfo);
    pictures.set('/one', imageFile().content as Buffer);
    pictures.set('/two', imageFile({ width: 300 }).content as Buffer);
    pictures.set('/huge', Buffer.alloc(6 * 1024 * 1024));
    pictures.set('/page', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'));
  });
  beforeEach(() => {
    requests = [];
  });
  afterAll(() => {
    host.closeAllConnections();
    host.close();
  });

  const at = (path: string, address = '127.0.0.1') => `http://${address}:${port}${path}`;
  const fetchPictures = () => runJobs(server, server.parley.useCase(FetchLogInPictures));
  /** Logs in with a picture; returns the avatar before and after the picture is fetched. */
  async function avatarsOf(
    login: string,
    picture?: string,
    email = `${login}@example.com`,
  ): Promise<(string | null)[]> {
    ACCOUNTS[login] = { email, email_verified: true, name: login, picture };
    const browser = new TestBrowser(server);
    const back = await logInAtService(await beginAt(browser, 'pictured'), login);
    expect((await browser.get(back)).status).toBe(303);
    const avatar = async () => fieldsOf(await browser.get('/json/users/me')).avatar_url as string | null;
    const before = await avatar();
    await fetchPictures();
    return [before, await avatar()];
  }
  const UPLOADED = /\/user_avatars\/\d+\/[0-9a-f]{32}\.png\?version=\d+$/;

  it('becomes the avatar after the log-in, without delaying it', async () => {
    const [before, after] = await avatarsOf('ophelia', at('/one'));
    expect(before).not.toMatch(UPLOADED);
    expect(after).toMatch(UPLOADED);
    expect((await server.request('GET', `/${after!.replace(server.url, '')}`)).body).toBe('png 100x100x1');
    expect(requests).toEqual([`127.0.0.1:${port} /one`]);
  });

  it('is fetched again only if the claim has changed', async () => {
    const [, first] = await avatarsOf('polonius', at('/one'));
    expect(await avatarsOf('polonius', at('/one'))).toEqual([first, first]);
    expect(requests).toHaveLength(1);
    expect(await avatarsOf('polonius')).toEqual([first, first]);
    const [, second] = await avatarsOf('polonius', at('/two'));
    expect(second).toMatch(UPLOADED);
    expect(second).not.toBe(first);
  });

  it('never replaces an uploaded avatar and is not restored after removal', async () => {
    const { cordelia } = server.people;
    const logInWith = (path: string) => avatarsOf('cordelia', at(path), cordelia.email);
    expect((await logInWith('/one'))[1]).toMatch(UPLOADED);
    fieldsOf(await server.delete('/users/me/avatar', cordelia));
    const [removed, still] = await logInWith('/one');
    expect(still).toBe(removed);
    expect(removed).not.toMatch(UPLOADED);
    const { avatar_url: uploaded } = fieldsOf(await postFiles(server, '/users/me/avatar', cordelia, [imageFile()]));
    expect(await logInWith('/two')).toEqual([uploaded, uploaded]);
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['is larger than 5 MiB', () => at('/huge'), 'too long'],
    ['is at a private address', () => at('/one', '127.0.0.2'), 'not on the public Internet'],
    ['is not an image', () => at('/page'), 'Could not decode image'],
    ['is missing', () => at('/nowhere'), 'returned 404'],
    ['is elsewhere', () => at('/moved'), 'returned 302'],
  ])('leaves the avatar unchanged if the picture %s', async (_, picture, problem) => {
    const [before, after] = await avatarsOf('rosencrantz', picture());
    expect(after).toBe(before);
    expect(problems.at(-1)).toMatchObject({ method: 'pictured', err: { message: expect.stringContaining(problem) } });
    expect(requests.join()).not.toContain('127.0.0.2');
  });

  it('is ignored if its address is too long or not a web address', async () => {
    for (const picture of [
      'file:///etc/passwd',
      'data:image/png;base64,AA',
      'a.png',
      `https://a/${'x'.repeat(2000)}`,
    ]) {
      const [before, after] = await avatarsOf('marcellus', picture);
      expect(after).toBe(before);
    }
    expect(problems).toEqual([]);
  });
});
