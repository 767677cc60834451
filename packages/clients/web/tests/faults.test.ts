import { emailOf, expect, goTo, idOf, messageWith, placeOf, post, pressIn, send, test } from './stories.js';

for (const [status, code] of [
  [429, 'RATE_LIMIT_HIT'],
  [503, 'SERVICE_UNAVAILABLE'],
] as const) {
  test(`shows after two seconds that the server delays an action, and completes it afterwards (${status})`, async ({
    server,
    logIn,
  }) => {
    await post(server, 'cordelia', `busy-server-${status}`, 'Please react');
    const { page } = await logIn('othello', await placeOf(server, `busy-server-${status}`));
    await expect(messageWith(page, 'Please react')).toBeVisible();
    let isBusy = true;
    await page.route('**/json/messages/*/reactions', (route) =>
      isBusy
        ? route.fulfill({
            status,
            headers: { 'Retry-After': '1' },
            json: { result: 'error', msg: 'Too much at once', code, 'retry-after': 1 },
          })
        : route.continue(),
    );
    await pressIn(messageWith(page, 'Please react'), { name: 'Add a reaction' });
    await page.getByRole('option', { name: ':tada:' }).click();
    await expect(page.getByText('The server is busy.')).toBeVisible();
    isBusy = false;
    await expect(page.getByText('The server is busy.')).toHaveCount(0);
    await expect(messageWith(page, 'Please react').getByRole('button', { name: /:tada:/ })).toBeVisible();
  });
}

test('explains which part of an address does not exist, and links to the nearest existing place', async ({
  server,
  logIn,
}) => {
  const { id } = await post(server, 'cordelia', 'neighbors', 'Before the deleted one');
  const { id: deleted } = await post(server, 'cordelia', 'neighbors', 'Deleted soon');
  await server.call('iago', 'DELETE', `/messages/${deleted}`);
  const { page } = await logIn('othello', '#narrow/channel/987654-gone/topic/anything');
  const main = page.getByRole('main');
  await expect(main).toContainText('There is no channel at this address');
  await main.getByRole('link', { name: 'Channels' }).click();
  await expect(page).toHaveURL(/#channels\/all$/);
  await goTo(page, '#narrow/dm/987654-nobody');
  await expect(main).toContainText('There is no person at this address');
  await goTo(page, '#narrow/stream/nochannel/topic/x');
  await expect(main).toContainText('There is no channel at this address');
  await goTo(page, '#narrow/sender/987654');
  await expect(main).toContainText('There is no person at this address');
  await goTo(page, '#narrow/is/nonsense');
  await expect(main).toContainText('There is no such page.');
  await goTo(page, '#groups/987654/x');
  await expect(main).toContainText('There is no group at this address.');
  await goTo(page, '#channels/987654/x/general');
  await expect(main).toContainText('There is no channel at this address');
  await main.getByRole('link', { name: 'Channels' }).click();
  await expect(page).toHaveURL(/#channels\/all$/);
  await goTo(page, '#nonsense');
  await expect(main).toContainText('There is no such page.');
  const distance = await main.getByText('There is no such page.').evaluate((line) => {
    const text = document.createRange();
    text.selectNodeContents(line);
    return text.getBoundingClientRect().left - line.closest('main')!.getBoundingClientRect().left;
  });
  expect(distance).toBeGreaterThanOrEqual(16);
  const place = await placeOf(server, 'neighbors');
  await goTo(page, `${place}/near/${deleted}`);
  await expect(main).toContainText('The message at this address was deleted or moved.');
  await expect(messageWith(page, 'Before the deleted one')).toBeVisible();
  await goTo(page, `${place}/near/${id}`);
  await expect(messageWith(page, 'Before the deleted one')).toBeVisible();
  await expect(main).not.toContainText('was deleted or moved');
});

test('requests no messages of a channel that does not exist', async ({ server, logIn }) => {
  const { page } = await logIn('othello', await placeOf(server, 'known channel'));
  await expect(page.getByText('There are no messages here yet.')).toBeVisible();
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 400) refused.push(response.url());
  });
  for (const place of ['#narrow/channel/9999-gone', '#narrow/channel/9999-gone/topic/lost']) {
    await goTo(page, place);
    await expect(page.getByText('There is no channel at this address', { exact: false })).toBeVisible();
    await goTo(page, '#inbox');
  }
  expect(refused).toEqual([]);
});

