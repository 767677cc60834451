import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { FetchLogInPictures } from '@parley/domain/log-in';
import { GitHubProvider, type OpenIdConnectAccount, openIdConnectProviders } from '@parley/node-adapters';
import { expectRefused } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { imageFile } from '../testing/multipart.js';
import { TestBrowser } from '../testing/test-browser.js';
import type { TestReply } from '../testing/test-reply.js';
import { TestServer } from '../testing/test-server.js';

const SECRET = 'a secret that GitHub knows';

const ACCOUNT: Omit<OpenIdConnectAccount, 'issuer'> = {
  name: 'github',
  kind: 'gitHubAuthentication',
  clientId: 'parley',
  clientSecret: SECRET,
  displayName: 'GitHub',
  displayIcon: null,
  scope: '',
  realms: null,
  allowedDomains: ['zulip.com', 'example.com'],
  trustsEmails: false,
  createsPeople: null,
  requiredGroups: [],
  claims: { email: '', name: '', role: null, groups: null, picture: 'avatar_url' },
  defaultRole: null,
  roles: new Map(),
  groups: new Map(),
  singleLogOut: false,
};

interface Grant {
  readonly redirectUri: string;
  readonly challenge: string;
}

/** Fake GitHub, as described by its documentation. */
class TestGitHub {
  user: unknown = { id: 5, login: 'hamlet', name: 'Prince Hamlet' };
  emails: unknown = [];
  secret = SECRET;
  /** Callback of the OAuth app; null allows any. */
  callback: string | null = null;
  /** Path with a response of 2 MiB. */
  huge: string | null = null;
  /** Replaces the responses of a path. */
  readonly failing = new Map<string, number>();
  private readonly grants = new Map<string, Grant>();

  /** Consents as the user; returns the code. */
  consent(address: string): string {
    const { searchParams } = new URL(address);
    const code = `code-${this.grants.size}`;
    this.grants.set(code, {
      redirectUri: searchParams.get('redirect_uri')!,
      challenge: searchParams.get('code_challenge')!,
    });
    return code;
  }

  respond(path: string, body: string, authorization: string | undefined): [status: number, body: unknown] {
    const failure = this.failing.get(path);
    if (failure !== undefined) return [failure, 'no JSON'];
    if (path === this.huge) return [200, 'x'.repeat(2 * 1024 * 1024)];
    if (path === '/login/oauth/access_token') return [200, this.exchange(new URLSearchParams(body))];
    if (authorization !== 'Bearer a token') return [401, { message: 'Requires authentication' }];
    return [200, path === '/api/v3/user' ? this.user : this.emails];
  }

  private exchange(fields: URLSearchParams): object {
    const grant = this.grants.get(fields.get('code')!);
    this.grants.delete(fields.get('code')!);
    if (fields.get('client_secret') !== this.secret) return { error: 'incorrect_client_credentials' };
    if (this.callback !== null && fields.get('redirect_uri') !== this.callback) {
      return { error: 'redirect_uri_mismatch' };
    }
    const challenge = createHash('sha256').update(fields.get('code_verifier')!).digest('base64url');
    if (grant?.challenge !== challenge || grant.redirectUri !== fields.get('redirect_uri')) {
      return { error: 'bad_verification_code' };
    }
    return { access_token: 'a token', token_type: 'bearer', scope: 'read:user,user:email' };
  }
}

