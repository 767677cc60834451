import { type Email, ForgetConfirmations, recordBounce, SendConfirmationEmails } from '@parley/domain/access';
import type { Injectable } from '@parley/domain/composition';
import type { JobHandler } from '@parley/domain/kernel';
import {
  AddressChangedEmails,
  ConfirmEmailChange,
  GetConfirmation,
  GetSignUp,
  JoinRealm,
  RequestPasswordReset,
  RequestSignUp,
  ResetPassword,
  SendInvitationEmails,
  SendWelcomeEmails,
} from '@parley/domain/membership';
import { LogIn, SendLoginEmails, type User } from '@parley/domain/users';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, notListed, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import type { TestReply } from '../testing/test-reply.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

const PASSWORD = 'alas, poor yorick 1601';
const DAY = 86_400;

/** Servers with default settings, with rate limits behind a proxy, and without a mail server. */
let main: TestServer;
let limited: TestServer;
let withoutEmail: TestServer;
/** Server of the current test. */
let server: TestServer;
let people: TestServer['people'];
let url: string;
let general: number;
let closed: number;
/** User for a single test, because emails are identified by address. */
let hamlet: TestUser;
let yorick: string;
let n = 0;

beforeAll(async () => {
  [main, limited, withoutEmail] = await Promise.all([
    TestServer.start(),
    TestServer.start({ hasRateLimits: true, trustedProxies: 1 }),
    TestServer.start({ sendsMail: false }),
  ]);
  await use(main);
  await main.addRealm('other');
  general = await channel('general', { is_default_stream: true });
  closed = await channel('closed');
});
afterAll(() => Promise.all([main, limited, withoutEmail].map((each) => each.close())));
beforeEach(() => use(main));
afterEach(async () => {
  await main.changeRealm({
    isDeactivated: false,
    settings: { inviteRequired: true, emailsRestrictedToDomains: false },
  });
});

async function use(one: TestServer): Promise<void> {
  server = one;
  ({ people, url } = server);
  n++;
  yorick = `yorick${n}@example.com`;
  hamlet = await server.addUser({ email: `hamlet${n}@zulip.com`, fullName: 'King Hamlet' });
}

async function channel(name: string, params: object = {}): Promise<number> {
  const made = await server.post('/channels/create', people.desdemona, { name, subscribers: [], ...params });
  return (fieldsOf(made) as Wire).id;
}

const changeUser = (user: TestUser, more: Partial<User>) =>
  server.storage.uow.write(server.realmId, async (tx) => {
    const present = await tx.users.find(server.realmId, user.id);
    await tx.users.update({ ...present!, ...more });
  });

/** Sends requests like a browser. */
const open = (path: string, realm?: string) => server.request('GET', `/${path}`, { ...(realm && { realm }) });
const send = (path: string, params: object = {}, headers: Record<string, string> = {}, realm?: string) =>
  server.request('POST', `/${path}`, { params: { ...params }, headers, ...(realm && { realm }) });

function expectPage(reply: TestReply, text: string | RegExp, status = 200): void {
  expect(reply.body).toMatch(text);
  expect(reply.status).toBe(status);
  expect(reply.headers['content-type']).toBe('text/html; charset=utf-8');
}
const from = (ip: string) => ({ 'X-Forwarded-For': ip });
const expectRedirect = (reply: TestReply, path: string) =>
  expect({ status: reply.status, location: reply.headers.location }).toEqual({ status: 303, location: path });

/** Bypasses the compiler's dependency check, which supports only one class at a time. */
const instanceOf = <T>(type: Injectable<T>): T => (server.parley.useCase as (type: Injectable<T>) => T)(type);

/** Sends emails of a kind and expects the given number of emails to an address. */
async function emailsTo(email: string, handler: JobHandler, count = 1): Promise<readonly Email[]> {
  await runJobs(server, handler);
  const sent = server.mailer.emails.filter(({ to }) => to === email);
  expect(sent).toHaveLength(count);
  return sent;
}
/** Path of the link in the newest email to an address. */
async function linkTo(email: string, handler = confirmations(), count = 1): Promise<string> {
  const [{ text }] = (await emailsTo(email, handler, count)).slice(-1) as [Email];
  const link = text.split('\n').find((line) => line.startsWith(`${url}/`))!;
  return link.slice(url.length);
}
const confirmations = () => instanceOf<JobHandler>(SendConfirmationEmails);

