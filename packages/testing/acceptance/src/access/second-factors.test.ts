import { SendConfirmationEmails } from '@parley/domain/access';
import { OperatorClearsSecondFactors, SendSecondFactorEmails } from '@parley/domain/log-in';
import { generate } from 'otplib';
import { expectPage, expectRefusal, expectRefused, fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { loggedLines, serverPerSuite } from '../testing/servers.js';
import { TestBrowser } from '../testing/test-browser.js';
import { type PasskeyOptions, TestPasskey } from '../testing/test-passkey.js';
import { hiddenFieldsOf, type TestReply } from '../testing/test-reply.js';
import { type TestUser, webTokenOf } from '../testing/test-server.js';

/** User for a single test. */
let ophelia: TestUser;
const { lines, logger } = loggedLines();
const { server, people } = serverPerSuite({ logger, hasRateLimits: true });
let n = 0;
beforeEach(async () => {
  n++;
  ophelia = await server.addUser({ email: `ophelia${n}@zulip.com`, fullName: `Ophelia ${n}` });
  // Resets the rate limits of the test's address.
  server.clock.advance(86_400);
  lines.length = 0;
  server.mailer.emails.length = 0;
});
afterEach(() => server.changeRealm({ settings: { secondFactorRequiredFor: 'nobody', emailAuthentication: true } }));

/** Targets in the audit log that concern Ophelia, newest first. */
const auditedTargets = async (action: string) => {
  const fields = fieldsOf(await server.get('/audit', people.desdemona, { action, user_id: ophelia.id }));
  return (fields.entries as Wire[]).map(({ target }) => target);
};

const PAGE = '/accounts/second-factor/';
const PAD = '0123456789abcdef'.repeat(4);
const STEP = '/login/second-factor/';

/** Options of the page's passkey form. */
const optionsIn = ({ body }: TestReply): PasskeyOptions => {
  const text = /data-options="([^"]*)"/.exec(body as unknown as string)![1]!;
  return JSON.parse(text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&'));
};
const stateIn = ({ headers: { location } }: TestReply): string =>
  new URL(location as string, server.url).searchParams.get('state')!;
const codesIn = ({ body }: TestReply): string[] =>
  [...String(body).matchAll(/<li><code>([^<]*)<\/code>/g)].map(([, code]) => code!);
const codeFor = (secret: string, seconds = 0) => generate({ secret, epoch: server.clock.now() + seconds });
const isLoggedIn = async (browser: TestBrowser) => (await browser.get('/json/users/me')).status === 200;
const newBrowser = () => new TestBrowser(server);

/** Submits the password form. */
async function sendPassword(browser: TestBrowser, who: TestUser = ophelia, query = ''): Promise<TestReply> {
  const form = await browser.get(`/login/${query}`);
  return browser.post('/login/', { ...hiddenFieldsOf(form), username: who.email, password: who.password });
}
/** Logs in, confirms the password and returns the state in which factors may be changed. */
async function manage(browser: TestBrowser, who: TestUser = ophelia): Promise<string> {
  expect((await sendPassword(browser, who)).headers.location).toBe('/');
  return prove(browser, who);
}
const prove = async (browser: TestBrowser, { password }: TestUser = ophelia) =>
  stateIn(await browser.post(PAGE, { password }));
/** Sets up an app with a state; returns its secret and the recovery codes. */
async function setUpApp(browser: TestBrowser, state: string) {
  const page = await browser.get(`${PAGE}app/`, { state });
  const secret = /<code class="code">([A-Z2-7 ]+)<\/code>/
    .exec(page.body as unknown as string)![1]!
    .replaceAll(' ', '');
  const done = await browser.post(`${PAGE}app/`, { ...hiddenFieldsOf(page), code: await codeFor(secret) });
  expect(done.status).toBe(200);
  server.clock.advance(60);
  return { secret, codes: codesIn(done), done };
}
/** Creates a passkey with a state. */
async function setUpPasskey(browser: TestBrowser, state: string, name = 'My key') {
  const passkey = new TestPasskey(server.url);
  const options = optionsIn(await browser.get(PAGE, { state }));
  const done = await browser.post(`${PAGE}passkey/`, { state, name, passkey: passkey.create(options) });
  expect(done.status).toBe(200);
  return { passkey, codes: codesIn(done), done };
}
const fetchKey = ({ email: username, password } = ophelia) =>
  server.post('/fetch_api_key', null, { username, password });
const WRONG = 'That did not match. Try again with a new code.';
const EXPIRED = 'The log-in took too long or was interrupted.';

