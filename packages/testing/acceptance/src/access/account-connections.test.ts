import { CONNECT_SECONDS } from '@parley/domain/log-in';
import { generate } from 'otplib';
import { expectPage, fieldsOf } from '../testing/expectations.js';
import { loggedLines, serverPerSuite } from '../testing/servers.js';
import { TestBrowser } from '../testing/test-browser.js';
import { TestLogInServices } from '../testing/test-log-in-services.js';
import { hiddenFieldsOf, type TestReply } from '../testing/test-reply.js';
import type { TestUser } from '../testing/test-server.js';

const services = new TestLogInServices();

/** Owner of the address that the service does not verify. */
let ophelia: TestUser;
const { lines, logger } = loggedLines();
let n = 0;
const { server, people } = serverPerSuite({
  logger,
  logInProviders: [services.provider('company'), services.provider('trusted', { trustsEmails: true })],
});
beforeEach(async () => {
  n++;
  ophelia = await server.addUser({ email: `ophelia${n}@zulip.com`, fullName: `Ophelia ${n}` });
  services.confirmed = { subject: `o${n}`, email: ophelia.email };
  await server.changeRealm({ settings: { openIdConnectAuthentication: true } });
});

const CONNECT = '/accounts/login/connect/';
const BY_LOG_IN = 'Log in to connect';
const CONFIRM = 'Connect your account?';
const EXPIRED = 'The log-in took too long or was interrupted.';
const linkIn = ({ body }: TestReply, label: string): string =>
  new RegExp(`href="([^"]*)">${label}<`).exec(String(body))![1]!.replaceAll('&amp;', '&');
/** Logs in at a service. */
async function logInAt(method: string, browser: TestBrowser, query = ''): Promise<TestReply> {
  const begun = await browser.get(`/accounts/login/external/${method}/${query}`);
  const state = new URL(begun.headers.location!).searchParams.get('state')!;
  return browser.get(`/accounts/login/complete/${method}/`, { state });
}
/** Logs in with an unproven address; returns the state of the connection and the log-in page to which it leads. */
async function begin(browser: TestBrowser): Promise<{ readonly page: string; readonly state: string }> {
  const offered = await logInAt('company', browser);
  expectPage(offered, 'The service does not vouch for your email address.', 400);
  const page = linkIn(offered, BY_LOG_IN);
  const next = new URL(page, server.url).searchParams.get('next')!;
  server.clock.advance(1);
  return { page, state: new URL(next, server.url).searchParams.get('state')! };
}
/** Submits the password form of a log-in page; returns the path to which it redirects. */
async function sendPassword(browser: TestBrowser, page: string, who = ophelia): Promise<string> {
  const form = await browser.get(page);
  const sent = await browser.post('/login/', {
    ...hiddenFieldsOf(form),
    username: who.email,
    password: who.password,
  });
  expect(sent.status).toBe(303);
  return sent.headers.location!;
}
/** Returns the id of the user whom the service's account logs in; null if it is not linked. */
async function linkedUser(): Promise<number | null> {
  const browser = new TestBrowser(server);
  await logInAt('company', browser);
  const me = await browser.get('/json/users/me');
  return me.status === 200 ? me.body.user_id : null;
}
async function expectNothingLinked(browser: TestBrowser, state: string): Promise<void> {
  expectPage(await browser.get(CONNECT, { state }), BY_LOG_IN, 400);
  expectPage(await browser.post(CONNECT, { state }), 'Log in to the account with this address first.', 400);
  expect(await linkedUser()).toBeNull();
}