describe('start page', () => {
  it('names the organization with instructions to connect and is the target of /help', async () => {
    await server.changeRealm({ name: 'Elsinore & Sons', settings: { description: 'A <b>castle</b>' } });
    const reply = await open('/');
    expectPage(reply, '<h1>Elsinore &amp; Sons</h1>');
    expect(reply.body).toContain('A &lt;b&gt;castle&lt;/b&gt;');
    expect(reply.body).toContain(`<code>${url}</code>`);
    expect(reply.body).toContain('An invitation from a member is required');
    expectRedirect(await open('/help/'), '/');
    expectRedirect(await open('/favicon.ico'), `/user_avatars/${server.realmId}/realm/icon.png?version=1`);
    expectPage(await open('/login'), '<h1>Log in to Elsinore &amp; Sons</h1>');
    await server.changeRealm({ name: 'Realm zulip', settings: { description: '' } });
  });

  it('forbids scripts, external resources, framing and access by other sites', async () => {
    const { headers, body } = await open('/');
    expect(headers).toMatchObject({
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src 'self'; form-action 'self' zulip:; base-uri 'none'; frame-ancestors 'none'$/,
      ),
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
    });
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(body).not.toMatch(/<script|\son\w+=|\sstyle=/i);
  });

  it.each([
    ['de-DE,de;q=0.9,en;q=0.8', 'de', 'Anmelden'],
    ['sv, de;q=0.5, en;q=0.1', 'de', 'Anmelden'],
    ['en-GB,en;q=0.9,de;q=0.8', 'en', 'Log in'],
    ['de;q=0, sv', 'en', 'Log in'],
    ['', 'en', 'Log in'],
  ])('responds to Accept-Language %j in %s', async (accepted, language, text) => {
    const reply = await server.request('GET', '//', { headers: { 'Accept-Language': accepted } });
    expectPage(reply, `<html lang="${language}" dir="ltr">`);
    expect(reply.body).toContain(`/login/">${text}</a>`);
    expect(reply.headers['content-language']).toBe(language);
  });

  it("falls back to the organization's language", async () => {
    await server.changeRealm({ settings: { defaultLanguage: 'de' } });
    expectPage(await open('/register/'), 'ist eine Einladung nötig');
    expectPage(await server.request('GET', '//', { headers: { 'Accept-Language': 'en' } }), '>Log in</a>');
    await server.changeRealm({ settings: { defaultLanguage: 'en' } });
  });

  it('responds to paths without an operation with a page in browsers only', async () => {
    const inBrowser = { headers: { Accept: 'text/html,*/*;q=0.8', 'Accept-Language': 'de' } };
    const reply = await server.request('GET', '//nowhere', inBrowser);
    expectPage(reply, 'Unter dieser Adresse gibt es keine Seite.', 404);
    expect(reply.headers['content-security-policy']).toContain("default-src 'none'");
    expect(await open('/nowhere')).toMatchObject({ status: 404, body: { result: 'error' } });
    expect(await server.request('GET', '/nowhere', inBrowser)).toMatchObject({
      status: 404,
      body: { result: 'error' },
    });
  });

  it.each(['/accounts/go/', '/accounts/find/', '/new/', '/policies/', '/policies/terms'])(
    'responds at %s that the feature is not configured',
    async (path) => expectPage(await open(path), 'This feature is not configured on this server.', 404),
  );

  it('reports a missing or deactivated organization', async () => {
    expectPage(await open('/', 'nowhere'), 'There is no organization at this address.', 404);
    expectPage(await open('/', 'nowhere'), 'parley realm create', 404);
    await server.changeRealm({ isDeactivated: true });
    expectPage(await open('/'), 'This organization has been deactivated.', 404);
    expectPage(await send('/register/', { email: 'a@example.com' }), 'has been deactivated', 404);
  });

  it('responds to HEAD and rejects other methods', async () => {
    expect(await server.request('HEAD', '//')).toMatchObject({ status: 200, body: null });
    expect(await server.request('PUT', '//')).toMatchObject({ status: 405 });
  });
});

