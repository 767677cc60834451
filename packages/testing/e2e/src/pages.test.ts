import { Chromium, findChromium } from './testing/chromium.js';
import type { ParleyProcess } from './testing/parley-process.js';
import { pause } from './testing/pause.js';
import { type Person, TestOrganization } from './testing/test-organization.js';

const command = findChromium();
if (command === null)
  console.warn('Pages are not tried in a browser: no Chromium is installed (apt-get install chromium).');
const PASSWORD = 'alas, poor yorick 1601';

(command === null ? describe.skip : describe)('pages in a browser', () => {
  let organization: TestOrganization;
  let hamlet: Person;
  let server: ParleyProcess;
  let browser: Chromium;

  beforeAll(async () => {
    organization = await TestOrganization.withOrganization('Elsinore');
    hamlet = await organization.addPerson('Hamlet', 'owner');
    server = await organization.serve();
    browser = await Chromium.start(command!);
    const response = await fetch(`${server.url}/api/v1/realm`, {
      method: 'PATCH',
      headers: { Authorization: `Basic ${btoa(`${hamlet.email}:${hamlet.apiKey}`)}` },
      body: new URLSearchParams({ invite_required: 'false' }),
    });
    expect(response.status).toBe(200);
  });
  afterAll(async () => {
    await browser?.close();
    await organization.close();
  });

  async function linkEmailedTo(email: string): Promise<string> {
    for (;;) {
      const link = organization.newestEmailTo(email)?.match(/http\S+\/accounts\/\S+\/[a-z2-7]{40}/)?.[0];
      if (link !== undefined) return link;
      await pause(50);
    }
  }
  const keyFor = async (username: string, password: string) => {
    const body = new URLSearchParams({ username, password });
    return (await fetch(`${server.url}/api/v1/fetch_api_key`, { method: 'POST', body })).status;
  };

  it('lead from an invitation to an account without scripts and with an accessible name for every control', async () => {
    await browser.open(server.url);
    expect(await browser.text()).toContain('Log in to Elsinore');
    // The content security policy allows the style.
    expect(await browser.evaluate('getComputedStyle(document.body).maxWidth')).toBe('544px');
    await browser.follow('Sign up');
    expect(await browser.accessibleNames(['heading', 'textbox', 'button'])).toEqual([
      ['heading', 'Join Elsinore'],
      ['textbox', 'Your email address'],
      ['button', 'Continue'],
    ]);
    await browser.fill('Your email address', 'yorick@example.com');
    await browser.follow('Continue');
    expect(await browser.text()).toContain('We have sent a link to yorick@example.com');

    await browser.open(await linkEmailedTo('yorick@example.com'));
    expect(await browser.accessibleNames(['textbox', 'combobox', 'button'])).toEqual([
      ['textbox', 'Your email address'],
      ['textbox', 'Your name'],
      ['textbox', 'Password'],
      ['combobox', 'Who may see your email address'],
      ['button', 'Join'],
    ]);
    await browser.fill('Your name', 'Yorick');
    await browser.fill('Password', 'yorick@example.com');
    await browser.follow('Join');
    expect(await browser.accessibleNames(['alert'])).toHaveLength(1);
    expect(await browser.text()).toContain('The password is too weak.');
    expect(await browser.evaluate("document.querySelector('#full_name').value")).toBe('Yorick');
    await browser.fill('Password', PASSWORD);
    await browser.follow('Join');
    expect(await browser.text()).toContain('You have joined.');
    expect(await keyFor('yorick@example.com', PASSWORD)).toBe(200);
    await browser.open(`${server.url}/login/?next=/help/`);
    expect(await browser.evaluate('location.pathname')).toBe('/');
    expect(browser.complaints.filter((text) => !text.includes('status of 400'))).toEqual([]);
  });

  it('allow logging in with a password', async () => {
    const visitor = await Chromium.start(command!);
    await visitor.open(`${server.url}/login/?next=/accounts/joined/`);
    expect(await visitor.accessibleNames(['heading', 'textbox', 'button'])).toEqual([
      ['heading', 'Log in to Elsinore'],
      ['textbox', 'Email address'],
      ['textbox', 'Password'],
      ['button', 'Log in'],
    ]);
    await visitor.fill('Email address', 'yorick@example.com');
    await visitor.fill('Password', 'wrong');
    await visitor.follow('Log in');
    expect(await visitor.text()).toContain('Your email address or password is incorrect.');
    await visitor.fill('Password', PASSWORD);
    await visitor.follow('Log in');
    expect(await visitor.text()).toContain('You have joined.');
    await visitor.close();
  });

  it('allow resetting a forgotten password and reject cross-site forms', async () => {
    const page = `<form method="post" action="${server.url}/accounts/password/reset/"><input name="email" value="${hamlet.email}"><button>Send</button></form>`;
    await browser.open(`data:text/html,${encodeURIComponent(page)}`);
    await browser.follow('Send');
    expect(await browser.text()).toContain('This form was sent from a page of another site.');

    await browser.open(`${server.url}/accounts/password/reset/`);
    await browser.fill('Email address of your account', hamlet.email);
    await browser.follow('Send a link');
    expect(await browser.text()).toContain('we have sent it a link to set a new password');
    await browser.open(await linkEmailedTo(hamlet.email));
    await browser.fill('New password', PASSWORD);
    await browser.follow('Set the password');
    expect(await browser.text()).toContain('Use the new password to log in');
    expect(await keyFor(hamlet.email, PASSWORD)).toBe(200);
  });

  it('document every operation with links to types and without external resources', async () => {
    const { url } = await organization.serve([]);
    browser.complaints.splice(0);
    await browser.open(`${url}/api/`);
    const { paths } = (await (await fetch(`${url}/api/v1/openapi.json`)).json()) as { paths: Record<string, object> };
    const operations = Object.values(paths).flatMap((methods) => Object.keys(methods)).length;
    expect(operations).toBeGreaterThan(150);
    expect(await browser.evaluate("document.querySelectorAll('summary b').length")).toBe(operations);
    expect(await browser.evaluate("performance.getEntriesByType('resource').length")).toBe(0);
    expect(await browser.evaluate('getComputedStyle(document.body).maxWidth')).toBe('960px');
    await browser.evaluate(`[...document.querySelectorAll('summary')]
      .find((it) => it.textContent.startsWith('GET /api/v1/messages/{message_id} ')).click()`);
    expect(await browser.text()).toContain('message_id\tnumber\tId of the message.\nin the path');
    expect(await browser.text()).not.toContain('sender_full_name: string');
    await browser.evaluate("document.querySelector('details[open] a').click()");
    expect(await browser.evaluate('location.hash')).toBe('#Message');
    expect(await browser.text()).toContain('sender_full_name: string');
    expect(browser.complaints).toEqual([]);
  });
});