test('opens a conversation with a single request', async ({ server, logIn }) => {
  await post(server, 'othello', 'requested once', 'Shown after one request');
  const { page } = await logIn('othello', '#inbox');
  const anchors: string[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith('/messages')) anchors.push(searchParams.get('anchor') ?? '');
  });
  await goTo(page, await placeOf(server, 'requested once'));
  await expect(messageWith(page, 'Shown after one request')).toBeVisible();
  expect(anchors).toEqual(['first_unread']);
});

test('explains that a channel cannot be loaded while offline, and shows it afterwards', async ({ server, logIn }) => {
  await post(server, 'othello', 'unseen', 'Seen later');
  const { page, context } = await logIn('othello', '#inbox');
  await context.setOffline(true);
  await expect(page.getByText('No connection since')).toBeVisible();
  await goTo(page, await placeOf(server, 'unseen'));
  await expect(page.getByText('This cannot be loaded without a connection.')).toBeVisible();
  await context.setOffline(false);
  await expect(messageWith(page, 'Seen later')).toBeVisible();
});

test('shows the plain text of a message that fails to render, an error line for other parts, and the rest', async ({
  server,
  logIn,
}) => {
  await post(server, 'cordelia', 'undrawable', 'Good message');
  await post(server, 'cordelia', 'undrawable', 'Bad **message** & more');
  // React reports the error to the console, which other pages of these stories must not do.
  const page = await (await logIn('othello')).context.newPage();
  await page.route('**/json/messages?*', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    // Formatting fails, because no date has this time.
    for (const message of body.messages ?? []) if (message.content.includes('Bad')) message.timestamp = 1e17;
    await route.fulfill({ response, json: body });
  });
  await page.goto(`${server.url}/#recent`);
  await goTo(page, await placeOf(server, 'undrawable'));
  await expect(messageWith(page, 'Good message')).toBeVisible();
  await expect(page.getByText('This message could not be displayed.')).toBeVisible();
  await expect(page.getByText(/Bad\s+message\s+& more/)).toBeVisible();
  await page.route('**/web/people-panel-*.js', (route) =>
    route.fulfill({
      contentType: 'text/javascript',
      body: 'export function PeoplePanel() { throw new Error("Broken by the story"); }',
    }),
  );
  await page.getByRole('button', { name: 'People', exact: true }).click();
  await expect(page.getByText('The list of people could not be shown.')).toBeVisible();
  await send(page, 'The rest works');
  await expect(messageWith(page, 'The rest works')).not.toContainText('Will be sent');
});

test('works if the browser forbids storage', async ({ server, browser, logIn }) => {
  const { context } = await logIn('othello');
  const strict = await browser.newContext({ storageState: await context.storageState() });
  await strict.addInitScript(() => {
    const refuse = () => {
      throw new DOMException('Access is denied', 'SecurityError');
    };
    Object.defineProperty(window, 'localStorage', { get: refuse });
    Object.defineProperty(window, 'indexedDB', { get: refuse });
  });
  const page = await strict.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(`${server.url}/${await placeOf(server, 'no-storage')}`);
  await send(page, 'Sent without storage');
  await expect(messageWith(page, 'Sent without storage')).toBeVisible();
  await page.getByRole('textbox', { name: 'Message' }).fill('A draft of this page');
  await goTo(page, '#recent');
  await goTo(page, await placeOf(server, 'no-storage'));
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('A draft of this page');
  expect(errors).toEqual([]);
  await strict.close();
});