describe('PATCH /settings with a new email', () => {
  const ask = (email: string, more: object = {}) => server.patch('/settings', hamlet, { email, ...more });
  const addressOf = async () => (await server.get(`/users/${hamlet.id}`, people.desdemona)).body.user.delivery_email;
  let wanted: string;
  beforeEach(() => {
    wanted = `New${n}@Example.com`;
  });

  it('sends a confirmation link that changes the email once and notifies everyone', async () => {
    const queue = await openQueue(server, people.iago);
    expect(fieldsOf(await ask(` ${wanted} `))).toEqual({});
    expect(await addressOf()).toBe(hamlet.email);
    expect(await eventsAfter(server, queue)).toEqual([]);
    const link = await linkTo(wanted);
    expect(link).toMatch(/^\/accounts\/confirm_new_email\/[a-z2-7]{40}$/);

    // Mail programs prefetch links.
    for (let time = 0; time < 2; time++) expectPage(await open(link), `<strong>${wanted}</strong>`);
    expect(await addressOf()).toBe(hamlet.email);
    expectPage(await send(link), `is now <strong>${wanted}</strong>`);
    expect(await addressOf()).toBe(wanted);
    const person = { user_id: hamlet.id };
    expect(await eventsAfter(server, queue)).toEqual([
      { type: 'realm_user', op: 'update', person: { ...person, delivery_email: wanted } },
      { type: 'realm_user', op: 'update', person: { ...person, new_email: wanted } },
    ]);
    expect((await server.get('/users/me', hamlet)).status).toBe(401);
    expect((await server.get('/users/me', { ...hamlet, email: wanted })).status).toBe(200);
    const [email] = await emailsTo(hamlet.email, instanceOf<JobHandler>(AddressChangedEmails));
    expect(email!.text).toContain(`is now ${wanted}.`);
    const again = 'The confirmation link has expired or been deactivated.';
    expectPage(await send(link), again, 404);
    expectPage(await open(link), again, 404);
  });

  it('limits emails without counting rejected requests', async () => {
    await use(limited);
    expectRefusal(await ask('nonsense'), 'Invalid address.');
    fieldsOf(await ask('a@example.com'));
    expectRefusal(await ask('b@example.com', { full_name: 'x' }), 'Name too short!');
    fieldsOf(await ask('b@example.com'));
    expect(await ask('c@example.com')).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_HIT' } });
    fieldsOf(await ask(hamlet.email));
    fieldsOf(await server.patch('/settings', people.cordelia, { email: 'c@example.com' }));
  });

  it('replaces the link of a previous email and resends the link for the same email', async () => {
    fieldsOf(await ask(`a${wanted}`));
    const first = await linkTo(`a${wanted}`);
    fieldsOf(await ask(wanted));
    const second = await linkTo(wanted);
    fieldsOf(await ask(wanted));
    expect(await linkTo(wanted, confirmations(), 2)).toBe(second);
    expectPage(await send(first), 'expired or been deactivated', 404);
    expectPage(await send(second), wanted);
  });

  it('validates the email again at confirmation', async () => {
    fieldsOf(await ask(wanted));
    const link = await linkTo(wanted);
    await server.changeRealm({ settings: { emailChangesDisabled: true } });
    expectPage(await send(link), 'Email address changes are disabled in this organization.', 400);
    await server.changeRealm({ settings: { emailChangesDisabled: false, emailsRestrictedToDomains: true } });
    expectPage(await send(link), 'Outside your domain.', 400);
    await server.changeRealm({ settings: { emailsRestrictedToDomains: false } });
    const taker = await server.addUser({ email: wanted.toLowerCase(), fullName: 'Quick' });
    expectPage(await send(link), 'Already has an account.', 400);
    await changeUser(taker, { email: `other${n}@example.com` });
    await changeUser(hamlet, { isActive: false });
    expectPage(await send(link), 'expired or been deactivated', 404);
  });

  it('expires after a day and is deleted a day later', async () => {
    fieldsOf(await ask(wanted));
    const link = await linkTo(wanted);
    server.clock.advance(DAY);
    expectPage(await send(link), 'expired or been deactivated', 404);
    server.clock.advance(DAY);
    await runJobs(server, instanceOf<JobHandler>(ForgetConfirmations));
    expectPage(await send(link), 'could not be found', 404);
  });

  it('accepts only links of the same organization and purpose', async () => {
    fieldsOf(await ask(wanted));
    const link = await linkTo(wanted);
    const unknown = 'The confirmation link could not be found.';
    expectPage(await send(link, {}, {}, 'other'), unknown, 404);
    const key = link.split('/').at(-1);
    expectPage(await open(`/accounts/password/reset/${key}`), unknown, 404);
    expectPage(await open(`/accounts/do_confirm/${key}`), unknown, 404);
    expectPage(await open('/accounts/confirm_new_email/x'), unknown, 404);
    expectPage(await open(`/accounts/confirm_new_email/${'x'.repeat(101)}`), 'key is too long', 400);
    expectPage(await send(link), wanted);
  });
});

it.each<[string, Injectable<{ execute(caller: { realmId: null }, input: Wire): Promise<unknown> }>]>([
  ['GetConfirmation', GetConfirmation],
  ['ConfirmEmailChange', ConfirmEmailChange],
  ['RequestPasswordReset', RequestPasswordReset],
  ['ResetPassword', ResetPassword],
  ['GetSignUp', GetSignUp],
  ['RequestSignUp', RequestSignUp],
  ['JoinRealm', JoinRealm],
])('%s is rejected at an address without an organization', async (_, type) => {
  const input = {
    key: 'a'.repeat(40),
    email: yorick,
    password: PASSWORD,
    fullName: 'Yorick',
    purpose: 'passwordReset',
  };
  const asked = Promise.resolve().then(() => instanceOf(type).execute({ realmId: null }, input));
  await expect(asked).rejects.toMatchObject({ code: 'UNKNOWN_REALM' });
});

