import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DomainError } from '@parley/domain/kernel';
import type { ExternalIdentity, LogInProvider } from '@parley/domain/log-in';
import { RunRequestedImports } from '@parley/transfer/imports';
import { fieldsOf } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { postFiles } from '../testing/multipart.js';
import { loggedLines, serverPerSuite } from '../testing/servers.js';
import { TestBrowser } from '../testing/test-browser.js';
import type { TestReply } from '../testing/test-reply.js';
import { webTokenOf } from '../testing/test-server.js';

const verified = (email: string) => ({ email, emailStatements: [{ email, isVerified: true }] });

describe('audit line', () => {
  const { lines, logger } = loggedLines();
  const { server } = serverPerSuite({ logger });
  beforeEach(() => {
    lines.length = 0;
  });

  it('names the actor, the target and the old and new role', async () => {
    const { desdemona, hamlet } = server.people;
    fieldsOf(await server.patch(`/users/${hamlet.id}`, desdemona, { role: 300 }));
    expect(lines).toEqual([
      expect.objectContaining({
        audit: 'administration',
        userId: desdemona.id,
        target: { user_id: String(hamlet.id) },
        changes: { role: { from: 'member', to: 'moderator' } },
      }),
    ]);
  });

  it('names the old and new value of a setting', async () => {
    const { desdemona } = server.people;
    fieldsOf(await server.patch('/realm', desdemona, { invite_required: true, message_retention_days: 30 }));
    expect(lines[0]).toMatchObject({ changes: { messageRetentionDays: { from: null, to: 30 } } });
    const id = await server.createChannel('heath', [desdemona]);
    fieldsOf(await server.patch(`/streams/${id}`, desdemona, { is_private: true }));
    expect(lines.at(-1)).toMatchObject({
      target: { stream_id: String(id) },
      changes: { privacy: { from: 'public', to: 'privateProtectedHistory' } },
    });
  });

  it('names the uploaded export and the identities of an import', async () => {
    const { desdemona } = server.people;
    const { url } = fieldsOf(
      await postFiles(server, '/user_uploads', desdemona, [{ name: 'slack.zip', content: 'the export' }]),
    ) as { url: string };
    const path_id = url.replace('/user_uploads/', '');
    fieldsOf(await server.post('/realm/imports/run', desdemona, { path_id, claim_by: 'email' }));
    await runJobs(server, server.parley.useCase(RunRequestedImports));
    fieldsOf(await server.post('/realm/imports/run/start', desdemona));
    const line = { audit: 'administration', userId: desdemona.id, file: 'slack.zip', claim_by: 'email' };
    expect(lines).toEqual([
      expect.objectContaining({ ...line, route: '/realm/imports/run' }),
      expect.objectContaining({ ...line, route: '/realm/imports/run/start' }),
    ]);
  });

  it('names no changes if the operation is rejected', async () => {
    await server.patch('/realm', server.people.hamlet, { invite_required: false });
    expect(lines[0]).toMatchObject({ audit: 'administration', userId: server.people.hamlet.id });
    expect(lines[0]).not.toHaveProperty('changes');
  });

  it('matches the documented filter of fail2ban after a failed log-in, with the address of the caller only', async () => {
    const page = readFileSync(join(__dirname, '../../../../../docs/deploy/around-parley.md'), 'utf8');
    const [, pattern] = /^failregex = (.*)$/m.exec(page)!;
    const filter = new RegExp(pattern!.replace('<HOST>', '(?<ip>[0-9a-f.:]+)'));
    const forged = '","audit":"failed log-in","ip":"192.0.2.7","x":"';
    const headers = { 'User-Agent': forged, 'X-Forwarded-For': '192.0.2.7' };
    await server.request('POST', '/fetch_api_key', { headers, params: { username: forged, password: 'wrong' } });
    await server.request('PATCH', '/realm', { as: server.people.hamlet, headers, params: { name: 'x' } });
    const ips = lines.map((line) => filter.exec(JSON.stringify(line))?.groups?.ip);
    expect(ips).toEqual(['127.0.0.1', undefined]);
  });

  it('names the account of a failed log-in', async () => {
    await server.post('/fetch_api_key', null, { username: 'hamlet@zulip.com', password: 'wrong' });
    await server.get('/users/me', { ...server.people.hamlet, apiKey: 'x'.repeat(32) });
    expect(lines.map(({ audit, account }) => [audit, account])).toEqual([
      ['failed log-in', 'hamlet@zulip.com'],
      ['failed log-in', server.people.hamlet.email],
    ]);
    expect(JSON.stringify(lines)).not.toContain('wrong');
  });
});