test('translates known errors, and quotes server messages without a code', async ({ browser, server, logIn }) => {
  const { context } = await logIn('iago');
  const german = await browser.newContext({ locale: 'de-DE', storageState: await context.storageState() });
  const page = await german.newPage();
  const alert = page.getByRole('alert');
  await page.goto(`${server.url}/#channels/new`);
  await page.getByLabel('Name', { exact: true }).fill('verona');
  await page.getByRole('button', { name: 'Erstellen', exact: true }).click();
  await expect(alert).toHaveText('Es gibt schon einen Kanal mit dem Namen „verona“.');
  const refusals = ['STREAM_WILDCARD_MENTION_NOT_ALLOWED', 'BAD_REQUEST'];
  await page.route('**/json/messages', (route) =>
    route.fulfill({ status: 400, json: { result: 'error', msg: 'Not now', code: refusals.shift() } }),
  );
  await goTo(page, await placeOf(server, 'refusals'));
  for (const reason of [
    'Nicht gesendet: Sie dürfen in diesem Kanal nicht alle erwähnen.',
    'Nicht gesendet: Der Server hat es abgelehnt: Not now',
  ]) {
    await page.getByRole('textbox', { name: 'Nachricht' }).fill('Refused');
    await page.getByRole('button', { name: 'Senden', exact: true }).click();
    await expect(alert).toContainText(reason);
    await alert.getByRole('button', { name: 'Löschen' }).click();
  }
  await goTo(page, '#settings/preferences');
  await expect(page.getByLabel('Sprache')).toBeVisible();
  await german.setOffline(true);
  await page.getByLabel('Schriftgröße').selectOption({ index: 3 });
  await expect(alert).toHaveText('Der Server ist nicht erreichbar.');
  await german.close();
});

test('shows why a command failed until the user navigates elsewhere', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'refused-reaction', 'Please react');
  const { page } = await logIn('othello', await placeOf(server, 'refused-reaction'));
  await page.route('**/json/messages/*/reactions', (route) =>
    route.fulfill({ status: 400, json: { result: 'error', msg: 'Exists', code: 'REACTION_ALREADY_EXISTS' } }),
  );
  await pressIn(messageWith(page, 'Please react'), { name: 'Add a reaction' });
  await page.getByRole('option', { name: ':tada:' }).click();
  const alert = page.getByRole('alert');
  await expect(alert).toHaveText('You have already reacted with this emoji.');
  await goTo(page, '#inbox');
  await expect(alert).toHaveCount(0);
  await page.goBack();
  await expect(messageWith(page, 'Please react')).toBeVisible();
  await expect(alert).toHaveCount(0);
});

test('leads to the linked address after log-in', async ({ server, page }) => {
  const place = await placeOf(server, 'linked', 'Denmark');
  await page.goto(`${server.url}/${place}`);
  await page.getByRole('button', { name: 'Iago' }).click();
  await expect(page).toHaveURL(`${server.url}/${place}`);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('linked');
});

test('keeps a draft when the session ends, and returns to it', async ({ server, logIn }) => {
  const place = await placeOf(server, 'session-over', 'Denmark');
  const { page, context } = await logIn('othello', place);
  await page.getByRole('textbox', { name: 'Message' }).fill('Not finished');
  await context.clearCookies();
  // The stream was accepted with the previous session. The page acknowledges this event without a session.
  await post(server, 'cordelia', 'wake-up', `For ${await idOf(server, 'othello')}`);
  await expect(page.getByText('Your session has ended.')).toBeVisible({ timeout: 60_000 });
  await page.getByRole('alert').getByRole('link', { name: 'Log in' }).click();
  await page.getByLabel('Email address').fill('othello@zulip.com');
  await page.getByLabel('Password').fill('pw-othello@zulip.com');
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('Not finished');
});

test('explains that scripts are required if they are disabled', async ({ server, browser, logIn }) => {
  const { context } = await logIn('othello');
  const plain = await browser.newContext({ javaScriptEnabled: false, storageState: await context.storageState() });
  const page = await plain.newPage();
  await page.goto(`${server.url}/`);
  await expect(page.locator('body')).toContainText('Parley needs JavaScript in the browser.', { useInnerText: true });
  await plain.close();
});