describe('password reset by email', () => {
  const DONE = '/accounts/password/reset/done/';
  const ask = (email: string, headers = {}) => send('/accounts/password/reset/', { email }, headers);
  const signIn = (password: string) => server.post('/fetch_api_key', null, { username: hamlet.email, password });

  it('sends a link that sets the password once', async () => {
    expectPage(await open('/accounts/password/reset/'), '<label for="email">');
    expectRedirect(await ask(hamlet.email.toUpperCase()), DONE);
    expectPage(await open(DONE), 'If an account with this address exists');
    const link = await linkTo(hamlet.email);
    expectPage(await open(link), `value="${hamlet.email}"`);
    expect((await signIn(hamlet.password)).status).toBe(200);
    expectRedirect(await send(link, { password: PASSWORD }), '/accounts/password/done/');
    expectPage(await open('/accounts/password/done/'), 'Use the new password to log in');
    expect((await signIn(hamlet.password)).status).toBe(401);
    expect(fieldsOf(await signIn(PASSWORD))).toMatchObject({ api_key: hamlet.apiKey });
    expectPage(await send(link, { password: PASSWORD }), 'expired or been deactivated', 404);
  });

  it('ends all browser sessions', async () => {
    const sessions = () => server.storage.uow.read(server.realmId, (r) => r.sessions.listOf(server.realmId, hamlet.id));
    const logIn = { username: hamlet.email, password: hamlet.password, userAgent: 'Mozilla/5.0' };
    await server.parley.useCase(LogIn).execute({ realmId: server.realmId }, logIn);
    expect(await sessions()).toHaveLength(1);
    await ask(hamlet.email);
    const link = await linkTo(hamlet.email);
    expectRedirect(await send(link, { password: PASSWORD }), '/accounts/password/done/');
    expect(await sessions()).toEqual([]);
  });

  it('responds in the same way for unknown emails, bots and other organizations, without sending email', async () => {
    const realmId = (await server.parley.findRealm('other'))!;
    const other = await server.addUser({ email: `o${n}@other.example`, fullName: 'Other', realmId });
    const bot = await server.addBot(hamlet, `helper${n}`);
    for (const email of [`nobody${n}@example.com`, other.email, bot.email]) {
      expectRedirect(await ask(email), DONE);
      await emailsTo(email, confirmations(), 0);
    }
  });

  it('emails deactivated users about the deactivation without a link', async () => {
    await changeUser(hamlet, { isActive: false });
    expectRedirect(await ask(hamlet.email), DONE);
    const [{ text }] = (await emailsTo(hamlet.email, confirmations())) as [Email];
    expect(text).toContain('The account is deactivated');
    expect(text).not.toContain('/accounts/');
  });

  it.each(['', 'nonsense', '"><script>alert(1)</script>'])('shows the form again for %j', async (email) => {
    const reply = await ask(email);
    expectPage(reply, 'Enter a valid email address.', 400);
    expect(reply.body).toContain('role="alert"');
    expect(reply.body).not.toContain('<script>');
  });

  it('shows no form for an invalid link', async () => {
    const reply = await send(`/accounts/password/reset/${'a'.repeat(40)}`, { password: 'x' });
    expectPage(reply, 'The confirmation link could not be found.', 404);
    expect(reply.body).not.toContain('<form');
  });

  it('rejects the address of an unknown organization', async () => {
    const caller = { realmId: null };
    const reset = server.parley.useCase(ResetPassword).execute(caller, { key: 'a'.repeat(40), password: PASSWORD });
    await expect(reset).rejects.toMatchObject({ code: 'UNKNOWN_REALM', message: 'Invalid subdomain' });
  });

  it('rejects weak passwords and keeps the link', async () => {
    await ask(hamlet.email);
    const link = await linkTo(hamlet.email);
    for (const password of ['', 'short', hamlet.email, 'x'.repeat(101)]) {
      expectPage(await send(link, { password }), 'The password is too weak.', 400);
    }
    expectRedirect(await send(link, { password: PASSWORD }), '/accounts/password/done/');
  });

  it('invalidates the link when the password or email changes', async () => {
    await ask(hamlet.email);
    const first = await linkTo(hamlet.email);
    fieldsOf(await server.patch('/settings', hamlet, { old_password: hamlet.password, new_password: PASSWORD }));
    expectPage(await send(first, { password: PASSWORD }), 'expired or been deactivated', 404);
    await ask(hamlet.email);
    const second = await linkTo(hamlet.email, confirmations(), 2);
    expect(second).not.toBe(first);
    await changeUser(hamlet, { email: `moved${n}@example.com` });
    expectPage(await send(second, { password: PASSWORD }), 'expired or been deactivated', 404);
  });

  it('responds as unavailable if password log-in is disabled', async () => {
    await server.changeRealm({ settings: { emailAuthentication: false } });
    expectPage(await open('/accounts/password/reset/'), 'This organization does not use passwords.', 404);
    expectPage(await ask(hamlet.email), 'Password authentication is disabled in this organization', 400);
    await server.changeRealm({ settings: { emailAuthentication: true } });
  });

  it('limits emails per email and network address, and lifts the log-in lock', async () => {
    await use(limited);
    for (let time = 0; time < 6; time++) await signIn('wrong');
    expect((await signIn(hamlet.password)).status).toBe(429);
    expectRedirect(await ask(hamlet.email, from('192.0.2.1')), DONE);
    const link = await linkTo(hamlet.email);
    expectRedirect(await ask(hamlet.email.toUpperCase(), from('192.0.2.2')), DONE);
    expectRedirect(await ask(hamlet.email, from('192.0.2.1')), DONE);
    const refused = await ask(hamlet.email, from('192.0.2.1'));
    expectPage(refused, 'Too many attempts. Try again in 60 minutes.', 429);
    expect(refused.headers['retry-after']).toBe('3600');
    for (const name of ['a', 'b', 'c', 'd', 'e']) await ask(`${name}@example.com`, from('192.0.2.4'));
    expectPage(await ask('f@example.com', from('192.0.2.4')), 'Try again in 24 hours.', 429);
    expectRedirect(await send(link, { password: PASSWORD }), '/accounts/password/done/');
    expect((await signIn(PASSWORD)).status).toBe(200);
  });
});

