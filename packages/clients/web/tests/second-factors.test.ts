import type { Browser, Page } from '@playwright/test';
import { generate } from 'otplib';
import { emailOf, expect, focusedNode, type Server, test, violationsIn } from './stories.js';

/** Phone and desktop widths; pages are checked in both. */
const WIDTHS = [390, 1280];

async function expectReadable(page: Page, name: string): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(await violationsIn(page)).toEqual([]);
    if (process.env.SCREENSHOTS)
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}-${width}.png`, fullPage: true });
  }
}

/** Simulated Chromium authenticator with a resident key. */
async function addDevice(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

async function sendPassword(page: Page, server: Server, name: string, password = `pw-${emailOf(name)}`): Promise<void> {
  await page.goto(`${server.url}/login/`);
  await page.getByLabel('Email address').fill(emailOf(name));
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
}

async function openFactors(page: Page, server: Server, name: string): Promise<void> {
  await page.goto(`${server.url}/accounts/second-factor/`);
  await expectReadable(page, 'password');
  await page.getByLabel('Password').fill(`pw-${emailOf(name)}`);
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('heading', { name: 'Authenticator app' })).toBeVisible();
}

const newPage = async (browser: Browser, options: object = {}) => (await browser.newContext(options)).newPage();
const isInside = (page: Page) => expect(page.getByRole('navigation', { name: 'Conversations' })).toBeAttached();

test('shows readable pages before log-in on phones and desktops, without scripts', async ({ browser, server }) => {
  for (const [language, colorScheme] of [
    ['en', 'light'],
    ['de', 'dark'],
  ] as const) {
    const context = await browser.newContext({ locale: language, colorScheme });
    const page = await context.newPage();
    for (const path of ['login/', 'register/', 'accounts/password/reset/', 'accounts/go/', 'no/such/page']) {
      await page.goto(`${server.url}/${path}`);
      await expect(page.locator('html')).toHaveAttribute('lang', language);
      await expectReadable(page, `${path.replaceAll('/', '-')}${language}`);
    }
    await context.close();
    const plain = await newPage(browser, { locale: language, javaScriptEnabled: false });
    await plain.goto(`${server.url}/login/`);
    await plain.getByRole('button', { name: 'Desdemona' }).click();
    await expect(plain).toHaveURL(`${server.url}/`);
    await plain.close();
  }
});

test('tells screen readers at the field what is wrong with it, and calls no empty field invalid', async ({
  browser,
  server,
}) => {
  const page = await newPage(browser);
  await page.goto(`${server.url}/login/`);
  const address = page.getByLabel('Email address');
  await address.focus();
  expect(await focusedNode(page)).toMatchObject({ name: 'Email address', description: '', isInvalid: false });
  await sendPassword(page, server, 'hamlet', 'wrong');
  await expect(page).toHaveTitle(/^Error: Log in to /);
  const problem = 'Your email address or password is incorrect.';
  expect(await focusedNode(page)).toMatchObject({ name: 'Password', description: problem, isInvalid: true });
  await expect(address).toHaveAccessibleDescription(problem);

  for (const path of ['register/', 'accounts/password/reset/']) {
    await page.goto(`${server.url}/${path}`);
    const field = page.getByRole('textbox');
    await field.fill('nobody@nowhere');
    expect(await focusedNode(page)).toMatchObject({ description: '', isInvalid: false });
    await field.press('Enter');
    await expect(page).toHaveTitle(/^Error: /);
    const name = await page.locator('label').textContent();
    expect(await focusedNode(page)).toMatchObject({
      name,
      description: 'Enter a valid email address.',
      isInvalid: true,
    });
  }
});

test('logs in with an authenticator app and a recovery code after the password, without scripts', async ({
  browser,
  server,
  logIn,
}) => {
  const name = 'polonius';
  const { page } = await logIn(name);
  await openFactors(page, server, name);
  await expectReadable(page, 'overview');
  await page.getByRole('link', { name: 'Set up an app' }).click();
  await expect(page.getByRole('img', { name: 'QR code' })).toBeVisible();
  await expectReadable(page, 'app');
  const secret = (await page.locator('main code').textContent())!.replaceAll(' ', '');
  await page.getByLabel('Code that the app shows').fill('000000');
  await page.getByRole('button', { name: 'Confirm' }).click();
  const mismatch = 'That did not match. Try again with a new code.';
  await expect(page.getByRole('alert')).toHaveText(mismatch);
  expect(await focusedNode(page)).toMatchObject({ name: 'Code that the app shows', description: mismatch });
  await page.getByLabel('Code that the app shows').fill(await generate({ secret }));
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByRole('heading', { name: 'Second factor is on' })).toBeVisible();
  const codes = await page.locator('.codes code').allTextContents();
  expect(codes).toHaveLength(10);
  await expectReadable(page, 'codes');
  await page.getByRole('link', { name: 'Done' }).click();
  await expectReadable(page, 'overview-on');

  const plain = await newPage(browser, { javaScriptEnabled: false });
  await sendPassword(plain, server, name);
  await expect(plain.getByRole('heading', { name: 'Confirm that it is you' })).toBeVisible();
  // The next code: each is accepted once, also half a minute early or late.
  await plain.getByLabel('Code', { exact: true }).fill(await generate({ secret, epoch: Date.now() / 1000 + 30 }));
  await plain.getByRole('button', { name: 'Log in' }).click();
  await expect(plain).toHaveURL(`${server.url}/`);

  const other = await newPage(browser);
  await sendPassword(other, server, name);
  await expectReadable(other, 'step');
  await other.getByText('Lost your device?').click();
  await expectReadable(other, 'step-recovery');
  await other.getByLabel('Recovery code').fill('no such code');
  await other.getByRole('button', { name: 'Use a recovery code' }).click();
  await expect(other).toHaveTitle(/^Error: Confirm that it is you/);
  expect(await focusedNode(other)).toMatchObject({ name: 'Recovery code', isInvalid: true });
  await other.getByLabel('Recovery code').fill(codes[3]!);
  await other.getByRole('button', { name: 'Use a recovery code' }).click();
  await isInside(other);
  await openFactors(other, server, name);
  await expect(other.getByText('Recovery codes left: 9')).toBeVisible();
  await other.getByRole('button', { name: 'Remove' }).click();
  await expect(other.getByRole('button', { name: 'Remove' })).toHaveCount(0);
});

test('uses a passkey as a second factor and for log-in alone', async ({ server, logIn }) => {
  const name = 'shiva';
  const { page, context } = await logIn(name);
  await addDevice(page);
  await openFactors(page, server, name);
  await page.getByLabel('Name of the passkey').fill('Laptop');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await expect(page.getByRole('heading', { name: 'Second factor is on' })).toBeVisible();
  await page.getByRole('link', { name: 'Done' }).click();
  await expect(page.getByText('Passkey: Laptop')).toBeVisible();

  await context.clearCookies();
  await sendPassword(page, server, name);
  await expect(page.getByRole('heading', { name: 'Confirm that it is you' })).toBeVisible();
  await expectReadable(page, 'step-passkey');
  await page.getByRole('button', { name: 'Continue with a passkey' }).click();
  await isInside(page);

  await context.clearCookies();
  await page.goto(`${server.url}/login/`);
  await expectReadable(page, 'log-in');
  await page.getByRole('link', { name: 'Log in with a passkey' }).click();
  await expectReadable(page, 'passkey');
  await page.getByRole('button', { name: 'Continue with a passkey' }).click();
  await isInside(page);

  await openFactors(page, server, name);
  await page.getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByRole('button', { name: 'Remove' })).toHaveCount(0);
});

test('shows second factor pages in German to German readers', async ({ browser, server, logIn }) => {
  const { context } = await logIn('iago');
  const page = await newPage(browser, { locale: 'de', storageState: await context.storageState() });
  await page.goto(`${server.url}/accounts/second-factor/`);
  await page.getByLabel('Passwort').fill(`pw-${emailOf('iago')}`);
  await page.getByRole('button', { name: 'Weiter' }).click();
  await expect(page.getByRole('heading', { name: 'Zweiter Faktor' })).toBeVisible();
  await expectReadable(page, 'overview-de');
  await page.getByRole('link', { name: 'Eine App einrichten' }).click();
  await expectReadable(page, 'app-de');
});

test('links from the settings to second factors and sessions, and back to the chat', async ({ server, logIn }) => {
  const { page } = await logIn('prospero', '#settings/account-and-privacy');
  const link = (name: string) => page.getByRole('main').getByRole('link', { name, exact: true });
  await link('Sessions').last().click();
  await expect(page.getByRole('list', { name: 'Sessions' }).getByRole('listitem')).not.toHaveCount(0);
  await page.goBack();
  await link('Second factors').click();
  await page.getByLabel('Password').fill(`pw-${emailOf('prospero')}`);
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('link', { name: 'Set up an app' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Add a passkey' })).toBeVisible();
  await expectReadable(page, 'overview-links');
  await link('Where you are logged in').click();
  await expect(page.getByText('(this browser)')).toBeVisible();
  await expectReadable(page, 'sessions');
  await link('Go to the start page').click();
  await expect(page).toHaveURL(`${server.url}/`);
  await isInside(page);
});