test('keeps a draft when the account is deactivated, and returns to it after a later log-in', async ({
  server,
  logIn,
}) => {
  const name = 'falstaff';
  const { user_id: id } = await server.call('desdemona', 'POST', '/users', {
    email: emailOf(name),
    password: `pw-${emailOf(name)}`,
    full_name: 'John Falstaff',
  });
  await server.call('desdemona', 'POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'Verona' }],
    principals: [id],
  });
  const place = await placeOf(server, 'deactivated-account');
  const { page, context } = await logIn(name, place);
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('Written before the end');
  // No poll is pending while the machine sleeps.
  await context.setOffline(true);
  await expect(page.getByText('No connection since')).toBeVisible({ timeout: 60_000 });
  await server.call('desdemona', 'DELETE', `/users/${id}`);
  await context.setOffline(false);
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('Your account has been deactivated.', { timeout: 60_000 });
  // The server keeps the session of the deactivated account but rejects it.
  const reloaded = await context.newPage();
  await reloaded.goto(`${server.url}/${place}`);
  await expect(reloaded).toHaveURL(/\/login\//);
  await expect(reloaded.getByRole('alert')).toContainText('Account is deactivated');
  await reloaded.close();
  await server.call('desdemona', 'POST', `/users/${id}/reactivate`);
  await alert.getByRole('link', { name: 'Log in' }).click();
  await page.getByLabel('Email address').fill(emailOf(name));
  await page.getByLabel('Password').fill(`pw-${emailOf(name)}`);
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(field).toHaveValue('Written before the end');
});

test('shows that the organization was deactivated', async ({ server, logIn }) => {
  const { page } = await logIn('othello', await placeOf(server, 'deactivated-organization'));
  await page.route(/\/json\/events/, (route) =>
    route.fulfill({
      status: 403,
      json: { result: 'error', msg: 'This organization has been deactivated', code: 'REALM_DEACTIVATED' },
    }),
  );
  // The page acknowledges this event.
  await post(server, 'cordelia', 'deactivated-organization', 'Last words');
  await expect(page.getByRole('alert')).toContainText('This organization has been deactivated.', { timeout: 60_000 });
});

const STORAGES: Readonly<Record<string, () => void>> = {
  full: () => {
    Storage.prototype.setItem = () => {
      throw new DOMException('The quota has been exceeded', 'QuotaExceededError');
    };
    IDBObjectStore.prototype.put = IDBObjectStore.prototype.add = () => {
      throw new DOMException('The quota has been exceeded', 'QuotaExceededError');
    };
  },
  'of another version': () => {},
};

/** Simulates a database of a later application version. */
async function raiseVersion(): Promise<void> {
  const [known] = await indexedDB.databases();
  await new Promise<void>((resolve) => {
    const request = indexedDB.open(known!.name!, 99);
    request.onsuccess = () => {
      request.result.close();
      resolve();
    };
  });
}

for (const [kind, spoil] of Object.entries(STORAGES)) {
  test(`works if the browser's storage is ${kind}`, async ({ server, logIn }) => {
    const place = await placeOf(server, `storage ${kind}`);
    const first = await logIn('othello', place);
    await first.page.getByRole('textbox', { name: 'Message' }).fill('Stored before');
    await post(server, 'cordelia', `storage ${kind}`, 'Kept by the server');
    await expect(messageWith(first.page, 'Kept by the server')).toBeVisible();
    await first.page.waitForTimeout(1500);
    if (kind === 'of another version') await first.page.evaluate(raiseVersion);
    const page = await first.context.newPage();
    await first.page.close();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.addInitScript(spoil);
    await page.goto(`${server.url}/${place}`);
    await expect(messageWith(page, 'Kept by the server')).toBeVisible();
    await send(page, `Sent with storage ${kind}`);
    await expect(messageWith(page, `Sent with storage ${kind}`)).not.toContainText('Will be sent');
    await page.getByRole('textbox', { name: 'Message' }).fill('A draft of this page');
    await goTo(page, '#recent');
    await goTo(page, place);
    await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('A draft of this page');
    expect(errors).toEqual([]);
  });
}