describe('page form', () => {
  const sendWith = (headers: object) =>
    send('/accounts/password/reset/', { email: hamlet.email }, { ...headers } as Record<string, string>);

  it('accepts requests from our own pages and from programs', async () => {
    for (const headers of [{}, { 'Sec-Fetch-Site': 'same-origin' }, { 'Sec-Fetch-Site': 'none' }, { Origin: url }]) {
      expectRedirect(await sendWith(headers), '/accounts/password/reset/done/');
    }
  });

  it.each([
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['another organization', { 'Sec-Fetch-Site': 'same-site' }],
    ['another origin', { Origin: 'https://evil.example' }],
    ['an origin without a trusted proxy', { Origin: 'https://evil.example', 'X-Forwarded-Host': 'evil.example' }],
    ['a page without an origin', { Origin: 'null' }],
  ])('rejects forms from %s', async (_, headers) => {
    expectPage(await sendWith(headers), 'sent from a page of another site', 403);
    await emailsTo(hamlet.email, confirmations(), 0);
  });

  it('rejects forms from an http origin under https', async () => {
    await use(limited);
    const { host } = new URL(url);
    const over = (protocol: string) => ({ Origin: `http://${host}`, 'X-Forwarded-Proto': protocol });
    const own = { 'Sec-Fetch-Site': 'same-origin' };
    for (const headers of [over('https'), { ...over('https'), ...own }]) {
      expectPage(await sendWith({ ...headers, ...from('192.0.2.20') }), 'sent from a page of another site', 403);
      const logIn = await send('/login/', {}, { ...headers, ...from('192.0.2.20') });
      expectPage(logIn, 'sent from a page of another site', 403);
    }
    expectRedirect(await sendWith({ ...over('http'), ...from('192.0.2.20') }), '/accounts/password/reset/done/');
  });
});

it('server sends HSTS only over https', async () => {
  await use(limited);
  for (const path of ['//login/', '/server_settings', '/users/me', '//accounts/passkeys.js', '//nowhere']) {
    const over = (protocol: string) =>
      server.request('GET', path, { headers: { 'X-Forwarded-Proto': protocol, ...from('192.0.2.21') } });
    expect((await over('https')).headers['strict-transport-security']).toBe('max-age=15768000');
    expect((await over('http')).headers).not.toHaveProperty('strict-transport-security');
  }
});

describe('log-in notification email', () => {
  const emails = () => instanceOf<JobHandler>(SendLoginEmails);
  const signIn = (headers = {}) =>
    server.request('POST', '/fetch_api_key', {
      params: { username: hamlet.email, password: hamlet.password },
      headers,
    });

  it('is sent to users who want it unless they have just joined', async () => {
    fieldsOf(await signIn());
    await emailsTo(hamlet.email, emails(), 0);
    server.clock.advance(61);
    fieldsOf(await server.patch('/settings', hamlet, { timezone: 'Asia/Tokyo' }));
    fieldsOf(await signIn({ 'User-Agent': 'ZulipMobile/27.1 (Android 14)' }));
    const [{ subject, text }] = (await emailsTo(hamlet.email, emails())) as [Email];
    expect(subject).toBe('New log-in to Realm zulip');
    expect(text).toContain('Program: ZulipMobile');
    expect(text).toMatch(/Time: .* GMT\+9/);
    expect(text).toContain('127.0.0.1');
    fieldsOf(await server.patch('/settings', hamlet, { enable_login_emails: false }));
    fieldsOf(await signIn());
    await emailsTo(hamlet.email, emails(), 1);
  });

  it('is limited to five per hour', async () => {
    await use(limited);
    server.clock.advance(61);
    for (let time = 0; time < 7; time++) fieldsOf(await signIn());
    await emailsTo(hamlet.email, emails(), 5);
  });
});