describe('authenticator app', () => {
  it('is set up with a QR code, and is then required after the password', async () => {
    const browser = newBrowser();
    const state = await manage(browser);
    const page = await browser.get(`${PAGE}app/`, { state });
    expect(page.body).toContain('<svg class="qr"');
    const { secret, codes } = await setUpApp(browser, state);
    expect(new Set(codes).size).toBe(10);
    expect(codes[0]).toMatch(/^[a-z2-7]{4}-[a-z2-7]{4}-[a-z2-7]{4}$/);

    const other = newBrowser();
    const asked = await sendPassword(other, ophelia, '?next=/a%3Fb');
    expect(asked.headers.location).toMatch(/^\/login\/second-factor\/\?state=[\w-]{100,400}$/);
    expect(await isLoggedIn(other)).toBe(false);
    const form = await other.get(asked.headers.location as string);
    expect(form.body).toContain('autocomplete="one-time-code"');
    lines.length = 0;
    const reply = await other.post(STEP, { state: stateIn(asked), code: await codeFor(secret) });
    expect(reply).toMatchObject({ status: 303, headers: { location: '/a?b' } });
    expect(await isLoggedIn(other)).toBe(true);
    expect(lines).toEqual([
      expect.objectContaining({
        audit: 'log-in',
        account: ophelia.email,
        logInMethod: 'password and app',
        ip: '127.0.0.1',
      }),
    ]);
  });

  it('stores neither the secret nor a recovery code in plain text', async () => {
    const browser = newBrowser();
    const { secret, codes } = await setUpApp(browser, await manage(browser));
    const { realmId } = server;
    await server.storage.uow.write(realmId, async ({ secondFactors }) => {
      const { app, recoveryCodes } = await secondFactors.find(realmId, ophelia.id);
      expect(app!.secret).not.toContain(secret);
      expect(recoveryCodes).toBe(10);
      for (const code of codes) expect(await secondFactors.takeRecoveryCode(realmId, ophelia.id, code)).toBe(false);
    });
  });

  it('accepts each code once, and no code older than the last one', async () => {
    const browser = newBrowser();
    const { secret } = await setUpApp(browser, await manage(browser));
    const [before, code] = [await codeFor(secret, -30), await codeFor(secret)];
    const log = async (with_: string) => {
      const other = newBrowser();
      return other.post(STEP, { state: stateIn(await sendPassword(other)), code: with_ });
    };
    expect((await log(code)).status).toBe(303);
    expectRefused(await log(code), WRONG);
    expectRefused(await log(before), WRONG);
    server.clock.advance(30);
    expect((await log(` ${await codeFor(secret)} `)).status).toBe(303);
  });

  it('lets only one of two concurrent log-ins use a code', async () => {
    const browser = newBrowser();
    const { secret } = await setUpApp(browser, await manage(browser));
    const [one, two] = [newBrowser(), newBrowser()];
    const states = [stateIn(await sendPassword(one)), stateIn(await sendPassword(two))];
    const code = await codeFor(secret);
    const replies = await Promise.all([
      one.post(STEP, { state: states[0], code }),
      two.post(STEP, { state: states[1], code }),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([303, 400]);
  });

  it('is not enabled by a wrong code', async () => {
    const browser = newBrowser();
    const state = await manage(browser);
    const page = await browser.get(`${PAGE}app/`, { state });
    const reply = await browser.post(`${PAGE}app/`, { ...hiddenFieldsOf(page), code: '12345' });
    expectRefused(reply, WRONG);
    expect(hiddenFieldsOf(reply)).toEqual(hiddenFieldsOf(page));
    expect((await fetchKey()).status).toBe(200);
  });

  it.each(['', 'abc', '12345', '1234567', '１２３４５６', '-12345'])('rejects %j as a code', async (code) => {
    const browser = newBrowser();
    await setUpApp(browser, await manage(browser));
    const other = newBrowser();
    expectRefused(await other.post(STEP, { state: stateIn(await sendPassword(other)), code }), WRONG);
    expect(await isLoggedIn(other)).toBe(false);
  });

  it('throttles codes by account and network, separately from passwords', async () => {
    const browser = newBrowser();
    const { secret } = await setUpApp(browser, await manage(browser));
    const other = newBrowser();
    const state = stateIn(await sendPassword(other));
    lines.length = 0;
    let refused: TestReply;
    let tries = 0;
    do refused = await other.post(STEP, { state, code: '000000' });
    while (refused.status === 400 && ++tries < 50);
    expect(tries).toBeLessThanOrEqual(10);
    expectPage(refused, 'Too many attempts.', 429);
    expect(lines[0]).toMatchObject({
      audit: 'failed log-in',
      account: ophelia.email,
      logInMethod: 'password and app',
      failure: 'WRONG_SECOND_FACTOR',
    });
    expect(await auditedTargets('failed log-in')).toEqual(
      Array(tries).fill({ method: 'password and app', failure: 'WRONG_SECOND_FACTOR' }),
    );
    // A correct password gives no further attempts, and a correct code does not help.
    const again = stateIn(await sendPassword(other));
    expect((await other.post(STEP, { state: again, code: await codeFor(secret) })).status).toBe(429);
  });
});

describe('second step', () => {
  const begun = async () => {
    const browser = newBrowser();
    const app = await setUpApp(browser, await manage(browser));
    const other = newBrowser();
    return { ...app, other, state: stateIn(await sendPassword(other)) };
  };

  it('is bound to the browser that sent the password', async () => {
    const { secret, state, other } = await begun();
    const thief = newBrowser();
    expectRefused(await thief.post(STEP, { state, code: await codeFor(secret) }), EXPIRED);
    await thief.post('/login/', {});
    expectRefused(await thief.post(STEP, { state, code: await codeFor(secret) }), EXPIRED);
    expect((await other.post(STEP, { state, code: await codeFor(secret) })).status).toBe(303);
  });

  it('is accepted once, within five minutes', async () => {
    const { secret, state, other } = await begun();
    expect((await other.post(STEP, { state, code: await codeFor(secret) })).status).toBe(303);
    expectRefused(await other.post(STEP, { state, code: await codeFor(secret, 30) }), EXPIRED);
    const late = stateIn(await sendPassword(other));
    server.clock.advance(300);
    expectRefused(await other.post(STEP, { state: late, code: await codeFor(secret) }), EXPIRED);
    expectRefused(await other.get(STEP, { state: late }), EXPIRED);
  });

  it('ends with a changed password, a deactivated account and disabled passwords', async () => {
    const { secret, state, other } = await begun();
    const proof = async () => ({ state, code: await codeFor(secret) });
    await server.changeRealm({ settings: { emailAuthentication: false } });
    expectRefused(await other.post(STEP, await proof()), EXPIRED);
    await server.changeRealm({ settings: { emailAuthentication: true } });
    const fields = { old_password: ophelia.password, new_password: 'a long enough pass phrase 7' };
    fieldsOf(await server.patch('/settings', ophelia, fields));
    expectRefused(await other.post(STEP, await proof()), EXPIRED);
    const next = stateIn(await sendPassword(other, { ...ophelia, password: fields.new_password }));
    fieldsOf(await server.delete(`/users/${ophelia.id}`, people.desdemona));
    expectRefused(await other.post(STEP, { ...(await proof()), state: next }), 'Account is deactivated');
  });

  it('can be neither skipped nor used to change second factors', async () => {
    const { state, other } = await begun();
    expectRefused(await other.get(PAGE, { state }), EXPIRED);
    expectRefused(await other.get(`${PAGE}app/`, { state }), EXPIRED);
    expectRefused(await other.post(`${PAGE}remove/`, { state }), EXPIRED);
    expectRefused(await other.post(`${PAGE}recovery/`, { state }), EXPIRED);
    expectRefused(await other.post(STEP, { state }), WRONG);
    expectRefused(
      await other.get('/accounts/login/complete/second%20factor/', { state }),
      'There is no such way to log in.',
    );
    expect((await other.get(`/accounts/login/subdomain/${state}`)).status).toBe(400);
    expect(await isLoggedIn(other)).toBe(false);
  });

  it('does not exist in another organization', async () => {
    const { secret, state, other } = await begun();
    await server.addRealm(`lear${n}`);
    const reply = await other.request('POST', STEP, { state, code: await codeFor(secret) }, { realm: `lear${n}` });
    expectRefused(reply, EXPIRED);
  });

  it('gives phone and desktop apps their keys', async () => {
    const { secret, other } = await begun();
    const key = stateIn(await sendPassword(other, ophelia, `?mobile_flow_otp=${PAD}`));
    const phone = await other.post(STEP, { state: key, code: await codeFor(secret) });
    const location = new URL(phone.headers.location as string);
    expect(location.protocol).toBe('zulip:');
    const encrypted = Buffer.from(location.searchParams.get('otp_encrypted_api_key')!, 'hex');
    const pad = Buffer.from(PAD, 'hex');
    expect(Buffer.from(encrypted.map((byte, at) => byte ^ pad[at]!)).toString('latin1')).toBe(ophelia.apiKey);
    expect(await isLoggedIn(other)).toBe(false);

    server.clock.advance(30);
    const desktop = stateIn(await sendPassword(other, ophelia, `?desktop_flow_otp=${PAD}`));
    const page = await other.post(STEP, { state: desktop, code: await codeFor(secret) });
    expect(page.body).toMatch(/<textarea id="code" class="code" rows="5" readonly>[0-9a-f]+</);
  });
});

describe('program', () => {
  it('cannot log in with the password of an account with a second factor', async () => {
    const text = 'Password authentication is disabled in this organization';
    expect((await fetchKey()).status).toBe(200);
    const methods = async () => (await server.get('/server_settings', null)).body.external_authentication_methods;
    const browser = newBrowser();
    await setUpApp(browser, await manage(browser));
    expectRefusal(await fetchKey(), text, { status: 401, code: 'PASSWORD_AUTH_DISABLED' });
    const bySession = await newBrowser().logIn(ophelia);
    expect(bySession).toMatchObject({ status: 401, body: { code: 'PASSWORD_AUTH_DISABLED', msg: text } });
    const wrong = { ...ophelia, password: 'wrong' };
    expectRefusal(await fetchKey(wrong), 'Your username or password is incorrect', {
      status: 401,
      code: 'AUTHENTICATION_FAILED',
    });
    expect((await fetchKey(people.hamlet)).status).toBe(200);
    expect(await methods()).toEqual([
      { name: 'browser', display_name: 'Browser', display_icon: null, login_url: '/login/', signup_url: '/register/' },
    ]);
    await server.changeRealm({ settings: { emailAuthentication: false } });
    expect(await methods()).toEqual([]);
  });
});

describe('recovery code', () => {
  it('logs in once, and is replaced together with all others', async () => {
    const browser = newBrowser();
    const { codes } = await setUpApp(browser, await manage(browser));
    const use = async (recovery_code: string) => {
      const other = newBrowser();
      return other.post(STEP, { state: stateIn(await sendPassword(other)), recovery_code });
    };
    expect((await use(codes[0]!.toUpperCase().replaceAll('-', ' '))).status).toBe(303);
    expect(lines.at(-1)).toMatchObject({ audit: 'log-in', logInMethod: 'password and recovery' });
    expectRefused(await use(codes[0]!), WRONG);
    const state = await prove(browser);
    expect((await browser.get(PAGE, { state })).body).toContain('Recovery codes left: 9');
    const renewed = codesIn(await browser.post(`${PAGE}recovery/`, { state }));
    expect(renewed).toHaveLength(10);
    expectRefused(await use(codes[1]!), WRONG);
    expect((await use(renewed[1]!)).status).toBe(303);
  });

  it('does not log in another user', async () => {
    const browser = newBrowser();
    const { codes } = await setUpApp(browser, await manage(browser));
    const laertes = await server.addUser({ email: `laertes${n}@zulip.com`, fullName: `Laertes ${n}` });
    const his = newBrowser();
    await setUpApp(his, await manage(his, laertes));
    const other = newBrowser();
    const state = stateIn(await sendPassword(other, laertes));
    expectRefused(await other.post(STEP, { state, recovery_code: codes[0] }), WRONG);
  });
});

describe('changing second factors', () => {
  it('needs a session and the password', async () => {
    const browser = newBrowser();
    const away = await browser.get(PAGE);
    expect(away.headers.location).toBe('/login/?next=%2Faccounts%2Fsecond-factor%2F');
    expect((await browser.post(PAGE, { password: ophelia.password })).headers.location).toBe('/login/');
    await sendPassword(browser);
    expect((await browser.get(PAGE)).body).toContain('name="password"');
    expectRefused(await browser.post(PAGE, { password: 'wrong' }), 'Password is incorrect.');
    expect(lines.at(-1)).toMatchObject({ audit: 'failed log-in', failure: 'WRONG_PASSWORD' });
    const state = await prove(browser);
    expect((await browser.get(PAGE, { state })).body).toContain('Set up an app');
    expectRefused(await newBrowser().get(PAGE, { state }), EXPIRED);
    server.clock.advance(900);
    expectRefused(await browser.get(PAGE, { state }), EXPIRED);
  });

  it('rejects accounts without a password', async () => {
    const browser = newBrowser();
    await sendPassword(browser);
    await server.storage.uow.write(server.realmId, (tx) => tx.users.setPasswordHash(server.realmId, ophelia.id, null));
    expectRefused(await browser.post(PAGE, { password: ophelia.password }), 'Your account has no password');
  });

  it('writes an audit line and an entry with account, method and address for every change', async () => {
    const browser = newBrowser();
    const state = await manage(browser);
    await setUpApp(browser, state);
    const { passkey } = await setUpPasskey(browser, state);
    await browser.post(`${PAGE}recovery/`, { state });
    await browser.post(`${PAGE}remove/`, { state, id: passkey.id });
    await browser.post(`${PAGE}remove/`, { state });
    await browser.post(`${PAGE}remove/`, { state });
    const changes = lines.filter(({ audit }) => audit === 'log-in change');
    expect(changes.map(({ account, logInMethod, change, ip }) => [account, logInMethod, change, ip])).toEqual([
      [ophelia.email, 'app', 'added', '127.0.0.1'],
      [ophelia.email, 'passkey', 'added', '127.0.0.1'],
      [ophelia.email, 'recovery', 'replaced', '127.0.0.1'],
      [ophelia.email, 'passkey', 'removed', '127.0.0.1'],
      [ophelia.email, 'app', 'removed', '127.0.0.1'],
    ]);
    const recorded = (await auditedTargets('log-in change')).map(({ method, change }) => [method, change]);
    expect(recorded.reverse()).toEqual(changes.map(({ logInMethod, change }) => [logInMethod, change]));
  });

  it('removes factors one by one and emails the owner', async () => {
    const browser = newBrowser();
    const state = await manage(browser);
    await setUpApp(browser, state);
    const { passkey, codes } = await setUpPasskey(browser, state);
    expect(codes).toEqual([]);
    expect((await browser.get(PAGE, { state })).body).toContain('Passkey: My key');
    expectRefused(await browser.post(`${PAGE}remove/`, { state, id: 'x' }), 'There is no such second factor.');
    expect((await browser.post(`${PAGE}remove/`, { state })).status).toBe(303);
    expectRefused(await browser.post(`${PAGE}remove/`, { state }), 'There is no such second factor.');
    expect((await fetchKey()).status).toBe(401);
    expect((await browser.post(`${PAGE}remove/`, { state, id: passkey.id })).status).toBe(303);
    expect((await fetchKey()).status).toBe(200);
    expectRefused(await browser.post(`${PAGE}recovery/`, { state }), 'There is no such second factor.');
    await runJobs(server, server.parley.useCase(SendSecondFactorEmails));
    const emails = server.mailer.emails.filter(({ to }) => to === ophelia.email);
    // Jobs of the same second run in any order.
    expect(emails.map(({ text }) => text.split(' ').slice(0, 5).join(' ')).sort()).toEqual([
      'A second factor was added',
      'A second factor was added',
      'A second factor was removed',
      'A second factor was removed',
    ]);
  });
});

describe('required second factor', () => {
  it('sends users of the role to set-up during log-in, but no other users', async () => {
    fieldsOf(await server.patch('/realm', people.desdemona, { second_factor_required_for: 'members' }));
    expect((await fetchKey()).status).toBe(401);
    const browser = newBrowser();
    const asked = await sendPassword(browser, ophelia, `?mobile_flow_otp=${PAD}`);
    expect(asked.headers.location).toMatch(/^\/accounts\/second-factor\/\?state=/);
    const state = stateIn(asked);
    expect((await browser.get(PAGE, { state })).body).toContain('requires a second factor for your account');
    expectRefused(await browser.post(STEP, { state }), EXPIRED);
    const { done } = await setUpApp(browser, state);
    expect(done.body).toContain(`action="${STEP}"`);
    const reply = await browser.post(STEP, hiddenFieldsOf(done));
    expect(reply.headers.location).toMatch(/^zulip:\/\/login\?/);
    expectRefused(await browser.post(STEP, hiddenFieldsOf(done)), EXPIRED);
    expect((await sendPassword(newBrowser(), people.polonius)).headers.location).toBe('/');
    expect((await sendPassword(newBrowser())).headers.location).toMatch(/^\/login\/second-factor\//);
  });

  it('ends a set-up when another browser has completed one', async () => {
    await server.changeRealm({ settings: { secondFactorRequiredFor: 'everyone' } });
    const [thief, browser] = [newBrowser(), newBrowser()];
    const stolen = stateIn(await sendPassword(thief));
    await setUpApp(browser, stateIn(await sendPassword(browser)));
    expectRefused(await thief.get(`${PAGE}app/`, { state: stolen }), EXPIRED);
    expectRefused(await thief.post(STEP, { state: stolen }), EXPIRED);
  });

  it('gives new users no session before set-up', async () => {
    await server.changeRealm({ settings: { secondFactorRequiredFor: 'everyone' } });
    const email = `osric${n}@zulip.com`;
    fieldsOf(await server.post('/invites', people.desdemona, { invitee_emails: email, stream_ids: [] }));
    const { invites } = fieldsOf(await server.get('/invites', people.desdemona)) as Record<string, { id: number }[]>;
    const key = await server.linkKey('invitation', invites!.at(-1)!.id);
    const browser = newBrowser();
    const person = { key, email, full_name: 'Osric', password: 'alas, poor yorick 1601' };
    expect((await browser.post('/accounts/register/', person)).headers.location).toBe('/accounts/joined/');
    expect(await isLoggedIn(browser)).toBe(false);
    const asked = await sendPassword(browser, { ...ophelia, ...person });
    expect(asked.headers.location).toMatch(/^\/accounts\/second-factor\//);
  });

  it('withholds the key from users who join through the API, unless their role needs no second factor', async () => {
    await server.changeRealm({ settings: { secondFactorRequiredFor: 'members' } });
    const join = async (name: string, invite_as: number) => {
      const email = `${name}${n}@zulip.com`;
      fieldsOf(await server.post('/invites', people.desdemona, { invitee_emails: email, invite_as, stream_ids: [] }));
      const { invites } = fieldsOf(await server.get('/invites', people.desdemona)) as Record<string, { id: number }[]>;
      const key = await server.linkKey('invitation', invites!.at(-1)!.id);
      const person = { key, full_name: name, password: 'alas, poor yorick 1601' };
      return { email, joined: fieldsOf(await server.post('/invites/accept', null, person)) };
    };
    const member = await join('Osric', 400);
    expect(member.joined).toEqual({ email: member.email, user_id: expect.any(Number) });
    const guest = await join('Reynaldo', 600);
    expect(guest.joined).toEqual({ email: guest.email, user_id: expect.any(Number), api_key: expect.any(String) });
    expect((await fetchKey({ ...ophelia, ...member, password: 'alas, poor yorick 1601' })).status).toBe(401);
  });

  it('is required after a password reset, which does not log in', async () => {
    const browser = newBrowser();
    await setUpApp(browser, await manage(browser));
    await browser.post('/accounts/password/reset/', { email: ophelia.email });
    await runJobs(server, server.parley.useCase(SendConfirmationEmails));
    const { text } = server.mailer.emails.find(({ text: it }) => it.includes('/accounts/password/reset/'))!;
    const password = 'a long enough pass phrase 8';
    const other = newBrowser();
    const reset = await other.post(/\/accounts\/password\/reset\/\w+/.exec(text)![0], { password });
    expect(reset.headers.location).toBe('/accounts/password/done/');
    expect(await isLoggedIn(other)).toBe(false);
    expect((await fetchKey({ ...ophelia, password })).status).toBe(401);
    const asked = await sendPassword(other, { ...ophelia, password });
    expect(asked.headers.location).toMatch(/^\/login\/second-factor\//);
  });

  it("is not required in addition to another service's token, or by an existing session", async () => {
    const browser = newBrowser();
    await sendPassword(browser);
    await server.changeRealm({ settings: { secondFactorRequiredFor: 'everyone' } });
    const { password, email, apiKey } = ophelia;
    expect(fieldsOf(await browser.post('/json/fetch_api_key', { password }))).toMatchObject({ api_key: apiKey });
    const token = webTokenOf({ email, exp: server.clock.now() + 60 });
    expect(fieldsOf(await server.post('/jwt/fetch_api_key', null, { token }))).toMatchObject({ api_key: apiKey });
  });

  it('keeps the last factor of users with the role', async () => {
    const browser = newBrowser();
    const state = await manage(browser);
    await setUpApp(browser, state);
    await server.changeRealm({ settings: { secondFactorRequiredFor: 'members' } });
    const removed = await browser.post(`${PAGE}remove/`, { state });
    expectRefused(removed, 'Your organization requires a second factor. Add another one first.');
  });
});

describe('removal of a lost second factor', () => {
  const clear = (as: TestUser, id: number) => server.delete(`/users/${id}/second_factors`, as);

  it('is possible for administrators, with an audit line and an email', async () => {
    const browser = newBrowser();
    await setUpApp(browser, await manage(browser));
    server.mailer.emails.length = 0;
    fieldsOf(await clear(people.iago, ophelia.id));
    expect(lines.at(-1)).toMatchObject({
      audit: 'administration',
      userId: people.iago.id,
      route: '/users/:user_id/second_factors',
      target: { user_id: String(ophelia.id) },
    });
    expect((await fetchKey()).status).toBe(200);
    expectRefusal(await clear(people.iago, ophelia.id), 'There is no such second factor.');
    await runJobs(server, server.parley.useCase(SendSecondFactorEmails));
    // Jobs of the same second run in any order.
    expect(server.mailer.emails.map(({ text }) => text)).toContainEqual(
      expect.stringContaining('An administrator removed all second factors from your account'),
    );
  });

  it('removes all factors of a user for operators, and reports whether there were any', async () => {
    const { useCase } = server.parley;
    const input = { realmId: server.realmId, userId: ophelia.id };
    const browser = newBrowser();
    await setUpApp(browser, await manage(browser));
    expect(await useCase(OperatorClearsSecondFactors).execute(input)).toBe(true);
    expect(await useCase(OperatorClearsSecondFactors).execute(input)).toBe(false);
    expect((await fetchKey()).status).toBe(200);
  });

  it('is rejected for factors of owners, of the caller and of strangers, and for members', async () => {
    const no = 'Insufficient permission';
    expectRefusal(await clear(people.iago, people.desdemona.id), 'Must be an organization owner', {
      code: 'UNAUTHORIZED_PRINCIPAL',
    });
    expectRefusal(await clear(people.iago, people.iago.id), no);
    expectRefusal(await clear(people.hamlet, ophelia.id), no);
    expectRefusal(await clear(people.iago, 999_999), 'No such user');
    const realmId = await server.addRealm(`lear${n}`);
    const lear = await server.addUser({ email: 'lear@zulip.com', fullName: 'Lear', realmId });
    expectRefusal(await clear(people.iago, lear.id), 'No such user');
    expect((await server.delete(`/users/${ophelia.id}/second_factors`, null)).status).toBe(401);
  });
});

describe('passkey', () => {
  const withPasskey = async () => {
    const browser = newBrowser();
    const state = await manage(browser);
    const made = await setUpPasskey(browser, state);
    expect(made.codes).toHaveLength(10);
    return { ...made, browser, state };
  };
  const ask = async (other: TestBrowser, who = ophelia) => {
    const asked = await sendPassword(other, who);
    return { state: stateIn(asked), options: optionsIn(await other.get(asked.headers.location as string)) };
  };

  it('is a second factor', async () => {
    const { passkey } = await withPasskey();
    const other = newBrowser();
    const { state, options } = await ask(other);
    passkey.verifiesPerson = false;
    const reply = await other.post(STEP, { state, passkey: passkey.get(options) });
    expect(reply).toMatchObject({ status: 303, headers: { location: '/' } });
    expect(lines.at(-1)).toMatchObject({ audit: 'log-in', logInMethod: 'password and passkey' });
  });

  it('logs in without a password, also to apps', async () => {
    const { passkey } = await withPasskey();
    const other = newBrowser();
    expect((await other.get('/login/')).body).toContain('href="/login/passkey/"');
    const page = await other.get('/login/passkey/', { next: '/x' });
    expect(page.headers['content-security-policy']).toMatch(/script-src 'nonce-[\w+/=]+'/);
    const reply = await other.post('/login/passkey/', {
      ...hiddenFieldsOf(page),
      passkey: passkey.get(optionsIn(page)),
    });
    expect(reply).toMatchObject({ status: 303, headers: { location: '/x' } });
    expect(lines.at(-1)).toMatchObject({ audit: 'log-in', account: ophelia.email, logInMethod: 'passkey' });
    const forPhone = await other.get('/login/passkey/', { mobile_flow_otp: PAD });
    const phone = await other.post('/login/passkey/', {
      ...hiddenFieldsOf(forPhone),
      passkey: passkey.get(optionsIn(forPhone)),
    });
    expect(phone.headers.location).toMatch(/^zulip:\/\/login\?/);
  });

  it('must verify the user if it replaces the password', async () => {
    const { passkey } = await withPasskey();
    passkey.verifiesPerson = false;
    const other = newBrowser();
    const page = await other.get('/login/passkey/');
    const fields = { ...hiddenFieldsOf(page), passkey: passkey.get(optionsIn(page)) };
    expectRefused(await other.post('/login/passkey/', fields), WRONG);
    expect(lines.at(-1)).toMatchObject({
      audit: 'failed log-in',
      logInMethod: 'passkey',
      failure: 'WRONG_SECOND_FACTOR',
    });
    expect(await isLoggedIn(other)).toBe(false);
  });

  it('responds only to its own challenge, site, user and browser', async () => {
    const { passkey } = await withPasskey();
    const other = newBrowser();
    const begin = async () => {
      const page = await other.get('/login/passkey/');
      return { fields: hiddenFieldsOf(page), options: optionsIn(page) };
    };
    const send = (fields: object, response: string, by = other) =>
      by.post('/login/passkey/', { ...fields, passkey: response });
    const former = await begin();
    const { fields, options } = await begin();
    expectRefused(await send(fields, passkey.get(former.options)), WRONG);
    expect((await send(fields, passkey.get(options))).status).toBe(303);
    const elsewhere = Object.assign(new TestPasskey('https://evil.example'), { id: passkey.id });
    const next = await begin();
    expectRefused(await send(next.fields, elsewhere.get(next.options)), WRONG);
    const forged = Object.assign(new TestPasskey(server.url), { id: passkey.id });
    const third = await begin();
    expectRefused(await send(third.fields, forged.get(third.options)), WRONG);
    const fourth = await begin();
    expectRefused(await send(fourth.fields, passkey.get(fourth.options), newBrowser()), EXPIRED);
    const fifth = await begin();
    const response = passkey.get(fifth.options);
    expect((await send(fifth.fields, response)).status).toBe(303);
    expectRefused(await send(fifth.fields, response), EXPIRED);
    for (const garbage of ['', '{}', 'null', '[]', '{"id":5}', `{"id":"${passkey.id}"}`]) {
      expectRefused(await send((await begin()).fields, garbage), WRONG);
    }
  });

  it('is rejected by its counter after the device was cloned', async () => {
    const { passkey } = await withPasskey();
    const log = async () => {
      const other = newBrowser();
      const page = await other.get('/login/passkey/');
      return other.post('/login/passkey/', { ...hiddenFieldsOf(page), passkey: passkey.get(optionsIn(page)) });
    };
    passkey.counter = 10;
    expect((await log()).status).toBe(303);
    passkey.counter = 5;
    expectRefused(await log(), WRONG);
  });

  it('is not a second factor of another user', async () => {
    const { passkey } = await withPasskey();
    const laertes = await server.addUser({ email: `laertes${n}@zulip.com`, fullName: `Laertes ${n}` });
    const his = newBrowser();
    await setUpPasskey(his, await manage(his, laertes));
    const other = newBrowser();
    const { state, options } = await ask(other, laertes);
    expectRefused(await other.post(STEP, { state, passkey: passkey.get(options) }), WRONG);
  });

  it('cannot be added for another challenge, from another site, or twice', async () => {
    const { passkey, browser, state } = await withPasskey();
    const options = optionsIn(await browser.get(PAGE, { state }));
    const add = (response: string) => browser.post(`${PAGE}passkey/`, { state, name: '', passkey: response });
    expectRefused(await add(passkey.create(options)), WRONG);
    expectRefused(await add(new TestPasskey('https://evil.example').create(options)), WRONG);
    expectRefused(await add(new TestPasskey(server.url).create({ ...options, challenge: 'YWJj' })), WRONG);
    for (const garbage of ['', '{}', 'null', '[]']) expectRefused(await add(garbage), WRONG);
    expect((await add(new TestPasskey(server.url).create(options))).status).toBe(200);
  });

  it('is useless without a password, after deactivation and if passwords are disabled', async () => {
    const { passkey } = await withPasskey();
    const other = newBrowser();
    const log = async () => {
      const page = await other.get('/login/passkey/');
      if (page.status !== 200) return page;
      return other.post('/login/passkey/', { ...hiddenFieldsOf(page), passkey: passkey.get(optionsIn(page)) });
    };
    await server.changeRealm({ settings: { emailAuthentication: false } });
    expectRefused(await log(), 'Password authentication is disabled in this organization');
    expect((await other.get('/login/')).body).not.toContain('passkey');
    await server.changeRealm({ settings: { emailAuthentication: true } });
    fieldsOf(await server.delete(`/users/${ophelia.id}`, people.desdemona));
    expectRefused(await log(), 'Account is deactivated');
    fieldsOf(await server.post(`/users/${ophelia.id}/reactivate`, people.desdemona));
    await server.storage.uow.write(server.realmId, (tx) => tx.users.setPasswordHash(server.realmId, ophelia.id, null));
    expectRefused(await log(), WRONG);
  });
});
