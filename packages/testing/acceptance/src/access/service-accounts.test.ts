import { recordBounce, SendConfirmationEmails } from '@parley/domain/access';
import { SendInvitationEmails, SendWelcomeEmails } from '@parley/domain/membership';
import { expectPage, expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { serverPerSuite } from '../testing/servers.js';
import { TestBrowser } from '../testing/test-browser.js';
import { TestLogInServices } from '../testing/test-log-in-services.js';
import type { TestReply } from '../testing/test-reply.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

const PASSWORD = 'alas, poor yorick 1601';
const verified = (email: string) => ({ email, emailStatements: [{ email, isVerified: true }] });
const NO_PASSWORDS = 'Password authentication is disabled in this organization';

const services = new TestLogInServices();

let yorick: string;
let n = 0;
const { server, people } = serverPerSuite({
  logInProviders: [
    services.provider('open-as-realm'),
    services.provider('company', { createsPeople: true }),
    services.provider('linking', { createsPeople: false }),
    services.provider('trusted', { trustsEmails: true }),
  ],
});
beforeAll(async () => {
  await server.createChannel('general', [], { is_default_stream: true });
  await server.createChannel('invited');
});
const settings = (more: object) =>
  server.changeRealm({
    settings: { openIdConnectAuthentication: true, emailAuthentication: false, inviteRequired: false, ...more },
  });
beforeEach(async () => {
  n++;
  yorick = `yorick${n}@example.com`;
  services.confirmed = { subject: `y${n}`, ...verified(yorick) };
  await settings({});
});

const send = (path: string, params: object = {}) => server.request('POST', `/${path}`, { params: { ...params } });
async function logIn(method: string, browser = new TestBrowser(server), key?: string): Promise<TestReply> {
  const begun = await browser.get(`/accounts/login/external/${method}/`, key === undefined ? undefined : { key });
  if (begun.status !== 303) return begun;
  const state = new URL(begun.headers.location!).searchParams.get('state')!;
  return browser.get(`/accounts/login/complete/${method}/`, { state });
}
const me = async (browser: TestBrowser): Promise<Wire> => fieldsOf(await browser.get('/json/users/me'));
const hasAccount = async (email: string): Promise<boolean> =>
  (fieldsOf(await server.get('/users', people.desdemona)) as Wire).members.some(
    ({ delivery_email }: Wire) => delivery_email === email,
  );
/** Path of the link in the only email to an address. */
async function linkTo(email: string, kind: 'confirmation' | 'invitation' = 'confirmation'): Promise<string> {
  if (kind === 'confirmation') await runJobs(server, server.parley.useCase(SendConfirmationEmails));
  else await runJobs(server, server.parley.useCase(SendInvitationEmails));
  const [sent, ...others] = server.mailer.emails.filter(({ to }) => to === email);
  expect(others).toEqual([]);
  return sent!.text
    .split('\n')
    .find((line) => line.startsWith(`${server.url}/`))!
    .slice(server.url.length);
}
const keyIn = (path: string): string => path.split('/').filter(Boolean).at(-1)!;

describe('organization without passwords', () => {
  it('rejects sign-up by strangers on pages and through the API', async () => {
    expect((await send('/register/', { email: yorick })).body).toContain(NO_PASSWORDS);
    await runJobs(server, server.parley.useCase(SendConfirmationEmails));
    expect(server.mailer.emails.filter(({ to }) => to === yorick)).toEqual([]);
    await settings({ emailAuthentication: true });
    expect((await send('/register/', { email: yorick })).status).toBe(303);
    const key = keyIn(await linkTo(yorick));
    await settings({});
    const form = { key, full_name: 'Yorick', password: PASSWORD };
    const joined = await send('/accounts/register/', form);
    expectPage(joined, NO_PASSWORDS, 400);
    expect(joined.headers['set-cookie'] ?? []).toEqual([]);
    expectRefusal(await server.post('/invites/accept', null, { ...form, email: yorick }), NO_PASSWORDS, {
      status: 401,
      code: 'PASSWORD_AUTH_DISABLED',
    });
    expect(await hasAccount(yorick)).toBe(false);
  });

  it('shows strangers the services for joining instead of a form', async () => {
    const page = await new TestBrowser(server).get('/register/');
    expectPage(page, 'href="/accounts/login/external/open-as-realm/"');
    expectPage(page, 'href="/accounts/login/external/company/"');
    expect(page.body).not.toContain('/external/linking/');
    expect(page.body).not.toContain('<form');
    for (const path of ['/login/', '/'])
      expect((await new TestBrowser(server).get(path)).body).not.toContain('/register/');
    await settings({ inviteRequired: true });
    const closed = await new TestBrowser(server).get('/register/');
    expectPage(closed, 'href="/accounts/login/external/company/"');
    expect(closed.body).not.toContain('/external/open-as-realm/');
    await settings({ openIdConnectAuthentication: false });
    expectPage(await new TestBrowser(server).get('/register/'), 'This organization does not use passwords.', 404);
  });
});

describe('stranger at a service', () => {
  it.each<[string, inviteRequired: boolean, boolean]>([
    ['open-as-realm', false, true],
    ['open-as-realm', true, false],
    ['company', false, true],
    ['company', true, true],
    ['linking', false, false],
    ['linking', true, false],
  ])('%s with invitations required: %s, can join: %s', async (method, inviteRequired, joins) => {
    await settings({ inviteRequired });
    const reply = await logIn(method);
    if (!joins) expectPage(reply, `Please request an invite for ${yorick} from the organization administrator.`, 400);
    expect(await hasAccount(yorick)).toBe(joins);
  });

  it('gets welcome emails that do not mention a password', async () => {
    await logIn('company');
    await runJobs(server, server.parley.useCase(SendWelcomeEmails));
    const [email] = server.mailer.emails.filter(({ to }) => to === yorick);
    expect(email!.text).toContain('log in the same way as when you joined');
  });
});

describe('address not verified by the service', () => {
  const SENT = 'Open the link to continue.';
  let ophelia: TestUser;
  beforeEach(async () => {
    ophelia = await server.addUser({ email: `ophelia${n}@zulip.com`, fullName: `Ophelia ${n}` });
    services.confirmed = { subject: `o${n}`, email: ophelia.email };
  });

  it.each([
    ['silent', []],
    ['of another address', [{ email: 'a@b.example', isVerified: true }]],
    ['negative', () => [{ email: ophelia.email, isVerified: false }]],
  ])("opens no account if the service's statement is %s", async (_, statements) => {
    services.confirmed = {
      ...services.confirmed,
      emailStatements: typeof statements === 'function' ? statements() : statements,
    };
    const browser = new TestBrowser(server);
    expectPage(await logIn('company', browser), SENT, 400);
    expect(browser.cookies.has('sessionid')).toBe(false);
  });

  it('counts as verified at a service that the operator trusts, unless the service denies it', async () => {
    services.confirmed = { ...services.confirmed, emailStatements: [{ email: ophelia.email, isVerified: false }] };
    expectPage(await logIn('trusted'), SENT, 400);
    services.confirmed = { ...services.confirmed, emailStatements: [] };
    const browser = new TestBrowser(server);
    await logIn('trusted', browser);
    expect((await me(browser)).user_id).toBe(ophelia.id);
  });

  it('is linked once the user opens the emailed link and logs in again, and gets notifications again if it had bounced', async () => {
    const { uow } = server.storage;
    const hasBounced = () =>
      uow.readAcross(async (reads) => (await reads.bouncedAddresses.find(ophelia.email)) !== null);
    await recordBounce(uow, ophelia.email, '550 5.1.1 No such user', server.clock.now());
    await logIn('company');
    const path = await linkTo(ophelia.email);
    const browser = new TestBrowser(server);
    const key = keyIn(path);
    expectPage(await browser.get(path), `href="/accounts/login/external/company/?key=${key}"`);
    expect(await hasBounced()).toBe(true);
    expect((await logIn('company', browser, key)).status).toBe(303);
    expect(await hasBounced()).toBe(false);
    expect((await me(browser)).user_id).toBe(ophelia.id);
    expectPage(await browser.get(path), 'The confirmation link has expired or been deactivated.', 404);
    const later = new TestBrowser(server);
    await logIn('company', later);
    expect((await me(later)).user_id).toBe(ophelia.id);
  });

  it('is not confirmed by a link to another address', async () => {
    await logIn('company');
    const key = keyIn(await linkTo(ophelia.email));
    services.confirmed = { subject: `i${n}`, email: people.iago.email };
    expectPage(await logIn('company', new TestBrowser(server), key), SENT, 400);
    expectPage(await logIn('company', new TestBrowser(server), 'x'.repeat(40)), 'could not be found', 404);
  });

  it('gets an account for users who may join, and no email for others', async () => {
    services.confirmed = { subject: `y${n}`, email: yorick };
    expectPage(await logIn('linking'), SENT, 400);
    await runJobs(server, server.parley.useCase(SendConfirmationEmails));
    expect(server.mailer.emails.filter(({ to }) => to === yorick)).toEqual([]);
    expectPage(await logIn('company'), SENT, 400);
    expect(await hasAccount(yorick)).toBe(false);
    await logIn('company', new TestBrowser(server), keyIn(await linkTo(yorick)));
    expect(await hasAccount(yorick)).toBe(true);
  });
});

it('account at a service can cause only a limited number of emails', async () => {
  const limited = await TestServer.start({ hasRateLimits: true, logInProviders: [services.provider('company')] });
  try {
    await limited.changeRealm({ settings: { openIdConnectAuthentication: true } });
    const replies: TestReply[] = [];
    for (const { email } of [limited.people.iago, limited.people.hamlet, limited.people.cordelia]) {
      services.confirmed = { subject: 'changes its address', email };
      replies.push(await logIn('company', new TestBrowser(limited)));
    }
    expect(replies.map(({ status }) => status)).toEqual([400, 400, 429]);
    expect(replies[2]!.headers['retry-after']).toMatch(/^\d+$/);
    expect(replies[2]!.body).toContain('Too many attempts.');
    // The owner of the address can still log in to connect the account.
    expect(replies[2]!.body).toContain('Log in to connect');
  } finally {
    await limited.close();
  }
});

describe('invitation to an organization without passwords', () => {
  beforeEach(() => settings({ inviteRequired: true }));

  const offer = async () => {
    const channel = await server.createChannel(`offer-${n}`, [people.desdemona]);
    const group = fieldsOf(
      await server.post('/user_groups/create', people.desdemona, { name: `offer ${n}`, description: '', members: [] }),
    ) as Wire;
    return { stream_ids: [channel], group_ids: [group.group_id], invite_as: 300 };
  };
  const invite = async (email: string, params: object = {}): Promise<string> => {
    fieldsOf(await server.post('/invites', people.desdemona, { invitee_emails: email, stream_ids: [], ...params }));
    return linkTo(email, 'invitation');
  };
  const expectOffered = async (browser: TestBrowser, { stream_ids, group_ids }: Awaited<ReturnType<typeof offer>>) => {
    const user = await me(browser);
    expect(user).toMatchObject({ delivery_email: yorick, role: 300 });
    const { subscriptions } = fieldsOf(await browser.get('/json/users/me/subscriptions')) as Wire;
    expect(subscriptions.map(({ stream_id }: Wire) => stream_id)).toEqual(stream_ids);
    const { members } = fieldsOf(await server.get(`/user_groups/${group_ids[0]}/members`, people.desdemona)) as Wire;
    expect(members).toContain(user.user_id);
  };
  const isOpen = async (email: string): Promise<boolean> =>
    (fieldsOf(await server.get('/invites', people.desdemona)) as Wire).invites.some((it: Wire) => it.email === email);

  it('shows the services, which accept it', async () => {
    const offered = await offer();
    const path = await invite(yorick, offered);
    const browser = new TestBrowser(server);
    const page = await browser.get(path);
    expectPage(page, `href="/accounts/login/external/linking/?key=${keyIn(path)}"`);
    expect(page.body).not.toContain('password');
    await logIn('linking', browser, keyIn(path));
    await expectOffered(browser, offered);
    expect(await isOpen(yorick)).toBe(false);
    expectPage(await new TestBrowser(server).get(path), 'The invitation link has expired or been deactivated.', 404);
    const messages = await server.messagesFor(people.desdemona, { num_before: 1, narrow: [] });
    expect(messages[0].content).toContain('accepted your invitation to join Zulip!');
  });

  it('is accepted by a log-in with the invited address from the log-in page', async () => {
    const offered = await offer();
    await invite(yorick, offered);
    services.confirmed = { ...services.confirmed, ...verified(yorick.toUpperCase()) };
    const browser = new TestBrowser(server);
    await logIn('open-as-realm', browser);
    expect(await isOpen(yorick)).toBe(false);
    expect(await me(browser)).toMatchObject({ role: 300 });
  });

  it.each<[string, boolean, number]>([
    ['gives its role if no value of the service matches', true, 300],
    ['leaves the role to a service that determines it', false, 200],
  ])('%s', async (_, sparesGuests, role) => {
    const path = await invite(yorick, { invite_as: 300 });
    const stated = { role: sparesGuests ? 'member' : 'administrator', sparesGuests } as const;
    services.confirmed = { subject: `y${n}`, ...verified(yorick), role: stated };
    const browser = new TestBrowser(server);
    await logIn('linking', browser, keyIn(path));
    expect(await me(browser)).toMatchObject({ role });
  });

  it('confirms its address even if the service does not verify it', async () => {
    const path = await invite(yorick);
    services.confirmed = { subject: `y${n}`, email: yorick };
    const browser = new TestBrowser(server);
    expect((await logIn('linking', browser, keyIn(path))).status).toBe(303);
    expect(await me(browser)).toMatchObject({ delivery_email: yorick });
  });

  it('admits no other address', async () => {
    const path = await invite(yorick);
    services.confirmed = { subject: `x${n}`, ...verified(`x${n}@example.com`) };
    expectPage(await logIn('linking', new TestBrowser(server), keyIn(path)), 'Please request an invite', 400);
    expect(await isOpen(yorick)).toBe(true);
  });

  it('admits everyone who opens its link and has a verified or confirmed address', async () => {
    const offered = await offer();
    const { invite_link } = fieldsOf(await server.post('/invites/multiuse', people.desdemona, offered)) as Wire;
    const path = invite_link.slice(server.url.length);
    const key = keyIn(path);
    const page = await new TestBrowser(server).get(path);
    expectPage(page, `href="/accounts/login/external/linking/?key=${key}"`);
    expect(page.body).not.toContain('<form');
    expectPage(await send(path, { email: yorick }), NO_PASSWORDS, 400);
    services.confirmed = { subject: `y${n}`, email: yorick };
    expectPage(await logIn('linking', new TestBrowser(server), key), 'Open the link to continue.', 400);
    const browser = new TestBrowser(server);
    await logIn('linking', browser, keyIn(await linkTo(yorick)));
    await expectOffered(browser, offered);
    const other = new TestBrowser(server);
    services.confirmed = { subject: `z${n}`, ...verified(`z${n}@example.com`) };
    await logIn('linking', other, key);
    expect(await me(other)).toMatchObject({ role: 300 });
  });

  it('ends when it is revoked during the log-in', async () => {
    const path = await invite(yorick);
    const browser = new TestBrowser(server);
    const begun = await browser.get('/accounts/login/external/linking/', { key: keyIn(path) });
    const { invites } = fieldsOf(await server.get('/invites', people.desdemona)) as Wire;
    const { id } = invites.find((it: Wire) => it.email === yorick);
    fieldsOf(await server.delete(`/invites/${id}`, people.desdemona));
    const state = new URL(begun.headers.location!).searchParams.get('state')!;
    expectPage(await browser.get('/accounts/login/complete/linking/', { state }), 'Please request an invite', 400);
  });

  it('shows services in addition to the form if passwords are enabled', async () => {
    await settings({ emailAuthentication: true, inviteRequired: true });
    const path = await invite(yorick);
    const page = await new TestBrowser(server).get(path);
    expectPage(page, 'name="password"');
    expectPage(page, `href="/accounts/login/external/linking/?key=${keyIn(path)}"`);
  });
});