describe('joining with a link', () => {
  const made = async (params: object = {}): Promise<string> =>
    (fieldsOf(await server.post('/invites/multiuse', people.desdemona, { ...params })) as Wire).invite_link.slice(
      url.length,
    );
  const join = (link: string, email = yorick, headers = {}) => send(link, { email }, headers);
  const register = (link: string, params: object = {}) =>
    send('/accounts/register/', { key: link.split('/').at(-1), full_name: 'Yorick', password: PASSWORD, ...params });
  const sent = (email: string) => `/accounts/send_confirm/?email=${encodeURIComponent(email)}`;
  const login = (email: string) => `/login/?email=${encodeURIComponent(email)}`;
  /** Returns the user as administrators see them; undefined if no user has the email. */
  async function userOf(email: string): Promise<Wire> {
    const user = await server.storage.uow.read(server.realmId, ({ users }) => users.findByEmail(server.realmId, email));
    return user && (await server.get(`/users/${user.id}`, people.desdemona)).body.user;
  }
  const subscribed = async (email: string) =>
    (await server.get(`/users/${(await userOf(email)).user_id}/channels`, people.desdemona)).body
      .subscribed_channel_ids;
  const JOINED = '/accounts/joined/';
  const EXPIRED = 'The invitation link has expired or been deactivated.';

  it('asks for an email, confirms it and then asks for the other fields', async () => {
    const link = await made({ invite_as: 600, stream_ids: [closed] });
    const queue = await openQueue(server, people.iago);
    expectPage(await open(link), '<h1>Join Realm zulip</h1>');
    expectRedirect(await join(link, ` ${yorick} `), sent(yorick));
    expectPage(await open(sent(yorick)), `to <strong>${yorick}</strong>`);
    const confirm = await linkTo(yorick);
    expect(confirm).toMatch(/^\/accounts\/do_confirm\/[a-z2-7]{40}$/);
    const form = await open(confirm);
    expectPage(form, `readonly value="${yorick}"`);
    expect(form.body).toContain(`<input type="hidden" name="key" value="${confirm.split('/').at(-1)}">`);
    expect(form.body).toContain('action="/accounts/register/"');
    expectRedirect(
      await register(confirm, { email_address_visibility: 4, timezone: 'Asia/Tokyo' }),
      '/accounts/joined/',
    );
    expectPage(await open(JOINED), 'You have joined.');
    expect((await open(JOINED)).body).toContain('<a class="button" href="/">Continue in the browser</a>');

    const user = await userOf(yorick);
    expect(user).toMatchObject({ full_name: 'Yorick', role: 600, timezone: 'Asia/Tokyo', delivery_email: null });
    expect(await subscribed(yorick)).toEqual([closed]);
    expect((await eventsAfter(server, queue)).map((event: Wire) => event.type)).toContain('realm_user');
    const signIn = await server.post('/fetch_api_key', null, { username: yorick, password: PASSWORD });
    expect(fieldsOf(signIn)).toMatchObject({ user_id: user.user_id });
    const [, welcome] = await emailsTo(yorick, instanceOf<JobHandler>(SendWelcomeEmails), 2);
    expect(welcome!.subject).toBe('Welcome to Realm zulip');
    expectPage(await register(confirm), 'The confirmation link has expired or been deactivated.', 404);
    expectRedirect(await join(link), login(yorick));
    expectPage(await open(login(yorick)), `An account for <strong>${yorick}</strong> already exists`);
  });

  it('sends no welcome emails if the organization disables them', async () => {
    await server.changeRealm({ settings: { sendWelcomeEmails: false } });
    await join(await made());
    expectRedirect(await register(await linkTo(yorick)), JOINED);
    await emailsTo(yorick, instanceOf<JobHandler>(SendWelcomeEmails), 1);
    await server.changeRealm({ settings: { sendWelcomeEmails: true } });
  });

  it.each([
    ['', 'Enter a valid email address.'],
    ['"><script>alert(1)</script>', 'Enter a valid email address.'],
    ['x@mailinator.com', 'Please use your real email address.'],
  ])('shows the form again for the email %j: %s', async (email, message) => {
    const reply = await join(await made(), email);
    expectPage(reply, message, 400);
    expect(reply.body).not.toContain('<script>');
    await emailsTo(email, confirmations(), 0);
  });

  it('rejects emails outside the domains, both at entry and at confirmation', async () => {
    const link = await made();
    await join(link);
    const confirm = await linkTo(yorick);
    await server.changeRealm({ settings: { emailsRestrictedToDomains: true } });
    const outside = `Your email address, ${yorick}, is not in one of the domains that are allowed to register for accounts in this organization.`;
    expectPage(await join(link), outside, 400);
    expectPage(await register(confirm), outside, 400);
  });

  it('reports a deactivated account', async () => {
    await changeUser(hamlet, { isActive: false });
    expectPage(await join(await made(), hamlet.email), 'Account has been deactivated.', 400);
  });

  it.each([
    [{ full_name: 'x' }, 'Name too short!'],
    [{ full_name: '<b>' }, 'Invalid characters in name!'],
    [{ full_name: '' }, 'Name too short!'],
    [{ password: 'short' }, 'The password is too weak.'],
    [{ password: '' }, 'The password is too weak.'],
    [{ email_address_visibility: 9 }, notListed('email_address_visibility')],
  ])('shows the form again for %j: %s', async (params, message) => {
    await join(await made());
    const confirm = await linkTo(yorick);
    expectPage(await register(confirm, params), message, 400);
    expect(await userOf(yorick)).toBeNull();
    expectRedirect(await register(confirm), JOINED);
  });

  it('keeps form input after an error', async () => {
    fieldsOf(
      await server.post('/default_stream_groups/create', people.desdemona, {
        group_name: 'Fun & games',
        description: 'For <all>',
        stream_names: ['closed'],
      }),
    );
    await join(await made());
    const confirm = await linkTo(yorick);
    const form = await open(confirm);
    const name = /name="(default_stream_group_\d+)"/.exec(form.body)![1]!;
    expect(form.body).toContain('Fun &amp; games: For &lt;all&gt;');
    expect(form.body).not.toContain('aria-invalid="true"');
    const params = { full_name: 'Yorick "the jester', email_address_visibility: 4, [name]: 'on' };
    const again = await register(confirm, params);
    expectPage(again, 'Invalid characters in name!', 400);
    expect(again.body).toContain('value="Yorick &quot;the jester"');
    expect(again.body).toContain(`name="${name}" checked`);
    expect(again.body).toContain('value="4" selected');
    expect(again.body).toContain(
      'value="Yorick &quot;the jester" aria-describedby="problem" aria-invalid="true" autofocus',
    );
    expect(again.body.match(/aria-invalid="true"/g)).toHaveLength(1);
    expect(again.body).toContain('<title>Error: Join Realm zulip');
    const weak = await register(confirm, { full_name: 'Yorick', password: 'password' });
    expectPage(weak, 'The password is too weak.', 400);
    expect(weak.body).toMatch(/id="password"[^>]* aria-describedby="problem" aria-invalid="true" autofocus>/);
    expect(weak.body.match(/aria-invalid="true"/g)).toHaveLength(1);
    const odd = { default_stream_group_999: 'on', default_stream_group_x: 'on', timezone: 'Nowhere/Land' };
    expectRedirect(await register(confirm, { [name]: 'on', ...odd }), JOINED);
    expect(await subscribed(yorick)).toEqual([closed]);
    expect((await userOf(yorick)).timezone).toBe('');
  });

  it.each([
    ['/join/x/', 'The invitation link is malformed.'],
    [`/join/${'a'.repeat(24)}/`, 'The invitation link could not be found.'],
    ['/accounts/do_confirm/x', 'The invitation link is malformed.'],
    [`/accounts/do_confirm/${'a'.repeat(40)}`, 'The confirmation link could not be found.'],
  ])('shows for %s the message %s', async (path, message) => {
    expectPage(await open(path), message, 404);
    expectPage(await send('/accounts/register/', { key: path.split('/').filter(Boolean).at(-1) }), message, 404);
  });

  it('fails once the link is revoked but continues after expiry', async () => {
    const link = await made({ invite_expires_in_minutes: 1 });
    await join(link);
    const inTime = await linkTo(yorick);
    server.clock.advance(60);
    expectPage(await open(link), EXPIRED, 404);
    expectPage(await join(link), EXPIRED, 404);
    expectRedirect(await register(inTime), JOINED);
    const revoked = await made();
    await join(revoked, `h${yorick}`);
    const tooLate = await linkTo(`h${yorick}`);
    const { invites } = (await server.get('/invites', people.desdemona)).body;
    const { id } = invites.find((each: Wire) => each.link_url === url + revoked);
    fieldsOf(await server.delete(`/invites/multiuse/${id}`, people.desdemona));
    expectPage(await register(tooLate), EXPIRED, 404);
  });

  it('rejects links of another organization', async () => {
    expectPage(await open(await made(), 'other'), 'The invitation link could not be found.', 404);
  });

  it('requires a confirmed email', async () => {
    const link = await made();
    const key = link.split('/').at(-2)!;
    const reply = await send('/accounts/register/', {
      key,
      email: yorick,
      full_name: 'Sly',
      password: PASSWORD,
    });
    expectPage(reply, 'Confirm your email address first.', 400);
    expectRedirect(await open(`/accounts/do_confirm/${key}`), `/join/${key}/`);
    expect(await userOf(yorick)).toBeNull();
  });

  it('skips confirmation if the server sends no email', async () => {
    await use(withoutEmail);
    const link = await made();
    const key = link.split('/').at(-2)!;
    const next = `/accounts/do_confirm/${key}?email=${encodeURIComponent(yorick)}`;
    expectRedirect(await join(link), next);
    expectPage(await open(next), `name="email" type="email" autocomplete="email" required value="${yorick}"`);
    expectRedirect(await join(link, hamlet.email), login(hamlet.email));
    const reply = await send('/accounts/register/', {
      key,
      email: yorick,
      full_name: 'Yorick',
      password: PASSWORD,
    });
    expectRedirect(reply, JOINED);
    expect(await userOf(yorick)).toMatchObject({ role: 400 });
  });

  it('limits emails per email and network address', async () => {
    await use(limited);
    const link = await made();
    expectRedirect(await join(link, yorick, from('192.0.2.11')), sent(yorick));
    expectRedirect(await join(link, yorick.toUpperCase(), from('192.0.2.12')), sent(yorick.toUpperCase()));
    expectPage(await join(link, yorick, from('192.0.2.13')), 'Too many attempts.', 429);
    for (const name of ['b', 'c', 'd', 'e', 'f']) await join(link, `${name}@example.com`, from('192.0.2.14'));
    expectPage(await join(link, 'g@example.com', from('192.0.2.14')), 'Too many attempts.', 429);
    // The response does not reveal existing accounts.
    expectPage(await join(link, hamlet.email, from('192.0.2.14')), 'Too many attempts.', 429);
  });

  it('accepts an emailed invitation for its address without further confirmation', async () => {
    fieldsOf(await server.post('/invites', hamlet, { invitee_emails: yorick, stream_ids: [general] }));
    const link = await linkTo(yorick, instanceOf<JobHandler>(SendInvitationEmails));
    const key = link.split('/').at(-1)!;
    expectRedirect(await open(`/join/${key}/`), link);
    expectPage(await send(`/join/${key}/`, { email: 'other@example.com' }), 'could not be found', 404);
    expectPage(await open(link), `readonly value="${yorick}"`);
    expectRedirect(await register(link, { email: 'other@example.com' }), JOINED);
    expect(await userOf(yorick)).toMatchObject({ delivery_email: yorick });
    expectPage(await register(link), EXPIRED, 404);
  });

  it('joins through the API with a confirmed email', async () => {
    await join(await made());
    const key = (await linkTo(yorick)).split('/').at(-1)!;
    const accept = () => server.post('/invites/accept', null, { key, full_name: 'Yorick', password: PASSWORD });
    expect(fieldsOf(await accept())).toMatchObject({ email: yorick });
    expectRefusal(await accept(), 'The confirmation link has expired or been deactivated.');
  });

  it('joins through the API with a link after confirmation', async () => {
    const accept = (params: object) =>
      server.post('/invites/accept', null, { full_name: 'Yorick', password: PASSWORD, ...params });
    const key = (await made()).split('/').at(-2)!;
    const confirm = { email: yorick, confirmation_sent: true };
    expect(fieldsOf(await accept({ key, email: ` ${yorick} ` }))).toEqual(confirm);
    expect(await userOf(yorick)).toBeNull();
    const link = await linkTo(yorick);
    // Other fields of the first request are ignored, and a repeated request resends the same link.
    expect(fieldsOf(await accept({ key, email: yorick, full_name: '', password: 'weak' }))).toEqual(confirm);
    expect(await linkTo(yorick, confirmations(), 2)).toBe(link);
    const joined = fieldsOf(await accept({ key: link.split('/').at(-1)! }));
    expect(joined).toEqual({ api_key: expect.any(String), email: yorick, user_id: expect.any(Number) });
    expect(await userOf(yorick)).toMatchObject({ role: 400 });
    expectRefusal(await accept({ key, email: yorick }), `${yorick} already has an account`);
    expectRefusal(await accept({ key, email: 'nobody' }), 'Enter a valid email address.');
    expectRefusal(await accept({ key }), 'Enter a valid email address.');
    expectRefusal(await accept({ key: 'x'.repeat(24), email: yorick }), 'The invitation link could not be found.');
    await use(limited);
    const limitedKey = (await made()).split('/').at(-2)!;
    const reply = () => accept({ key: limitedKey, email: yorick });
    for (let email = 0; email < 2; email++) fieldsOf(await reply());
    expect(await reply()).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_HIT', 'retry-after': 3600 } });
  });

  describe('open organization', () => {
    const openToAll = () => server.changeRealm({ settings: { inviteRequired: false } });
    const signUp = (email = yorick) => send('/register/', { email });

    it('needs no link and subscribes to the default channels', async () => {
      await openToAll();
      expectPage(await open('/'), '<a href="/register/">Sign up</a>');
      expectPage(await open('/register/'), '<h1>Join Realm zulip</h1>');
      expectRedirect(await signUp(), sent(yorick));
      const link = await linkTo(yorick);
      expectRedirect(await register(link), JOINED);
      expect(await userOf(yorick)).toMatchObject({ role: 400 });
      expect(await subscribed(yorick)).toEqual([general]);
      expectRedirect(await signUp(), login(yorick));
    });

    it('redirects invalid links to the sign-up page', async () => {
      await openToAll();
      expectRedirect(await open('/join/x/'), '/register/');
      expectRedirect(await open(`/join/${'a'.repeat(24)}/`), '/register/');
    });

    it('confirms emails even if the server sends no email', async () => {
      await use(withoutEmail);
      await openToAll();
      expectRedirect(await signUp(), sent(yorick));
    });

    it('rejects joining after the organization was closed', async () => {
      const closedToAll = `Please request an invite for ${yorick} from the organization administrator.`;
      expectPage(await open('/register/'), 'An invitation is required');
      expectPage(await signUp(), closedToAll, 400);
      await openToAll();
      await signUp();
      const link = await linkTo(yorick);
      await server.changeRealm({ settings: { inviteRequired: true } });
      expectPage(await open(link), closedToAll, 400);
      expectPage(await register(link), closedToAll, 400);
      expect(await userOf(yorick)).toBeNull();
    });
  });
});