describe('account at a service with an unproven address', () => {
  it('is linked after a log-in with the password and a confirmation', async () => {
    const browser = new TestBrowser(server);
    const { page, state } = await begin(browser);
    const path = await sendPassword(browser, page);
    expect(path).toBe(`${CONNECT}?state=${state}`);
    const asked = await browser.get(path);
    expectPage(asked, CONFIRM);
    expectPage(asked, ophelia.email);
    expect(await linkedUser()).toBeNull();
    lines.length = 0;
    expectPage(await browser.post(CONNECT, hiddenFieldsOf(asked)), 'From now on you can log in with company.');
    expect(lines).toEqual([
      expect.objectContaining({
        audit: 'log-in change',
        account: ophelia.email,
        logInMethod: 'company',
        change: 'linked',
      }),
    ]);
    expect(await linkedUser()).toBe(ophelia.id);
    expectPage(await browser.post(CONNECT, { state }), EXPIRED, 400);
  });

  it('is linked only after the second factor', async () => {
    const own = await TestBrowser.loggedIn(server, ophelia);
    const proven = await own.post('/accounts/second-factor/', { password: ophelia.password });
    const app = await own.get(proven.headers.location!.replace('/second-factor/', '/second-factor/app/'));
    const secret = /<code class="code">([A-Z2-7 ]+)</.exec(String(app.body))![1]!.replaceAll(' ', '');
    const code = () => generate({ secret, epoch: server.clock.now() });
    await own.post('/accounts/second-factor/app/', { ...hiddenFieldsOf(app), code: await code() });
    server.clock.advance(60);

    const browser = new TestBrowser(server);
    const { page, state } = await begin(browser);
    const step = await sendPassword(browser, page);
    expect(step).toMatch(/^\/login\/second-factor\//);
    await expectNothingLinked(browser, state);
    const done = await browser.post('/login/second-factor/', {
      state: new URL(step, server.url).searchParams.get('state')!,
      code: await code(),
    });
    expect(done.headers.location).toBe(`${CONNECT}?state=${state}`);
    expectPage(await browser.get(done.headers.location!), CONFIRM);
    expectPage(await browser.post(CONNECT, { state }), 'Your account is connected');
    expect(await linkedUser()).toBe(ophelia.id);
  });

  it('is linked after a log-in to the account through another service', async () => {
    const browser = new TestBrowser(server);
    const { page, state } = await begin(browser);
    const query = new URL(linkIn(await browser.get(page), 'Log in with trusted'), server.url).search;
    const path = (await logInAt('trusted', browser, query)).headers.location!;
    expectPage(await browser.get(path), CONFIRM);
    expectPage(await browser.post(CONNECT, { state }), 'Your account is connected');
    expect(await linkedUser()).toBe(ophelia.id);
  });

  it('is not linked by a log-in to another account', async () => {
    const browser = new TestBrowser(server);
    const { page, state } = await begin(browser);
    await sendPassword(browser, page, people.iago);
    await expectNothingLinked(browser, state);
  });

  it('is not linked by a session that is older than the log-in at the service', async () => {
    const browser = await TestBrowser.loggedIn(server, ophelia);
    server.clock.advance(1);
    const { page, state } = await begin(browser);
    await expectNothingLinked(browser, state);
    expectPage(await browser.get(page), 'name="password"');
    await sendPassword(browser, page);
    expectPage(await browser.post(CONNECT, { state }), 'Your account is connected');
  });

  it('is not linked without a session', async () => {
    const browser = new TestBrowser(server);
    const { state } = await begin(browser);
    await expectNothingLinked(browser, state);
  });

  it('is not linked in another browser, in another organization or too late', async () => {
    const browser = new TestBrowser(server);
    const { page, state } = await begin(browser);
    await sendPassword(browser, page);
    const thief = await TestBrowser.loggedIn(server, ophelia);
    expectPage(await thief.get(CONNECT, { state }), EXPIRED, 400);
    expectPage(await thief.post(CONNECT, { state }), EXPIRED, 400);

    const realm = `lear${n}`;
    const realmId = await server.addRealm(realm);
    await server.storage.uow.write(realmId, async (tx) => {
      const found = await tx.realms.get(realmId);
      await tx.realms.update({ ...found, settings: { ...found.settings, openIdConnectAuthentication: true } });
    });
    for (const method of ['GET', 'POST'])
      expectPage(await browser.request(method, CONNECT, { state }, { realm }), EXPIRED, 400);

    server.clock.advance(CONNECT_SECONDS);
    expectPage(await browser.get(CONNECT, { state }), EXPIRED, 400);
    expectPage(await browser.post(CONNECT, { state }), EXPIRED, 400);
    expect(await linkedUser()).toBeNull();
  });

  it('is not linked to a deactivated account', async () => {
    const browser = new TestBrowser(server);
    const { page, state } = await begin(browser);
    await sendPassword(browser, page);
    fieldsOf(await server.delete(`/users/${ophelia.id}`, people.desdemona));
    await expectNothingLinked(browser, state);
    const form = hiddenFieldsOf(await browser.get(page));
    const sent = await browser.post('/login/', { ...form, username: ophelia.email, password: ophelia.password });
    expectPage(sent, 'deactivated', 400);
  });

  it('is not linked to a user with another account of the service', async () => {
    const { realmId } = server;
    const other = { method: 'company', subject: 'other', userId: ophelia.id, linkedAt: server.clock.now() };
    await server.storage.uow.write(realmId, (tx) => tx.logIns.link(realmId, { ...other, picture: null }));
    const browser = new TestBrowser(server);
    const { page, state } = await begin(browser);
    await sendPassword(browser, page);
    lines.length = 0;
    expectPage(await browser.post(CONNECT, { state }), 'logs in with another account of this service', 400);
    expect(lines).toEqual([expect.objectContaining({ method: 'company', subject: `o${n}`, userId: ophelia.id })]);
    expect(await linkedUser()).toBeNull();
  });

  it('is not linked twice, or after the organization has disabled the service', async () => {
    const browser = new TestBrowser(server);
    const { page, state } = await begin(browser);
    await sendPassword(browser, page);
    const { realmId } = server;
    const linked = { method: 'company', subject: `o${n}`, userId: people.iago.id, linkedAt: server.clock.now() };
    await server.storage.uow.write(realmId, (tx) => tx.logIns.link(realmId, { ...linked, picture: null }));
    expectPage(await browser.post(CONNECT, { state }), EXPIRED, 400);
    expect(await linkedUser()).toBe(people.iago.id);
    await server.storage.uow.write(realmId, (tx) => tx.logIns.unlink(realmId, people.iago.id, 'company'));
    await server.changeRealm({ settings: { openIdConnectAuthentication: false } });
    expectPage(await browser.post(CONNECT, { state }), 'There is no such way to log in.', 400);
  });

  it('is linked only by a form of this site', async () => {
    const browser = new TestBrowser(server);
    const { page, state } = await begin(browser);
    await sendPassword(browser, page);
    const headers = { 'Sec-Fetch-Site': 'cross-site' };
    expectPage(await browser.request('POST', CONNECT, { state }, { headers }), 'page of another site', 403);
    expect(await linkedUser()).toBeNull();
  });

  it('shows the same page if no account has the address', async () => {
    const pageFor = async (email: string) => {
      services.confirmed = { subject: `p${n}`, email };
      const { body } = await logInAt('company', new TestBrowser(server));
      return String(body)
        .replaceAll(email, 'EMAIL')
        .replace(/state%3D[\w-]+/, 'STATE');
    };
    expect(await pageFor(`nobody${n}@zulip.com`)).toBe(await pageFor(ophelia.email));
  });
});