test('explains the requirements if the scripts fail to start', async ({ server, browser, logIn }) => {
  const { context } = await logIn('othello');
  const old = await browser.newContext({ storageState: await context.storageState() });
  const page = await old.newPage();
  await page.route('**/web/index-*.js', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: 'oldest ??=' }),
  );
  await page.goto(`${server.url}/`);
  // The text appears after some seconds.
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) animation.finish();
  });
  await expect(page.getByText('Parley needs a newer browser')).toBeVisible();
  await expect(page.getByText('braucht Parley einen neueren Browser')).toBeVisible();
  await old.close();
});

test('explains the requirements if the browser lacks a feature', async ({ server, browser, logIn }) => {
  const { context } = await logIn('othello');
  const old = await browser.newContext({ storageState: await context.storageState() });
  const page = await old.newPage();
  await page.addInitScript(() => {
    const { supports } = CSS;
    CSS.supports = (condition: string) => !condition.includes(':has') && supports.call(CSS, condition);
  });
  await page.goto(`${server.url}/`);
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) animation.finish();
  });
  await expect(page.getByText('Parley needs a newer browser')).toBeVisible();
  await expect(page.getByRole('main')).toHaveCount(0);
  await old.close();
});

test('reloads code and styles that failed, reports it after a while, and then opens the requested page', async ({
  server,
  logIn,
}) => {
  const topic = 'late code';
  await post(server, 'cordelia', topic, 'Arrived before the rest');
  const place = await placeOf(server, topic);
  const { page } = await logIn('othello', place);
  let isDown = true;
  await page.route(/\/web\/(writing|main-menu|menu|overlays)[^/]*$/, (route) =>
    isDown ? route.abort() : route.continue(),
  );
  await page.reload();
  await expect(messageWith(page, 'Arrived before the rest')).toBeVisible();
  await page.getByRole('button', { name: 'Main menu' }).click();
  await expect(page.getByText('The server is busy.')).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveCount(0);
  isDown = false;
  const entry = page.getByRole('menuitem', { name: 'Log out' });
  await expect(entry).toBeVisible();
  await expect(page.getByText('The server is busy.')).toHaveCount(0);
  expect(await page.getByRole('menu').evaluate((menu) => getComputedStyle(menu).borderRadius)).not.toBe('0px');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
});

test('keeps a text in its field and explains that too many messages are waiting', async ({ server, logIn }) => {
  const { page, context } = await logIn('hamlet', await placeOf(server, 'many waiting'));
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  await field.fill('First');
  await context.setOffline(true);
  for (let i = 0; i < 100; i++) {
    await field.fill(`Waits ${i}`);
    await page.keyboard.press('Control+Enter');
  }
  await field.fill('One too many');
  await page.keyboard.press('Control+Enter');
  await expect(page.getByRole('alert')).toContainText('Too many messages are waiting to be sent');
  await expect(field).toHaveValue('One too many');
  await context.setOffline(false);
  await expect(page.getByText('Will be sent when you are online')).toHaveCount(0, { timeout: 30_000 });
});

test("hides a channel's messages when it becomes private while open", async ({ server, logIn }) => {
  const { id } = await server.call('iago', 'POST', '/channels/create', { name: 'closing', subscribers: [] });
  await server.call('iago', 'POST', '/messages', { type: 'channel', to: id, topic: 'x', content: 'Was public' });
  const { page } = await logIn('hamlet', `#narrow/channel/${id}-closing/topic/x`);
  await expect(messageWith(page, 'Was public')).toBeVisible();
  await server.call('iago', 'PATCH', `/streams/${id}`, { is_private: true });
  await expect(page.getByText('There is no channel at this address', { exact: false })).toBeVisible();
  await expect(messageWith(page, 'Was public')).toHaveCount(0);
});