describe('bounced address', () => {
  const bounce = (email: string) =>
    recordBounce(server.storage.uow, email, '550 5.1.1 No such user', server.clock.now());
  const hasBounced = (email: string) =>
    server.storage.uow.readAcross(async (reads) => (await reads.bouncedAddresses.find(email)) !== null);

  it('gets notifications again after its password reset link was used, not just opened', async () => {
    await bounce(hamlet.email);
    await send('/accounts/password/reset/', { email: hamlet.email });
    const link = await linkTo(hamlet.email);
    await open(link);
    expect(await hasBounced(hamlet.email)).toBe(true);
    expectRedirect(await send(link, { password: PASSWORD }), '/accounts/password/done/');
    expect(await hasBounced(hamlet.email)).toBe(false);
  });

  it("gets notifications again after confirmation as an account's new address", async () => {
    await bounce(yorick);
    fieldsOf(await server.patch('/settings', hamlet, { email: yorick }));
    const link = await linkTo(yorick);
    expect(await hasBounced(yorick)).toBe(true);
    expectPage(await send(link), `is now <strong>${yorick}</strong>`);
    expect(await hasBounced(yorick)).toBe(false);
  });

  it('gets notifications again after confirmation by sign-up', async () => {
    await server.changeRealm({ settings: { inviteRequired: false } });
    await bounce(yorick);
    await send('/register/', { email: yorick });
    const key = (await linkTo(yorick)).split('/').at(-1);
    expect(await hasBounced(yorick)).toBe(true);
    expectRedirect(
      await send('/accounts/register/', { key, full_name: 'Yorick', password: PASSWORD }),
      '/accounts/joined/',
    );
    expect(await hasBounced(yorick)).toBe(false);
  });

  it('gets notifications again after an emailed invitation was accepted', async () => {
    await bounce(yorick);
    fieldsOf(await server.post('/invites', hamlet, { invitee_emails: yorick, stream_ids: [] }));
    const key = (await linkTo(yorick, instanceOf<JobHandler>(SendInvitationEmails))).split('/').at(-1)!;
    expect(await hasBounced(yorick)).toBe(true);
    const form = { key, full_name: 'Yorick', password: PASSWORD };
    expectRedirect(await send('/accounts/register/', form), '/accounts/joined/');
    expect(await hasBounced(yorick)).toBe(false);
  });
});