let gitHub: TestGitHub;
let service: Server;
let provider: GitHubProvider;
let issuer: string;
let server: TestServer;
const lines: Record<string, unknown>[] = [];
beforeAll(async () => {
  service = createServer(async (request, response) => {
    if (request.url === '/avatar.png') return void response.end(imageFile().content);
    const [status, body] = gitHub.respond(request.url!, await text(request), request.headers.authorization);
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  issuer = `http://localhost:${(service.address() as AddressInfo).port}`;
  provider = new GitHubProvider({ ...ACCOUNT, issuer });
  const log = (fields: object) => void lines.push(fields as Record<string, unknown>);
  server = await TestServer.start({
    logInProviders: [provider],
    webhookNetworks: ['127.0.0.0/8', '::1/128'],
    logger: { info: () => {}, warn: log, error: log },
  });
  await server.changeRealm({ settings: { gitHubAuthentication: true, inviteRequired: false } });
});
afterAll(async () => {
  await server.close();
  service.closeAllConnections();
  service.close();
});
beforeEach(() => {
  gitHub = new TestGitHub();
  gitHub.emails = [
    { email: 'other@zulip.com', primary: false, verified: true },
    { email: 'hamlet@zulip.com', primary: true, verified: true },
  ];
  lines.length = 0;
});

const begin = async (browser: TestBrowser) =>
  (await browser.get('/accounts/login/external/github/')).headers.location as string;
const complete = (browser: TestBrowser, address: string, fields: object) =>
  browser.get('/accounts/login/complete/github/', {
    state: new URL(address).searchParams.get('state')!,
    ...fields,
  });
async function logIn(browser = new TestBrowser(server)): Promise<TestReply> {
  const address = await begin(browser);
  return complete(browser, address, { code: gitHub.consent(address) });
}
const emailIn = async (browser: TestBrowser) => (await browser.get('/json/users/me')).body.delivery_email;
const NOT_CONFIRMED = 'The service did not confirm who you are.';
const BROKEN = 'The service for logging in does not respond as expected.';

it('GitHub log-in loads no library, and OpenID Connect loads only its own', async () => {
  const loaded: string[] = [];
  jest.doMock('openid-client', () => {
    loaded.push('openid-client');
    return {};
  });
  const account = { ...ACCOUNT, issuer: 'https://github.com' };
  expect(await openIdConnectProviders([])).toEqual([]);
  expect(await openIdConnectProviders([account])).toHaveLength(1);
  expect(loaded).toEqual([]);
  await openIdConnectProviders([account, { ...account, name: 'x', kind: 'openIdConnectAuthentication' }]);
  expect(loaded).toEqual(['openid-client']);
});

it('GitHub log-in requests a code with PKCE and state', async () => {
  const { pathname, searchParams } = new URL(await begin(new TestBrowser(server)));
  expect(pathname).toBe('/login/oauth/authorize');
  expect(Object.fromEntries(searchParams)).toEqual({
    client_id: 'parley',
    redirect_uri: `${server.url}/accounts/login/complete/github/`,
    scope: 'read:user user:email',
    state: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  });
});

it('GitHub log-in uses the primary verified address at first and the account id later', async () => {
  const browser = new TestBrowser(server);
  expect((await logIn(browser)).status).toBe(303);
  expect(await emailIn(browser)).toBe('hamlet@zulip.com');
  expect(lines).toEqual([
    expect.objectContaining({ audit: 'log-in', account: 'hamlet@zulip.com', logInMethod: 'github', change: 'linked' }),
  ]);
  gitHub.emails = [{ email: 'moved@example.com', primary: true, verified: false }];
  const again = new TestBrowser(server);
  expect((await logIn(again)).status).toBe(303);
  expect(await emailIn(again)).toBe('hamlet@zulip.com');
});

it("GitHub log-in creates an account with the profile's name, or else the login", async () => {
  gitHub.user = { id: 6, login: 'yorick', name: null };
  gitHub.emails = [{ email: 'yorick@example.com', primary: true, verified: true }];
  const browser = new TestBrowser(server);
  expect((await logIn(browser)).status).toBe(303);
  expect((await browser.get('/json/users/me')).body.full_name).toBe('yorick');
});

it('GitHub log-in uses the picture as avatar', async () => {
  gitHub.user = { id: 8, login: 'fortinbras', name: null, avatar_url: `${issuer}/avatar.png` };
  gitHub.emails = [{ email: 'fortinbras@example.com', primary: true, verified: true }];
  const browser = new TestBrowser(server);
  expect((await logIn(browser)).status).toBe(303);
  await runJobs(server, server.parley.useCase(FetchLogInPictures));
  expect((await browser.get('/json/users/me')).body.avatar_url).toMatch(/\/[0-9a-f]{32}\.png/);
});

it.each([
  ['an unverified address', [{ email: 'iago@zulip.com', primary: true, verified: false }], 'does not vouch'],
  ['an address of another domain', [{ email: 'a@elsewhere.org', primary: true, verified: true }], NOT_CONFIRMED],
  ['no primary address', [{ email: 'iago@zulip.com', primary: false, verified: true }], NOT_CONFIRMED],
  ['no addresses', [], NOT_CONFIRMED],
])('GitHub log-in rejects %s', async (_title, emails, words) => {
  gitHub.user = { id: 7, login: 'iago', name: 'Iago' };
  gitHub.emails = emails;
  expectRefused(await logIn(), words);
});

it('GitHub log-in rejects users who decline', async () => {
  const browser = new TestBrowser(server);
  const address = await begin(browser);
  expectRefused(await complete(browser, address, { error: 'access_denied' }), NOT_CONFIRMED);
});

it('GitHub log-in rejects a used code and a code of another log-in', async () => {
  const [victim, thief] = [new TestBrowser(server), new TestBrowser(server)];
  const address = await begin(victim);
  const code = gitHub.consent(address);
  expectRefused(await complete(thief, await begin(thief), { code }), NOT_CONFIRMED);
  expect(lines.at(-1)).toMatchObject({ audit: 'failed log-in', logInMethod: 'github', failure: 'LOG_IN_REFUSED' });
  expectRefused(await complete(victim, address, { code }), NOT_CONFIRMED);
});

it.each([
  ['/login/oauth/access_token', 500],
  ['/api/v3/user', 403],
  ['/api/v3/user/emails', 200],
])('GitHub log-in reports that %s fails with %i', async (path, status) => {
  gitHub.failing.set(path, status);
  expectRefused(await logIn(), BROKEN);
});

it.each([null, {}, { id: 'x' }, []])('GitHub log-in reports a profile %j without an account', async (user) => {
  gitHub.user = user;
  expectRefused(await logIn(), BROKEN);
});

describe('GitHub configuration check', () => {
  const callbackUrls = ['https://chat.example.com/accounts/login/complete/github/'];
  const check = (change: Partial<OpenIdConnectAccount> = {}) =>
    new GitHubProvider({ ...ACCOUNT, issuer, ...change }).check(callbackUrls);

  it('accepts an API that responds and recognizes the client', async () => {
    await expect(check()).resolves.toBeUndefined();
  });

  it('reports an API at another address, a rejected secret and another callback', async () => {
    await expect(check({ clientSecret: 'expired' })).rejects.toThrow('it rejects clientId with its clientSecret');
    gitHub.callback = 'https://elsewhere.example.com/';
    await expect(check()).rejects.toThrow(`it rejects the redirect address ${callbackUrls[0]}`);
    gitHub.failing.set('/api/v3/user', 404);
    await expect(check()).rejects.toThrow('returns 404 instead of 401; check issuer');
  });
});

it('GitHub log-in reports an expired client secret as such', async () => {
  gitHub.secret = 'the next secret';
  expectRefused(await logIn(), BROKEN);
  const message = expect.stringContaining('it rejects clientId with its clientSecret, which may have expired');
  expect(lines).toContainEqual(
    expect.objectContaining({ method: 'github', err: expect.objectContaining({ message }) }),
  );
});

it('GitHub log-in reports an application suspended by GitHub', async () => {
  const browser = new TestBrowser(server);
  expectRefused(await complete(browser, await begin(browser), { error: 'application_suspended' }), BROKEN);
});

it.each(['/login/oauth/access_token', '/api/v3/user', '/api/v3/user/emails'])(
  'GitHub log-in rejects a response of %s with more than 1 MiB',
  async (path) => {
    gitHub.huge = path;
    expectRefused(await logIn(), BROKEN);
    const message = expect.stringContaining('too long');
    expect(lines).toContainEqual(
      expect.objectContaining({ method: 'github', err: expect.objectContaining({ message }) }),
    );
  },
);