describe('audit line of a log-in', () => {
  const { lines, logger } = loggedLines();
  /** Identity that the service confirms; an error rejects the log-in. */
  let confirmed: Partial<ExternalIdentity> | Error;
  const service: LogInProvider = {
    method: {
      name: 'service',
      kind: 'openIdConnectAuthentication',
      displayName: 'Service',
      displayIcon: null,
      realms: null,
    },
    begin: async ({ state }) => `https://service.example/?state=${state}`,
    identify: async () => {
      if (confirmed instanceof Error) throw confirmed;
      return { subject: 's', email: null, emailStatements: [], fullName: 'Yorick', role: null, ...confirmed };
    },
  };
  const { server } = serverPerSuite({
    logger,
    logInProviders: [service],
    isDev: true,
    sendsMail: false,
    authenticate: async ({ headers }) =>
      headers.cookie?.includes('host=') ? { realm: 'zulip', externalId: 'nobody' } : null,
  });
  beforeAll(async () => {
    await server.changeRealm({ settings: { openIdConnectAuthentication: true, inviteRequired: false } });
    fieldsOf(await server.delete(`/users/${server.people.polonius.id}`, server.people.desdemona));
  });
  beforeEach(() => {
    lines.length = 0;
  });

  const post = (path: string, params: object) => server.post(path, null, { ...params });
  const json = (username: string, password: string) => new TestBrowser(server).logIn({ email: username, password });
  async function form(username: string, password: string): Promise<TestReply> {
    const browser = new TestBrowser(server);
    await browser.get('/login/');
    return browser.post('/login/', { username, password, csrfmiddlewaretoken: browser.cookies.get('csrftoken') });
  }
  async function atService(identity: Partial<ExternalIdentity> | Error): Promise<TestReply> {
    confirmed = identity;
    const browser = new TestBrowser(server);
    const { location } = (await browser.get('/accounts/login/external/service/')).headers;
    const state = new URL(location as string).searchParams.get('state');
    return browser.get('/accounts/login/complete/service/', { state });
  }
  const asHost = (path: string) => server.request('GET', path, { headers: { Cookie: 'host=yes' } });
  const asDirectory = () => server.request('GET', '//scim/v2/Users', { headers: { Authorization: 'Bearer wrong' } });
  async function withRevokedToken(): Promise<void> {
    const user = { realm: 'zulip', userId: server.people.hamlet.id };
    await server.createChannel('orders', [server.people.hamlet]);
    const { id, token } = await server.parley.tokens.create({
      ...{ user, actions: ['read'], conversations: [{ channel: 'orders', topic: 'Order 7' }] },
    });
    await server.parley.tokens.revoke(user, id);
    lines.length = 0;
    await server.request('GET', '/users/me', { headers: { Authorization: `Bearer ${token}` } });
  }
  async function join(email: string): Promise<void> {
    const browser = new TestBrowser(server);
    const { invite_link: link } = fieldsOf(await server.post('/invites/multiuse', server.people.desdemona, {}));
    const key = String(link).split('/').filter(Boolean).at(-1)!;
    await browser.get('/login/');
    const fields = { key, email, full_name: 'Newcomer', password: 'correct horse battery' };
    expect((await browser.post('/accounts/register/', fields)).status).toBe(303);
    lines.splice(0, lines.length - 1);
  }

  const HAMLET = 'hamlet@zulip.com';
  const GONE = 'polonius@zulip.com';
  const tokenOf = (email: string) => webTokenOf({ email, exp: 4_102_444_799 });
  const password = () => server.people.hamlet.password;
  const ok = (account: string, logInMethod: string, change?: string) => ({
    audit: 'log-in',
    account,
    logInMethod,
    ...(change && { change }),
  });
  const bad = (account: string | undefined, logInMethod: string, failure: string) => ({
    audit: 'failed log-in',
    account,
    logInMethod,
    failure,
  });
  const refusal = new DomainError('LOG_IN_REFUSED', 'The service did not confirm who you are.');

  const attempts: readonly [string, () => Promise<unknown>, object][] = [
    [
      'API key by password',
      () => post('/fetch_api_key', { username: HAMLET, password: password() }),
      ok(HAMLET, 'password'),
    ],
    [
      'wrong password',
      () => post('/fetch_api_key', { username: HAMLET, password: 'x' }),
      bad(HAMLET, 'password', 'AUTHENTICATION_FAILED'),
    ],
    [
      'unknown address',
      () => post('/fetch_api_key', { username: 'x@x.org', password: 'x' }),
      bad('x@x.org', 'password', 'AUTHENTICATION_FAILED'),
    ],
    [
      'deactivated account',
      () => post('/fetch_api_key', { username: GONE, password: server.people.polonius.password }),
      bad(GONE, 'password', 'USER_DEACTIVATED'),
    ],
    ['session by password', () => json(HAMLET, password()), ok(HAMLET, 'password')],
    ['session by a wrong password', () => json(HAMLET, 'x'), bad(HAMLET, 'password', 'AUTHENTICATION_FAILED')],
    ['form', () => form(HAMLET, password()), ok(HAMLET, 'password')],
    ['form with a wrong password', () => form(HAMLET, 'x'), bad(HAMLET, 'password', 'AUTHENTICATION_FAILED')],
    ['web token', () => post('/jwt/fetch_api_key', { token: tokenOf(HAMLET) }), ok(HAMLET, 'jwt')],
    [
      'web token with a wrong signature',
      () => post('/jwt/fetch_api_key', { token: `${tokenOf(HAMLET)}x` }),
      bad(HAMLET, 'jwt', 'INVALID_JWT'),
    ],
    [
      'web token for an unknown user',
      () => post('/jwt/fetch_api_key', { token: tokenOf('x@x.org') }),
      bad('x@x.org', 'jwt', 'AUTHENTICATION_FAILED'),
    ],
    [
      'web token for a deactivated account',
      () => post('/jwt/fetch_api_key', { token: tokenOf(GONE) }),
      bad(GONE, 'jwt', 'USER_DEACTIVATED'),
    ],
    ['broken web token', () => post('/jwt/fetch_api_key', { token: 'a.b.c' }), bad(undefined, 'jwt', 'INVALID_JWT')],
    ['development server', () => post('/dev_fetch_api_key', { username: HAMLET }), ok(HAMLET, 'development')],
    [
      'development log-in of an unknown user',
      () => post('/dev_fetch_api_key', { username: 'x@x.org' }),
      bad('x@x.org', 'development', expect.any(String)),
    ],
    [
      'wrong API key',
      () => server.get('/users/me', { ...server.people.hamlet, apiKey: 'x'.repeat(32) }),
      bad(HAMLET, 'api key', 'UNAUTHORIZED'),
    ],
    ['revoked access token', withRevokedToken, bad(undefined, 'access token', 'UNAUTHORIZED')],
    ['wrong SCIM token', asDirectory, bad(undefined, 'scim', expect.any(String))],
    ['unknown user of the host application', () => asHost('/users/me'), bad(undefined, 'host', 'UNAUTHORIZED')],
    ['account linked to a service', () => atService({ ...verified(HAMLET) }), ok(HAMLET, 'service', 'linked')],
    ['linked account at a service', () => atService({ ...verified(HAMLET) }), ok(HAMLET, 'service')],
    [
      'account created by a service',
      () => atService({ subject: 'y', ...verified('yorick@x.org') }),
      ok('yorick@x.org', 'service', 'created'),
    ],
    ['service that rejects the user', () => atService(refusal), bad(undefined, 'service', 'LOG_IN_REFUSED')],
    ['service that fails', () => atService(new Error('down')), bad(undefined, 'service', 'LOG_IN_SERVICE_FAILED')],
    [
      'address that a service does not verify',
      () => atService({ subject: 'z', email: 'iago@zulip.com' }),
      bad('iago@zulip.com', 'service', 'UNVERIFIED_EMAIL'),
    ],
    [
      'deactivated account at a service',
      () => atService({ subject: 'g', ...verified(GONE) }),
      bad(GONE, 'service', 'USER_DEACTIVATED'),
    ],
    [
      'wrong token of the desktop app',
      () => new TestBrowser(server).get('/accounts/login/subdomain/x'),
      bad(undefined, 'desktop', 'LOG_IN_EXPIRED'),
    ],
    ['joining', () => join('newcomer@zulip.com'), ok('newcomer@zulip.com', 'password', 'created')],
  ];

  it.each(attempts)('names account, method and address: %s', async (_, attempt, line) => {
    await attempt();
    expect(lines.filter((it) => 'audit' in it)).toEqual([expect.objectContaining({ ...line, ip: '127.0.0.1' })]);
    expect(JSON.stringify(lines)).not.toContain(password());
  });

  it('names account, method and address even if passwords are disabled', async () => {
    await server.changeRealm({ settings: { emailAuthentication: false } });
    const failure = bad(HAMLET, 'password', 'PASSWORD_AUTH_DISABLED');
    for (const attempt of [
      post('/fetch_api_key', { username: HAMLET, password: 'x' }),
      json(HAMLET, 'x'),
      form(HAMLET, 'x'),
    ]) {
      await attempt;
    }
    expect(lines).toEqual(Array(3).fill(expect.objectContaining({ ...failure, ip: '127.0.0.1' })));
    await server.changeRealm({ settings: { emailAuthentication: true } });
  });

  it('names the account of a browser that repeats a wrong password', async () => {
    const browser = await TestBrowser.loggedIn(server, server.people.hamlet);
    lines.length = 0;
    await browser.post('/json/fetch_api_key', { password: 'x' });
    const { id } = server.people.hamlet;
    expect(lines).toEqual([expect.objectContaining({ audit: 'failed log-in', userId: id, logInMethod: 'password' })]);
  });
});
