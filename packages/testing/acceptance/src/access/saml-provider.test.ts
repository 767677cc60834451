import { FetchLogInPictures } from '@parley/domain/log-in';
import { type SamlAccount, samlProviders } from '@parley/node-adapters';
import { expectRefused, fieldsOf } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { TestBrowser } from '../testing/test-browser.js';
import type { TestReply } from '../testing/test-reply.js';
import { hasSamlProvider, type SamlForm, TestSamlProvider } from '../testing/test-saml-provider.js';
import { TestServer } from '../testing/test-server.js';

const PEOPLE = {
  hamlet: { uid: ['id-of-hamlet'], email: ['hamlet@zulip.com'], displayName: ['Prince Hamlet'], groups: ['x'] },
  yorick: {
    uid: ['id-of-yorick'],
    email: ['yorick@example.com'],
    displayName: ['Yorick & Sons'],
    groups: ['x', 'chat-admins'],
    photo: ['http://127.0.0.2/yorick.png'],
  },
  outsider: { uid: ['id-of-outsider'], email: ['outsider@elsewhere.org'], displayName: ['Outsider'] },
};

(hasSamlProvider ? describe : describe.skip)('log-in through an identity provider (SimpleSAMLphp)', () => {
  let provider: TestSamlProvider;
  let server: TestServer;
  const lines: Record<string, unknown>[] = [];
  beforeAll(async () => {
    provider = await TestSamlProvider.start(PEOPLE);
    const account: SamlAccount = {
      name: 'company',
      entityId: provider.entityId,
      entryPoint: provider.entryPoint,
      certificates: [provider.certificate()],
      signsResponse: true,
      requestKey: null,
      displayName: 'Company',
      displayIcon: null,
      realms: null,
      allowedDomains: ['zulip.com', 'example.com'],
      trustsEmails: true,
      createsPeople: null,
      requiredGroups: [],
      attributes: { id: null, email: 'email', name: 'displayName', role: 'groups', groups: null, picture: 'photo' },
      defaultRole: 'member',
      roles: new Map([['chat-admins', 'administrator']]),
    };
    const other = { ...account, name: 'other', certificates: [provider.certificate('other')] };
    const log = (fields: object) => void lines.push(fields as Record<string, unknown>);
    server = await TestServer.start({
      logInProviders: await samlProviders([account, other]),
      logger: { info: () => {}, warn: log, error: log },
    });
    await server.changeRealm({ settings: { samlAuthentication: true, inviteRequired: false } });
    const metadata = async (name: string) =>
      String((await server.request('GET', `//accounts/login/metadata/${name}/`)).body);
    provider.register(await metadata('company'), await metadata('other'));
  });
  beforeEach(() => {
    lines.length = 0;
  });
  afterAll(async () => {
    await server.close();
    await provider.stop();
  });

  async function logInAtProvider(browser: TestBrowser, name: string, method = 'company'): Promise<SamlForm> {
    const { headers } = await browser.get(`/accounts/login/external/${method}/`);
    const form = await provider.logIn(headers.location as string, name);
    expect(form).toEqual({
      action: `${server.url}/accounts/login/complete/${method}/`,
      fields: { SAMLResponse: expect.any(String), RelayState: expect.any(String) },
    });
    return form;
  }
  /** Submits the form like the provider's page. */
  const send = (browser: TestBrowser, { action, fields }: SamlForm): Promise<TestReply> =>
    browser.request('POST', new URL(action).pathname, fields, {
      headers: { Origin: provider.url, 'Sec-Fetch-Site': 'cross-site' },
    });
  async function logIn(name: string, browser = new TestBrowser(server)): Promise<TestReply> {
    return send(browser, await logInAtProvider(browser, name));
  }

  it('links and creates accounts with the name and role of the signed response', async () => {
    const browser = new TestBrowser(server);
    expect((await logIn('hamlet', browser)).status).toBe(303);
    expect(fieldsOf(await browser.get('/json/users/me'))).toMatchObject({ user_id: server.people.hamlet.id });
    const other = new TestBrowser(server);
    expect((await logIn('yorick', other)).status).toBe(303);
    const yorick = { full_name: 'Yorick & Sons', delivery_email: 'yorick@example.com', role: 200 };
    expect(fieldsOf(await other.get('/json/users/me'))).toMatchObject(yorick);
    expect(lines).toMatchObject([
      { audit: 'log-in', account: 'hamlet@zulip.com', logInMethod: 'company', change: 'linked' },
      { audit: 'log-in', account: 'yorick@example.com', logInMethod: 'company', change: 'created' },
    ]);
    await runJobs(server, server.parley.useCase(FetchLogInPictures)).catch((error: Error) =>
      expect(error.message).toContain('not on the public Internet'),
    );
  });

  it('recognizes users by their name at the provider', async () => {
    const browser = new TestBrowser(server);
    expect((await logIn('hamlet', browser)).status).toBe(303);
    expect((await logIn('hamlet')).status).toBe(303);
    expect(lines.at(-1)).toMatchObject({ audit: 'log-in', logInMethod: 'company' });
    expect(lines.at(-1)).not.toHaveProperty('change');
  });

  it('rejects addresses of other domains', async () => {
    expectRefused(await logIn('outsider'), 'The service did not confirm who you are.');
    expect(lines.at(-1)).toMatchObject({ audit: 'failed log-in', logInMethod: 'company' });
  });

  it('rejects responses signed with another certificate', async () => {
    const browser = new TestBrowser(server);
    const form = await logInAtProvider(browser, 'hamlet', 'other');
    expectRefused(await send(browser, form), 'The service for logging in does not respond as expected.');
  });

  it('rejects a response that was used before or belongs to another browser or request', async () => {
    const EXPIRED = 'The log-in took too long or was interrupted.';
    const browser = new TestBrowser(server);
    const form = await logInAtProvider(browser, 'hamlet');
    expectRefused(await send(new TestBrowser(server), form), EXPIRED);
    const second = new TestBrowser(server);
    const used = await logInAtProvider(second, 'hamlet');
    expect((await send(second, used)).status).toBe(303);
    expectRefused(await send(second, used), EXPIRED);
    const third = new TestBrowser(server);
    const fresh = await logInAtProvider(third, 'yorick');
    const mixed = { ...fresh, fields: { ...fresh.fields, SAMLResponse: used.fields.SAMLResponse! } };
    expect((await send(third, mixed)).status).toBe(400);
  });

  it('rejects a response that was changed in transit', async () => {
    const browser = new TestBrowser(server);
    const form = await logInAtProvider(browser, 'hamlet');
    const xml = Buffer.from(form.fields.SAMLResponse!, 'base64').toString();
    const changed = xml.replaceAll('hamlet@zulip.com', 'desdemona@zulip.com');
    expect(changed).not.toBe(xml);
    const fields = { ...form.fields, SAMLResponse: Buffer.from(changed).toString('base64') };
    expect((await send(browser, { ...form, fields })).status).toBe(400);
  });
});
